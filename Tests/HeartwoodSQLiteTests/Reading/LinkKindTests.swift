import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodSQLite

/// Links and entities of rows that are no numbers, or numbers that the file does not know.
@Suite struct LinkKindTests {
  private let bench: ReadingBench

  init() throws {
    bench = try ReadingBench()
    try bench.makeNotes(3)
  }

  private func expectRefused(
    _ sql: String,
    _ entity: String,
    _ property: String?,
    _ reason: String,
    count: Int = 1,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try bench.execute(sql)
    let error = bench.contentsError
    #expect(error?.code == .fileMalformed, "\(sql)", sourceLocation: sourceLocation)
    #expect(error?.message.contains(reason) == true, "\(sql): \(error?.message ?? "")", sourceLocation: sourceLocation)
    let found = try bench.unreadable()
    #expect(found.count == count, "\(sql): \(found.values)", sourceLocation: sourceLocation)
    #expect(
      found.values.contains { $0.entityName == entity && $0.propertyName == property },
      "\(sql): \(found.values)",
      sourceLocation: sourceLocation
    )
  }

  @Test(arguments: [
    ("'x'", "row with the key 2 of the table ZNOTE holds text instead of the key of a record"),
    ("1.5", "holds a real number instead of the key of a record"),
    ("x'01'", "holds bytes instead of the key of a record"),
  ])
  func aForeignKeyIsAnInteger(_ value: String, _ reason: String) throws {
    // From the list's side a key with a fraction is met, too, which is that of no list.
    let count = value == "1.5" ? 2 : 1
    try expectRefused("UPDATE ZNOTE SET ZLIST = \(value) WHERE Z_PK = 2", "Note", "list", reason, count: count)
    #expect(bench.fetchError("Note")?.context.property == "list")
  }

  @Test(arguments: [
    ("99", "refers to a record of the entity with the number 99, which is not Medium"),
    ("'x'", "holds text instead of the number of an entity"),
    ("1.5", "holds a real number instead of the number of an entity"),
  ])
  func theEntityOfADestinationIsKnown(_ value: String, _ reason: String) throws {
    let column = try #require(
      try bench.query {
        try String.fetchOne(
          $0,
          sql: "SELECT name FROM pragma_table_info('ZNOTE') WHERE name LIKE 'Z%\\_MEDIUM1' ESCAPE '\\'"
        )
      }
    )
    try expectRefused("UPDATE ZNOTE SET \(column) = \(value) WHERE Z_PK = 3", "Note", "medium1", reason)
  }

  @Test(arguments: ["99", "NULL", "'x'", "1.5", "'1x'"])
  func aRowIsOfAnEntityThatTheFileKnows(_ value: String) throws {
    let reason = "The row with the key 2 of the table ZNOTE has no number (Z_ENT) of an entity"
    try expectRefused("UPDATE ZNOTE SET Z_ENT = \(value) WHERE Z_PK = 2", "Note", nil, reason)
    #expect(bench.fetchError("Note")?.message.contains(reason) == true)
    #expect(bench.fetchError("Note", where: "name == 'note 2'")?.message.contains(reason) == true)
    #expect(try bench.names(where: "name == 'note 3'") == ["note 3"])
  }

  /// It cannot be told of which entity it is.
  @Test func aBatchLeavesRowsOfNoEntityAlone() throws {
    try bench.execute("UPDATE ZPAPER SET Z_ENT = 99 WHERE Z_PK = 1")
    let context = try bench.bench.context()
    _ = try context.insert(entityName: "Paper")
    try context.save()
    #expect(try context.execute(BatchDeleteRequest(entityName: "Paper")).count == 1)
    #expect(try bench.query { try Int.fetchAll($0, sql: "SELECT Z_PK FROM ZPAPER") } == [1])
  }

  /// Two entities have the table.
  @Test(arguments: ["99", "NULL", "'x'"])
  func aRowOfASharedTableIsOfOneOfItsEntities(_ value: String) throws {
    let reason = "The row with the key 1 of the table ZMEDIUM has no number (Z_ENT) of an entity"
    try expectRefused("UPDATE ZMEDIUM SET Z_ENT = \(value) WHERE Z_PK = 1", "Book", nil, reason)
    #expect(bench.fetchError("Film") == nil, "what SQL finds is of the entity")
  }

  @Test func anAbstractEntityHasNoRecords() throws {
    let number = try bench.number(of: "Medium")
    try expectRefused("UPDATE ZMEDIUM SET Z_ENT = \(number) WHERE Z_PK = 1", "Book", nil, "that can have records")
  }

  /// Rows that a migration has left in the table.
  @Test func rowsOfOtherEntitiesArePassedOver() throws {
    try bench.execute("UPDATE ZNOTE SET Z_ENT = \(try bench.number(of: "Tag")) WHERE Z_PK = 2")
    #expect(try bench.names() == ["note 1", "note 3"])
    #expect(try bench.unreadable().count == 0)
  }

  @Test func pairsHaveKeys() throws {
    let (table, own, other) = try #require(
      try bench.query { db in
        try Row.fetchAll(
          db,
          sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'Z\\_%' ESCAPE '\\'"
        )
        .compactMap { row -> (String, String, String)? in
          let name: String = row[0]
          let columns = try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info(?)", arguments: [name])
          guard columns.count == 2, let notes = columns.first(where: { $0.hasSuffix("NOTES") }),
            let tags = columns.first(where: { $0.hasSuffix("TAGS") })
          else { return nil }
          return (name, notes, tags)
        }.first
      }
    )
    // Of a pair one of whose keys is none both ends know something.
    try expectRefused(
      "UPDATE \(table) SET \(own) = 'x' WHERE \(own) = 2",
      "Tag",
      "notes",
      "A row of the table \(table) holds text instead of the key of a record",
      count: 2
    )
    try bench.execute("UPDATE \(table) SET \(own) = 2 WHERE \(own) = 'x'")
    try expectRefused(
      "UPDATE \(table) SET \(other) = x'01' WHERE \(own) = 2",
      "Note",
      "tags",
      "A row of the table \(table) holds bytes instead of the key of a record",
      count: 2
    )
    #expect(bench.fetchError("Note") != nil)
  }

  /// The relationship has no inverse, so that nobody but the list reads the column.
  @Test func theKeyOfAnOwnerIsAnInteger() throws {
    let column = try #require(
      try bench.query {
        try String.fetchOne($0, sql: "SELECT name FROM pragma_table_info('ZPAPER') WHERE name LIKE 'Z%PAPERS'")
      }
    )
    try expectRefused(
      "UPDATE ZPAPER SET \(column) = 'x'",
      "List",
      "papers",
      "The row with the key 1 of the table ZPAPER holds text instead of the key of a record"
    )
  }
}
