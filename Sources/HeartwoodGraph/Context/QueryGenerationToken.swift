import HeartwoodModel
import HeartwoodStore

/// A version of all records, which contexts can stay at while others save.
///
/// A token holds the rows that it needs: what later saves change or delete stays in memory for it, and what they leave alone is
/// shared. Let go of the token, and of the contexts that are pinned to it, to release them.
public struct QueryGenerationToken: Sendable {
  enum Kind: Sendable {
    case current
    case generation(QueryGeneration)
  }

  let kind: Kind

  /// The newest version at the time when a context is pinned.
  public static let current = QueryGenerationToken(kind: .current)
}

extension QueryGenerationToken: Equatable {
  /// Whether both are the same version, made at the same time.
  public static func == (left: QueryGenerationToken, right: QueryGenerationToken) -> Bool {
    switch (left.kind, right.kind) {
    case (.current, .current): true
    case (.generation(let a), .generation(let b)): a === b
    default: false
    }
  }
}

/// The records of some stores at one time.
final class QueryGeneration: Sendable {
  let stores: [PinnedStore]

  init(_ stores: [PinnedStore]) {
    self.stores = stores
  }

  /// The version of the newest records of the open stores.
  convenience init(_ coordinator: PersistentStoreCoordinator) throws {
    self.init(try coordinator.persistentStores.map { try PinnedStore($0, model: coordinator.managedObjectModel) })
  }

  /// The same version, of the stores that those were converted to. One that calls its records otherwise has no versions of before.
  func followingConversions() -> QueryGeneration {
    guard stores.contains(where: { $0.store.newestSuccessor != nil }) else { return self }
    return QueryGeneration(
      stores.compactMap { pinned in
        guard let successor = pinned.store.newestSuccessor else { return pinned }
        return successor.engine.hasRenamedRecords ? nil : PinnedStore(successor, like: pinned)
      }
    )
  }

  /// What stands for `store`; nil where it was not open at the time.
  func source(for store: PersistentStore) -> PinnedStore? { stores.first { $0.store === store } }
}

/// A store whose records are those of one time. What is saved goes to the store.
final class PinnedStore: RecordSource {
  let store: PersistentStore
  let changeNumber: UInt64
  /// Indexed by entity ordinal.
  private let tables: [NodeTable]

  /// - Throws: ``PersistenceError/Code/fileCorrupt`` where records cannot be read.
  init(_ store: PersistentStore, model: ManagedObjectModel) throws {
    self.store = store
    (tables, changeNumber) = try Self.newestTables(of: store, model)
  }

  /// The same records, of the store that theirs was converted to.
  init(_ successor: PersistentStore, like other: PinnedStore) {
    store = successor
    tables = other.tables
    // The numbers of the two stores have nothing to do with each other, and a save of the successor has another than this.
    changeNumber = 0
  }

  /// All tables as one save left them.
  private static func newestTables(
    of store: PersistentStore,
    _ model: ManagedObjectModel
  ) throws -> ([NodeTable], UInt64) {
    while true {
      let number = store.changeNumber
      let tables = try model.entities.map { try store.table(of: $0) }
      // Another save may have come between two of them.
      if store.changeNumber == number { return (tables, number) }
    }
  }

  var scopes: [ObjectIDScope] { store.scopes }
  func table(of entity: EntityDescription) throws -> NodeTable { tables[entity.ordinal] }
  func count(of entity: EntityDescription) throws -> Int { tables[entity.ordinal].count }

  func newReferences(count: Int, for entity: EntityDescription) throws(PersistenceError) -> ReferenceColumn {
    try store.newReferences(count: count, for: entity)
  }

  func save(_ changes: ChangeSet, origin: SaveOrigin) throws -> StoreCommit {
    try store.save(changes, origin: origin)
  }
}
