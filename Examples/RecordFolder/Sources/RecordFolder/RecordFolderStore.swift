import Foundation
import Heartwood
import Synchronization

/// A store that is a folder of files: each record is one, in JSON, and the store's own file says which of them count.
///
/// A file of a record never changes: a new version is a new file. So a save writes what is new, replaces the store's own file in one
/// step, and then removes what is old.
public final class RecordFolderStore: IncrementalStore, StoreClass {
  /// What such a file is called, and what the store can do.
  public static let typeDescription = StoreTypeDescription(
    type: "RecordFolder",
    displayName: "Folder of records",
    fileExtensions: ["records"],
    capabilities: StoreCapabilities(
      kind: .incremental,
      features: [.persistence, .relationships, .userMetadata],
      attributeTypes: Set(AttributeType.allCases),
      referenceKinds: [.uuid]
    )
  )

  private let folder: RecordFolder
  private let isReadOnly: Bool
  /// What is being read or saved at one moment; nil between.
  private let transaction = Mutex<Transaction?>(nil)

  private struct Transaction {
    var index: RecordIndex
    var hasChanged = false
    var written: [String] = []
    var replaced: [String] = []

    /// Changes something, in place: a copy would be one of all names for each record.
    mutating func change(_ body: (inout Transaction) -> Void) {
      if !hasChanged { index.mark = .random(in: .min ... .max) }
      hasChanged = true
      body(&self)
    }
  }

  /// Makes a store that has a file.
  public init(_ setup: StoreSetup) throws {
    guard let path = setup.path else {
      throw PersistenceError(.fileNotFound, "The store has no folder.", recovery: "Add the store with a location.")
    }
    folder = RecordFolder(path: path)
    isReadOnly = setup.options[.isReadOnly]
  }

  /// Reads the store's own file.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try RecordIndex(json: Data(file.bytes()), path: file.path).metadata
  }

  /// Each save puts another file at the place of the store's own.
  public var savesReplaceFile: Bool { true }

  /// The records are beside the store's own file.
  public static func supportFolder(ofStoreAt path: String) -> String? { RecordFolder(path: path).recordsPath }
}

// MARK: Connecting

extension RecordFolderStore {
  /// Reads the store's own file, and removes files of records that it does not name: a save was interrupted.
  public func connect() throws -> StoreMetadata? {
    guard let index = try folder.index() else { return nil }
    if !isReadOnly {
      try folder.locked { try folder.removeFiles(exceptOf: try folder.index() ?? index) }
    }
    return index.metadata
  }

  /// Makes the store's own file.
  public func create(_ metadata: StoreMetadata) throws {
    try folder.locked {
      guard try folder.index() == nil else {
        throw PersistenceError(.fileExists, "Another process has made the store.", context: .init(path: folder.path))
      }
      try folder.write(RecordIndex(metadata: metadata))
    }
  }

  /// Does nothing: no file is held open.
  public func disconnect() {}

  /// The number of the last save, which is drawn by lot.
  public func dataVersion() throws -> UInt64 { try index().mark }

  /// What counts now.
  private func index() throws -> RecordIndex {
    if let index = transaction.withLock({ $0?.index }) { return index }
    return try folder.existingIndex()
  }
}

// MARK: Reading

extension RecordFolderStore {
  /// Keeps others from saving meanwhile.
  public func reading<Result>(_ body: () throws -> Result) throws -> Result {
    try folder.locked {
      let index = try folder.existingIndex()
      transaction.withLock { $0 = Transaction(index: index) }
      defer { transaction.withLock { $0 = nil } }
      return try body()
    }
  }

  /// Who the store is.
  public func metadata() throws -> StoreMetadata { try index().metadata }

  /// Reads all records of `entities`, in the order in which they were inserted.
  public func load(_ entities: [EntityDescription], into loader: StoreLoader) throws {
    let index = try index()
    for entity in entities {
      for (name, entry) in index.records(of: entity).sorted(by: { $0.value.place < $1.value.place }) {
        try load(ReferenceID(text: name), entry, of: entity, into: loader)
      }
    }
  }

  /// Reads some records.
  public func load(_ references: [ReferenceID], of entity: EntityDescription, into loader: StoreLoader) throws {
    let records = try index().records(of: entity)
    for reference in references {
      if let entry = records[reference.text] { try load(reference, entry, of: entity, into: loader) }
    }
  }

  private func load(
    _ reference: ReferenceID,
    _ entry: RecordIndex.Entry,
    of entity: EntityDescription,
    into loader: StoreLoader
  ) throws {
    let record = try folder.record(entry.file)
    try loader.addNode(reference, to: entity, version: record.version) { node in
      try node.setAttributeTexts(record.values)
      for (key, names) in record.links {
        try node.setObjectIDs(names.map { try $0.objectID(in: loader) }, forKey: key)
      }
    }
  }

  /// How many records there are.
  public func count(of entity: EntityDescription) throws -> Int { try index().records(of: entity).count }

  /// Makes new UUIDs, which nobody else has.
  public func newReferences(count: Int, for entity: EntityDescription) throws -> [ReferenceID] {
    (0..<count).map { _ in .uuid(UUID()) }
  }
}

// MARK: Saving

extension RecordFolderStore {
  /// Keeps others out, and lets what was saved count in one step.
  public func saving<Result>(_ body: () throws -> Result) throws -> Result {
    try folder.locked {
      let before = try folder.existingIndex()
      transaction.withLock { $0 = Transaction(index: before) }
      defer { transaction.withLock { $0 = nil } }
      do {
        let result = try body()
        if let saved = transaction.withLock({ $0 }), saved.hasChanged {
          try folder.synchronize()
          try folder.write(saved.index)
          folder.remove(saved.replaced)
        }
        return result
      } catch {
        // Where the store's own file was replaced all the same, it must find what it names.
        if try folder.index()?.mark == before.mark { folder.remove(transaction.withLock { $0?.written } ?? []) }
        throw error
      }
    }
  }

  /// Writes a file for each record that is new or changed.
  public func save(_ changes: ChangeSet, over contents: StoreContents) throws {
    for snapshot in changes.inserted {
      let values = snapshot.values.enumerated().map { (ordinal: $0, value: $1) }
      try write(Record(values, of: snapshot.objectID, version: snapshot.version), snapshot.objectID)
    }
    for update in changes.updated {
      guard let entry = try index().records(of: update.objectID.entity)[update.objectID.reference.text] else {
        throw PersistenceError(.saveConflict, "The record is gone.", context: .init(objectIDs: [update.objectID]))
      }
      var record = try folder.record(entry.file)
      record.version = update.baseVersion + 1
      record.set(update.values.map { ($0.ordinal, $0.value) }, of: update.objectID.entity)
      try write(record, update.objectID)
    }
    for deletion in changes.deleted {
      change { $0.replaced += [$0.index.remove(deletion.objectID)].compactMap(\.self) }
    }
  }

  private func write(_ record: Record, _ id: ManagedObjectID) throws {
    let file = try folder.add(record, of: id.entity)
    change { transaction in
      transaction.written.append(file)
      transaction.replaced += [transaction.index.set(file, id)].compactMap(\.self)
    }
  }

  /// Keeps metadata in the store's own file.
  public func saveMetadata(_ metadata: StoreMetadata) throws {
    change { $0.index.metadata = metadata }
  }

  private func change(_ body: (inout Transaction) -> Void) {
    transaction.withLock { transaction -> Void in transaction?.change(body) }
  }
}
