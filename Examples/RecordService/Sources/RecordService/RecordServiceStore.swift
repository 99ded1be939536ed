import Foundation
import Heartwood
import Synchronization

/// A store whose records are at a service, which is asked over HTTP.
///
/// Whatever is read in one go is of one version of the store, which the service remembers for a while. A save is one request: what it changes
/// is gathered, and the service makes all of it or nothing, if the store still has the version that the save is based on. Else the save begins
/// anew with what others have saved, and finds conflicts there.
final class RecordServiceStore: IncrementalStore {
  private let remote: RemoteStore
  private let model: ManagedObjectModel
  /// What is being read or saved at one moment; nil between.
  private let transaction = Mutex<Transaction?>(nil)

  private struct Transaction {
    var head: StoreHead
    var message: SaveMessage?
  }

  /// How often a save begins anew because others were faster.
  private static let mostAttempts = 100
  /// How many references go into one request.
  private static let referencesPerRequest = 500

  init(_ remote: RemoteStore, model: ManagedObjectModel) {
    self.remote = remote
    self.model = model
  }
}

// MARK: Connecting

extension RecordServiceStore {
  /// Asks who the store is.
  func connect() throws -> StoreMetadata? { try remote.head()?.metadata }

  /// Makes the store, with its model.
  func create(_ metadata: StoreMetadata) throws {
    try remote.make(StoreHead(metadata: metadata, version: 1, model: try model.encoded()))
  }

  /// Does nothing: the session keeps its connections for others.
  func disconnect() {}

  /// How often somebody has saved.
  func dataVersion() throws -> UInt64 {
    guard let transaction = transaction.withLock({ $0 }) else { return try remote.existingHead().version }
    // A save that changes something is the next one.
    return transaction.head.version + (transaction.message?.isEmpty == false ? 1 : 0)
  }

  /// What the store was when reading or saving began.
  private func head() throws -> StoreHead {
    try transaction.withLock { $0?.head } ?? remote.existingHead()
  }
}

// MARK: Reading

extension RecordServiceStore {
  /// Lets all that `body` reads be of one version.
  func reading<Result>(_ body: () throws -> Result) throws -> Result {
    let head = try remote.existingHead()
    transaction.withLock { $0 = Transaction(head: head) }
    defer { transaction.withLock { $0 = nil } }
    return try body()
  }

  /// Who the store is.
  func metadata() throws -> StoreMetadata { try head().metadata }

  /// Reads all records of `entities`, a page at a time.
  func load(_ entities: [EntityDescription], into loader: StoreLoader) throws {
    let version = try head().version
    for entity in entities {
      var start: Int? = 0
      while let from = start {
        let page = try known(try remote.page(of: entity.name, from: from, version: version))
        for record in page.records { try record.add(to: loader, as: entity) }
        start = page.next
      }
    }
  }

  /// Reads some records, some hundred at a time.
  func load(_ references: [ReferenceID], of entity: EntityDescription, into loader: StoreLoader) throws {
    let version = try head().version
    for start in stride(from: 0, to: references.count, by: Self.referencesPerRequest) {
      let part = references[start..<min(references.count, start + Self.referencesPerRequest)]
      let page = try remote.records(part.map(\.text), of: entity.name, version: version)
      for record in try known(page).records { try record.add(to: loader, as: entity) }
    }
  }

  /// How many records there are.
  func count(of entity: EntityDescription) throws -> Int { try remote.count(of: entity.name) }

  /// Makes new UUIDs, which nobody else has.
  func newReferences(count: Int, for entity: EntityDescription) throws -> [ReferenceID] {
    (0..<count).map { _ in .uuid(UUID()) }
  }

  private func known(_ page: Page?) throws -> Page {
    if let page { return page }
    throw PersistenceError(
      .storeBusy,
      "Others have saved so often while records were read that the service has forgotten the version that they are of.",
      recovery: "Try again.",
      context: .init(path: remote.name)
    )
  }
}

// MARK: Saving

extension RecordServiceStore {
  /// Gathers what `body` saves, and lets the service make it. If somebody else has saved meanwhile, `body` is called again, over what is there now.
  func saving<Result>(_ body: () throws -> Result) throws -> Result {
    for _ in 0..<Self.mostAttempts {
      let head = try remote.existingHead()
      transaction.withLock { $0 = Transaction(head: head, message: SaveMessage(id: UUID())) }
      defer { transaction.withLock { $0 = nil } }
      let result = try body()
      guard let message = transaction.withLock({ $0?.message }), !message.isEmpty else { return result }
      if try remote.save(message, over: head.version) { return result }
    }
    throw PersistenceError(
      .storeBusy,
      "Others save faster than this save could be made. Nothing was saved.",
      recovery: "Try again.",
      context: .init(path: remote.name)
    )
  }

  /// Gathers what changes.
  func save(_ changes: ChangeSet, over contents: StoreContents) throws {
    let inserted = changes.inserted.map { snapshot in
      let values = snapshot.values.enumerated().map { (ordinal: $0, value: $1) }
      return Record(values, of: snapshot.objectID, version: snapshot.version)
    }
    let updated = changes.updated.map { update in
      let values = update.values.map { (ordinal: $0.ordinal, value: $0.value) }
      return Record(values, of: update.objectID, version: update.baseVersion + 1)
    }
    let deleted = changes.deleted.map { RecordName($0.objectID) }
    change { message in
      message.inserted += inserted
      message.updated += updated
      message.deleted += deleted
    }
  }

  /// Gathers the metadata.
  func saveMetadata(_ metadata: StoreMetadata) throws {
    change { $0.metadata = metadata }
  }

  private func change(_ body: (inout SaveMessage) -> Void) {
    transaction.withLock { transaction in
      guard var message = transaction?.message else { return }
      body(&message)
      transaction?.message = message
    }
  }
}
