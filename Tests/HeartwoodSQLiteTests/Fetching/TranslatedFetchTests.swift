import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodStore
import TestSupport
import Testing

@testable import HeartwoodSQLite

/// Fetches in SQL, held against the same fetches of all records in memory.
@Suite struct TranslatedFetchTests {
  @Test(arguments: 0..<4)
  func findsWhatIsFoundInMemory(_ run: Int) throws {
    var fixture = try TranslationFixture(seed: .random(in: 0...UInt64.max))
    var translated = 0
    for _ in 0..<300 {
      let predicate = fixture.queries.predicate(depth: fixture.queries.number(0...2))
      let sorts = fixture.queries.number(0...1) == 0 ? [] : fixture.queries.sorts()
      let limit = fixture.queries.number(0...2) == 0 ? fixture.queries.number(0...20) : nil
      let fetch = try fixture.fetch(predicate, sorts, fixture.queries.number(0...4), limit)
      guard let found = try fixture.store.fetch(fetch) else { continue }
      translated += 1
      #expect(found == fixture.expected(fetch), "\(predicate), \(sorts), \(fetch.offset), \(String(describing: limit))")
      let all = try fixture.fetch(predicate, [])
      #expect(try fixture.store.count(all) == fixture.expected(all).count, "\(predicate)")
    }
    #expect(translated > 60, "most of what is simple is found in SQL")
  }

  /// Conditions of which SQL can test some, and orders that it has not.
  @Test(arguments: 0..<4)
  func findsTheRestAmongWhatSQLFinds(_ run: Int) throws {
    var fixture = try TranslationFixture(seed: .random(in: 0...UInt64.max))
    let context = try fixture.context()
    let engine = context.persistentStoreCoordinator.persistentStores[0].engine
    var narrowed = 0
    for _ in 0..<300 {
      var terms = (0..<fixture.queries.number(1...3)).map { _ in fixture.queries.predicate(depth: 1) }
      if fixture.queries.number(0...3) == 0 { terms.append(.not(.or(terms.map { .not($0) }))) }
      let predicate = FetchPredicate.and(terms)
      let sorts = fixture.queries.number(0...1) == 0 ? [] : fixture.queries.sorts()
      let limit = fixture.queries.number(0...2) == 0 ? fixture.queries.number(0...20) : nil
      let fetch = try fixture.fetch(predicate, sorts, fixture.queries.number(0...4), limit)
      guard try fixture.store.fetch(fetch) == nil, try engine.queryPlan(fetch) != nil else { continue }
      narrowed += 1
      let found = try #require(try engine.find(fetch))
      let text = "\(predicate), \(sorts), \(fetch.offset), \(String(describing: limit))"
      #expect(found.rows.map(found.table.reference) == fixture.expected(fetch), "\(text)")
      #expect(try engine.queryPlan(fetch)?.storeLines.isEmpty == false)
    }
    #expect(narrowed > 40, "much is tested in part")
    #expect(try !engine.knownTable(of: fixture.queries.item).isWhole)
  }

  @Test(arguments: 0..<3)
  func changesOfAContextCount(_ run: Int) throws {
    var fixture = try TranslationFixture(seed: .random(in: 0...UInt64.max))
    let context = try fixture.context()
    let engine = context.persistentStoreCoordinator.persistentStores[0].engine
    try fixture.change(context)
    let requests = try (0..<60).map { _ in try fixture.request() }
    let found = try requests.map { try FoundObjects($0, context) }
    #expect(try !engine.knownTable(of: fixture.queries.item).isWhole, "the store has found them")
    _ = try engine.contents()
    for (request, found) in zip(requests, found) {
      try found.expectSame(try FoundObjects(request, context), request, in: fixture.queries)
    }
  }

