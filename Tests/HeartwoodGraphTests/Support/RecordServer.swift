import Foundation
import HeartwoodModel
import HeartwoodStore
import Synchronization

/// A server with many databases, each at a URL: `records://host/todos`.
final class RecordServer: Sendable {
  private let databases = Mutex<[String: RecordDatabase]>([:])
  /// What asking the server fails with.
  let failure = Mutex<PersistenceError?>(nil)

  /// The database at a URL, which is made if there is none yet.
  func database(at url: URL) throws -> RecordDatabase {
    try checkAnswers()
    return databases.withLock { databases in
      let database = databases[url.path] ?? RecordDatabase()
      databases[url.path] = database
      return database
    }
  }

  /// What is at a URL; nil if no store was made there.
  func content(at url: URL) throws -> RecordDatabase.Content? {
    try checkAnswers()
    let content = databases.withLock { $0[url.path] }?.current
    return content?.metadata == nil ? nil : content
  }

  func remove(_ url: URL) throws {
    try checkAnswers()
    databases.withLock { $0[url.path] = nil }
  }

  func move(_ source: URL, to destination: URL, replacing: Bool) throws {
    try checkAnswers()
    try databases.withLock { databases in
      guard replacing || databases[destination.path]?.current.metadata == nil else {
        throw PersistenceError(.fileExists, "There is a store already.", context: .init(path: "\(destination)"))
      }
      databases[destination.path] = databases.removeValue(forKey: source.path)
    }
  }

  /// The paths of all stores, sorted.
  var paths: [String] { databases.withLock { $0.filter { $0.value.current.metadata != nil }.keys.sorted() } }

  private func checkAnswers() throws {
    if let failure = failure.withLock({ $0 }) { throw failure }
  }
}

/// The stores of a ``RecordServer``, as an author makes them for a service: the format has the client that all of them use.
struct RecordFormat: IncrementalStoreFormat {
  static let type: StoreType = "RecordServer"
  let server: RecordServer
  /// Whether a store can take the place of another.
  var replacesStores = true
  var isReadOnly = false

  var typeDescription: StoreTypeDescription {
    StoreTypeDescription(
      type: Self.type,
      displayName: "Record server",
      urlSchemes: ["records"],
      capabilities: StoreCapabilities(
        kind: .incremental,
        features: [.persistence, .relationships, .userMetadata, .embeddedModel],
        attributeTypes: Set(AttributeType.allCases),
        referenceKinds: [.integer]
      )
    )
  }

  func makeStore(_ setup: StoreSetup) throws -> any IncrementalStore {
    guard let url = setup.place?.url else {
      throw PersistenceError(.fileNotFound, "The store has no URL.", recovery: "Give one that begins with records://.")
    }
    return RecordStore(setup) { [server] in try server.database(at: url) }
  }

  func readMetadata(at url: URL, options: StoreOptions) throws -> StoreMetadata? {
    try server.content(at: url)?.metadata
  }

  func readModel(at url: URL, options: StoreOptions) throws -> ManagedObjectModel? {
    try server.content(at: url)?.model
  }

  func removeStore(at url: URL, options: StoreOptions) throws { try server.remove(url) }

  func temporaryURL(for url: URL) throws -> URL? {
    replacesStores ? url.deletingLastPathComponent().appending(path: "draft-\(UUID().uuidString)") : nil
  }

  func moveStore(at temporary: URL, to url: URL, replacing: Bool, options: StoreOptions) throws {
    try server.move(temporary, to: url, replacing: replacing)
  }
}
