import HeartwoodModel
import HeartwoodStore

/// A version of all records, to which contexts can be pinned while others save.
///
/// A token retains the rows that it needs: rows that later saves change or delete stay in memory, or in the log of an
/// SQLite file; all other rows are shared. Release the token, and the contexts that are pinned to it, to free them.
public struct QueryGenerationToken: Sendable {
  enum Kind: Sendable {
    case current
    case generation(QueryGeneration)
  }

  let kind: Kind

  /// The newest version at the time at which a context is pinned.
  public static let current = QueryGenerationToken(kind: .current)
}

extension QueryGenerationToken: Equatable {
  /// Returns whether both are the same version, made at the same time.
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

  /// Returns the same version of the stores that its stores were converted to. A store with other references has no
  /// earlier versions.
  func followingConversions() -> QueryGeneration {
    guard stores.contains(where: { $0.store.newestSuccessor != nil }) else { return self }
    return QueryGeneration(
      stores.compactMap { pinned in
        guard let successor = pinned.store.newestSuccessor else { return pinned }
        return successor.engine.hasRenamedRecords ? nil : PinnedStore(successor, like: pinned)
      }
    )
  }

  /// Whether records of a store are in other rows than in the store itself.
  var hasOwnRows: Bool { stores.contains(where: \.hasOwnRows) }

  /// Returns the source that represents `store`; nil if it was not open at the time.
  func source(for store: PersistentStore) -> PinnedStore? { stores.first { $0.store === store } }
}

/// A store with its records as of one time. Saves go to the store itself.
final class PinnedStore: RecordSource {
  private enum Records {
    /// All records, indexed by entity ordinal, and the keeper that makes them stay in the store's rows.
    case tables([NodeTable], RowKeeper?)
    /// A store that reads the records on demand.
    case snapshot(PersistentStore)
  }

  let store: PersistentStore
  let changeNumber: UInt64
  private let records: Records
  /// Whether records are in other rows than the store's. Nothing can be saved in those.
  let hasOwnRows: Bool

  /// - Throws: ``PersistenceError/Code/fileCorrupt`` if records cannot be read.
  init(_ store: PersistentStore, model: ManagedObjectModel) throws {
    self.store = store
    let number = store.changeNumber
    if let snapshot = try store.engine.snapshot() {
      records = .snapshot(snapshot)
      changeNumber = number
      hasOwnRows = true
    } else {
      let keeper = store.engine.keepRows()
      let (tables, number) = try Self.newestTables(of: store, model)
      records = .tables(tables, keeper)
      changeNumber = number
      hasOwnRows = false
    }
  }

  /// Creates the same version of the store that `other`'s was converted to; nil if it cannot be read any more.
  init?(_ successor: PersistentStore, like other: PinnedStore) {
    store = successor
    hasOwnRows = other.hasOwnRows
    // The change numbers of the two stores are unrelated, and a save of the successor has another number than this.
    changeNumber = 0
    switch other.records {
    case .tables(let tables, _): records = .tables(tables, successor.engine.keepRows())
    case .snapshot(let snapshot):
      // try?: without readable records there is no version.
      guard let tables = try? other.scopes.map({ try snapshot.table(of: $0.entity) }) else { return nil }
      records = .tables(tables, nil)
    }
  }

  deinit {
    if case .snapshot(let snapshot) = records { _ = snapshot.engine.close(unlessSavedSince: nil) }
  }

  /// Returns all tables as one save left them.
  private static func newestTables(
    of store: PersistentStore,
    _ model: ManagedObjectModel
  ) throws -> ([NodeTable], UInt64) {
    while true {
      let number = store.changeNumber
      let tables = try model.entities.map { try store.table(of: $0) }
      // Another save may have come between the reads of two tables.
      if store.changeNumber == number { return (tables, number) }
    }
  }

  func newReferences(count: Int, for entity: EntityDescription) throws(PersistenceError) -> ReferenceColumn {
    try store.newReferences(count: count, for: entity)
  }

  func save(_ changes: ChangeSet, origin: SaveOrigin) throws -> StoreCommit {
    try store.save(changes, origin: origin)
  }
}

/// The store that reads the records of the version on demand.
extension PinnedStore {
  private var snapshot: PersistentStore? {
    if case .snapshot(let snapshot) = records { snapshot } else { nil }
  }

  var scopes: [ObjectIDScope] { store.scopes }
  var readsAsNeeded: Bool { snapshot?.readsAsNeeded ?? false }

  func table(of entity: EntityDescription) throws -> NodeTable {
    switch records {
    case .tables(let tables, _): tables[entity.ordinal]
    case .snapshot(let snapshot): try snapshot.table(of: entity)
    }
  }

  func count(of entity: EntityDescription) throws -> Int {
    switch records {
    case .tables(let tables, _): tables[entity.ordinal].count
    case .snapshot(let snapshot): try snapshot.count(of: entity)
    }
  }

  func knownTable(of entity: EntityDescription) throws -> (table: NodeTable, isWhole: Bool) {
    try snapshot?.knownTable(of: entity) ?? (try table(of: entity), true)
  }

