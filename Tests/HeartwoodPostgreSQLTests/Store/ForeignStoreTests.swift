import Foundation
import Heartwood
import HeartwoodStore
import Testing

@testable import HeartwoodPostgreSQL

/// Tables of another program, read through a model that names them.
@Suite(.needsServer) struct ForeignStoreTests {
  private let bench: StoreBench

  init() throws {
    bench = try StoreBench(Self.todos())
    try bench.createTables()
  }

  /// A database as other programs make them: numbers, texts and UUIDs as keys, and types of all kinds.
  private static func todos() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      EntityDefinition(
        name: "List",
        properties: [
          column("name", .string, "title"), column("opened", .date), column("settings", .string),
          link("todos", "Todo", inverse: "list", toMany: true, ordered: true, ["postgresPosition": "place"]),
          link("profile", "Profile", inverse: "list"),
        ],
        userInfo: ["postgresName": "lists", "postgresKey": "list_no"]
      ),
      EntityDefinition(
        name: "Todo",
        properties: [
          column("number", .integer64, "todo_id"), column("title", .string, "label"), column("done", .boolean),
          column("price", .decimal), column("weight", .float), column("score", .double),
          column("amount", .double, "price"),
          column("small", .integer16), column("due", .date), column("seen", .date), column("guid", .uuid),
          column("data", .binary), column("mood", .string), column("version", .string), column("code", .string),
          link("list", "List", inverse: "todos", ["postgresName": "list_ref"]),
          link(
            "tags",
            "Tag",
            inverse: "todos",
            toMany: true,
            ["postgresName": "todo_tags", "postgresKey": "todo", "postgresDestinationKey": "tag"]
          ),
        ],
        userInfo: ["postgresName": "todos", "postgresKey": "todo_id"]
      ),
      EntityDefinition(
        name: "Tag",
        properties: [column("colour", .string), link("todos", "Todo", inverse: "tags", toMany: true)],
        userInfo: ["postgresName": "tags", "postgresKey": "name"]
      ),
      EntityDefinition(name: "Profile", properties: [link("list", "List", inverse: "profile")]),
    ])
  }

  private static func column(_ name: String, _ type: AttributeType, _ column: String? = nil) -> PropertyDescription {
    var attribute = AttributeDescription(name: name, type: type)
    attribute.isOptional = true
    if let column { attribute.userInfo = ["postgresName": column] }
    return .attribute(attribute)
  }

  private static func link(
    _ name: String,
    _ destination: String,
    inverse: String,
    toMany: Bool = false,
    ordered: Bool = false,
    _ userInfo: [String: String] = [:]
  ) -> PropertyDescription {
    let property: PropertyDescription =
      toMany
      ? .toMany(name, destination, inverse: inverse, ordered: ordered) : .toOne(name, destination, inverse: inverse)
    guard case .relationship(var relationship) = property else { return property }
    relationship.userInfo = userInfo
    return .relationship(relationship)
  }

  // MARK: Reading

  @Test func recordsAreRead() throws {
    let context = try bench.context()
    let todos = try bench.found(context, "Todo", "number == 1")
    let tea = try #require(todos.first)
    #expect(todos.count == 1 && tea.objectID.reference == .integer(1))
    #expect(try tea.value(forKey: "title") as? String == "Tea")
    #expect(try tea.value(forKey: "done") as? Bool == true)
    #expect(try tea.value(forKey: "price") as? Decimal == Decimal(string: "12.50"))
    #expect(try tea.value(forKey: "amount") as? Double == 12.5)
    #expect(try tea.value(forKey: "weight") as? Float == 0.5)
    #expect(try tea.value(forKey: "score") as? Double == 0.25)
    #expect(try bench.found(context, "Todo", "small == 7") == [tea])
    #expect(try tea.value(forKey: "due") as? Date == Date(timeIntervalSince1970: 1_767_323_045.5))
    #expect(try tea.value(forKey: "seen") as? Date == Date(timeIntervalSince1970: 1_767_319_445.5))
    #expect(try tea.value(forKey: "guid") as? UUID == UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF"))
    #expect(try tea.value(forKey: "data") as? Data == Data([1, 2]))
    #expect(try tea.value(forKey: "mood") as? String == "calm")
    #expect(try tea.value(forKey: "version") as? String == "v1")
    #expect(try tea.value(forKey: "code") as? String == "ab")
    let list = try #require(try tea.value(forKey: "list") as? ManagedObject)
    #expect(list.objectID.reference == .integer(5))
    #expect(try list.value(forKey: "opened") as? Date == Date(timeIntervalSince1970: 1_767_312_000))
    #expect(try list.value(forKey: "settings") as? String == "{\"a\": 1}")
    let ordered = try (list.value(forKey: "todos") as? [ManagedObject])?.map {
      try $0.value(forKey: "title") as? String
    }
    #expect(ordered == ["Milk", "Tea"])
    let tags = try #require(try tea.value(forKey: "tags") as? [ManagedObject])
    #expect(Set(tags.map(\.objectID.reference)) == [.string("new"), .string("it's \\ \"hot\"")])
    let profile = try #require(try list.value(forKey: "profile") as? ManagedObject)
    #expect(try profile.value(forKey: "list") as? ManagedObject == list)
    guard case .uuid = profile.objectID.reference else {
      Issue.record("The key of a profile is no UUID.")
      return
    }
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Todo")) == 3)
  }

  /// Each predicate finds in SQL what it finds in memory.
  @Test(arguments: [
    "done == YES", "price > 10", "amount >= 12.5 AND weight < 1", "small IN {7, 8}", "title CONTAINS 'i'",
    "title BEGINSWITH 'T'", "title == 'Tea'", "due == nil", "seen > CAST(700000000, 'NSDate')", "mood == 'calm'",
    "list.name == 'Home'", "list == nil", "list != nil AND NOT title ENDSWITH 'k'", "version == 'v1'", "code == 'ab'",
    "title CONTAINS[cd] 'TEA'", "ANY tags.colour == 'red'", "number BETWEEN {2, 3}", "score == 0.25",
  ])
  func predicatesMeanTheSame(_ format: String) throws {
    let predicate = try FetchPredicate(format: format)
    let sorts = [FetchSortDescriptor("due"), FetchSortDescriptor("title", ascending: false)]
    let request = FetchRequest<ManagedObject>(entityName: "Todo", where: predicate, sortedBy: sorts)
    let found = try bench.context().fetch(request).map(\.objectID.reference)
    let memory = try bench.context()
    // With unsaved changes, and all records read, everything is found in memory.
    for object in try memory.fetch(entityName: "Todo") { _ = try object.value(forKey: "title") }
    #expect(try memory.fetch(request).map(\.objectID.reference) == found)
    #expect(found.count < 3 || format.contains("700000000"))
  }

  @Test func conditionsRunInSQL() throws {
    let log = StatementLog()
    let context = try bench.context(log.options)
    log.clear()
    let date = Date(timeIntervalSinceReferenceDate: 700_000_000)
    let predicate = try FetchPredicate(format: "done == YES AND due > %@", date)
    #expect(try context.fetch(FetchRequest<ManagedObject>(entityName: "Todo", where: predicate)).count == 1)
    #expect(log.beginning(with: "COPY").isEmpty)
    let tag = try #require(try bench.found(context, "Tag", "colour == 'red'").first)
    let request = FetchRequest<ManagedObject>(entityName: "Tag", where: try FetchPredicate(format: "SELF == %@", tag))
    #expect(try bench.context().count(for: request) == 1)
  }

  @Test func changesOfOthersAreSeen() throws {
    let context = try bench.context()
    let tea = try #require(try bench.found(context, "Todo", "number == 1").first)
    #expect(try tea.value(forKey: "title") as? String == "Tea")
    let list = try #require(try tea.value(forKey: "list") as? ManagedObject)
    #expect(try (list.value(forKey: "todos") as? [ManagedObject])?.count == 2)
    try bench.otherClient().execute(
      "UPDATE todos SET label = 'Coffee' WHERE todo_id = 1; UPDATE todos SET list_ref = NULL WHERE todo_id = 2"
    )
    let fresh = try bench.found(bench.context(), "Todo", "title == 'Coffee'")
    #expect(fresh.count == 1)
    #expect(try bench.found(context, "Todo", "title == 'Coffee'").count == 1)
    context.refreshAllObjects()
    #expect(try tea.value(forKey: "title") as? String == "Coffee")
    #expect(try (list.value(forKey: "todos") as? [ManagedObject])?.count == 1)
  }

  @Test func aLostConnectionIsMadeAgain() throws {
    let bench = try StoreBench(self.bench.model, on: TestServer())
    try bench.createTables()
    let context = try bench.context()
    #expect(try bench.found(context, "Todo", "number == 1").count == 1)
    try bench.server.stop()
    try bench.server.start()
    #expect(try bench.found(context, "Todo", "number == 2").count == 1)
  }

  @Test func identifiersStayTheSame() throws {
    let ids = try (0..<2).map { _ in
      try bench.found(bench.context(), "Todo", "number == 1").first?.objectID.uriRepresentation()
    }
    #expect(ids[0] != nil && ids[0] == ids[1])
  }

  // MARK: Refusals

  @Test func everyWriteIsRefused() throws {
    let context = try bench.context()
    let tea = try #require(try bench.found(context, "Todo", "number == 1").first)
    try tea.setValue("Coffee", forKey: "title")
    let update = bench.error { try context.save() }
    #expect(update?.code == .storeReadOnly)
    #expect(update?.message.contains("another program") == true)
    context.rollback()
    context.delete(tea)
    #expect(bench.error { try context.save() }?.code == .storeReadOnly)
    context.rollback()
    let insertion = bench.error {
      try bench.insert("Todo", ["title": "New"], in: context)
      try context.save()
    }
    #expect(insertion?.code == .storeReadOnly, "\(String(describing: insertion))")
    context.rollback()
    let batch = BatchUpdateRequest(entityName: "Todo", propertiesToUpdate: ["done": true])
    #expect(bench.error { _ = try context.execute(batch) }?.code == .storeReadOnly)
    let label = try bench.otherClient().execute("SELECT label FROM todos WHERE todo_id = 1").first { try $0.text(0) }
    #expect(label == "Tea")
  }

  @Test(arguments: [
    ("ALTER TABLE todos DROP COLUMN label", "The table todos has no column label", "Todo", "title"),
    ("DROP TABLE todo_tags", "has no table todo_tags", "Todo", "tags"),
    (
      "ALTER TABLE todos ALTER due TYPE text",
      "The column due of the table todos has the type text, which cannot be read as",
      "Todo", "due"
    ),
    (
      "ALTER TABLE todos ADD x point; ALTER TABLE todos DROP small; ALTER TABLE todos RENAME x TO small",
      "The column small of the table todos has the type point", "Todo", "small"
    ),
    (
      "ALTER TABLE todos DROP list_ref; ALTER TABLE todos ADD list_ref uuid",
      "The column list_ref of the table todos has the type uuid, and the keys that it refers to are of another type",
      "Todo", "list"
    ),
    (
      "ALTER TABLE lists DROP list_no CASCADE; ALTER TABLE lists ADD list_no numeric",
      "The column list_no of the table lists has the type numeric, and keys are", "List", ""
    ),
  ])
  func whatCannotBeReadIsNamed(_ statement: String, _ text: String, _ entity: String, _ property: String) throws {
    try bench.otherClient().execute(statement)
    let error = bench.error { _ = try bench.context() }
    #expect(error?.code == .fileMalformed)
    #expect(error?.message.contains(text) == true, "\(String(describing: error))")
    #expect(error?.context.entity == entity && error?.context.property ?? "" == property)
  }

  @Test(arguments: [
    (
      "ALTER TABLE todos ALTER small TYPE int; UPDATE todos SET small = 100000", "The column small of the table todos",
      "small"
    ),
    ("UPDATE todos SET price = 1e200", "The column price of the table todos", "price"),
  ])
  func valuesThatCannotBeReadAreNamed(_ statement: String, _ text: String, _ property: String) throws {
    try bench.otherClient().execute("ALTER TABLE todos ALTER price TYPE numeric; \(statement)")
    let error = bench.error { _ = try bench.found(bench.context(), "Todo", "number == 1") }
    #expect(error?.code == .fileMalformed && error?.context.property == property, "\(String(describing: error))")
    #expect(error?.message.contains(text) == true && error?.message.contains("in the row") == true)
  }

  @Test func severalRowsOfAToOneRelationshipAreAnError() throws {
    try bench.otherClient().execute("INSERT INTO profile SELECT gen_random_uuid(), 5")
    let error = bench.error { _ = try bench.found(bench.context(), "List", "name == 'Home'") }
    #expect(error?.code == .fileMalformed && error?.context.property == "profile", "\(String(describing: error))")
    #expect(error?.message.contains("2 rows of the table profile refer to it in the column list_id") == true)
  }

  @Test func subentitiesAreRefused() throws {
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(name: "Todo", properties: [], userInfo: ["postgresName": "todos", "postgresKey": "todo_id"]),
      EntityDefinition(name: "Special", superentityName: "Todo", properties: []),
    ])
    let error = bench.error {
      let registry = StoreRegistry()
      try registry.register(PostgreSQLFormat())
      let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, registry: registry)
      _ = try coordinator.addPersistentStore(type: .postgreSQL, at: try bench.url)
    }
    #expect(error?.code == .capabilityMissing && error?.context.entity == "Special")
  }

  @Test func aStoreOfTheSameModelIsAnOrdinaryStore() throws {
    let other = try StoreBench(bench.model)
    let context = try other.context()
    try other.insert("Todo", ["title": "New"], in: context)
    try context.save()
    #expect(try bench.found(other.context(), "Todo", "title == 'New'").count == 1)
    #expect(try PostgreSQLStore.metadata(at: PostgreSQLLocation(url: other.url), options: StoreOptions()) != nil)
    #expect(try PostgreSQLStore.metadata(at: PostgreSQLLocation(url: bench.url), options: StoreOptions()) == nil)
  }
}

