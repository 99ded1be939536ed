import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// Migrations that are inferred, on every type of store.
@Suite struct InferredMigrationTests {
  private typealias Property = PropertyDescription

  private static func note(_ properties: Property...) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      EntityDefinition(name: "Note", properties: [.attribute("name", .string, optional: true)] + properties)
    ])
  }

  @Test(arguments: MigrationBench.types)
  func propertiesComeGoAndAreRenamed(_ type: StoreType) throws {
    let bench = try MigrationBench(type)
    let old = try Self.note(
      .attribute("stars", .integer32, optional: true),
      .attribute("gone", .string, optional: true)
    )
    let new = try Self.note(
      .attribute("rating", .integer32, optional: true, renamedFrom: "stars"),
      .attribute("memo", .string, default: .string("none")),
      .attribute("due", .date, optional: true)
    )
    try bench.make(old) { context in
      try context.make("Note", ["name": "a", "stars": 3, "gone": "x"])
      try context.make("Note", ["name": "b"])
    }
    let before = try bench.open(old)
    let ids = try before.fetch(entityName: "Note").map { $0.objectID.uriRepresentation() }
    let identifier = try #require(before.persistentStoreCoordinator.persistentStores.first).identifier
    before.persistentStoreCoordinator.close()
    let context = try bench.migrated(to: new)
    #expect(try context.texts("Note", "rating") == ["3", "nil"])
    #expect(try context.texts("Note", "memo") == ["none", "none"])
    #expect(try context.texts("Note", "due") == ["nil", "nil"])
    #expect(try context.fetch(entityName: "Note").map { $0.objectID.uriRepresentation() } == ids)
    #expect(context.persistentStoreCoordinator.persistentStores.first?.identifier == identifier)
    // What is migrated can be changed and read again.
    try context.make("Note", ["name": "c", "rating": 5, "memo": "m"])
    try context.save()
    context.persistentStoreCoordinator.close()
    #expect(try bench.open(new).texts("Note", "rating") == ["3", "5", "nil"])
  }

  @Test(arguments: MigrationBench.types)
  func whatIsDerivedIsComputed(_ type: StoreType) throws {
    let bench = try MigrationBench(type)
    func model(_ listProperties: Property..., notes: Property...) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [
        EntityDefinition(name: "List", properties: [.toMany("notes", "Note", inverse: "list")] + listProperties),
        EntityDefinition(
          name: "Note",
          properties: [.attribute("name", .string, optional: true), .toOne("list", "List", inverse: "notes")] + notes
        ),
      ])
    }
    try bench.make(try model(notes: .attribute("saved", .date, optional: true))) { context in
      let list = try context.insert(entityName: "List")
      for name in ["Äpfel", "Birnen"] {
        try context.make("Note", ["name": name, "saved": Date(timeIntervalSinceReferenceDate: 0)])
          .setValue(list, forKey: "list")
      }
    }
    let new = try model(
      DerivationStack.derived("count", .integer32, "notes.@count"),
      notes: DerivationStack.derived("key", .string, "canonical:(name)"),
      DerivationStack.derived("saved", .date, "now()")
    )
    let context = try bench.migrated(to: new)
    #expect(try context.texts("Note", "key") == ["apfel", "birnen"])
    #expect(try context.texts("List", "count") == ["2"])
    let saved = try context.fetch(entityName: "Note").map { try $0.value(forKey: "saved") as? Date }
    #expect(saved == [Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: 0)])
  }

  @Test(arguments: MigrationBench.types)
  func aRequiredAttributeGetsItsDefault(_ type: StoreType) throws {
    let bench = try MigrationBench(type)
    try bench.make(try Self.note(.attribute("stars", .integer32, optional: true))) { context in
      for stars in [1, nil, 3, nil] as [Int?] { try context.make("Note", ["stars": stars]) }
    }
    let new = try Self.note(.attribute("stars", .integer32, default: .integer(7)))
    let report = try #require(try bench.migration(to: new)).dryRun()
    #expect(report.findings.map(\.kind) == [.filled])
    #expect(report.findings.first?.count == 2)
    #expect(try bench.migrated(to: new).texts("Note", "stars") == ["1", "3", "7", "7"])
  }

  struct Conversion: CustomTestStringConvertible, Sendable {
    let from: AttributeType
    let to: AttributeType
    let values: [PropertyValue]
    let results: [String]
    var testDescription: String { "\(from) → \(to)" }
  }

  private static let conversions = [
    Conversion(from: .integer16, to: .integer64, values: [.integer(-5), .null], results: ["-5", "nil"]),
    Conversion(from: .integer64, to: .double, values: [.integer(5)], results: ["5.0"]),
    Conversion(from: .boolean, to: .integer16, values: [.boolean(true), .boolean(false)], results: ["0", "1"]),
    Conversion(from: .integer32, to: .string, values: [.integer(12), .null], results: ["12", "nil"]),
    Conversion(from: .string, to: .integer32, values: [.string("12")], results: ["12"]),
    Conversion(from: .string, to: .uri, values: [.string("http://example.org")], results: ["http://example.org"]),
    Conversion(from: .double, to: .decimal, values: [.double(1.5)], results: ["1.5"]),
  ]

  @Test(arguments: conversions)
  func valuesBecomeOnesOfAnotherType(_ given: Conversion) throws {
    let bench = try MigrationBench()
    try bench.make(try Self.note(.attribute("value", given.from, optional: true))) { context in
      for value in given.values {
        try context.insert(entityName: "Note").setPropertyValue(value, forKey: "value")
      }
    }
    let context = try bench.migrated(to: try Self.note(.attribute("value", given.to, optional: true)))
    #expect(try context.texts("Note", "value") == given.results)
  }

  @Test(arguments: MigrationBench.types)
  func valuesThatDoNotFitAreRefusedOrReplaced(_ type: StoreType) throws {
    var bench = try MigrationBench(type)
    try bench.make(try Self.note(.attribute("value", .string, optional: true))) { context in
      for text in ["1", "two", "3"] { try context.make("Note", ["value": text]) }
    }
    let new = try Self.note(.attribute("value", .integer32, optional: true))
    let before = try bench.bytes()
    let refused = try #require(try bench.migration(to: new))
    #expect(try refused.dryRun().obstacles.map(\.kind) == [.unfit])
    expectError(.migrationFailed) { try refused.run() }
    #expect(try bench.bytes() == before)
    bench.options[.migrationResolutions] = MigrationResolutions(unfitValues: .useDefault)
    #expect(try bench.migrated(to: new).texts("Note", "value") == ["1", "3", "nil"])
  }

  // MARK: Entities

  @Test(arguments: MigrationBench.types)
  func entitiesComeGoAndAreRenamed(_ type: StoreType) throws {
    let bench = try MigrationBench(type)
    let old = try ManagedObjectModel.of(
      .entity("Gone", .attribute("name", .string, optional: true), .toOne("other", "Note", inverse: "gone")),
      .entity(
        "Note",
        .attribute("name", .string, optional: true),
        .toMany("gone", "Gone", inverse: "other"),
        .toOne("page", "Page", inverse: "notes")
      ),
      .entity("Page", .attribute("name", .string, optional: true), .toMany("notes", "Note", inverse: "page"))
    )
    let new = try ManagedObjectModel.of(
      .entity("Added", .attribute("name", .string, optional: true)),
      .entity(
        "Sheet",
        renamedFrom: "Page",
        .attribute("name", .string, optional: true),
        .toMany("notes", "Note", inverse: "sheet")
      ),
      .entity(
        "Note",
        .attribute("name", .string, optional: true),
        .toOne("sheet", "Sheet", inverse: "notes", renamedFrom: "page")
      )
    )
    try bench.make(old) { context in
      let page = try context.make("Page", ["name": "p"])
      for name in ["a", "b"] {
        let note = try context.make("Note", ["name": name, "page": page])
        try context.make("Gone", ["name": name, "other": note])
      }
    }
    let report = try #require(try bench.migration(to: new)).dryRun()
    #expect(report.entities.map(\.mappingType) == [.add, .transform, .transform, .remove])
    #expect(report.entities.map(\.sourceCount) == [0, 1, 2, 2])
    #expect(report.entities.map(\.destinationCount) == [0, 1, 2, 0])
    let context = try bench.migrated(to: new)
    #expect(try context.links("Sheet", "notes") == ["p": ["a", "b"]])
    #expect(try context.links("Note", "sheet") == ["a": ["p"], "b": ["p"]])
    #expect(try context.count(entityName: "Added") == 0)
  }

  @Test(arguments: MigrationBench.types)
  func anEntityGetsAParentAndAnotherLosesIt(_ type: StoreType) throws {
    let bench = try MigrationBench(type)
    let old = try ManagedObjectModel.of(
      .entity("Base", abstract: true, .attribute("name", .string, optional: true)),
      .entity("Car", parent: "Base", .attribute("wheels", .integer16, optional: true)),
      .entity("Tree", .attribute("name", .string, optional: true), .toMany("cars", "Car", inverse: nil))
    )
    let new = try ManagedObjectModel.of(
      .entity("Thing", abstract: true, .attribute("name", .string, optional: true)),
      .entity("Car", .attribute("wheels", .integer16, optional: true), .attribute("name", .string, optional: true)),
      .entity("Tree", parent: "Thing", .toMany("cars", "Car", inverse: nil))
    )
    try bench.make(old) { context in
      let car = try context.make("Car", ["name": "c", "wheels": 4])
      try context.make("Tree", ["name": "t", "cars": [car]])
    }
    let context = try bench.migrated(to: new)
    #expect(try context.texts("Car", "name") == ["c"])
    #expect(try context.texts("Car", "wheels") == ["4"])
    #expect(try context.links("Tree", "cars") == ["t": ["c"]])
  }

  @Test func recordsOfARemovedSubentityTakeTheirLinksAlong() throws {
    let bench = try MigrationBench()
    func model(_ hasDog: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel(
        entities: [
          .entity("Animal", .attribute("name", .string, optional: true), .toOne("owner", "Person", inverse: "animals")),
          .entity("Cat", parent: "Animal"),
          .entity(
            "Person",
            .attribute("name", .string, optional: true),
            .toMany("animals", "Animal", inverse: "owner")
          ),
        ] + (hasDog ? [.entity("Dog", parent: "Animal")] : [])
      )
    }
    try bench.make(try model(true)) { context in
      let owner = try context.make("Person", ["name": "o"])
      for (entity, name) in [("Cat", "c"), ("Dog", "d"), ("Animal", "a")] {
        try context.make(entity, ["name": name, "owner": owner])
      }
    }
    let context = try bench.migrated(to: try model(false))
    #expect(try context.links("Person", "animals") == ["o": ["a", "c"]])
  }

  // MARK: Automatically

  @Test(arguments: MigrationBench.types)
  func aStoreIsMigratedWhenItIsOpened(_ type: StoreType) throws {
    var bench = try MigrationBench(type)
    try bench.make(try Self.note()) { try $0.make("Note", ["name": "a"]) }
    let new = try Self.note(.attribute("memo", .string, default: .string("m")))
    expectError(.modelIncompatible) { try bench.open(new) }
    bench.options[.shouldMigrateStoreAutomatically] = true
    bench.options[.shouldInferMappingModelAutomatically] = false
    expectError(.mappingModelMissing) { try bench.open(new) }
    bench.options.removeValue(for: .shouldInferMappingModelAutomatically)
    let context = try bench.open(new)
    #expect(try context.texts("Note", "memo") == ["m"])
    try context.make("Note", ["name": "b", "memo": "n"])
    try context.save()
    context.persistentStoreCoordinator.close()
    bench.options = StoreOptions()
    #expect(try bench.open(new).texts("Note", "memo") == ["m", "n"])
  }

  @Test func theErrorOfAnotherModelSaysWhatDiffers() throws {
    let bench = try MigrationBench()
    try bench.make(try Self.note(.attribute("stars", .integer16, optional: true))) { try $0.make("Note") }
    let error = try #require(throws: PersistenceError.self) {
      try bench.open(try Self.note(.attribute("stars", .integer32, optional: true), .attribute("memo", .string)))
    }
    #expect(error.code == .modelIncompatible)
    #expect(error.message.contains("changed Note.stars: type: integer16 → integer32"))
    #expect(error.message.contains("added Note.memo"))
  }

  @Test func allThatCannotBeInferredIsSaid() throws {
    let bench = try MigrationBench()
    try bench.make(
      try Self.note(.attribute("value", .date, optional: true), .attribute("stars", .integer16, optional: true))
    ) { try $0.make("Note") }
    let error = try #require(throws: PersistenceError.self) {
      _ = try bench.migration(
        to: try Self.note(
          .attribute("value", .uuid, optional: true),
          .attribute("stars", .integer16),
          .attribute("memo", .string)
        )
      )
    }
    #expect(error.code == .mappingModelMissing)
    for text in ["Note.value: type: date → uuid", "Note.stars: optional: yes → no", "added Note.memo: it is required"] {
      #expect(error.message.contains(text), "\(error.message)")
    }
  }

  @Test func aCSVFileIsMigratedFromAModelThatFits() throws {
    var bench = try MigrationBench(.csv)
    let old = try Self.note(.attribute("stars", .integer32, optional: true))
    let new = try Self.note(
      .attribute("rating", .string, optional: true, renamedFrom: "stars"),
      .attribute("memo", .string, default: .string("none"))
    )
    try bench.make(old) { context in
      try context.make("Note", ["name": "a", "stars": 3])
      try context.make("Note", ["name": "b"])
    }
    bench.options[.olderModels] = [old]
    let context = try bench.migrated(to: new)
    #expect(try context.texts("Note", "rating") == ["3", "nil"])
    #expect(try context.texts("Note", "memo") == ["none", "none"])
  }
}
