import HeartwoodModel
import HeartwoodStore

/// A version of all records, which contexts can stay at while others save.
///
/// A token holds the rows that it needs: what later saves change or delete stays in memory for it, or in the log of an SQLite file, and what they leave
/// alone is shared. Let go of the token, and of the contexts that are pinned to it, to release them.
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

  /// Whether records of a store are in other rows than the store's.
  var hasOwnRows: Bool { stores.contains(where: \.hasOwnRows) }

  /// What stands for `store`; nil where it was not open at the time.
  func source(for store: PersistentStore) -> PinnedStore? { stores.first { $0.store === store } }
}

/// A store whose records are those of one time. What is saved goes to the store.
final class PinnedStore: RecordSource {
  private enum Records {
    /// All of them, indexed by entity ordinal, and what lets them stay in the store's rows.
    case tables([NodeTable], RowKeeper?)
    /// What reads them as they are needed.
    case snapshot(PersistentStore)
  }

  let store: PersistentStore
  let changeNumber: UInt64
  private let records: Records
  /// Whether records are in other rows than the store's, in which nothing can be saved.
  let hasOwnRows: Bool

  /// - Throws: ``PersistenceError/Code/fileCorrupt`` where records cannot be read.
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

  /// The same records, of the store that theirs was converted to; nil if they cannot be read any more.
  init?(_ successor: PersistentStore, like other: PinnedStore) {
    store = successor
    hasOwnRows = other.hasOwnRows
    // The numbers of the two stores have nothing to do with each other, and a save of the successor has another than this.
    changeNumber = 0
    switch other.records {
    case .tables(let tables, _): records = .tables(tables, successor.engine.keepRows())
    case .snapshot(let snapshot):
      // try?: a version that cannot be read is none.
      guard let tables = try? other.scopes.map({ try snapshot.table(of: $0.entity) }) else { return nil }
      records = .tables(tables, nil)
    }
  }

  deinit {
    if case .snapshot(let snapshot) = records { _ = snapshot.engine.close(unlessSavedSince: nil) }
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

  func newReferences(count: Int, for entity: EntityDescription) throws(PersistenceError) -> ReferenceColumn {
    try store.newReferences(count: count, for: entity)
  }

  func save(_ changes: ChangeSet, origin: SaveOrigin) throws -> StoreCommit {
    try store.save(changes, origin: origin)
  }
}

/// What reads the records of the version.
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
  /// The version of the records that the context reads; nil where it reads the newest.
  public var queryGenerationToken: QueryGenerationToken? {
    if saveProgress.underWay?.isPinned == true { return nil }
    return sources.generation.map { QueryGenerationToken(kind: .generation($0)) }
  }

  /// Lets the context read one version of the records from now on, whatever others save, and its children too.
  ///
  /// Objects that have read their values keep them until they are refreshed; faults read the version. ``save()``, ``reset()``,
  /// ``mergeChanges(from:)`` and ``refreshAllObjects()`` let a pinned context move on to the newest version. A save is a conflict
  /// where others have saved the same records since the version. Objects whose records the version does not have count as deleted
  /// until the context reads one that has them; their changes and transient values stay.
  /// Converting a store to one that calls its records otherwise lets the context move on too, and so does that of a store whose version is not in memory.
  ///
  /// Stores in memory, and SQLite stores with a write-ahead log, are pinned in O(1) without reading a record. Of other incremental stores all records are
  /// read. An SQLite store keeps a read transaction open until the version is let go of; its log grows meanwhile.
  ///
  /// - Parameter token: ``QueryGenerationToken/current``, a token of a context of the same coordinator, or nil to read the newest
  ///   again, which releases the version.
  /// - Throws: ``PersistenceError/Code/queryGenerationUnavailable`` in the child of another context, which reads what its parent
  ///   does, and where a token's stores are not open here; what reading records can throw.
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
        "A store of the version is not open in this context's coordinator, or no longer.",
        recovery: "Pin the context to the current version.",
        context: .init(path: pinned.store.placeName)
      )
    }
    pin(to: generation)
  }

  /// Lets a pinned context read the newest version. If that cannot be read, this is noted, and the context reads what stores have without being
  /// pinned.
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
        // try?: what cannot be read now is read when somebody asks for it, who is told why it cannot be.
        try? binding.synchronize()
      }
    }
    // Children are to read it too.
    notes.noteChange()
  }
}

// MARK: ManagedObjectContext: saving

extension ManagedObjectContext {
  /// What a context reads while it saves, if its version has rows of its own: the newest records, since a save is told by the store's rows. Objects keep what
  /// they have read, so what others have saved since the version is a conflict.
  struct LeftGeneration {
    fileprivate let generation: QueryGeneration
    fileprivate let writtenCount: UInt64
  }

  /// Lets the context read the newest records if its version has rows of its own; nil if it has not.
  func leaveOwnRows() -> LeftGeneration? {
    guard let generation = sources.generation, generation.hasOwnRows else { return nil }
    pin(to: nil)
    return LeftGeneration(generation: generation, writtenCount: saveProgress.writtenCount)
  }

  /// Lets the context stay at the newest version if something was saved, and else at the one that it has left.
  func endLeaving(_ left: LeftGeneration?) {
    guard let left else { return }
    sources.pin(to: left.generation)
    if saveProgress.writtenCount == left.writtenCount { return pin(to: left.generation) }
    advanceQueryGeneration()
  }
}
