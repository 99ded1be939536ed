import HeartwoodModel
import HeartwoodStore

/// The part of a fetch that searches one table, or a store that can find records itself.
final class FetchPart {
  /// The way in which records are found.
  enum Search: Sendable {
    case table(TableSearch)
    /// The store has found the rows.
    case found([RowID])

    /// Returns the rows that are found; a table is searched now.
    func rows(_ progress: FetchProgress? = nil) -> [RowID] {
      switch self {
      case .table(let search): progress.map(search.rows) ?? search.rows()
      case .found(let rows): rows
      }
    }

    /// The number of units of progress.
    var unitCount: Int {
      switch self {
      case .table(let search): search.unitCount
      case .found: 0
      }
    }
  }

  let binding: EntityBinding
  /// The complete request.
  private let fetch: RecordFetch
  private let model: ManagedObjectModel
  /// The expressions that are evaluated for the found records, besides the sort keys if other results are merged in.
  private let selected: [CompiledExpression]
  /// The tables on which expressions are evaluated.
  private var tables: QueryTables
  private var table: NodeTable
  /// Whether the tables have all records that are searched, and all that the expressions read.
  private var isSearchable = false
  /// The objects that the context has changed or deleted: their records in the table are ignored.
  private var hidden: [ManagedObject] = []

  /// - Parameter selected: the expressions that are evaluated for the found records.
  init(
    _ binding: EntityBinding,
    _ fetch: RecordFetch,
    evaluating selected: [CompiledExpression],
    in model: ManagedObjectModel
  ) throws {
    self.binding = binding
    self.fetch = fetch
    self.model = model
    self.selected = selected
    table = binding.table
    tables = QueryTables(tables: [], scopes: binding.scopes)
    // A table of which everything has been read is faster than the store.
    if !binding.isPartial { try makeSearchable() }
  }

  func hide(_ objects: [ManagedObject]) {
    hidden += objects.filter { $0.binding === binding }
  }

  /// Returns the version of a record in the table.
  func version(of row: RowID) -> RecordVersion { RecordVersion(group: table.groups[row.group], row: row.row) }

  /// Returns a number by which rows are sorted in the store's order.
  func place(of row: RowID) -> UInt64 { table.place(of: row) }

  /// Returns the number by which a changed object is sorted in the store's order.
  func place(of object: ManagedObject) -> UInt64 {
    table.place(of: object.objectID.reference, in: row(of: object) ?? object.rowID)
  }

  /// Whether the context has gone back to a version that lacks rows of the table, or the records are in other rows now.
  var hasLostRows: Bool { hasMoved || binding.table.firstRowMissing(of: table) != nil }

  /// Whether the records are in other rows now, because the store has released them and read them again.
  var hasMoved: Bool { binding.table.epoch != table.epoch }

  /// Reads the records of rows of the table that have moved, all together.
  func readAgain(_ rows: [RowID]) {
    // try?: records that cannot be read now are read when their objects are used, and the error is reported then.
    try? binding.read(rows.map(table.reference))
  }

  /// The references of the records in the table, to find them after they have moved.
  var searched: SearchedRecords { SearchedRecords(epoch: table.epoch, references: table.groups.map(\.references)) }

  /// The rows of the hidden objects, as far as they are known: rows of unsaved records change when more has been read.
  private var hiddenRows: Set<RowID> { Set(hidden.lazy.compactMap(row)) }

  /// Returns the row that the table has for an object.
  private func row(of object: ManagedObject) -> RowID? {
    // try?: if two records have the same reference, the record is ambiguous.
    hasMoved ? try? table.row(of: object.objectID.reference) : object.rowID
  }
}

// MARK: Tables

extension FetchPart {
  private func makeSearchable() throws {
    if isSearchable { return }
    try binding.readWhole()
    let evaluated = Self.destinations(selected + fetch.compiledSorts.map(\.expression))
    try takeTables(following: evaluated.union(fetch.compiledPredicate?.destinationOrdinals ?? []))
    isSearchable = true
  }

  private static func destinations(_ expressions: [CompiledExpression]) -> Set<Int> {
    expressions.reduce(into: []) { $0.formUnion($1.destinationOrdinals) }
  }

  /// Takes the table, and the tables of the entities in `destinations` and of their subentities, which are read if
  /// necessary.
  private func takeTables(following destinations: Set<Int>) throws {
    let needed = destinations.reduce(into: Set<Int>()) { needed, ordinal in
      needed.formUnion([ordinal] + model.entities[ordinal].subentityOrdinals)
    }
    if needed.contains(binding.entity.ordinal) { try binding.readWhole() }
    take(try model.entities.map { needed.contains($0.ordinal) ? try binding.source?.table(of: $0) : nil })
  }

  /// Takes the newest table, and others.
  private func take(_ others: [NodeTable?]) {
    table = binding.table
    var all = others
    all[binding.entity.ordinal] = table
    tables = QueryTables(tables: all, scopes: binding.scopes)
  }

