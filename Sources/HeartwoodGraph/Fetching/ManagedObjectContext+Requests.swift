public import HeartwoodFoundation
public import HeartwoodModel
public import HeartwoodStore

extension ManagedObjectContext {
  /// The objects that a request asks for, as the stores have them now with this context's changes on top.
  ///
  /// The condition and the order are evaluated on the stores' columns; objects are made of what is found alone, as faults. Objects
  /// with changes are evaluated one by one, and so are those that relationships lead from to objects with changes, where the request
  /// looks at what has changed there.
  ///
  /// - Throws: `FetchPredicateError` where the predicate or a sort descriptor does not fit the entity, with the place;
  ///   ``PersistenceError/Code/entityUnknown``; ``PersistenceError/Code/objectClassMismatch`` where the entity's objects are of another
  ///   class than the request says; ``PersistenceError/Code/storeNotOpen`` where one of ``FetchRequest/affectedStores`` is not open here, or if the store that kept the entity
  ///   was removed from the coordinator;
  ///   ``PersistenceError/Code/coordinatorClosed``; and what reading can throw, such as ``PersistenceError/Code/storeBusy``, or
  ///   ``PersistenceError/Code/fileCorrupt`` where a file turns out to be damaged.
  public func fetch<Object>(_ request: FetchRequest<Object>) throws -> [Object] {
    let log = persistentStoreCoordinator.log(.fetched)
    let objects = try objects(try FetchPass(request, in: self).matches(), request)
    log?.tell(entity: request.entityName, count: objects.count)
    return objects
  }

  /// The objects that were found, as the request wants them.
  func objects<Object>(_ matches: [FetchPass.Match], _ request: FetchRequest<Object>) throws -> [Object] {
    // All are made before one is read: records may move then.
    try matches.map(\.object).map { object in
      guard let typed = object as? Object else { throw mismatch(object, request) }
      if request.refreshesRefetchedObjects, !object.isFault, canBeRefreshed(object) {
        refresh(object, mergeChanges: true)
      }
      if !request.returnsObjectsAsFaults, object.isFault { object.fireFault() }
      return typed
    }
  }

  func mismatch<Object>(_ object: ManagedObject, _ request: FetchRequest<Object>) -> PersistenceError {
    PersistenceError(
      .objectClassMismatch,
      "The entity's objects are of the class \(type(of: object)), and \(Object.self) was asked for.",
      context: .init(entity: request.entityName)
    )
  }

  /// The ids of the objects that ``fetch(_:)-(FetchRequest<Object>)`` would give. No object is made.
  public func fetchObjectIDs<Object>(_ request: FetchRequest<Object>) throws -> [ManagedObjectID] {
    let log = persistentStoreCoordinator.log(.fetched)
    let ids = try FetchPass(request, in: self).matches().map(\.objectID)
    log?.tell(entity: request.entityName, count: ids.count)
    return ids
  }

  /// How many objects ``fetch(_:)-(FetchRequest<Object>)`` would give. No object is made.
  public func count<Object>(for request: FetchRequest<Object>) throws -> Int {
    let log = persistentStoreCoordinator.log(.counted)
    let count = try FetchPass(request, in: self).count()
    log?.tell(entity: request.entityName, count: count)
    return count
  }

  /// How ``fetch(_:)-(FetchRequest<Object>)``, or ``fetchRows(_:)`` where the request asks for columns or groups, finds what it gives, for
  /// people to read. Nothing is fetched.
  ///
  /// The context's own changes are not in it: they are evaluated object by object.
  public func queryPlan<Object>(for request: FetchRequest<Object>) throws -> QueryPlan {
    request.asksForRows
      ? try SelectionPass(request, in: self).queryPlan() : try FetchPass(request, in: self).queryPlan()
  }

  /// The objects of the entity of `objectClass` that meet a condition; see ``fetch(_:)-(FetchRequest<Object>)``.
  public func fetch<Object: ManagedObject>(
    _ objectClass: Object.Type,
    where predicate: FetchPredicate,
    sortedBy sortDescriptors: FetchSortDescriptor...,
    offset: Int = 0,
    limit: Int? = nil
  ) throws -> [Object] {
    try fetch(FetchRequest(where: predicate, sortedBy: sortDescriptors, offset: offset, limit: limit))
  }

  /// All objects of the entity of `objectClass` in an order; see ``fetch(_:)-(FetchRequest<Object>)``.
  public func fetch<Object: ManagedObject>(
    _ objectClass: Object.Type,
    sortedBy first: FetchSortDescriptor,
    _ others: FetchSortDescriptor...,
    offset: Int = 0,
    limit: Int? = nil
  ) throws -> [Object] {
    try fetch(FetchRequest(sortedBy: [first] + others, offset: offset, limit: limit))
  }

  /// The first objects of the entity of `objectClass`; see ``fetch(_:)-(FetchRequest<Object>)``.
  public func fetch<Object: ManagedObject>(
    _ objectClass: Object.Type,
    offset: Int = 0,
    limit: Int
  ) throws -> [Object] {
    try fetch(FetchRequest(offset: offset, limit: limit))
  }

