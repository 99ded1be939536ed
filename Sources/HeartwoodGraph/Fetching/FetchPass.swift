package import HeartwoodModel
import HeartwoodStore

/// One fetch of a context: it searches the tables of the stores, and replaces stored records by the context's own
/// changes.
struct FetchPass {
  /// An object that was found, which need not have been created yet.
  enum Match {
    case row(EntityBinding, RowID)
    case changed(ManagedObject)

    var object: ManagedObject {
      switch self {
      case .row(let binding, let row): binding.object(row)
      case .changed(let object): object
      }
    }

    var objectID: ManagedObjectID {
      switch self {
      case .row(let binding, let row): binding.objectID(row)
      case .changed(let object): object.objectID
      }
    }

    /// Returns the row of a record if it belongs to `other` and has not been changed; otherwise nil.
    func row(of other: EntityBinding) -> RowID? {
      if case .row(let binding, let row) = self, binding === other { row } else { nil }
    }

    /// Returns the object of a row that the context no longer sees, or that may belong to another record now; nil if
    /// the context sees the row.
    ///
    /// - Parameter searched: returns the references of the records of the table at the time of the search.
    func lostObject(_ searched: (EntityBinding) -> SearchedRecords?) -> ManagedObject? {
      guard case .row(let binding, let row) = self, let records = searched(binding) else { return nil }
      if records.epoch != binding.table.epoch { return binding.object(named: records.references[row.group][row.row]) }
      return binding.hasRow(row) ? nil : binding.lostObject(of: records.references[row.group][row.row])
    }
  }

  let context: ManagedObjectContext
  let entities: [EntityDescription]
  let plan: CompiledPredicate?
  let sorts: [CompiledSort]
  let offset: Int
  let limit: Int?
  let parts: [FetchPart]
  private let prefetching: Prefetching
  /// The context's new and changed objects that may match, and those that depend on changed ones; new ones last.
  private let changed: [ManagedObject]

  /// - Parameter expressions: the expressions that are evaluated for the found records.
  init<Object>(
    _ request: FetchRequest<Object>,
    evaluating expressions: [CompiledExpression] = [],
    in context: ManagedObjectContext
  ) throws {
    let model = context.persistentStoreCoordinator.managedObjectModel
    let entity = try context.entity(named: request.entityName)
    let sorts = try request.sortDescriptors.map { try CompiledSort($0, for: entity, in: model) }
    try self.init(request, for: entity, sortedBy: sorts, evaluating: expressions, in: context)
  }

  /// - Parameters:
  ///   - entity: the entity of the request.
  ///   - expressions: the expressions that are evaluated for the found records.
  init<Object>(
    _ request: FetchRequest<Object>,
    for entity: EntityDescription,
    sortedBy sorts: [CompiledSort],
    evaluating expressions: [CompiledExpression],
    in context: ManagedObjectContext
  ) throws {
    let model = context.persistentStoreCoordinator.managedObjectModel
    self.context = context
    self.sorts = sorts
    plan = try request.predicate.map { try PredicateCompiler.compile($0, for: entity, in: model) }
    offset = max(0, request.fetchOffset)
    limit = request.fetchLimit.map { max(0, $0) }
    try context.prepare()
    entities = request.includesSubentities ? model.concreteEntities(under: entity) : [entity]
    parts = try Self.parts(of: request, entities, plan, sorts, evaluating: expressions, in: context)
    prefetching = try Prefetching(request.relationshipKeyPathsForPrefetching, of: entity, in: context)
    guard request.includesPendingChanges else {
      changed = []
      return
    }
    let dependencies = FetchDependencies(plan, sorts.map(\.expression) + expressions, of: entity, in: model)
    changed = try Self.changed(over: parts, entities, dependencies, context)
  }

  /// Returns a part for each entity and store to be searched, in their present state.
  private static func parts<Object>(
    of request: FetchRequest<Object>,
    _ entities: [EntityDescription],
    _ plan: CompiledPredicate?,
    _ sorts: [CompiledSort],
    evaluating expressions: [CompiledExpression],
    in context: ManagedObjectContext
  ) throws -> [FetchPart] {
    let model = context.persistentStoreCoordinator.managedObjectModel
    let affected = try request.affectedStores.map(context.persistentStoreCoordinator.openStores)
    var parts: [FetchPart] = []
    for entity in entities where !entity.isAbstract {
      var fetch = RecordFetch(
        entity: entity,
        predicate: request.predicate,
        sortDescriptors: request.sortDescriptors,
        compiledPredicate: plan,
        compiledSorts: sorts
      )
      fetch.progress = context.fetchProgress
      let stores =
        try affected.map { affected in
          context.stores(keeping: entity).filter { store in affected.contains { $0 === store } }
        }
        ?? context.persistentStoreCoordinator.storesToRead(keeping: entity)
      for store in stores {
        let binding = context.binding(for: entity, in: store)
        try binding.synchronize()
        parts.append(try FetchPart(binding, fetch, evaluating: expressions, in: model))
      }
    }
    return parts
  }