  @Test(arguments: [
    "i32 > 1", "i32 BETWEEN {0, 2}", "str == 'abc'", "str ==[c] 'abc'", "str CONTAINS[cd] 'e'", "str BEGINSWITH 'a'",
    "str BEGINSWITH ''",
    "str LIKE '*abc*'", "str MATCHES[c] 'a.*'", "str IN {'a', 'é', NULL}", "date < CAST(0, 'NSDate')", "flag == YES",
    "dbl == NULL", "list.name == 'a'", "list.order >= 0 AND full < 3", "list == NULL", "ANY tags.name ==[c] 'a'",
    "ALL tags.name != 'a'", "NONE tags.name == 'abc'", "tags.@count > 1", "tags.@count == 0",
    "SUBQUERY(tags, $t, $t.name != NULL AND $t.name != 'a').@count > 0", "next.list.order < 2",
    "ANY list.items.full == 3", "full + i32 * 2 > 3", "i16 / 2 == 1", "dbl * full < list.order - 1",
    "NOT (i32 > 1)", "i32 < full", "next == SELF", "SUBQUERY(list.items, $i, $i.full > 0).@count >= 2",
    "lowercase(str) == 'abc'", "uppercase(list.name) BEGINSWITH 'A'", "canonical(str) IN {'e', 'strasse', ''}",
    "length(str) > 3", "str.length == 0", "abs(i64) > 2", "-dbl <= 1", "ceiling(dbl) == 2", "floor(flt) < 0",
    "trunc(dbl) != full", "sqrt(full) > 1", "log(dbl) < 0", "ln(full) >= 1", "exp(i16) > 7",
    "modulus:by:(full, 3) == 1",
    "bitwiseAnd:with:(full, 1) == 1", "rightshift:by:(i64, 1) > 0", "onesComplement:(i32) < 0",
    "abs(i16) + tags.@count > 2", "2 < abs(full)", "now() > date",
    "now() - date > 60", "date + full * 2 < CAST(3, 'NSDate')", "list.items.@max.full > 5", "tags.@min.name == 'a'",
    "list.items.@sum.i64 >= 0", "average(list.items.i32) < 1", "median(list.items.dbl) > 0",
    "mode(list.items.i16) == 1",
    "TERNARY(flag == YES, i16, full) > 0", "list.items.@min.date < CAST(1, 'NSDate')", "count(list.items) > 3",
    "CAST(dbl, 'Integer') > 0", "CAST(str, 'Double') > 9", "CAST(full, 'Date') < date", "CAST(date, 'Double') > full",
  ])
  func isFoundInSQL(_ format: String) throws {
    let fixture = try TranslationFixture(seed: 7)
    let fetch = try fixture.fetch(
      try FetchPredicate(format: format),
      [FetchSortDescriptor("str"), FetchSortDescriptor("list.name")]
    )
    let found = try #require(try fixture.store.fetch(fetch), "the predicate is translated")
    #expect(found == fixture.expected(fetch))
    let plan = try #require(try fixture.store.queryPlan(fetch))
    #expect(plan.count > 1 && plan[0].hasPrefix("SELECT t0.Z_PK FROM "))
  }

  /// What members of a collection are compared with is about the collection as a whole.
  @Test(arguments: [
    "ANY list.items.str == TERNARY(list.items.str CONTAINS 'a', 'x', 'y')",
    "ANY list.items.str == TERNARY(flag == YES, list.items.str, 'y')",
    "ANY list.items.i32 > SUBQUERY(list.items, $i, list.items.str CONTAINS 'a').@count",
  ])
  func theOtherSideIsNotThatOfAMember(_ format: String) throws {
    let fixture = try TranslationFixture(seed: 14)
    let context = try fixture.context()
    let list = try context.insert(entityName: "List")
    for text in ["a", "y"] {
      let item = try context.insert(entityName: "Item")
      try item.setPropertyValue(.string(text), forKey: "str")
      for name in ["full", "i32"] { try item.setPropertyValue(.integer(1), forKey: name) }
      try item.setPropertyValue(.boolean(true), forKey: "flag")
      try item.setValue(list, forKey: "list")
    }
    try list.setPropertyValue(.integer(4711), forKey: "order")
    try context.save()
    let predicate = try FetchPredicate(format: format)
    #expect(try fixture.store.fetch(fixture.fetch(predicate, [])) == nil, "it is left for memory")
    let request = FetchRequest<ManagedObject>(
      entityName: "Item",
      where: .and([predicate, try FetchPredicate(format: "list.order == 4711")])
    )
    #expect(try fixture.context().fetch(request).isEmpty)
  }

  /// An expression over numbers.
  private func arithmetic(_ depth: Int, _ queries: inout RandomQueries) -> FetchExpression {
    guard depth > 0, queries.number(0...3) > 0 else {
      let constants: [PropertyValue] = [.integer(2), .integer(0), .integer(.max), .double(0.5), .double(.infinity)]
      if queries.number(0...2) == 0 { return .constant(constants[queries.number(0...4)]) }
      return .key(["i16", "i32", "i64", "dbl", "flt", "full"][queries.number(0...5)])
    }
    let symbols: [FetchExpression.ArithmeticOperator] = [.add, .subtract, .multiply, .divide]
    return .arithmetic(
      arithmetic(depth - 1, &queries),
      symbols[queries.number(0...3)],
      arithmetic(depth - 1, &queries)
    )
  }

