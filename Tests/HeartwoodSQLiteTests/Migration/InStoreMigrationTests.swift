import Foundation
import GRDB
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Synchronization
import Testing

@testable import HeartwoodSQLite

/// Migrations that SQLite does itself, held against those that go through memory.
@Suite struct InStoreMigrationTests {
  private typealias Property = PropertyDescription

  // MARK: At random

  @Test func randomVersions() throws {
    let seeds = SeededGenerator.seeds(usually: 1...50)
    var outcomes: [Bool: Int] = [:]
    for seed in seeds {
      var versions = RandomVersions(seed: seed)
      guard let old = try? ManagedObjectModel(entities: versions.old),
        let new = try? ManagedObjectModel(entities: versions.new)
      else { continue }
      var migration = try TwoWayMigration(from: old, to: new) { try versions.fill($0) }
      if seed % 2 == 0 {
        migration.options[.migrationResolutions] = MigrationResolutions(
          duplicates: .keepFirst,
          severalObjects: .keepFirst,
          unfitValues: .useDefault
        )
      }
      if let isDoneInStore = try migration.run() { outcomes[isDoneInStore, default: 0] += 1 }
    }
    if seeds.count > 1 {
      print("in SQL \(outcomes[true] ?? 0), through memory \(outcomes[false] ?? 0)")
      #expect(outcomes[true] ?? 0 > 10)
      #expect(outcomes[false] ?? 0 > 2)
    }
  }

  // MARK: One by one

  struct Change: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let isInStore: Bool
    /// The properties of books and of authors.
    let old: ([PropertyDescription], [PropertyDescription])
    let new: ([PropertyDescription], [PropertyDescription])
    var unique: [[String]] = []

