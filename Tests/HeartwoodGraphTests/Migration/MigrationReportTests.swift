import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// What is told of a migration.
@Suite struct MigrationReportTests {
  private static func model(_ names: String...) throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: names.map {
        .entity($0, .attribute("name", .string, optional: true), .attribute("age", .integer16, optional: true))
      }
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
}
