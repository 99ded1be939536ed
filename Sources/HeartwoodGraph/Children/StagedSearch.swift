import HeartwoodModel
import HeartwoodStore

/// A fetch from a store with a parent's changes: the store finds unchanged records, and changed ones are evaluated
/// here.
struct StagedSearch {
  private let fetch: RecordFetch
  private let view: StagedView
  /// The records that may match differently from those in the base: the inserted, changed and deleted ones, and those
  /// that depend on them.
  private let changed: Set<ReferenceID>

  /// Creates a search; nil if the records that match differently cannot be determined.
  ///
  /// - Parameter expressions: the expressions that are evaluated besides the predicate and the sort keys.
  init?(_ fetch: RecordFetch, evaluating expressions: [CompiledExpression] = [], in view: StagedView) throws {
    let expressions = fetch.compiledSorts.map(\.expression) + expressions
    let dependencies = FetchDependencies(fetch.compiledPredicate, expressions, of: fetch.entity, in: view.model)
    guard !dependencies.isOpaque, let dependents = try view.dependents(of: fetch.entity, dependencies) else {
      return nil
    }
    self.fetch = fetch
    self.view = view
    changed = (view.pending[fetch.entity.ordinal] ?? []).reduce(into: dependents) { changed, records in
      changed.formUnion(records.inserted.map(\.reference))
      changed.formUnion(records.references(changingAt: dependencies.ownOrdinals))
    }
  }
}

extension StagedSearch {
  /// Returns the found records; nil if the base does not find them.
  func find() throws -> FoundRecords? {
    guard let found = try view.base.find(changed.isEmpty ? fetch : fetch.limited(offset: 0, limit: candidateCount))
    else { return nil }
    var references = found.rows.map(found.table.reference)
    if !changed.isEmpty {
      references.removeAll(where: changed.contains)
      references = try merged(references, try matchingChanges(view.read))
      references = Array(references.dropFirst(fetch.offset).prefix(fetch.limit ?? .max))
    }
    let table = try view.version(of: fetch.entity, reading: references).table
    return FoundRecords(rows: try references.compactMap { try table.row(of: $0) }, table: table)
  }

  /// Returns the number of found records, ignoring limits; nil if the base does not count.
  func count() throws -> Int? {
    guard let count = try view.base.count(fetch) else { return nil }
    if changed.isEmpty { return count }
    let before = try matchingChanges { try view.base.table(of: $0, reading: $1) }
    return count - before.count + (try matchingChanges(view.read).count)
  }

  /// Each changed record may precede one that is wanted.
  private var candidateCount: Int? {
    RecordFetch.limit(fetch.limit, behind: fetch.offset, among: changed.count)
  }

  /// Returns those of the changed records that meet the condition, in the version that `read` returns.
  private func matchingChanges(
    _ read: @escaping (EntityDescription, [ReferenceID]) throws -> NodeTable
  ) throws -> [ReferenceID] {
    let tables = try tables(DependencySurvey(fetch.compiledPredicate), of: Array(changed), read)
    guard let table = tables.table(fetch.entity.ordinal) else { return [] }
    let rows = try changed.compactMap { try table.row(of: $0) }
    return TableQuery(tables, table, where: fetch.compiledPredicate, among: rows).rows().map(table.reference)
  }

  private func tables(
    _ survey: DependencySurvey,
    of references: [ReferenceID],
    _ read: @escaping (EntityDescription, [ReferenceID]) throws -> NodeTable
  ) throws -> QueryTables {
    var reading = RelatedReading(view.model.entities, scopes: view.base.scopes, read: read)
    try reading.follow(survey.paths, from: [fetch.entity.ordinal: references])
    return reading.tables
  }
}

// MARK: Groups

extension StagedSearch {
  /// Returns the groups; nil if the base does not make groups.
  func groups(_ fetch: GroupFetch) throws -> [RecordGroup]? {
    guard let stored = try view.base.groups(stored(fetch)) else { return nil }
    if changed.isEmpty { return stored }
    let excluded = Set(fetch.excluded)
    let changes = try matchingChanges(view.read).filter { !excluded.contains($0) }
    let tables = try tables(DependencySurvey(nil, fetch.grouping.expressions), of: changes, view.read)
    let evaluator = PredicateEvaluator(tables)
    var groups = RecordGroups(stored, by: fetch.grouping)
    for reference in changes {
      guard let row = try tables.table(self.fetch.entity.ordinal)?.row(of: reference) else { continue }
      groups.add(QueryTables.Subject(entityOrdinal: self.fetch.entity.ordinal, row: row), evaluator)
    }
    return groups.groups
  }