  /// Takes the table, and reads what the expressions need for some of its rows.
  ///
  /// - Returns: the rows of the found records in the table that was taken.
  private func takeTables(evaluating expressions: [CompiledExpression], for found: FoundRecords) throws -> [RowID] {
    let survey = DependencySurvey(nil, expressions)
    let references = { found.rows.map(found.table.reference) }
    if survey.isOpaque {
      try takeTables(following: Self.destinations(expressions))
    } else if let source = binding.source, !survey.paths.isEmpty {
      var reading = RelatedReading(model.entities, scopes: binding.scopes) { try source.table(of: $0, reading: $1) }
      try reading.follow(survey.paths, from: [binding.entity.ordinal: references()])
      if let own = reading.tables.table(binding.entity.ordinal) { binding.take(own) }
      take(reading.tables.tables)
    } else {
      take(model.entities.map { _ in nil })
    }
    if table.epoch != found.table.epoch {
      // They have been released since.
      try binding.read(references())
      take(tables.tables)
    } else if !binding.rowsMayMove {
      return found.rows
    }
    return try references().compactMap { try table.row(of: $0) }
  }
}

/// The references of the records that were searched, by group and row.
struct SearchedRecords {
  /// The epoch of their table.
  let epoch: UInt64
  let references: [ReferenceColumn]
}

// MARK: Finding

extension FetchPart {
  /// Returns the objects of all records; those that do not exist yet are created as faults.
  func objects() throws -> [ManagedObject] {
    try makeSearchable()
    return table.liveRows.map(binding.object)
  }

  /// Returns the match in `row`. An unsaved record gets its object immediately, since its row may change soon; nil if
  /// it was removed since the table was taken.
  func match(_ row: RowID) throws -> FetchPass.Match? {
    if hasMoved { return .changed(binding.object(named: table.reference(row))) }
    guard let first = table.firstUnsavedRow, row.rawValue >= first.rawValue else { return .row(binding, row) }
    let newest = try binding.table.row(of: table.reference(row))
    return newest.map { .changed(binding.object($0)) }
  }

  /// Returns the search for the rows that match and are not hidden, sorted.
  ///
  /// - Parameter isMerged: whether other results are merged in, so that sort keys are evaluated.
  func search(offset: Int, limit: Int?, isMerged: Bool) throws -> Search {
    let expressions = selected + (isMerged ? fetch.compiledSorts.map(\.expression) : [])
    if let rows = try foundRows(offset, limit, evaluating: expressions) { return .found(rows) }
    try makeSearchable()
    try tables.checkReadable(
      (fetch.compiledPredicate?.dataRead ?? []).union(Self.dataRead(fetch.compiledSorts.map(\.expression)))
    )
    return .table(TableSearch(query, sortedBy: fetch.compiledSorts, offset: offset, limit: limit))
  }

  /// Returns the rows that the store finds itself; nil if it does not.
  private func foundRows(
    _ offset: Int,
    _ limit: Int?,
    evaluating expressions: [CompiledExpression] = []
  ) throws -> [RowID]? {
    guard !isSearchable, let source = binding.source else { return nil }
    // Each hidden row may precede one that is wanted.
    let candidates = RecordFetch.limit(limit, behind: offset, among: hidden.count)
    let request = hidden.isEmpty ? (offset, limit) : (0, candidates)
    guard let found = try source.find(fetch.limited(offset: request.0, limit: request.1)) else { return nil }
    binding.take(found)
    if hidden.isEmpty { return try takeTables(evaluating: expressions, for: found) }
    let excluded = Set(hidden.lazy.map(\.objectID.reference))
    let rest = found.rows.filter { !excluded.contains(found.table.reference($0)) }
    let rows = rest.dropFirst(offset).prefix(limit ?? .max)
    return try takeTables(evaluating: expressions, for: FoundRecords(rows: Array(rows), table: found.table))
  }

  /// Returns the plan by which the rows are found.
  func queryPlan(offset: Int, limit: Int?) throws -> QueryPlan.Step {
    let request = fetch.limited(offset: offset, limit: limit)
    if !isSearchable, let step = try binding.source?.queryPlan(request) { return step }
    return try plan { $0.plan(sortedBy: fetch.compiledSorts, offset: offset, limit: limit) }
  }

  /// Returns the plan by which the rows are found in memory.
  private func plan(_ plan: (TableQuery) -> QueryPlan.Step) throws -> QueryPlan.Step {
    let readsAll = !isSearchable && binding.isPartial
    try makeSearchable()
    var step = plan(query)
    step.readsAll = readsAll
    return step
  }

  /// Returns how many rows match and are not hidden.
  func count() throws -> Int {
    if !isSearchable {
      if let count = try storedCount() { return count }
      if let rows = try foundRows(0, nil) { return rows.count }
    }
    try makeSearchable()
    try tables.checkReadable(fetch.compiledPredicate?.dataRead ?? [])
    return query.count()
  }

