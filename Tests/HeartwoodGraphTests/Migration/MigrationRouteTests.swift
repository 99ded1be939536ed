import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore
import Testing

/// Migrations over several versions.
@Suite struct MigrationRouteTests {
  /// A version has a count that is called by its number, by a renaming identifier that tells of the one before.
  private static func version(_ number: Int) throws -> ManagedObjectModel {
    try ManagedObjectModel.of(
      .entity(
        "Note",
        .attribute("name", .string, optional: true),
        .attribute("count\(number)", .integer32, optional: true, renamedFrom: number > 1 ? "count\(number - 1)" : nil)
      )
    )
  }

  /// What doubles the count between two versions.
  private static func doubling(_ from: Int, _ to: Int) throws -> MappingModel {
    let models = try [from, to].map(version)
    return MappingModel(entityMappings: [
      EntityMapping(
        name: "Note\(from)ToNote\(to)",
        sourceEntityName: "Note",
        destinationEntityName: "Note",
        sourceEntityVersionHash: models[0].entity(named: "Note")?.versionHash,
        destinationEntityVersionHash: models[1].entity(named: "Note")?.versionHash,
        attributeMappings: [
          PropertyMapping(name: "name", valueExpression: .source("name")),
          PropertyMapping(name: "count\(to)", valueExpression: try .init(format: "$source.count\(from) * 2")),
        ]
      )
    ])
  }

  private static func bench(_ type: StoreType = .binary) throws -> MigrationBench {
    let bench = try MigrationBench(type)
    try bench.make(try version(1)) { try $0.make("Note", ["name": "n", "count1": 5]) }
    return bench
  }

  @Test func theWayLeavesOutNoMappingModel() throws {
    var bench = try Self.bench()
    bench.options[.olderModels] = try (1...4).map(Self.version)
    bench.options[.mappingModels] = [try Self.doubling(2, 3)]
    let migration = try #require(try bench.migration(to: try Self.version(5)))
    // From 1 to 2, by the mapping model to 3, and from there over 4 to the last, for each version renames the count.
    #expect(migration.steps.map(\.isInferred) == [true, false, true, true])
  }

  @Test func eachStepIsDoneWithTheValuesOfTheOneBefore() throws {
    var bench = try Self.bench(.sqlite)
    bench.options[.olderModels] = try (1...4).map(Self.version)
    bench.options[.mappingModels] = [try Self.doubling(1, 2), try Self.doubling(2, 3), try Self.doubling(3, 4)]
    let migration = try #require(try bench.migration(to: try Self.version(4)))
    #expect(migration.steps.map(\.isInferred) == [false, false, false])
    #expect(try bench.migrated(to: try Self.version(4)).texts("Note", "count4") == ["40"])
  }

  @Test func aMappingModelAllTheWayIsPreferred() throws {
    var bench = try Self.bench()
    bench.options[.olderModels] = try (1...3).map(Self.version)
    bench.options[.mappingModels] = [try Self.doubling(1, 2), try Self.doubling(2, 3), try Self.doubling(1, 3)]
    #expect(try bench.migrated(to: try Self.version(3)).texts("Note", "count3") == ["10"])
  }