    init(
      _ name: String,
      inStore isInStore: Bool = true,
      _ old: ([PropertyDescription], [PropertyDescription]),
      _ new: ([PropertyDescription], [PropertyDescription]),
      unique: [[String]] = []
    ) {
      testDescription = name
      self.isInStore = isInStore
      (self.old, self.new, self.unique) = (old, new, unique)
    }
  }

  private static let pages = Property.attribute("pages", .integer32, optional: true)
  private static func author(_ inverse: String? = "books") -> Property { .toOne("author", "Author", inverse: inverse) }
  private static func authors(ordered: Bool = false) -> Property {
    .toMany("author", "Author", inverse: "books", ordered: ordered)
  }
  private static func books(_ inverse: String? = "author", ordered: Bool = false) -> Property {
    .toMany("books", "Book", inverse: inverse, ordered: ordered)
  }

  private static let changes = [
    Change("an attribute comes", ([pages], []), ([pages, .attribute("memo", .string, default: .string("m"))], [])),
    Change("an attribute goes", ([pages], []), ([], [])),
    Change(
      "an attribute is renamed",
      ([pages], []),
      ([.attribute("leaves", .integer32, optional: true, renamedFrom: "pages")], [])
    ),
    Change("an attribute is filled", ([pages], []), ([.attribute("pages", .integer32, default: .integer(7))], [])),
    Change("integers become wider", ([pages], []), ([.attribute("pages", .integer64, optional: true)], [])),
    Change("integers become narrower", ([pages], []), ([.attribute("pages", .integer16, optional: true)], [])),
    Change("integers become reals", ([pages], []), ([.attribute("pages", .double, optional: true)], [])),
    Change("integers become texts", ([pages], []), ([.attribute("pages", .string, optional: true)], [])),
    Change(
      "texts become integers",
      inStore: false,
      ([pages, .attribute("text", .string, optional: true)], []),
      ([pages, .attribute("text", .integer32, optional: true)], [])
    ),
    Change("values become unique", ([pages], []), ([pages], []), unique: [["name"]]),
    Change("equal values become unique", inStore: false, ([pages], []), ([pages], []), unique: [["pages"]]),
    Change("one becomes many", ([author()], [books()]), ([authors()], [books()])),
    Change(
      "one becomes many in order",
      ([author()], [books(ordered: true)]),
      ([authors(ordered: true)], [books(ordered: true)])
    ),
    Change("many become one", ([authors()], [books()]), ([author()], [books()])),
    Change("an order comes", ([author()], [books()]), ([author()], [books(ordered: true)])),
    Change("an order goes", ([author()], [books(ordered: true)]), ([author()], [books()])),
    Change("an order comes to many", ([authors()], [books()]), ([authors(ordered: true)], [books(ordered: true)])),
    Change("a relationship goes", ([author(), pages], [books()]), ([pages], [])),
    Change("a relationship comes", ([pages], []), ([author(), pages], [books()])),
    Change("an inverse goes", ([author()], [books()]), ([], [books(nil)])),
    Change("an inverse comes", inStore: false, ([author(nil)], []), ([author()], [books()])),
    Change("without an inverse", ([pages], [books(nil, ordered: true)]), ([], [books(nil, ordered: true)])),
    Change(
      "data come into files",
      inStore: false,
      ([.attribute("data", .binary, optional: true)], []),
      ([.attribute(AttributeDescription(name: "data", type: .binary, allowsExternalBinaryDataStorage: true))], [])
    ),
    Change(
      "texts with a zero in them are filled in",
      ([.attribute("text", .string, optional: true)], []),
      (
        [
          .attribute(
            AttributeDescription(name: "text", type: .string, isOptional: false, defaultValue: .string("a\0b"))
          ),
          .attribute(
            AttributeDescription(name: "memo", type: .string, isOptional: false, defaultValue: .string("\0c"))
          ),
        ], []
      )
    ),
    Change(
      "data stay in files",
      (
        [pages, .attribute(AttributeDescription(name: "data", type: .binary, allowsExternalBinaryDataStorage: true))],
        []
      ),
      ([.attribute(AttributeDescription(name: "data", type: .binary, allowsExternalBinaryDataStorage: true))], [])
    ),
  ]

  @Test(arguments: changes)
  func change(_ change: Change) throws {
    func model(_ properties: ([Property], [Property]), unique: [[String]]) throws -> ManagedObjectModel {
      let name = Property.attribute("name", .string, optional: true)
      return try ManagedObjectModel(entities: [
        EntityDefinition(name: "Author", properties: [name] + properties.1),
        EntityDefinition(name: "Book", properties: [name] + properties.0, uniquenessConstraints: unique),
      ])
    }
    let new = try model(change.new, unique: change.unique)
    var migration = try TwoWayMigration(from: try model(change.old, unique: []), to: new) { context in
      let authors = try ["A", "B", "C"].map { name in
        let author = try context.insert(entityName: "Author")
        try author.setValue(name, forKey: "name")
        return author
      }
      for number in 0..<12 {
        let book = try context.insert(entityName: "Book")
        try book.setValue("book \(number)", forKey: "name")
        let values: [String: PropertyValue] = [
          "pages": number % 3 == 0 ? .null : .integer(Int64(number / 2)),
          "text": number % 4 == 1 ? .null : .string("\(number)"),
          "data": .binary(Data(repeating: UInt8(number), count: number % 2 == 0 ? 120_000 : 3)),
        ]
        for (key, value) in values where book.entity.property(named: key) != nil {
          try book.setPropertyValue(value, forKey: key)
        }
        if let relationship = book.entity.relationshipsByName["author"], number % 5 != 0 {
          let id = authors[number * 7 % 3].objectID
          try book.setPropertyValue(relationship.isToMany ? .toMany([id]) : .toOne(id), forKey: "author")
        } else if let author = authors.first,
          author.entity.relationshipsByName["books"]?.inverseRelationshipName == nil,
          author.entity.relationshipsByName["books"] != nil,
          case .toMany(let ids) = try author.propertyValue(forKey: "books")
        {
          try author.setPropertyValue(.toMany([book.objectID] + ids), forKey: "books")
        }
      }
    }
    migration.options[.migrationResolutions] = MigrationResolutions(duplicates: .keepFirst)
    #expect(try migration.run() == change.isInStore)
  }

  // MARK: Refusals

  private static func note(_ properties: Property...) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      EntityDefinition(name: "Note", properties: [.attribute("name", .string, optional: true)] + properties)
    ])
  }

  @Test func whatDoesNotFitIsTheSameError() throws {
    let migration = try TwoWayMigration(
      from: try Self.note(.attribute("count", .integer64, optional: true)),
      to: try Self.note(.attribute("count", .integer16, optional: true))
    ) { context in
      for count in [1, 1 << 40, 1 << 41] { try context.insert(entityName: "Note").setValue(count, forKey: "count") }
    }
    #expect(try migration.run() == nil)
    let error = try #require(throws: PersistenceError.self) { try migration.migration(migration.options)?.run() }
    #expect(error.code == .migrationFailed)
    #expect(error.message.contains("Note.count: 2 records with a value that cannot be converted to the new type"))
  }

  @Test func aRelationshipThatIsRequiredAndHasNoneIsTheSameError() throws {
    func model(optional: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [
        .entity("Author", .toMany("books", "Book", inverse: "author")),
        .entity("Book", .toOne("author", "Author", inverse: "books", optional: optional)),
      ])
    }
    let (old, new) = (try model(optional: true), try model(optional: false))
    for isMissing in [true, false] {
      var migration = try TwoWayMigration(from: old, to: new) { context in
        let author = try context.insert(entityName: "Author")
        for number in 0..<3 {
          let book = try context.insert(entityName: "Book")
          if number > 0 || !isMissing { try book.setValue(author, forKey: "author") }
        }
      }
      // What inference leaves to a mapping model, since records may have none.
      migration.options[.mappingModels] = [Self.keeping(["books", "author"], of: ["Author", "Book"])]
      #expect(try migration.run() == (isMissing ? nil : true))
    }
  }

  private static func keeping(_ relationships: [String], of entities: [String]) -> MappingModel {
    MappingModel(
      entityMappings: zip(entities, relationships).map { entity, relationship in
        EntityMapping(
          name: entity,
          mappingType: .transform,
          sourceEntityName: entity,
          destinationEntityName: entity,
          relationshipMappings: [
            PropertyMapping(
              name: relationship,
              valueExpression: .destinationInstances(forSourceRelationshipNamed: relationship)
            )
          ]
        )
      }
    )
  }

  @Test func aRowThatIsNotAsItShouldBeIsTheSameError() throws {
    let migration = try TwoWayMigration(
      from: try Self.note(.attribute("count", .integer16, optional: true)),
      to: try Self.note(.attribute("count", .integer16, default: .integer(1)))
    ) { try $0.insert(entityName: "Note").setValue(1, forKey: "count") }
    let queue = try DatabaseQueue(path: migration.url("Old.sqlite").path)
    try queue.write { try $0.execute(sql: "UPDATE ZNOTE SET ZCOUNT = 70000") }
    try queue.close()
    #expect(try migration.run() == nil)
  }

  private static let values = [
    "NULL", "1", "1.5", "'1'", "''", "'a'", "x''", "x'01'", "x'000102030405060708090a0b0c0d0e0f'",
  ]

  /// Whatever stands in a column, both ways come to the same. Columns of other types than Core Data's take values as they are.
  @Test(arguments: [.integer64, .boolean, .double, .date, .decimal, .string, .uri, .uuid, .binary] as [AttributeType])
  func valuesOfAnotherFormAreTheSameEitherWay(_ type: AttributeType) throws {
    for value in Self.values {
      let attribute = Property.attribute("value", type, optional: true)
      let migration = try TwoWayMigration(
        from: try Self.note(attribute),
        to: try Self.note(attribute, .attribute("memo", .string, optional: true))
      ) { _ in }
      let queue = try DatabaseQueue(path: migration.url("Old.sqlite").path)
      try queue.write { db in
        try db.execute(
          sql: """
            ALTER TABLE ZNOTE DROP COLUMN ZVALUE;
            ALTER TABLE ZNOTE ADD COLUMN ZVALUE;
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZVALUE) VALUES (1, 1, 1, \(value));
            UPDATE Z_PRIMARYKEY SET Z_MAX = 1;
            """
        )
      }
      try queue.close()
      try migration.run()
    }
  }

  // MARK: Many rows

  private static let manyRows = 140_000

  /// A store with so many rows that they are not taken at once.
  private static func manyNotes() throws -> TwoWayMigration {
    let migration = try TwoWayMigration(
      from: try note(.attribute("count", .integer64, optional: true)),
      to: try note(.attribute("number", .integer64, optional: true, renamedFrom: "count"))
    ) { _ in }
    let queue = try DatabaseQueue(path: migration.url("Old.sqlite").path)
    try queue.write { db in
      try db.execute(
        sql: """
          WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < \(manyRows))
          INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZCOUNT, ZNAME) SELECT 3 * k, 1, k % 3, k * k, 'note ' || k FROM n;
          UPDATE Z_PRIMARYKEY SET Z_MAX = 1000000;
          """
      )
    }
    try queue.close()
    return migration
  }

  /// Whether a statement takes rows of the old table.
  private static func isInsertion(_ statement: String) -> Bool {
    statement.hasPrefix("INSERT INTO ZNOTE") && statement.contains("FROM source.ZNOTE")
  }

  @Test func manyRowsAreTakenInStretches() throws {
    var migration = try Self.manyNotes()
    let insertions = Mutex(0)
    migration.options[.sqliteStatementObserver] = SQLiteStatementObserver { statement in
      if Self.isInsertion(statement) { insertions.withLock { $0 += 1 } }
    }
    #expect(try migration.run() == true)
    #expect(insertions.withLock { $0 } == 3)
    let coordinator = try SQLiteBench.coordinator(
      try Self.note(.attribute("number", .integer64, optional: true, renamedFrom: "count"))
    )
    try coordinator.addPersistentStore(type: .sqlite, at: migration.url("Store.sqlite"))
    let context = ManagedObjectContext(coordinator)
    let note = try context.insert(entityName: "Note")
    try context.save()
    // The key after the greatest that any record has had.
    #expect(note.objectID.reference == .integer(1_000_001))
  }

  @Test(arguments: [true, false])
  func phasesAreTold(inStore: Bool) throws {
    var migration = try Self.manyNotes()
    migration.options[.migratesInStore] = inStore
    let phases = Mutex<[MigrationProgress.Phase]>([])
    let progress = MigrationProgress { phase in phases.withLock { $0.append(phase) } }
    let report = try #require(try migration.migration(migration.options)).run(progress: progress)
    #expect(report.isDoneInStore == inStore)
    #expect(phases.withLock { $0 } == (inStore ? [] : [.reading]) + [.migrating, .writing])
    #expect(progress.fractionCompleted == 1)
  }

  @Test func aMigrationInTheStoreCanBeCancelled() throws {
    var migration = try Self.manyNotes()
    let before = try Data(contentsOf: migration.url("Old.sqlite"))
    let progress = MigrationProgress()
    migration.options[.sqliteStatementObserver] = SQLiteStatementObserver { statement in
      if Self.isInsertion(statement) { progress.cancel() }
    }
    let error = #expect(throws: PersistenceError.self) {
      try migration.migration(migration.options)?.run(progress: progress)
    }
    #expect(error?.code == .migrationCancelled)
    #expect(progress.fractionCompleted > 0 && progress.fractionCompleted < 1)
    #expect(try Data(contentsOf: migration.url("Old.sqlite")) == before)
    #expect(try migration.scratch.names() == ["Old.sqlite"])
  }

  // MARK: In place

  @Test func aStoreIsReplacedWithItsFiles() throws {
    let data = Property.attribute(
      AttributeDescription(name: "data", type: .binary, allowsExternalBinaryDataStorage: true)
    )
    var migration = try TwoWayMigration(
      from: try Self.note(data),
      to: try Self.note(data, .attribute("memo", .string, default: .string("m")))
    ) { context in
      for number in 0..<3 {
        try context.insert(entityName: "Note").setValue(Data(repeating: UInt8(number), count: 200_000), forKey: "data")
      }
    }
    migration.options[.migrationBackupPath] = migration.url("Backup.sqlite").path
    let dry = try #require(try migration.migration(migration.options)).dryRun()
    let report = try #require(try migration.migration(migration.options)).run()
    #expect(report.isDoneInStore)
    #expect(report == dry)
    #expect(try migration.migration(migration.options) == nil)
    let contents = try migration.contents("Old.sqlite")
    #expect(contents.nodes.map { $0["memo"] } == Array(repeating: .string("m"), count: 3))
    #expect(Set(contents.nodes.map { $0["data"] }).count == 3)
    #expect(
      try migration.scratch.names() == [".Backup_SUPPORT", ".Old_SUPPORT", "Backup.sqlite", "Old.sqlite"]
    )
    let files = migration.url(".Old_SUPPORT/_EXTERNAL_DATA").path
    #expect(try FileManager.default.contentsOfDirectory(atPath: files).count == 3)
  }
}