  /// Returns the context's objects that are evaluated one by one. The parts then ignore their records.
  private static func changed(
    over parts: [FetchPart],
    _ entities: [EntityDescription],
    _ dependencies: FetchDependencies,
    _ context: ManagedObjectContext
  ) throws -> [ManagedObject] {
    let dependents = try context.reading { dependencies.dependentsOfChanges(in: context) }
    let saved = try unlikeStored(parts, dependents, context)
    for part in parts { part.hide(saved + context.pending.deleted.objects) }
    let bindings = Set(parts.map { ObjectIdentifier($0.binding) })
    let ordinals = Set(entities.map(\.ordinal))
    return saved.filter { bindings.contains(ObjectIdentifier($0.binding)) && $0.hasRecord }
      + context.pending.inserted.objects.filter { ordinals.contains($0.entity.ordinal) }
  }

  /// Returns the objects that may match differently from their stored records: those that have changes, and those that
  /// depend on them.
  private static func unlikeStored(
    _ parts: [FetchPart],
    _ dependents: FetchDependencies.Dependents,
    _ context: ManagedObjectContext
  ) throws -> [ManagedObject] {
    let updated = context.pending.updated.objects
    switch dependents {
    case .objects(let objects):
      return updated + objects.filter { !$0.isInserted && !$0.isUpdated && !$0.isDeleted }
    case .unknown:
      return try updated + parts.flatMap { try $0.objects() }.filter { !$0.isUpdated && !$0.isDeleted }
    }
  }
}

// MARK: Results

extension FetchPass {
  /// A changed object that matches, and its sort keys.
  struct Candidate {
    let object: ManagedObject
    let keys: [PropertyValue]
  }

  /// Returns the results of the request, in its order.
  func matches() throws -> [Match] {
    let candidates = try candidates()
    let rows = try cancellable { try searches(candidates).map { $0.rows() } }
    return try cancellable { try matches(rows, candidates) }
  }

  /// Calls `body`. If the fetch is cancelled meanwhile, throws `CancellationError` instead of returning a part of the
  /// results, or of throwing the error with which a store has ended its search.
  private func cancellable<Result>(_ body: () throws -> Result) throws -> Result {
    guard let progress = context.fetchProgress else { return try body() }
    let result = Swift.Result { try body() }
    if progress.isCancelled { throw CancellationError() }
    return try result.get()
  }

  /// Returns the changed objects that match.
  ///
  /// - Throws: the errors of reading the objects that they are related to.
  func candidates() throws -> [Candidate] {
    if changed.isEmpty { return [] }
    let evaluator = PredicateEvaluator(ContextSource(context: context))
    return try context.reading {
      try matchingChanges().map { object in
        Candidate(object: object, keys: sorts.map { evaluator.value($0.expression, object).scalar })
      }
    }
  }

  /// Returns the searches of the tables, into whose results `candidates` are merged. Stores that search themselves have
  /// done so already.
  func searches(_ candidates: [Candidate]) throws -> [FetchPart.Search] {
    if parts.count == 1, candidates.isEmpty {
      return [try parts[0].search(offset: offset, limit: limit, isMerged: false)]
    }
    // Each part may contain all results that are wanted.
    let wanted = RecordFetch.limit(limit, behind: offset)
    return try parts.map { try $0.search(offset: 0, limit: wanted, isMerged: true) }
  }

  /// Returns the results of the request, made from the results of the searches.
  func matches(_ rows: [[RowID]], _ candidates: [Candidate]) throws -> [Match] {
    for (part, rows) in zip(parts, rows) where part.hasMoved { part.readAgain(rows) }
    let matches = try wanted(rows, candidates)
    try prefetching.readAhead(matches)
    return parts.contains(where: \.hasMoved) ? settled(matches) : matches
  }

  /// Returns the matches, with objects instead of rows that the context no longer sees: it may have gone back to an
  /// older version during the search, or the records may have moved.
  func settled(_ matches: [Match]) -> [Match] {
    let lossy = parts.filter(\.hasLostRows)
    if lossy.isEmpty { return matches }
    for part in lossy where part.hasMoved { part.readAgain(matches.compactMap { $0.row(of: part.binding) }) }
    let searched = lossy.map { (binding: $0.binding, records: $0.searched) }
    return matches.map { match in
      match.lostObject { binding in searched.first { $0.binding === binding }?.records }.map(Match.changed) ?? match
    }
  }

  private func wanted(_ rows: [[RowID]], _ candidates: [Candidate]) throws -> [Match] {
    if parts.count == 1, candidates.isEmpty { return try rows[0].compactMap(parts[0].match) }
    let found = try sorts.isEmpty ? unsorted(rows, candidates) : sorted(rows, candidates)
    return Array(found.dropFirst(offset).prefix(limit ?? .max))
  }

  func queryPlan() throws -> QueryPlan {
    QueryPlan(steps: try parts.map { try $0.queryPlan(offset: offset, limit: limit) })
  }

  func queryPlan(of grouping: CompiledGrouping) throws -> QueryPlan {
    QueryPlan(steps: try parts.map { try $0.queryPlan(of: grouping, isComplete: parts.count == 1) })
  }