  /// The versions of an entity with a name, and from the second on a slug and then words.
  private static func notes(_ number: Int) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      EntityDefinition(
        name: "Note",
        properties: ["name", "slug", "words"].prefix(number).map { .attribute($0, .string, optional: true) }
      )
    ])
  }

  /// What makes the newest attribute of a version of the name.
  private static func adding(_ property: String, to number: Int, hashes: Bool) throws -> MappingModel {
    let names = ["name", "slug", "words"].prefix(number)
    return MappingModel(entityMappings: [
      EntityMapping(
        name: "Note\(number - 1)ToNote\(number)",
        sourceEntityName: "Note",
        destinationEntityName: "Note",
        sourceEntityVersionHash: hashes ? try notes(number - 1).entity(named: "Note")?.versionHash : nil,
        destinationEntityVersionHash: hashes ? try notes(number).entity(named: "Note")?.versionHash : nil,
        attributeMappings: try names.map { name in
          let format = name == property ? "uppercase($source.name)" : "$source.\(name)"
          return PropertyMapping(name: name, valueExpression: try .init(format: format))
        }
      )
    ])
  }

  private static func addStages(_ usesStages: Bool, to options: inout StoreOptions) throws {
    guard usesStages else { return }
    options[.stagedMigrationManager] = StagedMigrationManager([
      .lightweight(LightweightMigrationStage(try (1...3).map { try notes($0).versionChecksum }))
    ])
  }

  @Test(arguments: [false, true])
  func whichOfSeveralMappingModelsIsMeantIsAsked(usesStages: Bool) throws {
    for start in 1...2 {
      var bench = try MigrationBench()
      try bench.make(try Self.notes(start)) { try $0.make("Note", ["name": "n"]) }
      bench.options[.olderModels] = try (1...2).map(Self.notes)
      try Self.addStages(usesStages, to: &bench.options)
      bench.options[.mappingModels] = [
        try Self.adding("slug", to: 2, hashes: false), try Self.adding("words", to: 3, hashes: false),
      ]
      let error = persistenceError { _ = try bench.migration(to: try Self.notes(3)) }
      #expect(error?.code == .mappingModelUnusable)
      #expect(error?.message.contains("sourceEntityVersionHash") == true)
    }
  }

  @Test(arguments: [false, true])
  func aMappingModelThatTellsItsVersionsIsPreferred(usesStages: Bool) throws {
    var bench = try MigrationBench()
    try bench.make(try Self.notes(2)) { try $0.make("Note", ["name": "n", "slug": "s"]) }
    bench.options[.olderModels] = try (1...2).map(Self.notes)
    try Self.addStages(usesStages, to: &bench.options)
    bench.options[.mappingModels] = [
      try Self.adding("slug", to: 2, hashes: false), try Self.adding("words", to: 3, hashes: true),
    ]
    let context = try bench.migrated(to: try Self.notes(3))
    #expect(try context.texts("Note", "slug") == ["s"])
    #expect(try context.texts("Note", "words") == ["N"])
  }

  @Test func withoutMappingModelsItIsOneStepUnlessItLoses() throws {
    var bench = try Self.bench()
    bench.options[.olderModels] = try (1...4).map(Self.version)
    let migration = try #require(try bench.migration(to: try Self.version(5)))
    // Each version renames the count.
    #expect(migration.steps.map(\.isInferred) == [true, true, true, true])
    #expect(try bench.migrated(to: try Self.version(5)).texts("Note", "count5") == ["5"])
    var other = try MigrationBench()
    try other.make(try Self.notes(1)) { try $0.make("Note", ["name": "n"]) }
    other.options[.olderModels] = try (1...2).map(Self.notes)
    #expect(try other.migration(to: try Self.notes(3))?.steps.map(\.isInferred) == [true])
  }

  /// It could be inferred over a version that lacks the values, and would lose them.
  @Test func noWayLeadsOverAVersionWithoutWhatBothHave() throws {
    func version(_ type: AttributeType?) throws -> ManagedObjectModel {
      let name = PropertyDescription.attribute("name", .string, optional: true)
      let value = type.map { PropertyDescription.attribute("value", $0, optional: true) }
      return try ManagedObjectModel(entities: [
        EntityDefinition(name: "Note", properties: [name] + [value].compactMap(\.self))
      ])
    }
    var bench = try MigrationBench()
    let models = try [nil, .date, .uuid].map(version)
    try bench.make(models[1]) { try $0.make("Note", ["name": "n"]) }
    for older in [models, Array(models.dropLast()), [models[1], models[0]]] {
      bench.options[.olderModels] = older
      expectError(.mappingModelMissing) { try bench.migration(to: models[2]) }
    }
    // Who wants that says so.
    bench.options[.stagedMigrationManager] = StagedMigrationManager([
      .lightweight(LightweightMigrationStage([1, 0, 2].map { models[$0].versionChecksum }, label: "light"))
    ])
    #expect(try bench.migration(to: models[2])?.steps.count == 2)
  }

  // MARK: Stages

  private static func stages(_ numbers: [Int]) throws -> MigrationStage {
    .lightweight(LightweightMigrationStage(try numbers.map { try version($0).versionChecksum }, label: "light"))
  }

  private static func custom(_ from: Int, _ to: Int) throws -> MigrationStage {
    .custom(
      CustomMigrationStage(
        migratingFrom: try version(from),
        to: try version(to),
        label: "custom",
        willMigrate: { context in
          for note in try context.fetch(entityName: "Note") { try note.setValue(7, forKey: "count\(from)") }
          try context.make("Note", ["name": "before"])
        },
        didMigrate: { context in try context.make("Note", ["name": "after", "count\(to)": 9]) }
      )
    )
  }

  @Test(arguments: MigrationBench.types)
  func stagesAreDoneInOrder(_ type: StoreType) throws {
    var bench = try Self.bench(type)
    bench.options[.olderModels] = try (1...4).map(Self.version)
    bench.options[.stagedMigrationManager] = StagedMigrationManager([
      try Self.stages([1, 2]), try Self.custom(2, 3), try Self.stages([3, 4]),
    ])
    let migration = try #require(try bench.migration(to: try Self.version(4)))
    #expect(migration.steps.count == 3)
    let context = try bench.migrated(to: try Self.version(4))
    #expect(try context.texts("Note", "name") == ["after", "before", "n"])
    #expect(try context.texts("Note", "count4") == ["7", "9", "nil"])
  }

  @Test func aStoreBeginsWhereItIs() throws {
    var bench = try MigrationBench()
    try bench.make(try Self.version(3)) { try $0.make("Note", ["name": "n", "count3": 1]) }
    bench.options[.olderModels] = try (1...4).map(Self.version)
    bench.options[.stagedMigrationManager] = StagedMigrationManager([
      try Self.stages([1, 2]), try Self.custom(2, 3), try Self.stages([3, 4]),
    ])
    #expect(try bench.migrated(to: try Self.version(4)).texts("Note", "count4") == ["1"])
  }

  /// What a delete rule that does nothing leaves is no obstacle, and leads to no new record.
  @Test(arguments: [StoreType.binary, .sqlite])
  func linksThatLeadNowhereStayInAStage(_ type: StoreType) throws {
    func model(_ others: PropertyDescription...) throws -> ManagedObjectModel {
      let own: [PropertyDescription] = [
        .attribute("name", .string, optional: true), .toOne("about", "Note", inverse: nil, deleteRule: .noAction),
      ]
      return try ManagedObjectModel(entities: [EntityDefinition(name: "Note", properties: own + others)])
    }
    func links(_ context: ManagedObjectContext) throws -> [ReferenceID] {
      let notes = try context.fetch(entityName: "Note").filter { try $0.value(forKey: "name") as? String == "first" }
      return try notes.flatMap { try $0.propertyValue(forKey: "about").objectIDs.map(\.reference) }
    }
    var bench = try MigrationBench(type)
    try bench.make(try model()) { context in
      let first = try context.make("Note", ["name": "first"])
      try context.save()
      // Its number is the greatest.
      let gone = try context.make("Note", ["name": "gone"])
      try first.setValue(gone, forKey: "about")
      try context.save()
      context.delete(gone)
    }
    let before = try bench.open(try model())
    let former = try links(before)
    before.persistentStoreCoordinator.close()
    let new = try model(.attribute("memo", .string, optional: true))
    bench.options[.stagedMigrationManager] = StagedMigrationManager([
      .custom(
        CustomMigrationStage(migratingFrom: try model(), to: new) { context in
          try context.make("Note", ["name": "new"])
        } didMigrate: { context in
          try context.make("Note", ["name": "newer"])
        }
      )
    ])
    try #require(try bench.migration(to: new)).run()
    let context = try bench.open(new)
    #expect(try context.texts("Note", "name") == ["first", "new", "newer"])
    #expect(try links(context) == former)
    let references = try context.fetch(entityName: "Note").map(\.objectID.reference)
    #expect(Set(references).isDisjoint(with: former))
  }

  @Test func stagesThatLeadNowhereAreRefused() throws {
    var bench = try Self.bench()
    bench.options[.olderModels] = try (1...2).map(Self.version)
    for stages in [try [Self.stages([1, 2])], [], try [Self.stages([1, 9])], try [Self.custom(2, 3)]] {
      bench.options[.stagedMigrationManager] = StagedMigrationManager(stages)
      expectError(.mappingModelMissing) { try bench.migration(to: try Self.version(3)) }
    }
  }

  @Test func aHandlerThatThrowsChangesNothing() throws {
    struct Refusal: Error {}
    var bench = try Self.bench()
    let before = try bench.bytes()
    bench.options[.stagedMigrationManager] = StagedMigrationManager([
      .custom(
        CustomMigrationStage(migratingFrom: try Self.version(1), to: try Self.version(2)) { _ in
        } didMigrate: { _ in
          throw Refusal()
        }
      )
    ])
    let migration = try #require(try bench.migration(to: try Self.version(2)))
    #expect(throws: Refusal.self) { try migration.run() }
    #expect(try bench.bytes() == before)
  }
}
