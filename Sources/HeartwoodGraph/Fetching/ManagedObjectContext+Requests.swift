public import HeartwoodFoundation
public import HeartwoodModel
public import HeartwoodStore

extension ManagedObjectContext {
  /// Returns the objects that match a request, as the stores have them now with this context's changes on top.
  ///
  ///     let request = FetchRequest<ToDo>(where: ToDo.doneKey == false, sortedBy: [ToDo.dueKey.ascending])
  ///     for toDo in try context.fetch(request) { print(toDo.objectID) }
  ///
  /// The condition and the order are evaluated on the stores' columns, and only the results are created as objects, as
  /// faults. Objects with changes are evaluated one by one. So are objects with relationships to changed objects, if
  /// the request reads the changed properties.
  ///
  /// - Throws: `FetchPredicateError` if the predicate or a sort descriptor does not fit the entity, with the place;
  ///   ``PersistenceError/Code/entityUnknown``; ``PersistenceError/Code/objectClassMismatch`` if the entity's objects
  ///   are of another class than `Object`; ``PersistenceError/Code/storeNotOpen`` if one of
  ///   ``FetchRequest/affectedStores`` is not open here, or if the store that kept the entity was removed from the
  ///   coordinator; ``PersistenceError/Code/coordinatorClosed``; and the errors of reading, such as
  ///   ``PersistenceError/Code/storeBusy``, or ``PersistenceError/Code/fileCorrupt`` if a file turns out to be damaged.
  public func fetch<Object>(_ request: FetchRequest<Object>) throws -> [Object] {
    try persistentStoreCoordinator.logging(.fetched, entity: request.entityName, count: \.count) {
      try objects(try FetchPass(request, in: self).matches(), request)
    }
  }

