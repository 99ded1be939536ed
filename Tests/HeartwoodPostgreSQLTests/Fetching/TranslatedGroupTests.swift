import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodStore
import TestSupport
import Testing

@testable import HeartwoodPostgreSQL

/// Groups that are made in SQL, held against the same groups of all records in memory.
@Suite(.needsServer) struct TranslatedGroupTests {
  private static let keys = [
    "i16", "i32", "i64", "dec", "dbl", "flt", "str", "flag", "date", "uuid", "url", "list", "list.name", "next.i16",
    "tags.@count", "list.order", "next.list.name", "full",
  ]
  private static let aggregates = [
    "@count", "count(str)", "count(list)", "count(dec)", "count(data)", "sum(full)", "sum(i64)", "sum(dbl)",
    "sum(flag)", "sum(dec)", "average(i32)", "average(i64)", "average(flt)", "average(flag)", "min(i64)", "max(i16)",
    "min(dbl)", "max(flt)", "min(date)", "max(date)", "min(str)", "max(str)", "max(uuid)", "min(dec)", "max(flag)",
    "count(distinct(str))", "count(distinct(flag))", "count(distinct(list))", "sum(distinct(i16))", "median(full)",
    "max(list.order)", "sum(list.order)", "min(next.str)", "count(next.list)",
  ]

  private func grouping(
    _ keys: [String],
    _ functions: [String],
    _ fixture: TranslationFixture
  ) throws -> CompiledGrouping {
    let selection = Selection(
      columns: try functions.enumerated().map { try ExpressionDescription(format: "\($1) AS c\($0)") },
      groupKeys: try keys.map { try ExpressionDescription(format: $0) }
    )
    return try #require(SelectionPlan(selection, for: fixture.queries.item, in: fixture.queries.model).grouping)
  }

  private func expected(_ fetch: GroupFetch, _ fixture: TranslationFixture) throws -> [RecordGroup] {
    let table = fixture.contents.table(of: fixture.queries.item)
    let hidden = Set(try fetch.excluded.compactMap { try table.row(of: $0) })
    return TableQuery(fixture.tables, table, where: fetch.records.compiledPredicate, without: hidden)
      .groups(by: fetch.grouping).recordGroups()
  }

  @Test(arguments: 0..<2)
  func groupsAsInMemory(_ run: Int) throws {
    var fixture = try TranslationFixture(seed: .random(in: 0...UInt64.max))
    let table = fixture.contents.table(of: fixture.queries.item)
    var translated = 0
    for _ in 0..<300 {
      let (keys, functions) = (fixture.names(Self.keys, 0...2), fixture.names(Self.aggregates, 1...3))
      let predicate = fixture.queries.number(0...1) == 0 ? nil : fixture.queries.predicate(depth: 1)
      let hidden = fixture.queries.number(0...2) == 0 ? table.liveRows.prefix(20).map(table.reference) : []
      let fetch = GroupFetch(
        try fixture.fetch(predicate),
        by: try grouping(keys, functions, fixture),
        without: hidden,
        isComplete: fixture.queries.number(0...1) == 0
      )
      guard let found = try fixture.store.groups(fetch.scoped(fixture.contents.scopes)) else { continue }
      translated += 1
      let text = "\(functions) by \(keys) where \(String(describing: predicate))"
      let wanted = try expected(fetch, fixture)
      // If nothing passes, memory has no group, and SQL one of no records.
      if keys.isEmpty, wanted.isEmpty {
        let none = fetch.grouping.aggregates.map { Accumulator($0).result }
        #expect(found.map { $0.accumulators.map(\.result) }.allSatisfy { $0 == none }, "\(text)")
      } else {
        expectSame(found, wanted, text)
      }
    }
    #expect(translated > 30, "much is grouped in SQL")
  }

  private func expectSame(_ found: [RecordGroup], _ expected: [RecordGroup], _ text: String) {
    #expect(found.map(\.keys) == expected.map(\.keys), "\(text)")
    for (group, other) in zip(found, expected) {
      for (left, right) in zip(group.accumulators.map(\.result), other.accumulators.map(\.result)) {
        #expect(isSame(left, right), "\(text): \(left), \(right)")
      }
    }
  }

  /// Whether both are the same, but for the order in which doubles were added.
  private func isSame(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    guard case .double(let a) = left, case .double(let b) = right, a.isFinite, b.isFinite else { return left == right }
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1)
  }

  @Test(arguments: [
    (["str"], "sum(i64)"), (["flag", "list"], "average(i32)"), (["list.name"], "max(date)"),
    (["i32"], "count(distinct(str))"), (["uuid", "date"], "min(dbl)"), ([], "count(dec)"), (["flt"], "max(flag)"),
  ])
  func isGroupedInSQL(_ keys: [String], _ function: String) throws {
    let fixture = try TranslationFixture(seed: 9)
    let fetch = GroupFetch(
      try fixture.fetch(try FetchPredicate(format: "full > -5")),
      by: try grouping(keys, [function], fixture),
      isComplete: true
    )
    let found = try #require(try fixture.store.groups(fetch.scoped(fixture.contents.scopes)))
    expectSame(found, try expected(fetch, fixture), function)
    let plan = try #require(try fixture.store.queryPlan(fetch))
    #expect(plan[0].contains(" GROUP BY ") == !keys.isEmpty)
    #expect(plan[0].contains("> $1"), "what it compares with is a parameter")
  }

  @Test(arguments: [
    (["dec"], "@count"), (["i16"], "sum(dec)"), (["i16"], "median(full)"), (["i16"], "sum(distinct(i32))"),
    (["url"], "@count"), (["lowercase(str)"], "@count"),
  ])
  func isLeftForMemory(_ keys: [String], _ function: String) throws {
    let fixture = try TranslationFixture(seed: 10)
    let fetch = GroupFetch(try fixture.fetch(nil), by: try grouping(keys, [function], fixture), isComplete: true)
    #expect(try fixture.store.groups(fetch.scoped(fixture.contents.scopes)) == nil)
    #expect(try fixture.store.queryPlan(fetch) == nil)
  }

  @Test func aSumThatIsTooLargeIsInfinite() throws {
    let bench = try StoreBench(
      try ManagedObjectModel(entities: [EntityDefinition(name: "N", properties: [.attribute("x", .double)])])
    )
    let writer = try bench.context()
    for _ in 0..<3 { try bench.insert("N", ["x": Double.greatestFiniteMagnitude], in: writer) }
    try writer.save()
    let context = try bench.context()
    #expect(
      try context.fetchValue(.sum(of: "x", as: "s"), for: FetchRequest<ManagedObject>(entityName: "N"))
        == .double(.infinity)
    )
  }
}
