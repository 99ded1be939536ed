import HeartwoodModel
import Testing

@testable import HeartwoodStore

/// Queries on columns, held against the plain evaluation of every row.
@Suite struct TableQueryTests {
  @Test(arguments: 0..<6)
  func findsWhatThePlainWayFinds(_ run: Int) throws {
    var fixture = try QueryFixture(seed: .random(in: 0...UInt64.max), rowsPerGroup: [60, 64, 65, 200, 300, 1][run])
    let table = try #require(fixture.table)
    for _ in 0..<250 {
      let predicate = fixture.predicate(depth: fixture.number(0...2))
      let plan = try PredicateCompiler.compile(predicate, for: fixture.item, in: fixture.model)
      let expected = plainRows(fixture, table, plan)
      for use in [IndexUse.never, .always, .automatic] {
        let query = TableQuery(fixture.tables, table, where: plan, indexUse: use)
        #expect(query.rows() == expected, "\(predicate), indexes \(use)")
        #expect(query.count() == expected.count, "\(predicate), indexes \(use)")
      }
    }
  }

  @Test(arguments: 0..<4)
  func sortsAsThePlainWayDoes(_ run: Int) throws {
    var fixture = try QueryFixture(seed: .random(in: 0...UInt64.max), rowsPerGroup: [60, 64, 300, 7][run])
    let table = try #require(fixture.table)
    for _ in 0..<60 {
      let predicate = fixture.predicate(depth: 1)
      let descriptors = fixture.sorts()
      let plan = try PredicateCompiler.compile(predicate, for: fixture.item, in: fixture.model)
      let sorts = try descriptors.map { try CompiledSort($0, for: fixture.item, in: fixture.model) }
      let expected = plainSorted(fixture, plainRows(fixture, table, plan), sorts)
      let (offset, limit) = (fixture.number(0...5), fixture.number(0...20))
      for use in [IndexUse.never, .always, .automatic] {
        let query = TableQuery(fixture.tables, table, where: plan, indexUse: use)
        #expect(query.rows(sortedBy: sorts) == expected, "\(predicate), \(descriptors), indexes \(use)")
        let page = query.rows(sortedBy: sorts, offset: offset, limit: limit)
        #expect(
          page == Array(expected.dropFirst(offset).prefix(limit)),
          "\(predicate), \(descriptors), \(offset), \(limit), indexes \(use)"
        )
      }
    }
  }

  /// Indexes of several properties, of some records, and of relationships.
  @Test(arguments: 0..<5)
  func findsAndSortsByCompoundAndPartialIndexes(_ run: Int) throws {
    var fixture = try QueryFixture(seed: .random(in: 0...UInt64.max), rowsPerGroup: [60, 64, 300, 7, 150][run])
    let table = try #require(fixture.table)
    var used: Set<String> = []
    for _ in 0..<250 {
      let (predicate, descriptors) = try fixture.indexedQuery()
      let plan = try PredicateCompiler.compile(predicate, for: fixture.item, in: fixture.model)
      let sorts = try descriptors.map { try CompiledSort($0, for: fixture.item, in: fixture.model) }
      let found = plainRows(fixture, table, plan)
      let expected = plainSorted(fixture, found, sorts)
      let (offset, limit) = (fixture.number(0...3), fixture.number(0...12))
      for use in [IndexUse.never, .always, .automatic] {
        let query = TableQuery(fixture.tables, table, where: plan, indexUse: use)
        #expect(query.rows() == found, "\(predicate), indexes \(use)")
        let page = query.rows(sortedBy: sorts, offset: offset, limit: limit)
        #expect(
          page == Array(expected.dropFirst(offset).prefix(limit)),
          "\(predicate), \(descriptors), \(offset), \(limit), indexes \(use)"
        )
        let step = query.plan(sortedBy: sorts, offset: offset, limit: limit)
        if let name = step.indexName { used.insert(name) }
      }
    }
    #expect(try used.isSuperset(of: QueryFixture.compoundIndexes().map(\.name)))
  }

  @Test func countsAndPagesWithoutACondition() throws {
    let fixture = try QueryFixture(seed: 1)
    let table = try #require(fixture.table)
    let query = TableQuery(fixture.tables, table, where: nil)
    #expect(query.count() == table.count)
    #expect(query.rows() == Array(table.liveRows))
    #expect(query.rows(sortedBy: [], offset: 3, limit: 4) == Array(Array(table.liveRows)[3..<7]))
    #expect(query.rows(sortedBy: [], offset: .max, limit: .max).isEmpty)
  }

  @Test(arguments: [1, 7, 60]) func pagesWithoutAnOrderAreThoseOfAllRows(_ rowsPerGroup: Int) throws {
    var fixture = try QueryFixture(seed: .random(in: 0...UInt64.max), rowsPerGroup: rowsPerGroup)
    let table = try #require(fixture.table)
    let live = Array(table.liveRows)
    for round in 0..<60 {
      let predicate = round % 3 == 0 ? nil : fixture.predicate(depth: 1)
      let plan = try predicate.map { try CompiledPredicate($0, for: fixture.item, in: fixture.model) }
      let hidden = Set((0..<fixture.number(0...3)).map { _ in live[fixture.number(0...(live.count - 1))] })
      let query = TableQuery(fixture.tables, table, where: plan, without: hidden)
      let (offset, limit) = (fixture.number(0...live.count), fixture.number(0...20))
      #expect(
        query.rows(sortedBy: [], offset: offset, limit: limit) == Array(query.rows().dropFirst(offset).prefix(limit)),
        "\(String(describing: predicate)), \(offset), \(limit)"
      )
    }
  }

  private func plainRows(_ fixture: QueryFixture, _ table: NodeTable, _ plan: CompiledPredicate) -> [RowID] {
    let evaluator = PredicateEvaluator(fixture.tables)
    return table.liveRows.filter { evaluator.matches(plan, .init(entityOrdinal: fixture.item.ordinal, row: $0)) }
  }

  private func plainSorted(_ fixture: QueryFixture, _ rows: [RowID], _ sorts: [CompiledSort]) -> [RowID] {
    let evaluator = PredicateEvaluator(fixture.tables)
    func value(_ row: RowID, _ sort: CompiledSort) -> PropertyValue {
      evaluator.value(sort.expression, .init(entityOrdinal: fixture.item.ordinal, row: row)).scalar
    }
    return rows.sorted { left, right in
      for sort in sorts {
        let order = sort.ordering.compare(value(left, sort), value(right, sort))
        if order != 0 { return sort.isAscending ? order < 0 : order > 0 }
      }
      return left.rawValue < right.rawValue
    }
  }
}
