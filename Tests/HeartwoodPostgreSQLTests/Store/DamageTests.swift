import Foundation
import Heartwood
import HeartwoodStore
import Testing

@testable import HeartwoodPostgreSQL

/// What `heartwood verify` finds in a database that others have damaged.
@Suite(.needsServer) struct DamageTests {
  private let bench: StoreBench

  init() throws {
    bench = try StoreBench()
  }

  /// Saves two lists with items and tags.
  private func fill() throws {
    let context = try bench.context()
    let tag = try bench.insert("Tag", ["name": "new"], in: context)
    for name in ["Home", "Work"] {
      let list = try bench.insert("List", ["name": name], in: context)
      for number in 1...2 {
        let values: [String: Any] = ["title": "\(name) \(number)", "code": "\(name)\(number)", "list": list]
        try bench.insert("Item", values, in: context).setValue(Set([tag]), forKey: "tags")
      }
    }
    try context.save()
  }

  /// The bytes of a number are also those of a date, and those of a boolean a text.
  @Test(arguments: [
    ("count", "TYPE double precision USING 1", "count of the table item is double precision instead of bigint"),
    ("due", "TYPE bigint USING 1", "due of the table item is bigint instead of timestamptz"),
    ("title", "TYPE bytea USING 'x'", "title of the table item is bytea instead of text"),
    ("title", "TYPE inet USING '::1'", "title of the table item is another type instead of text"),
  ])
  func aColumnThatGetsAnotherTypeWhileTheStoreIsOpenIsAnError(
    _ column: String,
    _ change: String,
    _ text: String
  ) throws {
    try fill()
    let (whole, single) = (try bench.context(), try bench.context())
    let id = try #require(try single.fetch(entityName: "Item").first).objectID
    try bench.otherClient().execute("ALTER TABLE item ALTER COLUMN \(column) \(change)")
    single.reset()
    let errors = [
      bench.error { _ = try whole.fetch(entityName: "Item").map { try $0.value(forKey: column) } },
      bench.error { _ = try bench.context().existingObject(with: id).value(forKey: column) },
    ]
    for error in errors {
      #expect(error?.code == .fileMalformed)
      #expect(error?.message.contains(text) == true, "\(String(describing: error))")
      #expect(error?.context.entity == "Item")
    }
  }

  private func findings(_ bench: StoreBench, limit: Int = 100) throws -> [String] {
    try bench.withEngine { try $0.fileFaults(limit: limit) }
  }

  private func unreadableValues(_ bench: StoreBench) throws -> UnreadableValues {
    try bench.withEngine { try $0.unreadableValues(limit: 10) }
  }

  @Test func aSoundStoreHasNoFindings() throws {
    try fill()
    let other = try bench.otherClient()
    try other.execute("INSERT INTO item (title) VALUES ('Milk')")
    try other.execute("ALTER TABLE item ADD note text; CREATE INDEX ON item (note); CREATE TABLE extra (id int)")
    try other.execute("DROP INDEX item_list_id_idx")
    #expect(try findings(bench) == [])
    #expect(try unreadableValues(bench).count == 0)
  }

  @Test func aStoreWithoutTriggersAndWithHistoryIsSound() throws {
    var options = StoreOptions()
    options[.postgresNotesOtherClients] = false
    options[.tracksPersistentHistory] = true
    let context = try bench.context(options)
    try bench.insert("Item", ["title": "Tea"], in: context)
    try context.save()
    #expect(try findings(bench) == [])
  }