  /// The ids of the objects of the entity of `objectClass` that meet a condition. No object is made.
  public func fetchObjectIDs<Object: ManagedObject>(
    _ objectClass: Object.Type,
    where predicate: FetchPredicate? = nil,
    sortedBy sortDescriptors: FetchSortDescriptor...,
    offset: Int = 0,
    limit: Int? = nil
  ) throws -> [ManagedObjectID] {
    try fetchObjectIDs(FetchRequest<Object>(where: predicate, sortedBy: sortDescriptors, offset: offset, limit: limit))
  }

  /// How many objects there are of the entity of `objectClass`.
  public func count<Object: ManagedObject>(_ objectClass: Object.Type) throws -> Int {
    try count(for: FetchRequest<Object>())
  }

  /// How many objects of the entity of `objectClass` meet a condition.
  public func count<Object: ManagedObject>(_ objectClass: Object.Type, where predicate: FetchPredicate) throws -> Int {
    try count(for: FetchRequest<Object>(where: predicate))
  }

  /// The objects of the entity of `objectClass` that meet a condition of Foundation's `#Predicate`.
  public func fetch<Object: ManagedObject>(
    _ objectClass: Object.Type,
    where predicate: Predicate<Object>,
    sortedBy sortDescriptors: FetchSortDescriptor...,
    offset: Int = 0,
    limit: Int? = nil
  ) throws -> [Object] {
    let predicate = try FetchPredicate(predicate)
    return try fetch(FetchRequest(where: predicate, sortedBy: sortDescriptors, offset: offset, limit: limit))
  }
}

// MARK: Asynchronous fetching

extension ManagedObjectContext {
  /// The objects that a request asks for, found without holding up the isolation of the context: the stores' columns are searched
  /// elsewhere.
  ///
  /// The result is as the stores and the context were when it was asked for; objects whose records have gone since count as deleted.
  ///
  /// - Parameter progress: tells how far it has come, and stops it. Cancelling the task does so too.
  /// - Throws: as ``fetch(_:)-(FetchRequest<Object>)``, and `CancellationError`.
  public func fetchAsynchronously<Object>(
    _ request: FetchRequest<Object>,
    progress: FetchProgress = FetchProgress(),
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [Object] {
    let matches = try await search(request, progress, isolation: isolation)
    return try objects(matches, request)
  }

  /// The ids of the objects that a request asks for; see ``fetchAsynchronously(_:progress:isolation:)``.
  public func fetchObjectIDsAsynchronously<Object>(
    _ request: FetchRequest<Object>,
    progress: FetchProgress = FetchProgress(),
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [ManagedObjectID] {
    try await search(request, progress, isolation: isolation).map(\.objectID)
  }

  private func search<Object>(
    _ request: FetchRequest<Object>,
    _ progress: FetchProgress,
    isolation: isolated (any Actor)?
  ) async throws -> [FetchPass.Match] {
    let log = persistentStoreCoordinator.log(.fetched)
    while let underWay = saveProgress.underWay, sources.generation == nil {
      await underWay.writing.wait(isolation: isolation)
      if saveProgress.underWay === underWay { finishSaveUnderWay() }
    }
    let pass = try FetchPass(request, in: self)
    let candidates = try pass.candidates()
    let searches = try pass.searches(candidates)
    let rows = try await Self.rows(searches, progress)
    let matches = pass.settled(try pass.matches(rows, candidates))
    log?.tell(entity: request.entityName, count: matches.count)
    return matches
  }

  /// Searches off the isolation of the context, on a thread that may wait for others which help.
  private static func rows(_ searches: [FetchPart.Search], _ progress: FetchProgress) async throws -> [[RowID]] {
    progress.begin(searches.reduce(0) { $0 + $1.unitCount })
    return try await withTaskCancellationHandler {
      try await WaitingWork.run { () throws -> [[RowID]] in
        try searches.map { search in
          let rows = search.rows(progress)
          if progress.isCancelled { throw CancellationError() }
          return rows
        }
      }
    } onCancel: {
      progress.cancel()
    }
  }
}

// MARK: Records

extension ManagedObjectContext {
  /// The records that a request finds in the first store, in its order, as tables: as many as the order changes from one entity to another, and
  /// an empty one if there are none. What this context has changed does not count.
  package func recordTables<Object>(_ request: FetchRequest<Object>) throws -> [NodeTable] {
    guard let store = persistentStoreCoordinator.persistentStores.first else { return [] }
    var tables: [NodeTable] = []
    var rest = try fetchObjectIDs(request)[...]
    while let entity = rest.first?.entity {
      let end = rest.firstIndex { $0.entity !== entity } ?? rest.endIndex
      let found = rest[..<end]
      // Of a store that reads piecemeal only these are read.
      tables.append(try Self.table(of: found, from: store.engine.table(of: entity, reading: found.map(\.reference))))
      rest = rest[end...]
    }
    guard tables.isEmpty else { return tables }
    return [NodeTable(entity: try persistentStoreCoordinator.managedObjectModel.knownEntity(named: request.entityName))]
  }

  /// The records of `ids`, in that order.
  private static func table(of ids: ArraySlice<ManagedObjectID>, from table: NodeTable) throws -> NodeTable {
    var rows = RowGroupListBuilder(entity: table.entity)
    for id in ids {
      guard let row = try table.row(of: id.reference) else { continue }
      rows.next().append(row.row..<(row.row + 1), of: table.groups[row.group])
    }
    return NodeTable(entity: table.entity, groups: rows.finish())
  }
}