  func table(of entity: EntityDescription, reading references: [ReferenceID]) throws -> NodeTable {
    try snapshot?.table(of: entity, reading: references) ?? (try table(of: entity))
  }

  func find(_ fetch: RecordFetch) throws -> FoundRecords? { try snapshot?.find(fetch) }
  func count(_ fetch: RecordFetch) throws -> Int? { try snapshot?.count(fetch) }
  func queryPlan(_ fetch: RecordFetch) throws -> QueryPlan.Step? { try snapshot?.queryPlan(fetch) }
  func groups(_ fetch: GroupFetch) throws -> [RecordGroup]? { try snapshot?.groups(fetch) }
  func queryPlan(_ fetch: GroupFetch) throws -> QueryPlan.Step? { try snapshot?.queryPlan(fetch) }
}

// MARK: ManagedObjectContext: query generations

extension ManagedObjectContext {
  /// The version of the records that the context reads; nil if it reads the newest.
  public var queryGenerationToken: QueryGenerationToken? {
    if saveProgress.underWay?.isPinned == true { return nil }
    return sources.generation.map { QueryGenerationToken(kind: .generation($0)) }
  }

  /// Pins the context and its children to one version of the records, whatever others save.
  ///
  ///     try context.setQueryGeneration(from: .current)
  ///
  /// Objects that have read their values keep them until they are refreshed; faults read the version. ``save()``,
  /// ``reset()``, ``mergeChanges(from:)`` and ``refreshAllObjects()`` move a pinned context on to the newest version. A
  /// save has a conflict if others have saved the same records since the version. Objects whose records are not in the
  /// version count as deleted until the context reads a version that has them; their changes and transient values stay.
  /// The context also moves on if a store is converted to one with other references, or if a store is converted whose
  /// version is not in memory.
  ///
  /// Stores in memory, and SQLite stores with a write-ahead log, are pinned in O(1) without reading a record. For other
  /// incremental stores, this reads all records. An SQLite store keeps a read transaction open until the version is
  /// released; its log grows meanwhile.
  ///
  /// - Parameter token: ``QueryGenerationToken/current``, a token of a context of the same coordinator, or nil to read
  ///   the newest records again, which releases the version.
  /// - Throws: ``PersistenceError/Code/queryGenerationUnavailable`` if the context is a child, which reads what its
  ///   parent does, or if stores of the token are not open here; the errors of reading records.
  public func setQueryGeneration(from token: QueryGenerationToken?) throws {
    guard case .stores = sources.upstream else {
      throw PersistenceError(
        .queryGenerationUnavailable,
        "A child context reads what its parent reads.",
        recovery: "Pin the context at the end of the chain, which saves to the stores."
      )
    }
    finishSaveUnderWay()
    try prepare()
    let generation: QueryGeneration? =
      switch token?.kind {
      case nil: nil
      case .current: try QueryGeneration(persistentStoreCoordinator)
      case .generation(let generation): generation.followingConversions()
      }
    for pinned in generation?.stores ?? [] where !persistentStoreCoordinator.isOpen(pinned.store) {
      throw PersistenceError(
        .queryGenerationUnavailable,
        "A store of the version is not open in this context's coordinator, or no longer open.",
        recovery: "Pin the context to the current version.",
        context: .init(path: pinned.store.placeName)
      )
    }
    pin(to: generation)
  }

  /// Moves a pinned context on to the newest version. If that version cannot be read, the failure is noted, and the
  /// context reads the stores unpinned.
  func advanceQueryGeneration() {
    finishSaveUnderWay()
    if sources.generation == nil { return }
    do {
      pin(to: try QueryGeneration(persistentStoreCoordinator))
    } catch {
      noteReadFailure(.unreadable([], error))
      pin(to: nil)
    }
  }

  func pin(to newGeneration: QueryGeneration?) {
    sources.pin(to: newGeneration)
    // An older version may lack rows.
    pending.movingObjects {
      for binding in savedBindings {
        guard let store = binding.store else { continue }
        binding.bind(to: sources.source(for: store))
        // try?: records that cannot be read now are read on demand, and the error is reported then.
        try? binding.synchronize()
      }
    }
    // Children are to read the new version too.
    notes.noteChange()
  }
}

// MARK: ManagedObjectContext: saving

extension ManagedObjectContext {
  /// The version that a context has left during a save, if that version has rows of its own: a save refers to the
  /// store's rows, so the context reads the newest records. Objects keep their values, so changes that others have
  /// saved since the version are conflicts.
  struct LeftGeneration {
    fileprivate let generation: QueryGeneration
    fileprivate let writtenCount: UInt64
  }

  /// Makes the context read the newest records if its version has rows of its own; returns nil if it has none.
  func leaveOwnRows() -> LeftGeneration? {
    guard let generation = sources.generation, generation.hasOwnRows else { return nil }
    pin(to: nil)
    return LeftGeneration(generation: generation, writtenCount: saveProgress.writtenCount)
  }

  /// Pins the context to the newest version if something was saved, and else to the one that it has left.
  func endLeaving(_ left: LeftGeneration?) {
    guard let left else { return }
    sources.pin(to: left.generation)
    if saveProgress.writtenCount == left.writtenCount { return pin(to: left.generation) }
    advanceQueryGeneration()
  }
}