  @Test(arguments: 0..<3)
  func computesAsInMemory(_ run: Int) throws {
    var fixture = try TranslationFixture(seed: .random(in: 0...UInt64.max))
    var translated = 0
    for _ in 0..<300 {
      let rights: [FetchExpression] = [
        .constant(.integer(3)), .constant(.double(-1.5)), .constant(.null), .key("i64"), .key("dbl"),
        .aggregate([.constant(.integer(1)), .constant(.integer(4)), .constant(.null)]),
        .aggregate([.constant(.integer(-4)), .constant(.double(9))]), arithmetic(1, &fixture.queries),
      ]
      let right = rights[fixture.queries.number(0...(rights.count - 1))]
      var comparators: [FetchComparison.Comparator] = [
        .equalTo, .notEqualTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo,
      ]
      if case .aggregate(let elements) = right { comparators = elements.count == 2 ? [.in, .between] : [.in] }
      let comparator = comparators[fixture.queries.number(0...(comparators.count - 1))]
      let comparison = FetchComparison(arithmetic(3, &fixture.queries), comparator, right)
      let predicate = FetchPredicate.comparison(comparison)
      let fetch = try fixture.fetch(fixture.queries.number(0...1) == 0 ? predicate : !predicate, [])
      guard let found = try fixture.store.fetch(fetch) else { continue }
      translated += 1
      #expect(found == fixture.expected(fetch), "\(predicate)")
    }
    #expect(translated > 60, "much is computed in SQL")
  }

  /// Each `*` may end anywhere: to try all ways would take for ever.
  @Test func patternsOfManyStarsEnd() throws {
    let fixture = try TranslationFixture(seed: 12)
    let context = try fixture.context()
    let item = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Item", limit: 1)).first)
    try item.setPropertyValue(.string(String(repeating: "a", count: 20_000)), forKey: "str")
    try context.save()
    let stars = String(repeating: "*a", count: 60)
    for (pattern, count) in [(stars + "b", 0), (stars + "*", 1), ("*a?" + stars + "é*", 0)] {
      let fetch = try fixture.fetch(.comparison(FetchComparison(.key("str"), .like, .constant(.string(pattern)))), [])
      #expect(try fixture.store.fetch(fetch)?.count == count, "in SQL")
      let table = try context.persistentStoreCoordinator.persistentStores[0].engine.table(of: fixture.queries.item)
      let tables = QueryTables(tables: [table, nil, nil], scopes: fixture.contents.scopes)
      #expect(TableQuery(tables, table, where: fetch.compiledPredicate).count() == count, "in memory")
    }
  }

  /// Swift takes both letters for the same, and predicates do not.
  @Test func patternsOfOtherScalarsAreOtherPatterns() throws {
    let fixture = try TranslationFixture(seed: 13)
    let context = try fixture.context()
    let texts = ["a pattern: \u{e9}", "a pattern: e\u{301}"]
    let items = try texts.map { text in
      let item = try context.insert(entityName: "Item")
      try item.setPropertyValue(.string(text), forKey: "str")
      try item.setPropertyValue(.integer(0), forKey: "full")
      return item
    }
    try context.save()
    let conditions = texts.map { text in
      FetchPredicate.comparison(FetchComparison(.key("str"), .like, .constant(.string(text))))
    }
    for (condition, item) in zip(conditions, items) {
      #expect(try fixture.store.fetch(fixture.fetch(condition, [])) == [item.objectID.reference])
    }
    let both = try #require(try fixture.store.fetch(fixture.fetch(.or(conditions), [])))
    #expect(Set(both) == Set(items.map(\.objectID.reference)))
  }

  @Test(arguments: ["'; DROP TABLE ZITEM; --", "\"", "a' OR '1'='1", "%_?*\\", "\u{0}';", "?"])
  func hostileTextIsAValue(_ text: String) throws {
    let fixture = try TranslationFixture(seed: 8)
    for comparator in [FetchComparison.Comparator.equalTo, .contains, .beginsWith, .endsWith, .like, .in] {
      let right: FetchExpression = comparator == .in ? .aggregate([.constant(.string(text))]) : .constant(.string(text))
      let fetch = try fixture.fetch(.comparison(FetchComparison(.key("str"), comparator, right)), [])
      let query = try #require(try fixture.store.queryPlan(fetch))
      #expect(!query[0].contains(text) || text == "?" || text == "\"")
      #expect(try fixture.store.fetch(fetch) == fixture.expected(fetch))
    }
    #expect(try fixture.store.count(of: fixture.queries.item) == fixture.contents.table(of: fixture.queries.item).count)
  }
}
