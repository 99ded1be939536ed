import Foundation
import GRDB
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodSQLite

@Suite("Schemas of files") struct ExistingSchemaTests {
  private let model: ManagedObjectModel
  private let queue: DatabaseQueue

  init() throws {
    model = try FeatureModel.model()
    queue = try DatabaseQueue()
    let schema = try SQLiteSchema(model: model, entities: model.entities)
    try queue.write { try schema.create(in: $0) }
  }

  /// The schema of the file after some SQL.
  private func existing(_ changes: String..., model: ManagedObjectModel? = nil) throws -> SQLiteSchema {
    let model = model ?? self.model
    return try queue.write { db in
      for change in changes { try db.execute(sql: change) }
      return try SQLiteSchema.existing(in: db, model: model, entities: model.entities, path: "Store.sqlite")
    }
  }

  private func property(_ name: String, of entity: String, in schema: SQLiteSchema) throws -> PropertyPlacement? {
    let entity = try #require(schema.model.entity(named: entity))
    return try #require(schema.placement(of: entity)).properties[try #require(entity.ordinal(ofProperty: name))]
  }

  @Test("A new file has the schema that it was made with")
  func new() throws {
    let schema = try existing()
    let planned = try SQLiteSchema(model: model, entities: model.entities)
    #expect(schema.entities.map(\.?.properties) == planned.entities.map(\.?.properties))
    #expect(schema.entities.map(\.?.number) == planned.entities.map(\.?.number))
    #expect(schema.createStatements == planned.createStatements)
    #expect(schema.writeRefusals.isEmpty)
  }

  @Test("Numbers are those of the file, and columns with other numbers are found")
  func numbers() throws {
    let schema = try existing(
      "UPDATE Z_PRIMARYKEY SET Z_ENT = 40 WHERE Z_NAME = 'Media'",
      "UPDATE Z_PRIMARYKEY SET Z_ENT = 12 WHERE Z_NAME = 'Tag'"
    )
    #expect(schema.placement(ofNumber: 40)?.entity.name == "Media")
    let favourite = ToOnePlacement(column: "ZFAVOURITE", entityColumn: "Z1_FAVOURITE", orderColumn: nil)
    #expect(try property("favourite", of: "Person", in: schema) == .toOne(favourite))
    guard case .join(let tags) = try property("tags", of: "Media", in: schema) else { throw Missing() }
    #expect((tags.table, tags.ownColumn, tags.otherColumn) == ("Z_1TAGS", "Z_1MEDIA", "Z_7TAGS"))
    #expect(tags.orderColumn == "Z_FOK_7TAGS")
  }

  private struct Missing: Error {}

  @Test("An entity that was renamed may stand under its former name, unless that is another's")
  func formerName() throws {
    let renamed = try ManagedObjectModel(entities: [
      .entity("Memo", renamedFrom: "Note", .attribute("text", .string, optional: true)), .entity("Tag"),
    ])
    let table = "CREATE TABLE ZMEMO (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTEXT VARCHAR)"
    #expect(try existing(table, model: renamed).placement(ofNumber: 5)?.entity.name == "Memo")
    let both = try ManagedObjectModel(entities: [.entity("Memo", renamedFrom: "Note"), .entity("Note")])
    let error = try #require(throws: PersistenceError.self) { try existing(model: both) }
    #expect(error.context.entity == "Memo")
  }

  @Test("A relation of an entity to itself is found by either name")
  func otherName() throws {
    let schema = try existing("ALTER TABLE Z_6FOLLOWERS RENAME TO Z_6FOLLOWS")
    guard case .join(let follows) = try property("follows", of: "Person", in: schema) else { throw Missing() }
    #expect((follows.table, follows.ownColumn, follows.otherColumn) == ("Z_6FOLLOWS", "Z_6FOLLOWERS", "Z_6FOLLOWS"))
  }