extension StoreBench {
  fileprivate func found(_ context: ManagedObjectContext, _ entity: String, _ format: String) throws -> [ManagedObject]
  {
    try context.fetch(FetchRequest<ManagedObject>(entityName: entity, where: try FetchPredicate(format: format)))
  }

  /// Creates tables of another program, with rows.
  fileprivate func createTables() throws {
    let other = try PostgreSQLConnection(try server.location(schema: "public"), options: StoreOptions())
    try other.execute(
      """
      CREATE SCHEMA \(schema); SET search_path = \(schema);
      CREATE TYPE mood AS ENUM ('calm', 'busy'); CREATE DOMAIN code AS char(4);
      CREATE TABLE lists (list_no serial PRIMARY KEY, title varchar(40) NOT NULL, opened date, settings jsonb);
      CREATE TABLE todos (todo_id bigint PRIMARY KEY, label varchar(80), done boolean NOT NULL DEFAULT false,
        price numeric(10, 2), weight float4, score float8, small int2, due timestamp(3), seen timestamptz, guid uuid,
        data bytea, mood mood, version text, code code, list_ref int REFERENCES lists, place int);
      CREATE TABLE tags (name varchar(30) PRIMARY KEY, colour text);
      CREATE TABLE todo_tags (todo bigint REFERENCES todos, tag varchar(30) REFERENCES tags, PRIMARY KEY (todo, tag));
      CREATE TABLE profile (id uuid PRIMARY KEY, list_id int);
      INSERT INTO lists VALUES (5, 'Home', '2026-01-02', '{"a": 1}'), (6, 'Work', NULL, NULL);
      INSERT INTO todos VALUES (1, 'Tea', true, 12.5, 0.5, 0.25, 7, '2026-01-02 03:04:05.5', '2026-01-02 03:04:05.5+01',
        '01234567-89ab-cdef-0123-456789abcdef', '\\x0102', 'calm', 'v1', 'ab', 5, 2);
      INSERT INTO todos (todo_id, label, list_ref, place, mood) VALUES (2, 'Milk', 5, 1, 'busy'), (3, NULL, NULL, NULL, NULL);
      INSERT INTO tags VALUES ('new', 'red'), ('it''s \\ "hot"', NULL);
      INSERT INTO todo_tags SELECT 1, name FROM tags; INSERT INTO todo_tags VALUES (2, 'new');
      INSERT INTO profile VALUES (gen_random_uuid(), 5)
      """
    )
  }
}