  func count() throws -> Int {
    let all = try cancellable { try parts.reduce(try matchingChanges().count) { try $0 + $1.count() } }
    return min(max(0, all - offset), limit ?? .max)
  }

  /// Returns the records that match, in groups.
  func groups(by grouping: CompiledGrouping) throws -> [RecordGroup] {
    var groups = RecordGroups(by: grouping)
    let changes = try matchingChanges()
    for part in parts {
      let isComplete = parts.count == 1 && changes.isEmpty
      groups.merge(try cancellable { try part.groups(by: grouping, isComplete: isComplete) })
    }
    let evaluator = PredicateEvaluator(ContextSource(context: context))
    try context.reading { for object in changes { groups.add(object, evaluator) } }
    if !groups.groups.isEmpty || !grouping.keys.isEmpty { return groups.groups }
    return [RecordGroup(keys: [], accumulators: grouping.aggregates.map(Accumulator.init))]
  }

  /// Returns the records that match, in groups of one table; nil if they are of several, if the context has changed some,
  /// or if the store makes the groups.
  func groupsOfTable(by grouping: CompiledGrouping) throws -> TableGroups? {
    guard parts.count == 1, let part = parts.first, changed.isEmpty, !grouping.keys.isEmpty else { return nil }
    return try cancellable { try part.groupsInMemory(by: grouping) }
  }

  private func matchingChanges() throws -> [ManagedObject] {
    guard let plan, !changed.isEmpty else { return changed }
    let evaluator = PredicateEvaluator(ContextSource(context: context))
    return try context.reading { changed.filter { evaluator.matches(plan, $0) } }
  }

  /// Returns the matches in the order of the stores, with changed objects in their places and new objects last.
  private func unsorted(_ rows: [[RowID]], _ candidates: [Candidate]) throws -> [Match] {
    let changed = candidates.map(\.object)
    var matches: [Match] = []
    for (part, rows) in zip(parts, rows) {
      let own = changed.filter { $0.binding === part.binding && !$0.isInserted }
      var found = try rows.compactMap { row in try part.match(row).map { (place: part.place(of: row), match: $0) } }
      if !own.isEmpty {
        found += own.map { (place: part.place(of: $0), match: Match.changed($0)) }
        found.sort { $0.place < $1.place }
      }
      matches += found.map(\.match)
    }
    return matches + changed.filter(\.isInserted).map(Match.changed)
  }

  /// The place of a match among matches with equal sort keys: in the order of the parts and of their records, new
  /// objects last.
  private struct Place: Comparable {
    let part: Int
    let record: UInt64

    static func < (left: Self, right: Self) -> Bool {
      (left.part, left.record) < (right.part, right.record)
    }
  }

  /// Returns the matches sorted by values that are read once for each match.
  private func sorted(_ rows: [[RowID]], _ candidates: [Candidate]) throws -> [Match] {
    var found: [(match: Match, keys: [PropertyValue], place: Place)] = []
    for (number, (part, rows)) in zip(parts, rows).enumerated() {
      found += try rows.compactMap { row in
        try part.match(row).map { ($0, part.keys(row, sorts), Place(part: number, record: part.place(of: row))) }
      }
    }
    found += candidates.map { (.changed($0.object), $0.keys, place(of: $0.object)) }
    return found.sorted { left, right in
      if sorts.comes(left.keys, before: right.keys) { return true }
      return !sorts.comes(right.keys, before: left.keys) && left.place < right.place
    }.map(\.match)
  }

  /// Returns the place of a changed object.
  private func place(of object: ManagedObject) -> Place {
    guard !object.isInserted, let part = parts.firstIndex(where: { $0.binding === object.binding }) else {
      return Place(part: parts.count, record: 0)
    }
    return Place(part: part, record: parts[part].place(of: object))
  }
}

extension ManagedObject {
  /// Whether there is a record of the object in the source of its context; another save may have deleted it.
  fileprivate final var hasRecord: Bool { !isDeleted && binding.liveGroup(of: rowID) != nil }
}

// MARK: ContextSource

/// The objects of a context with their changes, for evaluation one by one.
struct ContextSource: PredicateSource {
  let context: ManagedObjectContext

  func value(_ ordinal: Int, of subject: ManagedObject) -> PropertyValue { subject.value(at: ordinal) }

  func objectID(of subject: ManagedObject) -> ManagedObjectID? { subject.objectID }

  func subject(_ id: ManagedObjectID) -> ManagedObject? {
    context.objectIfPresent(id).flatMap { $0.isDeleted ? nil : $0 }
  }
}

extension ManagedObject {
  /// Returns whether the object meets a condition with its unsaved values. The records of related objects are read as
  /// far as the condition needs them.
  ///
  /// - Throws: `FetchPredicateError` if the entity lacks a property that the condition names.
  package final func matches(_ predicate: FetchPredicate) throws -> Bool {
    guard let context = managedObjectContext else { return false }
    let model = context.persistentStoreCoordinator.managedObjectModel
    let plan = try PredicateCompiler.compile(predicate, for: entity, in: model)
    return PredicateEvaluator(ContextSource(context: context)).matches(plan, self)
  }
}