  @Test("Names in another case are found, and are written as the file has them")
  func otherCase() throws {
    let schema = try existing("ALTER TABLE ZNOTE RENAME COLUMN ZTEXT TO zText")
    #expect(
      try property("text", of: "Note", in: schema) == .attribute(AttributePlacement(column: "zText", storage: .text))
    )
  }

  @Test("What the model asks for and the file lacks is named")
  func missing() throws {
    let error = try #require(throws: PersistenceError.self) { try existing("ALTER TABLE ZMEDIA DROP COLUMN ZLENGTH") }
    #expect(error.code == .fileMalformed)
    #expect((error.context.entity, error.context.property) == ("Album", "length"))
    #expect(error.message.contains("ZMEDIA") && error.message.contains("ZLENGTH"))
    #expect(error.context.path == "Store.sqlite")
  }

  @Test(
    "What is missing as a whole is named",
    arguments: [
      ("DROP TABLE ZNOTE", "ZNOTE", "Note"), ("DROP TABLE Z_1TAGS", "Z_1TAGS", "Media"),
      ("DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'", "Tag", "Tag"),
      ("DROP INDEX ZNOTE_Z6NOTES_INDEX; ALTER TABLE ZNOTE DROP COLUMN Z6NOTES", "Z6NOTES", "Person"),
    ]
  )
  func missingParts(_ change: String, _ name: String, _ entity: String) throws {
    let error = try #require(throws: PersistenceError.self) { try existing(change) }
    #expect(error.code == .fileMalformed)
    #expect(error.message.contains(name))
    #expect(error.context.entity == entity)
  }

  @Test("A database without entities is no store")
  func noStore() throws {
    let error = try #require(throws: PersistenceError.self) { try existing("DROP TABLE Z_PRIMARYKEY") }
    #expect(error.code == .fileMalformed)
  }

  @Test("Without the columns that only writing needs, a file can be read only")
  func readable() throws {
    let schema = try existing(
      "ALTER TABLE ZPERSON DROP COLUMN Z1_FAVOURITE",
      "ALTER TABLE ZMEDIA DROP COLUMN Z_FOK_OWNER"
    )
    #expect(schema.writeRefusals.count == 2)
    #expect(schema.writeRefusals.contains { $0.contains("Z1_FAVOURITE") })
    let owner = ToOnePlacement(column: "ZOWNER", entityColumn: nil, orderColumn: nil)
    #expect(try property("owner", of: "Novel", in: schema) == .toOne(owner))
  }

  @Test("Triggers of unknown attributes and a history of an unknown form forbid writing, and CloudKit asks first")
  func refusals() throws {
    let history = "CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY)"
    #expect(try existing(history).writeRefusals.isEmpty, "a history without rows is none")
    let schema = try existing(
      "INSERT INTO ACHANGE VALUES (1)",
      "CREATE TABLE ANSCKEVENT (Z_PK INTEGER PRIMARY KEY)",
      """
      CREATE TRIGGER Z_DA_ZNOTE AFTER INSERT ON ZNOTE FOR EACH ROW BEGIN
      SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZNOTE', Z_ENT, Z_PK, 'text', ZTEXT) FROM ZNOTE; END
      """
    )
    #expect(schema.writeRefusals.count == 2)
    #expect(schema.mirroring?.contains("ANSCKEVENT") == true)
    for word in ["Z_DA_ZNOTE", "the table ATRANSACTION is missing"] {
      #expect(schema.writeRefusals.contains { $0.contains(word) }, "\(word)")
    }
  }

  @Test(
    "What indexes and triggers ask for and is not here is a reason not to write",
    arguments: [
      "CREATE INDEX other ON ZNOTE (NSOther(ZTEXT))", "CREATE INDEX other ON ZNOTE (ZTEXT COLLATE NSOther)",
      "CREATE TRIGGER other AFTER UPDATE OF ZTEXT ON ZNOTE BEGIN SELECT NSOther(NEW.ZTEXT); END",
      "CREATE TRIGGER other AFTER DELETE ON ZNOTE BEGIN SELECT NSOther(OLD.ZTEXT); END",
    ]
  )
  func unknowns(_ change: String) throws {
    let function = DatabaseFunction("NSOther", argumentCount: 1, pure: true) { _ in nil }
    let collation = DatabaseCollation("NSOther") { _, _ in .orderedSame }
    try queue.write { db in
      db.add(function: function)
      db.add(collation: collation)
    }
    #expect(try existing(change).writeRefusals.isEmpty)
    try queue.write { db in
      db.remove(function: function)
      db.remove(collation: collation)
    }
    let refusals = try existing().writeRefusals
    #expect(refusals.count == 1)
    for word in ["ZNOTE", "NSOther"] { #expect(refusals.first?.contains(word) == true, "\(refusals)") }
  }

  @Test("Which of two columns of a name is whose is told by their types, or not at all")
  func namesakes() throws {
    let model = try ManagedObjectModel(entities: [
      .entity("Item"), .entity("Amount", parent: "Item", .attribute("value", .double, optional: true)),
      .entity("Word", parent: "Item", .attribute("value", .string, optional: true)),
    ])
    let other = try SQLiteSchema(model: model, entities: model.entities)
    #expect(
      try property("value", of: "Word", in: other) == .attribute(AttributePlacement(column: "ZVALUE1", storage: .text))
    )
    try queue.write { db in
      for table in other.tables { try db.execute(sql: table.createStatement) }
      try db.execute(sql: "DELETE FROM Z_PRIMARYKEY; INSERT INTO Z_PRIMARYKEY VALUES (1, 'Item', 0, 0)")
      try db.execute(sql: "INSERT INTO Z_PRIMARYKEY VALUES (2, 'Amount', 1, 0), (3, 'Word', 1, 0)")
    }
    let same = try existing(model: model)
    #expect(
      try property("value", of: "Word", in: same) == .attribute(AttributePlacement(column: "ZVALUE1", storage: .text))
    )
    let swapped = try existing(
      "DROP TABLE ZITEM",
      "CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZVALUE VARCHAR, ZVALUE1 FLOAT)",
      model: model
    )
    #expect(
      try property("value", of: "Word", in: swapped) == .attribute(AttributePlacement(column: "ZVALUE", storage: .text))
    )
    let error = try #require(throws: PersistenceError.self) {
      try existing(
        "DROP TABLE ZITEM",
        "CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZVALUE BLOB, ZVALUE1 BLOB)",
        model: model
      )
    }
    #expect(error.code == .fileMalformed)
  }
}
