import Foundation
import Heartwood

/// Stores that a service keeps, at URLs such as `http://127.0.0.1:8080/todos`.
///
///     let client = RecordServiceClient(token: token)
///     try StoreRegistry.default.register(RecordServiceFormat(client: client))
///     try coordinator.addPersistentStore(at: URL(string: "http://127.0.0.1:8080/todos"))
///
/// All stores of a format use its client: the token, the time limits and the session are the application's, and no options of a store.
public struct RecordServiceFormat: IncrementalStoreFormat {
  /// Where such stores are, and what they can do.
  public let typeDescription = StoreTypeDescription(
    type: "RecordService",
    displayName: "Record service",
    urlSchemes: ["http", "https"],
    capabilities: StoreCapabilities(
      kind: .incremental,
      features: [.persistence, .relationships, .userMetadata, .embeddedModel],
      attributeTypes: Set(AttributeType.allCases),
      referenceKinds: [.uuid]
    )
  )
  private let client: RecordServiceClient

  /// Makes a format whose stores use `client`.
  public init(client: RecordServiceClient) {
    self.client = client
  }

  /// Makes a store; nothing is asked yet.
  public func makeStore(_ setup: StoreSetup) throws -> any IncrementalStore {
    guard case .url(let url) = setup.place else {
      throw PersistenceError(
        .fileNotFound,
        "A store of a service has a URL.",
        recovery: "Give one that begins with http:// or https://."
      )
    }
    return RecordServiceStore(RemoteStore(url: url, client: client), model: setup.model)
  }

  /// Asks the service who the store is.
  public func readMetadata(at url: URL, options: StoreOptions) throws -> StoreMetadata? {
    try RemoteStore(url: url, client: client).head()?.metadata
  }

  /// Asks the service for the model that the store was made with.
  public func readModel(at url: URL, options: StoreOptions) throws -> ManagedObjectModel? {
    try RemoteStore(url: url, client: client).head()?.model.map { try ManagedObjectModel(encoded: $0) }
  }

  /// Lets the service remove the store.
  public func removeStore(at url: URL, options: StoreOptions) throws {
    try RemoteStore(url: url, client: client).remove()
  }

  /// A name beside that of the store, which nobody else gets.
  public func temporaryURL(for url: URL) throws -> URL? {
    url.deletingLastPathComponent().appending(path: "draft-\(UUID().uuidString)")
  }

  /// Lets the service give a store the name of another one, in one step.
  public func moveStore(at temporary: URL, to url: URL, replacing: Bool, options: StoreOptions) throws {
    try RemoteStore(url: url, client: client).take(temporary.lastPathComponent, replacing: replacing)
  }
}
