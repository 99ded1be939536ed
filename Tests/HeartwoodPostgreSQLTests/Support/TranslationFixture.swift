import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodStore
import TestSupport
import Testing

@testable import HeartwoodPostgreSQL

/// A store with random records, and the same records in memory.
struct TranslationFixture {
  var queries: RandomQueries
  let bench: StoreBench
  let store: PostgreSQLStore
  let contents: StoreContents
  private static let itemCount = 150

  init(seed: UInt64) throws {
    queries = try RandomQueries(seed: seed)
    bench = try StoreBench(queries.model)
    try Self.fill(try bench.context(), &queries)
    // As they are read, in the order of their keys.
    contents = try bench.context().persistentStoreCoordinator.persistentStores[0].engine.contents()
    store = try PostgreSQLStore(
      model: queries.model,
      entities: queries.model.entities,
      location: try bench.server.location(schema: bench.schema),
      options: StatementCheck.checking(StoreOptions())
    )
    _ = try store.connect()
  }

  private static func fill(_ context: ManagedObjectContext, _ queries: inout RandomQueries) throws {
    let lists = try (0..<7).map { _ in try insert("List", context, &queries) }
    let tags = try (0..<9).map { _ in try insert("Tag", context, &queries) }
    let items = try (0..<itemCount).map { _ in try insert("Item", context, &queries) }
    for item in items {
      if queries.number(0...4) > 0 { try item.setValue(lists[queries.number(0...6)], forKey: "list") }
      if queries.number(0...4) > 0 { try item.setValue(items[queries.number(0...(itemCount - 1))], forKey: "next") }
      try item.setValue(Set((0..<queries.number(0...3)).map { _ in tags[queries.number(0...8)] }), forKey: "tags")
    }
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
      var value = queries.number(0...4) == 0 && attribute.isOptional ? .null : queries.value(of: attribute.type)
      // PostgreSQL has no such text.
      if case .string(let text) = value { value = .string(text.replacing("\u{0}", with: "0")) }
      try object.setPropertyValue(value, forKey: attribute.name)
    }
    return object
  }

  func fetch(_ predicate: FetchPredicate?, _ sorts: [FetchSortDescriptor] = [], _ offset: Int = 0, _ limit: Int? = nil)
    throws -> RecordFetch
  {
    try RecordFetch(
      entity: queries.item,
      predicate: predicate,
      sortDescriptors: sorts,
      offset: offset,
      limit: limit,
      in: queries.model
    )
  }

  /// The tables of all records.
  var tables: QueryTables { QueryTables(tables: contents.tables, scopes: contents.scopes) }

  /// What all records in memory give.
  func expected(_ fetch: RecordFetch) -> [ReferenceID] {
    let table = contents.table(of: queries.item)
    let query = TableQuery(tables, table, where: fetch.compiledPredicate)
    return query.rows(sortedBy: fetch.compiledSorts, offset: fetch.offset, limit: fetch.limit).map(table.reference)
  }

  /// One to three of some names.
  mutating func names(_ names: [String], _ count: ClosedRange<Int>) -> [String] {
    (0..<queries.number(count)).map { _ in names[queries.number(0...(names.count - 1))] }
  }
}
