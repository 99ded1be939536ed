import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodStore
import TestSupport
import Testing

@testable import HeartwoodSQLite

/// Groups that are made in SQL, held against the same groups of all records in memory.
@Suite struct TranslatedGroupTests {
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
  private static let conditions = [
    "@count > 2", "sum(i32) >= 1", "max(dbl) < 2", "average(full) > 0.5", "count(distinct(str)) > 1", "sum(dbl) > 1",
    "sum(full) == 0 OR min(str) == 'a'", "NOT (max(date) > CAST(0, 'NSDate'))", "min(i64) == nil", "max(flag) == YES",
    "max(str) CONTAINS[c] 'B'", "@count BETWEEN {1, 3} AND average(i16) != nil", "sum(i64) > 5",
    "abs(sum(i32)) > 2", "@count + count(str) > 4", "length(min(str)) == 1 OR lowercase(max(str)) BEGINSWITH 'a'",
  ]

  private func grouping(
    _ keys: [String],
    _ functions: [String],
    having: String?,
    _ fixture: TranslationFixture
  ) throws -> CompiledGrouping {
    let selection = Selection(
      columns: try functions.enumerated().map { try ExpressionDescription(format: "\($1) AS c\($0)") },
      groupKeys: try keys.map { try ExpressionDescription(format: $0) },
      having: try having.map { try FetchPredicate(format: $0) }
    )
    return try #require(SelectionPlan(selection, for: fixture.queries.item, in: fixture.queries.model).grouping)
  }

  /// The groups of all records in memory that meet the condition on groups.
  private func expected(_ fetch: GroupFetch, _ fixture: TranslationFixture) throws -> [RecordGroup] {
    let table = fixture.contents.table(of: fixture.queries.item)
    let hidden = Set(try fetch.excluded.compactMap { try table.row(of: $0) })
    let query = TableQuery(fixture.tables, table, where: fetch.records.compiledPredicate, without: hidden)
    return passing(query.groups(by: fetch.grouping).recordGroups(), fetch)
  }

  /// Those that have records and meet the condition on groups.
  private func passing(_ groups: [RecordGroup], _ fetch: GroupFetch) -> [RecordGroup] {
    groups.filter { fetch.grouping.having.map($0.values.matches) ?? true }
  }

  private func names(_ names: [String], _ count: ClosedRange<Int>, _ fixture: inout TranslationFixture) -> [String] {
    (0..<fixture.queries.number(count)).map { _ in names[fixture.queries.number(0...(names.count - 1))] }
  }

  @Test(arguments: 0..<4)
  func groupsAsInMemory(_ run: Int) throws {
    var fixture = try TranslationFixture(seed: .random(in: 0...UInt64.max))
    let table = fixture.contents.table(of: fixture.queries.item)
    var translated = 0
    for _ in 0..<300 {
      let keys = names(Self.keys, 0...2, &fixture)
      let functions = names(Self.aggregates, 1...3, &fixture)
      let having = names(Self.conditions, 0...1, &fixture).first
      let predicate = fixture.queries.number(0...1) == 0 ? nil : fixture.queries.predicate(depth: 1)
      let hidden = fixture.queries.number(0...2) == 0 ? table.liveRows.prefix(20).map(table.reference) : []
      let fetch = GroupFetch(
        try fixture.fetch(predicate, []),
        by: try grouping(keys, functions, having: having, fixture),
        without: hidden,
        isComplete: fixture.queries.number(0...1) == 0
      )
      guard let found = try fixture.store.groups(fetch.scoped(fixture.contents.scopes)) else { continue }
      translated += 1
      let text = "\(functions) by \(keys) having \(having ?? "") where \(String(describing: predicate))"
      let wanted = try expected(fetch, fixture)
      // Where nothing passes, memory has no group, and SQL one of no records.
      if keys.isEmpty, wanted.isEmpty {
        expectNothing(found, fetch, text)
      } else {
        expectSame(passing(found, fetch), wanted, text)
      }
    }
    #expect(translated > 50, "much is grouped in SQL")
  }

  private func expectNothing(_ found: [RecordGroup], _ fetch: GroupFetch, _ text: String) {
    let none = fetch.grouping.aggregates.map { Accumulator($0).result }
    for group in passing(found, fetch) { #expect(group.accumulators.map(\.result) == none, "\(text)") }
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
    (["str"], "sum(i64)", "@count > 1"), (["flag", "list"], "average(i32)", "sum(full) > 0"),
    (["list.name"], "max(date)", "max(str) CONTAINS[c] 'b'"), (["i32"], "count(distinct(str))", nil),
    (["uuid", "date"], "min(uuid)", "min(dbl) < 1"), ([], "count(dec)", nil),
  ])
  func isGroupedInSQL(_ keys: [String], _ function: String, _ having: String?) throws {
    let fixture = try TranslationFixture(seed: 9)
    let fetch = GroupFetch(
      try fixture.fetch(try FetchPredicate(format: "full > -5"), []),
      by: try grouping(keys, [function], having: having, fixture),
      isComplete: true
    )
    let found = try #require(try fixture.store.groups(fetch.scoped(fixture.contents.scopes)))
    expectSame(found, try expected(fetch, fixture), "the condition on groups is tested, too")
    let plan = try #require(try fixture.store.queryPlan(fetch))
    #expect(plan[0].contains(" GROUP BY ") == !keys.isEmpty && plan[0].contains(" HAVING ") == (having != nil))
    #expect(plan[0].contains("> ?"), "what it compares with is an argument")
  }

