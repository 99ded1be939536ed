import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// What is told of a migration.
@Suite struct MigrationReportTests {
  private static func model(_ names: String..., hasMemo: Bool = false) throws -> ManagedObjectModel {
    let own: [PropertyDescription] = [
      .attribute("name", .string, optional: true), .attribute("age", .integer16, optional: true),
    ]
    let memo = PropertyDescription.attribute("memo", .string, optional: true)
    return try ManagedObjectModel(
      entities: names.map { EntityDefinition(name: $0, properties: hasMemo ? own + [memo] : own) }
    )
  }

  private static func mapping(
    _ name: String,
    from source: String,
    to destination: String,
    where format: String? = nil
  ) throws -> EntityMapping {
    EntityMapping(
      name: name,
      sourceEntityName: source,
      destinationEntityName: destination,
      sourcePredicate: try format.map { try FetchPredicate(format: $0) },
      attributeMappings: [
        PropertyMapping(name: "name", valueExpression: try .init(format: "uppercase($source.name)")),
        PropertyMapping(name: "age", valueExpression: .source("age")),
      ]
    )
  }

  /// What is told of a migration that two mappings do, in one pass or one after the other.
  private static func report(
    _ bench: MigrationBench,
    _ mappings: [EntityMapping],
    to model: ManagedObjectModel,
    inPasses: Bool
  ) throws -> [String] {
    var bench = bench
    if inPasses {
      bench.options[.migrationPasses] = mappings.map { MappingModel(entityMappings: [$0]) }
    } else {
      bench.options[.mappingModels] = [MappingModel(entityMappings: mappings)]
    }
    let migration = try #require(try bench.migration(to: model))
    let report = try migration.dryRun()
    #expect(try migration.run() == report)
    return report.entities.map { "\($0.mappingName) \($0.sourceCount) \($0.destinationCount)" }
  }

  @Test(arguments: MigrationBench.types, [false, true])
  func anEntityThatIsSplitIsCountedInParts(_ type: StoreType, inPasses: Bool) throws {
    let bench = try MigrationBench(type)
    try bench.make(try Self.model("Person")) { context in
      for age in 15..<25 { try context.make("Person", ["name": "\(age)", "age": age]) }
    }
    let mappings = [
      try Self.mapping("Minors", from: "Person", to: "Minor", where: "age < 18"),
      try Self.mapping("Adults", from: "Person", to: "Adult", where: "age >= 18"),
    ]
    let counts = try Self.report(bench, mappings, to: try Self.model("Minor", "Adult"), inPasses: inPasses)
    #expect(counts == ["Minors 3 3", "Adults 7 7"])
  }

  @Test(arguments: MigrationBench.types, [false, true])
  func anEntityThatIsJoinedIsCountedInParts(_ type: StoreType, inPasses: Bool) throws {
    let bench = try MigrationBench(type)
    try bench.make(try Self.model("Cat", "Dog")) { context in
      for name in ["Cat", "Cat", "Dog"] { try context.make(name, ["name": "a"]) }
    }
    let mappings = [
      try Self.mapping("Cats", from: "Cat", to: "Animal"), try Self.mapping("Dogs", from: "Dog", to: "Animal"),
    ]
    let counts = try Self.report(bench, mappings, to: try Self.model("Animal"), inPasses: inPasses)
    #expect(counts == ["Cats 2 2", "Dogs 1 1"])
  }

  /// What is told of a migration over versions of a model, between two of which mappings are given.
  private static func report(
    _ bench: MigrationBench,
    _ mappings: [EntityMapping],
    over versions: [ManagedObjectModel]
  ) throws -> [String] {
    var bench = bench
    bench.options[.olderModels] = versions
    bench.options[.mappingModels] = [MappingModel(entityMappings: mappings)]
    bench.options[.stagedMigrationManager] = StagedMigrationManager([
      .lightweight(LightweightMigrationStage(versions.map(\.versionChecksum)))
    ])
    let newest = try #require(versions.last)
    let migration = try #require(try bench.migration(to: newest))
    #expect(migration.steps.map(\.isInferred).sorted { !$0 && $1 } == [false, true])
    return try migration.dryRun().entities.map { "\($0.mappingName) \($0.sourceCount) \($0.destinationCount)" }
  }

  @Test func theStepsBeforeAndAfterAreCountedWithIt() throws {
    let people = try MigrationBench()
    try people.make(try Self.model("Person")) { context in
      for age in 15..<25 { try context.make("Person", ["age": age]) }
    }
    let split = [
      try Self.mapping("Minors", from: "Person", to: "Minor", where: "age < 18"),
      try Self.mapping("Adults", from: "Person", to: "Adult", where: "age >= 18"),
    ]
    let versions = [
      try Self.model("Person"), try Self.model("Person", hasMemo: true), try Self.model("Minor", "Adult"),
    ]
    #expect(try Self.report(people, split, over: versions) == ["Minors 3 3", "Adults 7 7"])
    let animals = try MigrationBench()
    try animals.make(try Self.model("Cat", "Dog")) { context in
      for name in ["Cat", "Cat", "Dog"] { try context.make(name, ["name": "a"]) }
    }
    let joined = [
      try Self.mapping("Cats", from: "Cat", to: "Animal"), try Self.mapping("Dogs", from: "Dog", to: "Animal"),
    ]
    let others = [
      try Self.model("Cat", "Dog"), try Self.model("Animal"), try Self.model("Animal", hasMemo: true),
    ]
    #expect(try Self.report(animals, joined, over: others) == ["IEM_Transform_Animal 3 3"])
  }
}
