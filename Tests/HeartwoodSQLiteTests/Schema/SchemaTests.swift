import Foundation
import GRDB
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodSQLite

@Suite("Schemas of models") struct SchemaTests {
  private func schema() throws -> SQLiteSchema {
    let model = try FeatureModel.model()
    return try SQLiteSchema(model: model, entities: model.entities)
  }

  private func property(_ name: String, of entity: String, in schema: SQLiteSchema) throws -> PropertyPlacement? {
    let entity = try #require(schema.model.entity(named: entity))
    return try #require(schema.placement(of: entity)).properties[try #require(entity.ordinal(ofProperty: name))]
  }

  @Test("Entities are numbered root by root, depth first, in alphabetical order")
  func numbers() throws {
    let rows = try schema().entityRows
    #expect(rows.map(\.name) == ["Media", "Album", "Book", "Novel", "Note", "Person", "Tag"])
    #expect(rows.map(\.number) == Array(1...7))
    #expect(rows.map(\.superNumber) == [0, 1, 1, 3, 0, 0, 0])
  }

  @Test("The case of names does not count for numbers, and does for columns")
  func letterCase() throws {
    let model = try ManagedObjectModel(entities: [
      .entity("NWActivity", .attribute("city", .string), .attribute("URL", .string), .attribute("area", .string)),
      .entity("NetworkAttachment"), .entity("App"),
    ])
    let schema = try SQLiteSchema(model: model, entities: model.entities)
    #expect(schema.entityRows.map(\.name) == ["App", "NetworkAttachment", "NWActivity"])
    #expect(schema.tables.last?.columns.dropFirst(3).map(\.name) == ["ZURL", "ZAREA", "ZCITY"])
  }