  /// Returns the request to the base, to whose groups changes are added.
  func stored(_ fetch: GroupFetch) -> GroupFetch {
    if changed.isEmpty { return fetch }
    let excluded = changed.union(fetch.excluded)
    return GroupFetch(fetch.records, by: fetch.grouping, without: Array(excluded), isComplete: false)
  }
}

extension CompiledGrouping {
  /// The expressions that are evaluated for each record.
  var expressions: [CompiledExpression] { keys + aggregates.map(\.operand) }
}

// MARK: Order

extension StagedSearch {
  /// Returns both merged in the order of the fetch.
  ///
  /// - Parameter found: records in that order.
  private func merged(_ found: [ReferenceID], _ changes: [ReferenceID]) throws -> [ReferenceID] {
    if changes.isEmpty { return found }
    let all = found + changes
    let keys = try keys(all)
    func comes(_ left: Int, before right: Int) -> Bool {
      if fetch.compiledSorts.comes(keys[left], before: keys[right]) { return true }
      return !fetch.compiledSorts.comes(keys[right], before: keys[left]) && Self.comes(all[left], before: all[right])
    }
    var places: [Int] = []
    var next = 0
    for change in (found.count..<all.count).sorted(by: { comes($0, before: $1) }) {
      while next < found.count, !comes(change, before: next) {
        places.append(next)
        next += 1
      }
      places.append(change)
    }
    return (places + Array(next..<found.count)).map { all[$0] }
  }

  /// Returns whether a record comes before another one with equal sort keys: numbers are assigned in ascending order.
  private static func comes(_ left: ReferenceID, before right: ReferenceID) -> Bool {
    guard case .integer(let left) = left, case .integer(let right) = right else { return false }
    return left < right
  }

  /// Returns the sort keys of each of the records.
  private func keys(_ references: [ReferenceID]) throws -> [[PropertyValue]] {
    let expressions = fetch.compiledSorts.map(\.expression)
    if expressions.isEmpty { return references.map { _ in [] } }
    let tables = try tables(DependencySurvey(nil, expressions), of: references, view.read)
    let evaluator = PredicateEvaluator(tables)
    let ordinal = fetch.entity.ordinal
    return try references.map { reference in
      guard let row = try tables.table(ordinal)?.row(of: reference) else { return expressions.map { _ in .null } }
      let subject = QueryTables.Subject(entityOrdinal: ordinal, row: row)
      return expressions.map { evaluator.value($0, subject).scalar }
    }
  }
}

// MARK: Dependents

extension StagedView {
  /// Returns the records of an entity with the changes, as far as they have been read, including those of `references`.
  fileprivate func read(_ entity: EntityDescription, _ references: [ReferenceID]) throws -> NodeTable {
    try version(of: entity, reading: references).table
  }

  /// Returns the records of an entity that refer to changed ones that a fetch reads; nil if they cannot be determined.
  fileprivate func dependents(
    of entity: EntityDescription,
    _ dependencies: FetchDependencies
  ) throws -> Set<ReferenceID>? {
    // Deleted records have referred back to their origins before.
    let reads: [(EntityDescription, [ReferenceID]) throws -> NodeTable] = [
      { try read($0, $1) }, { try base.table(of: $0, reading: $1) },
    ]
    var dependents: Set<ReferenceID> = []
    for (ordinal, changes) in pending {
      for path in dependencies.paths(to: model.entities[ordinal]) {
        let references = changes.flatMap { $0.references(changingAt: path.ordinals) }
        if references.isEmpty { continue }
        guard path.hasWayBack else { return nil }
        for read in reads {
          var reading = RelatedReading(model.entities, scopes: base.scopes, read: read)
          let origins = try origins(of: [ordinal: references], path, &reading)
          dependents.formUnion(origins[entity.ordinal] ?? [])
        }
      }
    }
    return dependents
  }

  /// Returns the records from which `trail` reaches some of `references`, by the ordinal of their entity.
  private func origins(
    of references: [Int: [ReferenceID]],
    _ path: FetchDependencies.DependencyPath,
    _ reading: inout RelatedReading
  ) throws -> [Int: [ReferenceID]] {
    try path.steps.reversed().reduce(references) { references, step in
      let owners = try reading.follow([step.inverse].compactMap(\.self), from: references)
      return owners.filter { model.entities[$0.key].isKind(of: step.owner) }
    }
  }
}
