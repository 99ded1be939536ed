import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodPostgreSQL

/// What tables a model makes, without a server.
@Suite struct SchemaTests {
  private func schema(_ entities: EntityDefinition...) throws -> PostgreSQLSchema {
    let model = try ManagedObjectModel(entities: entities)
    return try PostgreSQLSchema(name: "app", model: model, entities: model.entities)
  }

  @Test(
    arguments: [
      ("ToDoItem", "to_do_item"), ("URLString", "url_string"), ("name", "name"),
      ("isDone", "is_done"), ("A", "a"),
      ("line2Text", "line2_text"), ("größeÄ", "größe_ä"), ("address.street", "address_street"),
      ("HTTP", "http"),
    ]
  )
  func namesAreThoseOfSQL(_ name: String, _ expected: String) {
    #expect(PostgreSQLName.snakeCase(name) == expected)
  }

  @Test func namesAndTextsAreQuoted() {
    #expect(PostgreSQLName.quoted("a\"b") == "\"a\"\"b\"")
    #expect(PostgreSQLName.literal("it's a \\") == "E'it''s a \\\\'")
  }

  @Test func longNamesAreCutAndDiffer() {
    let names = ["1", "2"].map { PostgreSQLName.shortened(String(repeating: "ä", count: 60) + $0) }
    #expect(names[0] != names[1])
    #expect(names.allSatisfy { $0.utf8.count <= 63 })
  }

  @Test func typesAndNames() throws {
    let schema = try schema(
      .entity(
        "ToDo",
        .attribute("title", .string),
        .attribute("dueDate", .date, optional: true),
        .attribute("id", .integer64),
        .attribute("price", .decimal),
        .attribute("kind", .integer16)
      )
    )
    let table = try #require(schema.tables.first)
    #expect(table.name == "to_do")
    #expect(
      table.columns.map { "\($0.name) \($0.definition)" } == [
        "title text COLLATE \"C\"", "due_date timestamptz", "due_date_exact double precision",
        "to_do_id bigint",
        "price numeric", "kind smallint",
      ]
    )
  }

  @Test func aModelMayGiveNames() throws {
    var title = AttributeDescription(name: "title", type: .string)
    title.userInfo = ["postgresName": "Headline"]
    let entity = EntityDefinition(
      name: "ToDo",
      properties: [.attribute(title)],
      userInfo: ["postgresName": "tasks"]
    )
    let table = try #require(try schema(entity).tables.first)
    #expect(table.name == "tasks")
    #expect(table.columns.map(\.name) == ["Headline"])
  }

  @Test func subentitiesShareTheTableOfTheirRoot() throws {
    let schema = try schema(
      EntityDefinition(name: "Shape", isAbstract: true, properties: [.attribute("name", .string)]),
      EntityDefinition(
        name: "Circle",
        superentityName: "Shape",
        properties: [.attribute("size", .double)],
        uniquenessConstraints: [["size"]]
      ),
      EntityDefinition(
        name: "Square",
        superentityName: "Shape",
        properties: [.attribute("size", .integer32)]
      )
    )
    let table = try #require(schema.tables.first)
    #expect(schema.tables.count == 1)
    #expect(table.columns.map(\.name) == ["name", "size", "square_size"])
    #expect(table.uniqueColumns.first?.entities == ["Circle"])
    #expect(table.defaultEntity == nil)
  }

  @Test func relationshipsAreColumnsOrTables() throws {
    let schema = try schema(
      EntityDefinition(
        name: "List",
        properties: [
          .toMany("items", "Item", inverse: "list", ordered: true), .attribute("name", .string),
        ]
      ),
      EntityDefinition(
        name: "Item",
        properties: [
          .toOne("list", "List", inverse: "items"), .toMany("tags", "Tag", inverse: "items"),
          .toMany("friends", "Item", inverse: "friends"),
        ]
      ),
      EntityDefinition(name: "Tag", properties: [.toMany("items", "Item", inverse: "tags")])
    )
    let item = try #require(schema.tables.first { $0.name == "item" })
    #expect(item.columns.map(\.name) == ["list_id", "list_position"])
    #expect(item.references.map(\.table) == ["list"])
    #expect(schema.joins.map(\.name) == ["item_tags", "item_friends"])
    #expect(
      schema.joins.map { $0.columns.map(\.name) } == [
        ["item_id", "tag_id"], ["source_id", "target_id"],
      ]
    )
    let entity = try #require(schema.model.entity(named: "Tag"))
    guard case .join(let join) = try schema.placement(of: entity).properties[0] else {
      Issue.record("The relationship is in no table of pairs.")
      return
    }
    #expect(
      join.ownColumn == "tag_id" && join.otherColumn == "item_id" && join.table == "item_tags"
    )
  }
}