  static let damages: [(statement: String, expected: [String])] = [
    ("DROP TABLE item_tags", ["The table item_tags is missing"]),
    ("ALTER TABLE item DROP COLUMN count", ["The table item has no column count"]),
    (
      "ALTER TABLE item ALTER count TYPE text USING count::text",
      ["The column count of the table item has the type text instead of bigint", "ALTER COLUMN \"count\" TYPE bigint;"]
    ),
    (
      "ALTER TABLE item ALTER title TYPE text COLLATE \"default\"",
      ["The column title of the table item has the collation default instead of C"]
    ),
    (
      "ALTER TABLE item ADD made timestamptz NOT NULL DEFAULT now(); ALTER TABLE item ALTER made DROP DEFAULT",
      ["The column made of the table item, which is not of the model, is NOT NULL", "DROP NOT NULL;"]
    ),
    (
      "ALTER TABLE item_tags DROP CONSTRAINT item_tags_pkey",
      ["The table item_tags has no primary key of item_id, tag_id", "ADD PRIMARY KEY (\"item_id\", \"tag_id\");"]
    ),
    (
      "ALTER TABLE item DROP CONSTRAINT item_list_id_fkey",
      [
        "The column list_id of the table item has no foreign key to the table list",
        "ADD FOREIGN KEY (\"list_id\") REFERENCES",
      ]
    ),
    (
      """
      ALTER TABLE item DROP CONSTRAINT item_list_id_fkey; ALTER TABLE item ADD FOREIGN KEY (list_id) REFERENCES list
      """,
      ["The column list_id of the table item has a foreign key that does something else"]
    ),
    (
      """
      ALTER TABLE item DROP CONSTRAINT item_list_id_fkey;
      ALTER TABLE item ADD FOREIGN KEY (list_id) REFERENCES list ON DELETE SET NULL NOT VALID
      """,
      ["The column list_id of the table item has a foreign key whose rows were not checked"]
    ),
    (
      "DROP INDEX item_code_idx",
      ["The table item lacks the unique index of the columns code", "CREATE UNIQUE INDEX ON"]
    ),
    (
      "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'item_list_id_idx'::regclass",
      ["The index item_list_id_idx of the table item is not complete", "REINDEX INDEX"]
    ),
    (
      "DROP TRIGGER heartwood_row ON item",
      ["The table item lacks the trigger heartwood_row", "CREATE TRIGGER heartwood_row BEFORE UPDATE"]
    ),
    (
      "ALTER TABLE item DISABLE TRIGGER heartwood_mark_update",
      ["The table item has disabled the trigger heartwood_mark_update", "ENABLE TRIGGER heartwood_mark_update;"]
    ),
    (
      "UPDATE item SET entity = 'Other' WHERE title = 'Home 1'",
      [
        "of the table item is of the entity “Other”, which the model does not keep there",
        "Set its column entity to Item",
      ]
    ),
    (
      """
      SET session_replication_role = replica; DELETE FROM tag
      """,
      [
        "The row of the table item_tags with item_id", "refers in tag_id to no row of tag (Item.tags, Tag.items)",
        "Delete it",
      ]
    ),
    (
      "UPDATE item SET list_position = 1024",
      [
        "2 rows of the table item have the list_position 1024 with the list_id",
        "the order of List.items is not what was saved",
      ]
    ),
    (
      "UPDATE heartwood_store SET identifier = gen_random_uuid()",
      ["The identifier in the table heartwood_store differs", "UPDATE"]
    ),
    (
      "INSERT INTO heartwood_store SELECT 2, identifier, format, metadata, model, owns_schema FROM heartwood_store",
      ["The table heartwood_store has 2 rows instead of one"]
    ),
    (
      "DELETE FROM heartwood_mark WHERE slot = 0",
      ["The table heartwood_mark has no row with the slot 0", "INSERT INTO"]
    ),
    (
      "INSERT INTO heartwood_log VALUES (5, 3, 0, 'item', '{}')",
      ["the save 3 of the slot 5, and heartwood_mark has no row"]
    ),
    ("UPDATE heartwood_mark SET saves = 0 WHERE slot <> 0", ["and its row in heartwood_mark counts 0"]),
    (
      "INSERT INTO heartwood_transaction (saved_at, saved_at_exact) VALUES (now(), 0)",
      ["The table heartwood_transaction has 1 rows that heartwood_history does not include"]
    ),
    (
      "INSERT INTO heartwood_change VALUES (9, 0, 'insert', 'Item', '{}', '{}', '{}')",
      ["The table heartwood_change has 1 rows of transactions that are not in heartwood_transaction"]
    ),
  ]

