import Testing

@testable import HeartwoodModel

/// Columns, groups and aggregates, checked before anything is fetched.
@Suite struct SelectionTests {
  private func plan(
    _ columns: [String],
    by keys: [String] = [],
    having condition: String? = nil,
    sortedBy sorts: [String] = [],
    isDistinct: Bool = false
  ) throws -> SelectionPlan {
    let fixture = try ShopFixture()
    let selection = Selection(
      columns: try columns.map { try ExpressionDescription(format: $0) },
      groupKeys: try keys.map { try ExpressionDescription(format: $0) },
      having: try condition.map { try FetchPredicate(format: $0) },
      sorts: sorts.map { FetchSortDescriptor($0) },
      isDistinct: isDistinct
    )
    return try SelectionPlan(selection, for: fixture.item, in: fixture.model)
  }

  @Test func columnsHaveNames() throws {
    #expect(try ExpressionDescription(format: "price * 2 AS double").name == "double")
    #expect(try ExpressionDescription(format: "sum(price) as \"all of it\"").name == "all of it")
    #expect(try ExpressionDescription(format: "sum(price)").name == "sum(price)")
    #expect(try ExpressionDescription(format: "shop.title") == "shop.title")
    #expect(try ExpressionDescription(format: "@count AS count") == .count())
    #expect(try ExpressionDescription(format: "sum(price) AS x") == .sum(of: "price", as: "x"))
    #expect(try ExpressionDescription(format: "average(price) AS x") == .average(of: "price", as: "x"))
    #expect(try ExpressionDescription(format: "min(price) AS x") == .minimum(of: "price", as: "x"))
    #expect(try ExpressionDescription(format: "max(price) AS x") == .maximum(of: "price", as: "x"))
    #expect(try ExpressionDescription(format: "count(distinct(name)) AS x") == .distinctCount(of: "name", as: "x"))
    #expect(throws: FetchPredicateError.self) { try ExpressionDescription(format: "price AS") }
    #expect(throws: FetchPredicateError.self) { try ExpressionDescription(format: "price AS a b") }
  }

  @Test func recordsWithoutAggregatesAreNoGroups() throws {
    #expect(try plan(["name", "price * 2", "parts.@count", "sum(parts.price)", "max({price, 3})"]).grouping == nil)
    #expect(try plan([]).names == ["name", "price", "count", "done", "due", "key", "cost"])
  }

  @Test(arguments: [
    "sum(price)", "@sum.price", "@count", "count(SELF)", "1 + sum(price) / @count", "max(name)",
    "count(distinct(shop.title))", "@distinctUnionOfObjects.name.@count", "TERNARY(sum(price) > 3, 1, 2)",
    "median(price)",
    "sum(parts.@count)", "sum(sum(parts.price))",
  ])
  func aggregatesMakeOneGroup(_ format: String) throws {
    let grouping = try #require(plan([format]).grouping)
    #expect(grouping.keys.isEmpty && !grouping.aggregates.isEmpty)
  }

  @Test func equalAggregatesAreMadeOnce() throws {
    let plan = try plan(
      ["shop", "sum(price) AS total", "sum(price) / @count AS mean"],
      by: ["shop"],
      having: "$total > 3 AND @count > 1 AND shop != nil",
      sortedBy: ["mean"]
    )
    let grouping = try #require(plan.grouping)
    #expect(grouping.keys.count == 1 && grouping.aggregates.count == 2 && grouping.having != nil)
    #expect(plan.names == ["shop", "total", "mean"])
  }

  @Test func distinctRowsAreGroups() throws {
    let rows = try plan(["name", "price * 2"], isDistinct: true)
    #expect(rows.grouping?.keys.count == 2 && rows.isDistinct == false)
    let groups = try plan(["sum(price)"], by: ["name"], isDistinct: true)
    #expect(groups.grouping?.keys.count == 1 && groups.isDistinct)
  }

  @Test(
    arguments: [
      (["name", "sum(price)"], [], nil, [], "name"),
      (["SELF"], ["name"], nil, [], "SELF"),
      (["sum(name)"], [], nil, [], "name"),
      (["sum(nme)"], [], nil, [], "nme"),
      (["max(shop)"], [], nil, [], "shop"),
      (["parts"], [], nil, [], "parts"),
      (["@count"], ["parts"], nil, [], "parts"),
      (["@count"], ["shop"], "shop.title == 'x'", [], "shop.title"),
      (["@count"], ["shop"], nil, ["price"], "price"),
      (["@count"], ["shop"], nil, ["shop"], "shop"),
      (["@count AS n"], ["shop"], "$m > 1", [], "$m"),
      (["name", "name"], [], nil, [], "name"),
      (["sum(SUBQUERY(parts, $p, $p.price > 1))"], [], nil, [], "SUBQUERY(parts, $p, $p.price > 1)"),
      (["price"], [], "price > 3", [], "price"),
    ] as [([String], [String], String?, [String], String)]
  )
  func mistakesAreToldWithTheirPlaces(
    _ columns: [String],
    _ keys: [String],
    _ condition: String?,
    _ sorts: [String],
    _ place: String
  ) throws {
    let error = try #require(throws: FetchPredicateError.self) {
      try plan(columns, by: keys, having: condition, sortedBy: sorts)
    }
    let shown = error.text.utf8.dropFirst(error.place.lowerBound).prefix(error.place.count)
    #expect(String(shown) == place, "\(error)")
  }

  @Test func sumsOfIntegersAreExact() {
    var sum = NumberSum()
    sum.add(.integer(.max))
    sum.add(.integer(.max))
    #expect(sum.value.propertyValue == .double(0x1p64))
    sum.add(.integer(-.max))
    #expect(sum.value.propertyValue == .integer(.max))
    sum.add(.double(0.5))
    #expect(sum.value.propertyValue == .double(0x1p63))
  }
}
