import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// Fetches in SQL, held against the same fetches of all records in memory.
@Suite struct TranslatedFetchTests {
  /// A file with random records, and the same records in memory.
  private struct Fixture {
    var queries: RandomQueries
    let store: SQLiteStore
    let contents: StoreContents
    private let scratch: ScratchFolder

    init(seed: UInt64) throws {
      scratch = try ScratchFolder()
      queries = try RandomQueries(seed: seed)
      let url = scratch.url.appending(path: "Items.sqlite")
      let registry = StoreRegistry()
      try registry.register(SQLiteStore.self)
      let coordinator = try PersistentStoreCoordinator(managedObjectModel: queries.model, registry: registry)
      let opened = try coordinator.addPersistentStore(type: .sqlite, at: url)
      let context = ManagedObjectContext(coordinator)
      try Self.fill(context, &queries)
      contents = try opened.engine.contents()
      let setup = StoreSetup(
        model: queries.model,
        configurationName: nil,
        entities: queries.model.entities,
        path: url.path,
        options: StoreOptions()
      )
      store = try SQLiteStore(setup)
      _ = try store.connect()
    }

    private static func fill(_ context: ManagedObjectContext, _ queries: inout RandomQueries) throws {
      let lists = try (0..<7).map { _ in try insert("List", context, &queries) }
      let tags = try (0..<9).map { _ in try insert("Tag", context, &queries) }
      let items = try (0..<150).map { _ in try insert("Item", context, &queries) }
      for item in items {
        if queries.number(0...4) > 0 { try item.setValue(lists[queries.number(0...6)], forKey: "list") }
        if queries.number(0...4) > 0 { try item.setValue(items[queries.number(0...149)], forKey: "next") }
        try item.setValue(Set((0..<queries.number(0...3)).map { _ in tags[queries.number(0...8)] }), forKey: "tags")
      }
      try context.save()
      for object in items + tags where queries.number(0...11) == 0 { context.delete(object) }
      try context.save()
      for (ordinal, objects) in [items.prefix(40), lists.prefix(7), tags.prefix(8)].enumerated() {
        queries.objectIDs[ordinal] = objects.map(\.objectID)
      }
    }

    private static func insert(
      _ entity: String,
      _ context: ManagedObjectContext,
      _ queries: inout RandomQueries
    ) throws -> ManagedObject {
      let object = try context.insert(entityName: entity)
      for attribute in object.entity.attributes {
        // A real column has no NaN.
        let value = queries.number(0...4) == 0 && attribute.isOptional ? .null : queries.value(of: attribute.type)
        let isNaN = [.double, .float, .date].contains(attribute.type) && "\(value)".lowercased().contains("nan")
        try object.setPropertyValue(isNaN ? .null : value, forKey: attribute.name)
      }
      return object
    }

    func fetch(_ predicate: FetchPredicate?, _ sorts: [FetchSortDescriptor], _ offset: Int = 0, _ limit: Int? = nil)
      throws -> RecordFetch
    {
      RecordFetch(
        entity: queries.item,
        predicate: predicate,
        sortDescriptors: sorts,
        plan: try predicate.map { try PredicateCompiler.compile($0, for: queries.item, in: queries.model) },
        sorts: try sorts.map { try SortPlan($0, for: queries.item, in: queries.model) },
        offset: offset,
        limit: limit
      )
    }

    /// What all records in memory give.
    func expected(_ fetch: RecordFetch) -> [ReferenceID] {
      let tables = QueryTables(tables: contents.tables, scopes: contents.scopes)
      let table = contents.table(of: queries.item)
      let query = TableQuery(tables, table, where: fetch.plan)
      return query.rows(sortedBy: fetch.sorts, offset: fetch.offset, limit: fetch.limit).map(table.reference)
    }
  }

  @Test(arguments: 0..<4)
  func findsWhatIsFoundInMemory(_ run: Int) throws {
    var fixture = try Fixture(seed: .random(in: 0...UInt64.max))
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

  @Test(arguments: [
    "i32 > 1", "i32 BETWEEN {0, 2}", "str == 'abc'", "str ==[c] 'abc'", "str CONTAINS[cd] 'e'", "str BEGINSWITH 'a'",
    "str BEGINSWITH ''",
    "str LIKE '*abc*'", "str MATCHES[c] 'a.*'", "str IN {'a', 'é', NULL}", "date < CAST(0, 'NSDate')", "flag == YES",
    "dbl == NULL", "list.name == 'a'", "list.order >= 0 AND full < 3", "list == NULL", "ANY tags.name ==[c] 'a'",
    "ALL tags.name != 'a'", "NONE tags.name == 'abc'", "tags.@count > 1", "tags.@count == 0",
    "SUBQUERY(tags, $t, $t.name != NULL AND $t.name != 'a').@count > 0", "next.list.order < 2",
    "ANY list.items.full == 3",
    "NOT (i32 > 1)", "i32 < full", "next == SELF", "SUBQUERY(list.items, $i, $i.full > 0).@count >= 2",
  ])
  func isFoundInSQL(_ format: String) throws {
    let fixture = try Fixture(seed: 7)
    let fetch = try fixture.fetch(
      try FetchPredicate(format: format),
      [FetchSortDescriptor("str"), FetchSortDescriptor("list.name")]
    )
    let found = try #require(try fixture.store.fetch(fetch), "the predicate is translated")
    #expect(found == fixture.expected(fetch))
    let plan = try #require(try fixture.store.queryPlan(fetch))
    #expect(plan.count > 1 && plan[0].hasPrefix("SELECT t0.Z_PK FROM "))
  }

  @Test(arguments: ["'; DROP TABLE ZITEM; --", "\"", "a' OR '1'='1", "%_?*\\", "\u{0}';", "?"])
  func hostileTextIsAValue(_ text: String) throws {
    let fixture = try Fixture(seed: 8)
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
