import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import TestSupport
import Testing

@testable import HeartwoodSQLite

/// A file with random records, and the same records in memory.
struct TranslationFixture {
  var queries: RandomQueries
  let store: SQLiteStore
  let contents: StoreContents
  private let bench: SQLiteBench

  init(seed: UInt64) throws {
    queries = try RandomQueries(seed: seed)
    bench = try SQLiteBench(queries.model)
    let context = try bench.context()
    try Self.fill(context, &queries)
    contents = try context.persistentStoreCoordinator.persistentStores[0].engine.contents()
    let setup = StoreSetup(
      model: queries.model,
      configurationName: nil,
      entities: queries.model.entities,
      path: bench.url().path,
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
    try RecordFetch(
      entity: queries.item,
      predicate: predicate,
      sortDescriptors: sorts,
      offset: offset,
      limit: limit,
      in: queries.model
    )
  }

  /// A context of a coordinator that has read nothing.
  func context() throws -> ManagedObjectContext { try bench.context() }

  /// The tables of all records.
  var tables: QueryTables { QueryTables(tables: contents.tables, scopes: contents.scopes) }

  /// What all records in memory give.
  func expected(_ fetch: RecordFetch) -> [ReferenceID] {
    let table = contents.table(of: queries.item)
    let query = TableQuery(tables, table, where: fetch.compiledPredicate)
    return query.rows(sortedBy: fetch.compiledSorts, offset: fetch.offset, limit: fetch.limit).map(table.reference)
  }
}

// MARK: Changes

extension TranslationFixture {
  private static func objects(_ entity: String, _ format: String) throws -> FetchRequest<ManagedObject> {
    FetchRequest(entityName: entity, where: try FetchPredicate(format: format))
  }

  /// Changes, deletes and inserts some objects of a context, without a save.
  mutating func change(_ context: ManagedObjectContext) throws {
    let lists = try context.fetch(Self.objects("List", "order != 17"))
    let tags = try context.fetch(Self.objects("Tag", "name != 'none'"))
    var items = try Array(context.fetch(Self.objects("Item", "full > 2")).prefix(20))
    for item in items where queries.number(0...4) == 0 { context.delete(item) }
    items.removeAll(where: \.isDeleted)
    for _ in 0..<queries.number(1...4) { items.append(try context.insert(entityName: "Item")) }
    for item in items where queries.number(0...3) > 0 || item.isInserted {
      for name in ["str", "i16", "flag", "i64", "dec"] where queries.number(0...1) == 0 {
        let type = try #require(item.entity.attributes.first { $0.name == name }).type
        try item.setPropertyValue(queries.value(of: type), forKey: name)
      }
      try item.setPropertyValue(.integer(Int64(queries.number(-9...9))), forKey: "full")
      try item.setValue(lists.isEmpty ? nil : lists[queries.number(0...(lists.count - 1))], forKey: "list")
      try item.setValue(items[queries.number(0...(items.count - 1))], forKey: "next")
      try item.setValue(Set(tags.filter { _ in queries.number(0...3) == 0 }), forKey: "tags")
    }
    for object in lists + tags {
      switch queries.number(0...9) {
      case 0: context.delete(object)
      case 1...4: try object.setPropertyValue(queries.value(of: .string), forKey: "name")
      default: break
      }
    }
  }

  /// A request that SQL can answer, or in part.
  mutating func request() throws -> FetchRequest<ManagedObject> {
    let terms = (0..<queries.number(1...3)).map { _ in queries.predicate(depth: 1) }
    let known = try FetchPredicate(format: "full > \(queries.number(-6...4))")
    var request = FetchRequest<ManagedObject>(entityName: "Item", where: .and(terms + [known]))
    if queries.number(0...1) == 0 { request.sortDescriptors = queries.sorts() }
    if !request.sortDescriptors.isEmpty, queries.number(0...1) == 0 {
      (request.fetchOffset, request.fetchLimit) = (queries.number(0...3), queries.number(0...20))
    }
    return request
  }
}

/// What a request finds in a context.
struct FoundObjects {
  let ids: [ManagedObjectID]
  let count: Int
  /// What the objects are sorted by.
  private let keys: [[PropertyValue]]

  init(_ request: FetchRequest<ManagedObject>, _ context: ManagedObjectContext) throws {
    let objects = try context.fetch(request)
    ids = objects.map(\.objectID)
    count = try context.count(for: request)
    let entity = try #require(context.persistentStoreCoordinator.managedObjectModel.entity(named: request.entityName))
    let model = context.persistentStoreCoordinator.managedObjectModel
    let sorts = try request.sortDescriptors.map { try CompiledSort($0, for: entity, in: model) }
    let evaluator = PredicateEvaluator(ObjectSource(context: context))
    keys = objects.map { object in sorts.map { evaluator.value($0.expression, object).scalar } }
  }

  /// Records that were read one by one are in another order than all of them; where the request sorts them, those that it leaves alike may be.
  func expectSame(_ expected: FoundObjects, _ request: FetchRequest<ManagedObject>, in queries: RandomQueries) throws {
    #expect(count == expected.count && ids.count == expected.ids.count, "\(request)")
    if request.fetchLimit == nil { #expect(Set(ids) == Set(expected.ids), "\(request)") }
    let sorts = try request.sortDescriptors.map { try CompiledSort($0, for: queries.item, in: queries.model) }
    for (left, right) in zip(keys, expected.keys) {
      #expect(!sorts.comes(left, before: right) && !sorts.comes(right, before: left), "\(request)")
    }
  }
}

/// The objects of a context, to be evaluated.
private struct ObjectSource: PredicateSource {
  let context: ManagedObjectContext

  func value(_ ordinal: Int, of subject: ManagedObject) -> PropertyValue {
    (try? subject.propertyValue(forKey: subject.entity.properties[ordinal].name)) ?? .null
  }

  func objectID(of subject: ManagedObject) -> ManagedObjectID? { subject.objectID }

  func subject(_ id: ManagedObjectID) -> ManagedObject? {
    (try? context.existingObject(with: id)).flatMap { $0.isDeleted ? nil : $0 }
  }
}
