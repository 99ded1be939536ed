import HeartwoodModel

/// What the object ids of a history are made with: the entities that it names, as the model of the store has them.
struct HistoryScopes {
  private let scopes: [String: ObjectIDScope]
  private let path: String?

  /// - Parameter scopes: those of the store, one for each entity.
  init(_ scopes: [ObjectIDScope], path: String?) {
    self.scopes = Dictionary(scopes.map { ($0.entity.name, $0) }) { first, _ in first }
    self.path = path
  }

  func scope(ofEntity name: String) throws(PersistenceError) -> ObjectIDScope {
    if let scope = scopes[name] { return scope }
    throw PersistenceError(
      .modelIncompatible,
      "The history names an entity that the model does not have.",
      recovery: "Open the store with the model that it was written with, or purge the history.",
      context: .init(path: path, entity: name)
    )
  }
}