  /// Returns the number of records as counted by the store, without reading them; nil if it does not count.
  private func storedCount() throws -> Int? {
    guard let source = binding.source else { return nil }
    if hidden.isEmpty { return try source.count(fetch) }
    // A store can leave out hidden records only when it makes groups, so all others form one group.
    let counting = CompiledGrouping(keys: [], aggregates: [CompiledAggregate(.count, of: .subject)])
    let groups = try source.groups(request(counting, true))
    return groups?.reduce(0) { sum, group in
      if case .count(let count)? = group.accumulators.first { sum + Int(count) } else { sum }
    }
  }

  /// Returns the rows that match and are not hidden, in groups.
  ///
  /// - Parameter isComplete: whether nothing is added to the groups later.
  func groups(by grouping: CompiledGrouping, isComplete: Bool) throws -> [RecordGroup] {
    if !isSearchable, let groups = try binding.source?.groups(request(grouping, isComplete)) ?? foundGroups(grouping) {
      return groups
    }
    return try tableGroups(by: grouping).recordGroups()
  }

  /// Returns the rows that match and are not hidden, in groups; nil if the store makes the groups, or finds the records.
  func groupsInMemory(by grouping: CompiledGrouping) throws -> TableGroups? {
    guard isSearchable else { return nil }
    return try tableGroups(by: grouping)
  }

  private func tableGroups(by grouping: CompiledGrouping) throws -> TableGroups {
    try makeSearchable()
    try tables.checkReadable((fetch.compiledPredicate?.dataRead ?? []).union(Self.dataRead(grouping.expressions)))
    return query.groups(by: grouping)
  }

  /// Returns the groups of the records that the store finds, if it does not make groups itself; nil if it finds none
  /// itself, or everything has been read.
  private func foundGroups(_ grouping: CompiledGrouping) throws -> [RecordGroup]? {
    guard fetch.compiledPredicate != nil, let rows = try foundRows(0, nil, evaluating: selected) else { return nil }
    // Many rows are processed faster on columns.
    if try binding.source?.knownTable(of: binding.entity).isWhole ?? true { return nil }
    try tables.checkReadable(Self.dataRead(grouping.expressions))
    let evaluator = PredicateEvaluator(tables)
    var groups = RecordGroups(by: grouping)
    for row in rows { groups.add(QueryTables.Subject(entityOrdinal: binding.entity.ordinal, row: row), evaluator) }
    return groups.groups
  }

  /// Returns the plan by which the groups are made.
  func queryPlan(of grouping: CompiledGrouping, isComplete: Bool) throws -> QueryPlan.Step {
    if !isSearchable, let source = binding.source {
      if let step = try source.queryPlan(request(grouping, isComplete)) { return step }
      if fetch.compiledPredicate != nil, var step = try source.queryPlan(fetch) {
        step.storeLines.append("what is found is grouped in memory")
        return step
      }
    }
    return try plan { $0.plan(sortedBy: []) }
  }

  private func request(_ grouping: CompiledGrouping, _ isComplete: Bool) -> GroupFetch {
    GroupFetch(fetch, by: grouping, without: hidden.map(\.objectID.reference), isComplete: isComplete)
  }

  private var query: TableQuery {
    var query = TableQuery(tables, table, where: fetch.compiledPredicate, without: hiddenRows)
    query.progress = fetch.progress
    return query
  }
}

// MARK: Evaluating

extension FetchPart {
  /// Returns the values of expressions for each of the rows, one row after the other.
  ///
  /// - Throws: the reason why a value could not be read.
  func values(_ expressions: [CompiledExpression], of rows: [RowID]) throws -> [PropertyValue] {
    try checkReadable(expressions, of: rows)
    return tables.values(expressions, of: rows, entityOrdinal: binding.entity.ordinal)
  }

  private static func dataRead(_ expressions: [CompiledExpression]) -> Set<CompiledProperty> {
    expressions.reduce(into: []) { $0.formUnion($1.dataRead) }
  }

  private func checkReadable(_ expressions: [CompiledExpression], of rows: [RowID]) throws {
    let data = Self.dataRead(expressions)
    if data.isEmpty { return }
    let own = Set(expressions.compactMap(\.ownProperty)).intersection(data)
    for property in own {
      for row in rows {
        if let error = table.groups[row.group].unreadable(row: row.row, ordinal: property.ordinal) { throw error }
      }
    }
    // Values that are reached over relationships may be of any record that was read.
    try tables.checkReadable(Self.dataRead(expressions.filter { $0.ownProperty == nil }))
  }

  /// Returns the values by which a row is sorted.
  func keys(_ row: RowID, _ sorts: [CompiledSort]) -> [PropertyValue] {
    sorts.map { value($0.expression, row) }
  }

  /// Returns the value of an expression for a row.
  func value(_ expression: CompiledExpression, _ row: RowID) -> PropertyValue {
    let subject = QueryTables.Subject(entityOrdinal: binding.entity.ordinal, row: row)
    return PredicateEvaluator(tables).value(expression, subject).scalar
  }
}