  @Test(arguments: damages.indices) func damageIsFound(_ index: Int) throws {
    let (statement, expected) = Self.damages[index]
    try fill()
    try bench.otherClient().execute("SET heartwood.saving = 'yes'; \(statement)")
    let findings = try findings(bench)
    for text in expected { #expect(findings.contains { $0.contains(text) }, "\(text) is not in \(findings)") }
    #expect(findings.allSatisfy { $0.hasSuffix(".") || $0.hasSuffix(";") || $0.hasSuffix("everywhere.") })
  }

  @Test func findingsAreLimited() throws {
    try fill()
    try bench.otherClient().execute(
      "SET heartwood.saving = 'yes'; UPDATE item SET entity = 'Other'; DELETE FROM heartwood_mark WHERE slot = 0"
    )
    #expect(try findings(bench).count == 5)
    #expect(try findings(bench, limit: 3).count == 3)
  }

  // MARK: Rows and values

  private func shapes() throws -> StoreBench {
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(
        name: "Shape",
        isAbstract: true,
        properties: [
          .attribute("link", .uri, optional: true), .attribute("size", .integer16, optional: true),
          .attribute("price", .decimal, optional: true), .toOne("inside", "Shape", inverse: "contents"),
          .toMany("contents", "Shape", inverse: "inside"), .toMany("friends", "Shape", inverse: "friends"),
        ]
      ),
      EntityDefinition(name: "Circle", superentityName: "Shape"),
      EntityDefinition(name: "Square", superentityName: "Shape"),
    ])
    let bench = try StoreBench(model)
    let context = try bench.context()
    let circle = try bench.insert("Circle", ["size": 1], in: context)
    let square = try bench.insert("Square", ["size": 2, "inside": circle], in: context)
    try square.setValue(Set([circle]), forKey: "friends")
    try context.save()
    #expect(try findings(bench) == [])
    return bench
  }

  @Test func pairsWithoutTheirOppositesAreFound() throws {
    let bench = try shapes()
    try bench.otherClient().execute("DELETE FROM shape_friends WHERE ctid = '(0,1)'")
    let findings = try findings(bench)
    #expect(findings.count == 1)
    #expect(findings.first?.contains("Shape.friends of") == true, "\(findings)")
    #expect(findings.first?.contains("the table shape_friends lacks the row with source_id") == true, "\(findings)")
  }

  @Test(arguments: [
    ("UPDATE shape SET link = '' WHERE entity = 'Square'", "Square", "link", "The column link of the table shape"),
    (
      "ALTER TABLE shape ALTER size TYPE integer; UPDATE shape SET size = 100000 WHERE entity = 'Circle'", "Circle",
      "size", "out of the range"
    ),
    (
      "UPDATE shape SET price = 'Infinity' WHERE entity = 'Circle'", "Circle", "price", "holds an infinite number"
    ),
    (
      "UPDATE shape SET entity = 'Other' WHERE entity = 'Circle'", "Square", "inside",
      "refers to a row of no entity that the model allows there"
    ),
  ])
  func unreadableValuesAreFound(_ statement: String, _ entity: String, _ property: String, _ text: String) throws {
    let bench = try shapes()
    try bench.otherClient().execute(statement)
    let found = try unreadableValues(bench)
    let values = found.values.filter { $0.propertyName == property }
    #expect(values.count == 1, "\(found.values)")
    let value = try #require(values.first)
    #expect(value.entityName == entity)
    #expect("\(value.error)".contains(text), "\(value.error)")
    guard case .uuid(let key)? = value.reference else {
      Issue.record("The value has no key.")
      return
    }
    #expect(value.error.message.contains(key.uuidString.lowercased()))
    let error = bench.error { _ = try bench.context().fetch(entityName: entity) }
    #expect(error?.code == .fileMalformed && error?.context.property != nil, "\(String(describing: error))")
  }

  @Test func membersOfNoEntityAreFound() throws {
    let bench = try shapes()
    try bench.otherClient().execute("UPDATE shape SET entity = 'Other' WHERE entity = 'Square'")
    let found = try unreadableValues(bench)
    #expect(Set(found.values.compactMap(\.propertyName)) == ["contents", "friends"])
    #expect(found.values.allSatisfy { $0.entityName == "Circle" && $0.reference != nil })
    let findings = try findings(bench)
    #expect(findings.count == 1 && findings.first?.contains("the entity “Other”") == true, "\(findings)")
  }

  @Test func rowsWithoutKeysAndVersionsAreFound() throws {
    let bench = try shapes()
    try bench.otherClient().execute(
      """
      SET heartwood.saving = 'yes'; ALTER TABLE shape DROP CONSTRAINT shape_pkey CASCADE;
      ALTER TABLE shape ALTER id DROP NOT NULL, ALTER version DROP NOT NULL;
      INSERT INTO shape (id, entity) VALUES (NULL, 'Circle'); UPDATE shape SET version = NULL WHERE entity = 'Square'
      """
    )
    let messages = try unreadableValues(bench).values.map(\.error.message)
    #expect(messages.count == 2)
    #expect(messages.contains { $0.contains("has no key") } && messages.contains { $0.contains("has no version") })
  }

  @Test func aMissingTableOfTheStoreIsNamed() throws {
    try fill()
    try bench.otherClient().execute("DROP TABLE heartwood_mark")
    let error = bench.error { _ = try bench.titles(try bench.context()) }
    #expect(error?.code == .fileMalformed)
    #expect(error?.message.contains("heartwood_mark") == true, "\(String(describing: error))")
  }
}