  @Test(arguments: ["full > -5 OR i16 == nil", "list.name == 'a'", "NOT (str CONTAINS 'a')", nil])
  func theSameRecordsCountAsAreFound(_ format: String?) throws {
    let fixture = try TranslationFixture(seed: 13)
    let records = try fixture.fetch(try format.map { try FetchPredicate(format: $0) }, [])
    let fetch = GroupFetch(records, by: try grouping(["i16"], ["@count"], having: nil, fixture), isComplete: true)
    func condition(_ plan: [String]?, before end: String) throws -> Substring {
      let text = try #require(plan?.first)
      let start = try #require(text.range(of: " FROM "))
      // A row of no entity, which a fetch finds and reads, ends the statement of groups.
      return text[start.upperBound..<(try #require(text.range(of: end))).lowerBound]
        .replacing(" AND heartwood_stray(t0.Z_PK)", with: "")
    }
    let found = try condition(try fixture.store.queryPlan(records), before: " ORDER BY ")
    #expect(try condition(try fixture.store.queryPlan(fetch), before: " GROUP BY ") == found)
  }

  @Test(arguments: [
    (["dec"], "@count"), (["flt"], "@count"), (["i16"], "sum(dec)"), (["i16"], "median(full)"),
    (["i16"], "sum(distinct(i32))"), (["url"], "@count"), (["lowercase(str)"], "@count"),
  ])
  func isLeftForMemory(_ keys: [String], _ function: String) throws {
    let fixture = try TranslationFixture(seed: 10)
    let fetch = GroupFetch(
      try fixture.fetch(nil, []),
      by: try grouping(keys, [function], having: nil, fixture),
      isComplete: true
    )
    #expect(try fixture.store.groups(fetch.scoped(fixture.contents.scopes)) == nil)
    #expect(try fixture.store.queryPlan(fetch) == nil)
  }

  @Test func aConditionThatSQLDoesNotCompareIsTestedInMemory() throws {
    let fixture = try TranslationFixture(seed: 11)
    let fetch = GroupFetch(
      try fixture.fetch(nil, []),
      by: try grouping(["str"], ["@count"], having: "sum(i64) > 5", fixture),
      isComplete: true
    )
    let plan = try #require(try fixture.store.queryPlan(fetch))
    #expect(!plan[0].contains("HAVING") && plan.last == "then test the condition on groups")
    let found = try #require(try fixture.store.groups(fetch.scoped(fixture.contents.scopes)))
    expectSame(passing(found, fetch), try expected(fetch, fixture), "")
  }

  @Test(arguments: 0..<3)
  func changesOfAContextCount(_ run: Int) throws {
    var fixture = try TranslationFixture(seed: .random(in: 0...UInt64.max))
    let context = try fixture.context()
    let engine = context.persistentStoreCoordinator.persistentStores[0].engine
    let lists = try context.fetch(objects("List", "order != 17"))
    for object in try context.fetch(objects("Item", "full > 2")).prefix(20) {
      if fixture.queries.number(0...3) == 0 { context.delete(object) } else { try change(object, lists, &fixture) }
    }
    try lists.first?.setPropertyValue(PropertyValue.string("changed"), forKey: "name")
    try change(try context.insert(entityName: "Item"), lists, &fixture)
    let requests = try (0..<30).map { _ in try request(&fixture) }
    let found = try requests.map { try context.fetchRows($0) }
    #expect(try !engine.knownTable(of: fixture.queries.item).isWhole, "the groups were made by the store")
    _ = try engine.contents()
    for (request, rows) in zip(requests, found) {
      let expected = try context.fetchRows(request)
      // Rows that were read one by one are in another order than all of them; the groups are the same.
      #expect(Set(rows.map(\.values)) == Set(expected.map(\.values)), "\(request)")
      #expect(rows.count == expected.count)
    }
  }

  private func objects(_ entity: String, _ format: String) throws -> FetchRequest<ManagedObject> {
    FetchRequest(entityName: entity, where: try FetchPredicate(format: format))
  }

  private func change(
    _ object: ManagedObject,
    _ lists: [ManagedObject],
    _ fixture: inout TranslationFixture
  ) throws {
    for name in ["str", "i16", "flag", "i64"] {
      let type = try #require(object.entity.attributes.first { $0.name == name }).type
      try object.setPropertyValue(fixture.queries.value(of: type), forKey: name)
    }
    try object.setPropertyValue(.integer(Int64(fixture.queries.number(-9...9))), forKey: "full")
    try object.setValue(lists[fixture.queries.number(0...(lists.count - 1))], forKey: "list")
  }

  /// A request that SQL can answer in part.
  private func request(_ fixture: inout TranslationFixture) throws -> FetchRequest<ManagedObject> {
    var request = FetchRequest<ManagedObject>(entityName: "Item")
    let keys = ["str", "flag", "list", "i16", "list.name"]
    request.propertiesToGroupBy = names(keys, 0...2, &fixture).reduce(into: []) { keys, name in
      if !keys.contains(where: { $0.name == name }) { keys.append(ExpressionDescription(name)) }
    }
    let functions = ["@count", "sum(i64)", "average(i16)", "max(str)", "min(full)", "count(list)"]
    request.propertiesToFetch =
      try request.propertiesToGroupBy
      + names(functions, 1...2, &fixture).enumerated().map { try ExpressionDescription(format: "\($1) AS c\($0)") }
    if fixture.queries.number(0...1) == 0 { request.predicate = try FetchPredicate(format: "full > 0 OR str != 'a'") }
    if fixture.queries.number(0...1) == 0 { request.havingPredicate = try FetchPredicate(format: "@count > 1") }
    return request
  }
}
