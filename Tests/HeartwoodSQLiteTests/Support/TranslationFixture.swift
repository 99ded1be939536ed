import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// A file with random records, and the same records in memory.
struct TranslationFixture {
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

  /// A context of a coordinator that has read nothing.
  func context() throws -> ManagedObjectContext {
    let registry = StoreRegistry()
    try registry.register(SQLiteStore.self)
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: queries.model, registry: registry)
    try coordinator.addPersistentStore(type: .sqlite, at: scratch.url.appending(path: "Items.sqlite"))
    return ManagedObjectContext(coordinator)
  }

  /// The tables of all records.
  var tables: QueryTables { QueryTables(tables: contents.tables, scopes: contents.scopes) }

  /// What all records in memory give.
  func expected(_ fetch: RecordFetch) -> [ReferenceID] {
    let table = contents.table(of: queries.item)
    let query = TableQuery(tables, table, where: fetch.plan)
    return query.rows(sortedBy: fetch.sorts, offset: fetch.offset, limit: fetch.limit).map(table.reference)
  }
}
