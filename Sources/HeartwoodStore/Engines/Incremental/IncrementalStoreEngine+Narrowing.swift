import HeartwoodModel

// What a store cannot test is tested on the records that pass what it can.

extension IncrementalStoreEngine {
  /// What is found among the records that the store has narrowed a fetch to; nil where it cannot narrow it.
  func findAmongCandidates(_ fetch: RecordFetch) throws -> FoundRecords? {
    guard let narrowed = try narrowed(fetch), let references = try store.fetch(narrowed.part) else { return nil }
    let tables = try tables(of: references, reading: narrowed.survey(fetch), fetch.entity)
    guard let table = tables.table(fetch.entity.ordinal) else { return nil }
    try tables.checkReadable(narrowed.rest?.dataRead ?? [])
    var rows = try references.compactMap { try table.row(of: $0) }
    if let rest = narrowed.rest {
      let passing = Set(TableQuery(tables, table, where: rest, among: rows).rows())
      rows = rows.filter(passing.contains)
    }
    if !narrowed.isSorted { rows = tables.sorted(rows, by: fetch.sorts, entityOrdinal: fetch.entity.ordinal) }
    return FoundRecords(rows: Array(rows.dropFirst(fetch.offset).prefix(fetch.limit ?? .max)), table: table)
  }

  /// The part of a fetch that the store can answer; nil where what is left cannot be evaluated on the records that it leads to.
  private func narrowed(_ fetch: RecordFetch) throws -> NarrowedFetch? {
    guard let narrowed = try (store as? any NarrowingStore)?.narrowed(fetch), !narrowed.survey(fetch).isOpaque else {
      return nil
    }
    return narrowed
  }

  /// The tables with the records of `references` and what is looked at from them.
  private func tables(
    of references: [ReferenceID],
    reading survey: DependencySurvey,
    _ entity: EntityDescription
  ) throws -> QueryTables {
    var reading = RelatedReading(setup.model.entities, scopes: scopes) { try self.readMissing($1, of: $0) }
    try reading.follow(survey.paths, from: [entity.ordinal: references])
    return reading.tables
  }

  /// How such a fetch is answered.
  func candidatePlan(_ fetch: RecordFetch) throws -> QueryPlan.Step? {
    guard let narrowed = try narrowed(fetch), let lines = try store.queryPlan(narrowed.part) else { return nil }
    let (known, _) = try knownTable(of: fetch.entity)
    let query = TableQuery(QueryTables(tables: [], scopes: scopes), known, where: narrowed.rest, indexUse: .never)
    var step = query.plan(sortedBy: narrowed.isSorted ? [] : fetch.sorts, offset: fetch.offset, limit: fetch.limit)
    step.storeLines = lines
    return step
  }
}

extension NarrowedFetch {
  /// What is looked at in memory.
  fileprivate func survey(_ fetch: RecordFetch) -> DependencySurvey {
    DependencySurvey(rest, isSorted ? [] : fetch.sorts.map(\.expression))
  }
}

extension QueryTables {
  /// Rows of an entity in another order; those that it leaves alike stay as they are.
  fileprivate func sorted(_ rows: [RowID], by sorts: [SortPlan], entityOrdinal: Int) -> [RowID] {
    if sorts.isEmpty { return rows }
    let values = values(sorts.map(\.expression), of: rows, entityOrdinal: entityOrdinal)
    let keys = rows.indices.map { Array(values[($0 * sorts.count)..<(($0 + 1) * sorts.count)]) }
    // The sort of the standard library keeps the order of equal elements.
    return rows.indices.sorted { sorts.comes(keys[$0], before: keys[$1]) }.map { rows[$0] }
  }
}