  @Test("The statements are those that Core Data writes")
  func statements() throws {
    #expect(
      try schema().createStatements == [
        """
        CREATE TABLE ZMEDIA ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCOUNT INTEGER, ZOWNER INTEGER, \
        ZISTRANSLATED INTEGER, Z_FOK_OWNER INTEGER, ZLENGTH FLOAT, ZPRICE DECIMAL, ZTITLE VARCHAR, ZLABEL VARCHAR, \
        ZISBN VARCHAR, ZLABEL1 VARCHAR )
        """,
        """
        CREATE TABLE Z_1TAGS ( Z_1MEDIA INTEGER, Z_7TAGS INTEGER, Z_FOK_7TAGS INTEGER, PRIMARY KEY (Z_1MEDIA, Z_7TAGS) )
        """,
        """
        CREATE TABLE ZNOTE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, Z6NOTES INTEGER, ZTEXT VARCHAR )
        """,
        """
        CREATE TABLE ZPERSON ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZFAVOURITE INTEGER, \
        Z1_FAVOURITE INTEGER, ZBORN TIMESTAMP, ZSCORE FLOAT, ZNAME VARCHAR, ZPAGE VARCHAR, ZKEY BLOB, ZCOLOUR BLOB, \
        ZPORTRAIT BLOB, ZTHUMBNAIL BLOB )
        """,
        """
        CREATE TABLE Z_6FOLLOWERS ( Z_6FOLLOWS INTEGER, Z_6FOLLOWERS INTEGER, PRIMARY KEY (Z_6FOLLOWS, Z_6FOLLOWERS) )
        """,
        "CREATE TABLE Z_6FRIENDS ( Z_6FRIENDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY (Z_6FRIENDS, REFLEXIVE) )",
        "CREATE TABLE ZTAG ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )",
        "CREATE INDEX ZMEDIA_ZOWNER_INDEX ON ZMEDIA (ZOWNER)",
        "CREATE INDEX ZMEDIA_Z_ENT_INDEX ON ZMEDIA (Z_ENT)",
        "CREATE INDEX Z_1TAGS_Z_7TAGS_INDEX ON Z_1TAGS (Z_7TAGS, Z_1MEDIA)",
        """
        CREATE INDEX Z_Media_byTitleAndCount ON ZMEDIA (ZTITLE COLLATE BINARY ASC, ZCOUNT COLLATE BINARY DESC)
        """,
        "CREATE UNIQUE INDEX Z_Book_UNIQUE_isbn ON ZMEDIA (ZISBN COLLATE BINARY ASC)",
        "CREATE INDEX ZNOTE_Z6NOTES_INDEX ON ZNOTE (Z6NOTES)",
        "CREATE INDEX ZPERSON_ZFAVOURITE_INDEX ON ZPERSON (ZFAVOURITE)",
        "CREATE INDEX Z_6FOLLOWERS_Z_6FOLLOWERS_INDEX ON Z_6FOLLOWERS (Z_6FOLLOWERS, Z_6FOLLOWS)",
        "CREATE INDEX Z_6FRIENDS_REFLEXIVE_INDEX ON Z_6FRIENDS (REFLEXIVE, Z_6FRIENDS)",
        """
        CREATE UNIQUE INDEX Z_Person_UNIQUE_name_born ON ZPERSON (ZNAME COLLATE BINARY ASC, ZBORN COLLATE BINARY ASC)
        """,
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
        "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
      ]
    )
  }

  @Test("Attributes have the column of the topmost entity's table, and a form by their type")
  func attributes() throws {
    let schema = try schema()
    let expected: [(entity: String, name: String, column: String, storage: AttributeStorage)] = [
      ("Novel", "title", "ZTITLE", .text), ("Novel", "isTranslated", "ZISTRANSLATED", .integer),
      ("Album", "label", "ZLABEL", .text), ("Novel", "label", "ZLABEL1", .text), ("Album", "length", "ZLENGTH", .float),
      ("Book", "price", "ZPRICE", .decimal), ("Person", "born", "ZBORN", .timestamp), ("Person", "key", "ZKEY", .uuid),
      ("Person", "page", "ZPAGE", .uri), ("Person", "portrait", "ZPORTRAIT", .externalBlob(isTransformable: false)),
      ("Person", "colour", "ZCOLOUR", .transformable), ("Person", "thumbnail", "ZTHUMBNAIL", .blob),
    ]
    for (entity, name, column, storage) in expected {
      let placement = try property(name, of: entity, in: schema)
      #expect(placement == .attribute(AttributePlacement(column: column, storage: storage)), "\(entity).\(name)")
    }
    #expect(try property("draft", of: "Person", in: schema) == nil)
    let entity = try #require(schema.model.entity(named: "Novel"))
    let novel = try #require(schema.placement(of: entity))
    #expect((novel.number, novel.rootName, novel.rootNumber, novel.tableName) == (4, "Media", 1, "ZMEDIA"))
    #expect(schema.placement(ofNumber: 4)?.entity.name == "Novel")
  }

  @Test("Relationships are columns of this table, of another, or tables")
  func relationships() throws {
    let schema = try schema()
    let owner = ToOnePlacement(column: "ZOWNER", entityColumn: nil, orderColumn: "Z_FOK_OWNER")
    #expect(try property("owner", of: "Novel", in: schema) == .toOne(owner))
    let favourite = ToOnePlacement(column: "ZFAVOURITE", entityColumn: "Z1_FAVOURITE", orderColumn: nil)
    #expect(try property("favourite", of: "Person", in: schema) == .toOne(favourite))
    let media = ToManyPlacement(
      table: "ZMEDIA",
      column: "ZOWNER",
      entityColumn: nil,
      orderColumn: "Z_FOK_OWNER",
      ownsColumn: false
    )
    #expect(try property("media", of: "Person", in: schema) == .toMany(media))
    let notes = ToManyPlacement(
      table: "ZNOTE",
      column: "Z6NOTES",
      entityColumn: nil,
      orderColumn: nil,
      ownsColumn: true
    )
    #expect(try property("notes", of: "Person", in: schema) == .toMany(notes))
    let tags = JoinPlacement(
      table: "Z_1TAGS",
      ownColumn: "Z_1MEDIA",
      otherColumn: "Z_7TAGS",
      orderColumn: "Z_FOK_7TAGS",
      inverseOrderColumn: nil,
      isReflexive: false
    )
    #expect(try property("tags", of: "Book", in: schema) == .join(tags))
    let tagged = JoinPlacement(
      table: "Z_1TAGS",
      ownColumn: "Z_7TAGS",
      otherColumn: "Z_1MEDIA",
      orderColumn: nil,
      inverseOrderColumn: "Z_FOK_7TAGS",
      isReflexive: false
    )
    #expect(try property("media", of: "Tag", in: schema) == .join(tagged))
    let friends = JoinPlacement(
      table: "Z_6FRIENDS",
      ownColumn: "Z_6FRIENDS",
      otherColumn: "REFLEXIVE",
      orderColumn: nil,
      inverseOrderColumn: nil,
      isReflexive: true
    )
    #expect(try property("friends", of: "Person", in: schema) == .join(friends))
  }

  @Test("The columns of tables of relationships have different names in all of them")
  func joinColumns() throws {
    let model = try ManagedObjectModel(entities: [
      .entity("Album", .toMany("works", "Work", inverse: "albums")),
      .entity("Show", .toMany("works", "Work", inverse: "shows")),
      .entity("Work", .toMany("albums", "Album", inverse: "works"), .toMany("shows", "Show", inverse: "works")),
    ])
    let tables = try SQLiteSchema(model: model, entities: model.entities).tables.filter { !$0.compoundKey.isEmpty }
    #expect(tables.map(\.name) == ["Z_1WORKS", "Z_2WORKS"])
    #expect(tables.map(\.compoundKey) == [["Z_1ALBUMS", "Z_3WORKS"], ["Z_2SHOWS", "Z_3WORKS1"]])
  }

  @Test("Indexes with a condition, an expression or an R-tree are left out, the others are made")
  func indexes() throws {
    let indexes = [
      FetchIndexDescription(name: "plain", properties: ["size", "owner"]),
      FetchIndexDescription(
        name: "partial",
        elements: [FetchIndexElementDescription(.property("size"))],
        partialIndexPredicate: .literal(true)
      ),
      FetchIndexDescription(
        name: "area",
        elements: [FetchIndexElementDescription(.property("size"), collationType: .rTree)]
      ),
      FetchIndexDescription(name: "computed", elements: [FetchIndexElementDescription(.expression(.key("size")))]),
    ]
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(
        name: "Room",
        properties: [.attribute("size", .double), .toOne("owner", "Room", inverse: nil)],
        fetchIndexes: indexes
      )
    ])
    let schema = try SQLiteSchema(model: model, entities: model.entities)
    #expect(schema.indexes.map(\.name) == ["ZROOM_ZOWNER_INDEX", "Z_Room_plain"])
    #expect(
      schema.indexes.last?.createStatement
        == "CREATE INDEX Z_Room_plain ON ZROOM (ZSIZE COLLATE BINARY ASC, ZOWNER COLLATE BINARY ASC)"
    )
  }

  @Test("An ordered relationship without an inverse has a column for the order beside that of the owner")
  func orderedWithoutInverse() throws {
    let model = try ManagedObjectModel(entities: [
      .entity("List", .toMany("lines", "Line", inverse: nil, ordered: true)), .entity("Line"),
    ])
    let schema = try SQLiteSchema(model: model, entities: model.entities)
    let lines = ToManyPlacement(
      table: "ZLINE",
      column: "Z2LINES",
      entityColumn: nil,
      orderColumn: "Z_FOK_2LINES",
      ownsColumn: true
    )
    #expect(try property("lines", of: "List", in: schema) == .toMany(lines))
  }

  @Test("A to-one relationship that the model calls ordered is a column as any other, and so is what it leads from")
  func orderedToOne() throws {
    let ordered = RelationshipDescription(
      name: "other",
      destinationEntityName: "A",
      inverseRelationshipName: "one",
      isOrdered: true
    )
    let model = try ManagedObjectModel(entities: [
      .entity("A", .relationship(ordered), .toOne("one", "A", inverse: "other"))
    ])
    let table = try #require(try SQLiteSchema(model: model, entities: model.entities).tables.first)
    #expect(table.columns.map(\.name) == ["Z_PK", "Z_ENT", "Z_OPT", "ZONE", "ZOTHER"])
  }

  @Test("A relationship to an entity of another store is refused")
  func otherStore() throws {
    let model = try FeatureModel.model()
    let error = try #require(throws: PersistenceError.self) {
      try SQLiteSchema(model: model, entities: model.entities.filter { $0.name != "Note" })
    }
    #expect(error.code == .capabilityMissing)
    #expect((error.context.entity, error.context.property) == ("Person", "notes"))
  }

  @Test("Names that SQL would not take for one are quoted, whatever is in them")
  func quoting() throws {
    let names = ["Zé", "Z\"; DROP TABLE ZNOTE; --", "Z KEY", ""]
    #expect(SQLiteName.quoted("Z_1TAGS") == "Z_1TAGS")
    let queue = try DatabaseQueue()
    try queue.write { db in
      for name in names {
        let table = SQLiteTable(
          name: name + "T",
          columns: [.init(name: "Z_PK", type: .integer), .init(name: name + "C", type: .text)],
          compoundKey: []
        )
        try db.execute(sql: table.createStatement)
        let column = try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info(?)", arguments: [name + "T"])
        #expect(column == ["Z_PK", name + "C"])
      }
    }
  }
}