  /// Returns the found objects in the state that the request asks for.
  func objects<Object>(_ matches: [FetchPass.Match], _ request: FetchRequest<Object>) throws -> [Object] {
    // All objects are created before one is read: records may move then.
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

  /// Returns the ids of the objects that ``fetch(_:)-(FetchRequest<Object>)`` would return, in the same order.
  ///
  /// No object is created, so this is the way to find objects for another isolation: ids are Sendable.
  ///
  ///     let ids = try context.fetchObjectIDs(FetchRequest<ToDo>(where: ToDo.doneKey == true))
  ///     try await background.perform { context in
  ///       for id in ids { context.delete(try context.existingObject(with: id)) }
  ///       try context.save()
  ///     }
  ///
  /// - Throws: the same errors as that fetch.
  public func fetchObjectIDs<Object>(_ request: FetchRequest<Object>) throws -> [ManagedObjectID] {
    try persistentStoreCoordinator.logging(.fetched, entity: request.entityName, count: \.count) {
      try FetchPass(request, in: self).matches().map(\.objectID)
    }
  }

  /// Returns the number of objects that ``fetch(_:)-(FetchRequest<Object>)`` would return.
  ///
  /// No object is created, and no value is read that the condition does not need. Without a condition, the stores count
  /// their records.
  ///
  /// - Throws: the same errors as that fetch.
  public func count<Object>(for request: FetchRequest<Object>) throws -> Int {
    try persistentStoreCoordinator.logging(.counted, entity: request.entityName, count: \.self) {
      try FetchPass(request, in: self).count()
    }
  }

  /// Returns a description of the way in which ``fetch(_:)-(FetchRequest<Object>)``, or ``fetchRows(_:)`` if the
  /// request has columns or groups, finds its results, for people to read. Nothing is fetched.
  ///
  /// It does not include the context's own changes, which are evaluated object by object.
  public func queryPlan<Object>(for request: FetchRequest<Object>) throws -> QueryPlan {
    request.asksForRows
      ? try SelectionPass(request, in: self).queryPlan() : try FetchPass(request, in: self).queryPlan()
  }

  /// Returns the objects of the entity of `objectClass` that meet a condition; see
  /// ``fetch(_:)-(FetchRequest<Object>)``.
  public func fetch<Object: ManagedObject>(
    _ objectClass: Object.Type,
    where predicate: FetchPredicate,
    sortedBy sortDescriptors: FetchSortDescriptor...,
    offset: Int = 0,
    limit: Int? = nil
  ) throws -> [Object] {
    try fetch(FetchRequest(where: predicate, sortedBy: sortDescriptors, offset: offset, limit: limit))
  }

  /// Returns all objects of the entity of `objectClass` in an order; see ``fetch(_:)-(FetchRequest<Object>)``.
  public func fetch<Object: ManagedObject>(
    _ objectClass: Object.Type,
    sortedBy first: FetchSortDescriptor,
    _ others: FetchSortDescriptor...,
    offset: Int = 0,
    limit: Int? = nil
  ) throws -> [Object] {
    try fetch(FetchRequest(sortedBy: [first] + others, offset: offset, limit: limit))
  }

  /// Returns the first objects of the entity of `objectClass`; see ``fetch(_:)-(FetchRequest<Object>)``.
  public func fetch<Object: ManagedObject>(
    _ objectClass: Object.Type,
    offset: Int = 0,
    limit: Int
  ) throws -> [Object] {
    try fetch(FetchRequest(offset: offset, limit: limit))
  }

  /// Returns the ids of the objects of the entity of `objectClass` that meet a condition. No object is created.
  public func fetchObjectIDs<Object: ManagedObject>(
    _ objectClass: Object.Type,
    where predicate: FetchPredicate? = nil,
    sortedBy sortDescriptors: FetchSortDescriptor...,
    offset: Int = 0,
    limit: Int? = nil
  ) throws -> [ManagedObjectID] {
    try fetchObjectIDs(FetchRequest<Object>(where: predicate, sortedBy: sortDescriptors, offset: offset, limit: limit))
  }

  /// Returns the number of objects of the entity of `objectClass`. No object is created.
  public func count<Object: ManagedObject>(_ objectClass: Object.Type) throws -> Int {
    try count(for: FetchRequest<Object>())
  }

  /// Returns the number of objects of the entity of `objectClass` that meet a condition. No object is created.
  public func count<Object: ManagedObject>(_ objectClass: Object.Type, where predicate: FetchPredicate) throws -> Int {
    try count(for: FetchRequest<Object>(where: predicate))
  }

  /// Returns the objects of the entity of `objectClass` that meet a condition of Foundation's `#Predicate`.
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
  /// Returns the objects that match a request, without blocking the isolation of the context: the stores' columns are
  /// searched elsewhere.
  ///
  /// The result reflects the stores and the context at the time of the call; objects whose records were deleted since
  /// count as deleted.
  ///
  /// - Parameter progress: reports how far the search has come, and can cancel it. Cancelling the task cancels the
  ///   search too.
  /// - Throws: the errors of ``fetch(_:)-(FetchRequest<Object>)``, and `CancellationError`.
  public func fetchAsynchronously<Object>(
    _ request: FetchRequest<Object>,
    progress: FetchProgress = FetchProgress(),
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [Object] {
    let matches = try await search(request, progress, isolation: isolation)
    return try objects(matches, request)
  }

  /// Returns the ids of the objects that match a request; see ``fetchAsynchronously(_:progress:isolation:)``.
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
    let log = persistentStoreCoordinator.log(.fetched, entity: request.entityName)
    do {
      let matches = try await search(request, progress, isolation: isolation, waitingFor: log)
      log?.tell(entity: request.entityName, count: matches.count)
      return matches
    } catch {
      log?.fail(error)
      throw error
    }
  }

  private func search<Object>(
    _ request: FetchRequest<Object>,
    _ progress: FetchProgress,
    isolation: isolated (any Actor)?,
    waitingFor log: OperationLog?
  ) async throws -> [FetchPass.Match] {
    while let underWay = saveProgress.underWay, sources.generation == nil {
      await underWay.writing.wait(isolation: isolation)
      if saveProgress.underWay === underWay { finishSaveUnderWay() }
    }
    let pass = try FetchPass(request, in: self)
    let candidates = try pass.candidates()
    let searches = try pass.searches(candidates)
    let rows = try await Self.rows(searches, progress)
    return pass.settled(try pass.matches(rows, candidates))
  }

  /// Searches outside the isolation of the context, on a thread that may wait for helper threads.
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
  /// Returns the records that a request finds in the first store, in its order, as tables: a new table begins whenever
  /// the entity changes in that order, and there is one empty table if nothing is found. This context's changes are
  /// ignored.
  package func recordTables<Object>(_ request: FetchRequest<Object>) throws -> [NodeTable] {
    guard let store = persistentStoreCoordinator.persistentStores.first else { return [] }
    let pass = try FetchPass(request, in: self)
    if request.findsAllInOrder, let table = tableInMemory(pass), table.count > 0 { return [try table.verified()] }
    let matches = try pass.matches()
    if let table = tableInMemory(pass), let found = Self.foundTable(matches, pass, table) { return [found] }
    var tables: [NodeTable] = []
    var rest = matches.map(\.objectID)[...]
    while let entity = rest.first?.entity {
      let end = rest.firstIndex { $0.entity !== entity } ?? rest.endIndex
      let references = rest[..<end].map(\.reference)
      // In a store that reads on demand, only these records are read.
      tables.append(try store.engine.table(of: entity, reading: references).records(references))
      rest = rest[end...]
    }
    guard tables.isEmpty else { return tables }
    return [NodeTable(entity: try persistentStoreCoordinator.managedObjectModel.knownEntity(named: request.entityName))]
  }

  /// Returns the table in memory that has all records that a pass searches; nil if there are others.
  private func tableInMemory(_ pass: FetchPass) -> NodeTable? {
    let stores = persistentStoreCoordinator.persistentStores
    guard stores.count == 1, stores[0].capabilities.kind == .atomic, !hasChanges, pass.parts.count == 1 else {
      return nil
    }
    return pass.parts[0].binding.table
  }

  /// Returns the records that were found, all of which are in `table` unless the result is nil. Nothing is looked up by
  /// its reference, and the table itself is returned if all its records were found in their order.
  private static func foundTable(_ matches: [FetchPass.Match], _ pass: FetchPass, _ table: NodeTable) -> NodeTable? {
    guard !matches.isEmpty else { return nil }
    let binding = pass.parts[0].binding
    var ids: [RowID] = []
    ids.reserveCapacity(matches.count)
    for match in matches {
      guard let row = match.row(of: binding) else { return nil }
      ids.append(row)
    }
    if ids.count == table.count, zip(ids, ids.dropFirst()).allSatisfy({ $0.rawValue < $1.rawValue }) { return table }
    var rows = RowGroupListBuilder(entity: table.entity)
    for row in ids { rows.next().append(row.row..<(row.row + 1), of: table.groups[row.group]) }
    return NodeTable(entity: table.entity, groups: rows.finish())
  }
}

extension FetchRequest {
  /// Whether it finds all records in the order in which the store keeps them, so that nothing has to be searched.
  fileprivate var findsAllInOrder: Bool {
    predicate == nil && sortDescriptors.isEmpty && fetchOffset == 0 && fetchLimit == nil
  }
}
