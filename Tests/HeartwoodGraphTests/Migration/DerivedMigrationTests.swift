import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// Attributes that the new model derives, and what it asks of their values.
@Suite struct DerivedMigrationTests {
  private static func model(
    unique: [[String]] = [],
    notes: PropertyDescription...,
    lists: PropertyDescription...
  ) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      EntityDefinition(
        name: "List",
        properties: [
          .attribute("name", .string, optional: true), .toMany("notes", "Note", inverse: "list"),
        ] + lists
      ),
      EntityDefinition(
        name: "Note",
        properties: [
          .attribute("name", .string, optional: true), .toOne("list", "List", inverse: "notes"),
        ] + notes,
        uniquenessConstraints: unique
      ),
    ])
  }

  private static func key(
    optional isOptional: Bool = true,
    _ format: String = "canonical:(name)",
    rules: AttributeRules = AttributeRules()
  ) throws -> PropertyDescription {
    .attribute(
      AttributeDescription(
        name: "key",
        type: .string,
        isOptional: isOptional,
        rules: rules,
        derivationExpression: try FetchExpression(format: format)
      )
    )
  }

  /// A store with notes of these names in one list.
  private static func bench(
    _ type: StoreType,
    _ names: [String?],
    _ old: ManagedObjectModel? = nil
  ) throws -> MigrationBench {
    let bench = try MigrationBench(type)
    try bench.make(try old ?? model()) { context in
      let list = try context.make("List", ["name": "l"])
      for name in names { try context.make("Note", ["name": name, "list": list]) }
    }
    return bench
  }

  @Test(arguments: MigrationBench.types)
  func whatIsRequiredIsDerivedFirst(_ type: StoreType) throws {
    let bench = try Self.bench(type, ["Ä", "b"])
    let new = try Self.model(notes: try Self.key(optional: false))
    #expect(try bench.migrated(to: new).texts("Note", "key") == ["a", "b"])
  }

  @Test(arguments: MigrationBench.types)
  func whatIsDerivedOfNothingIsMissing(_ type: StoreType) throws {
    let bench = try Self.bench(type, ["Ä", nil])
    let new = try Self.model(notes: try Self.key(optional: false))
    let before = try bench.bytes()
    let migration = try #require(try bench.migration(to: new))
    #expect(try migration.dryRun().obstacles.map { "\($0.kind) \($0.property) \($0.count)" } == ["missing key 1"])
    expectError(.migrationFailed) { try migration.run() }
    #expect(try bench.bytes() == before)
  }

  @Test(arguments: MigrationBench.types, MigrationResolutions.Duplicates.allCases)
  func whatIsDerivedMayBeTheSame(_ type: StoreType, _ resolution: MigrationResolutions.Duplicates) throws {
    var bench = try Self.bench(type, ["A", "b", "Ä"])
    let new = try Self.model(
      unique: [["key"]],
      notes: try Self.key(),
      lists: try DerivationStack.derived("count", .integer32, "notes.@count")
    )
    bench.options[.migrationResolutions] = MigrationResolutions(duplicates: resolution)
    let report = try #require(try bench.migration(to: new)).dryRun()
    #expect(report.findings.map { "\($0.kind) \($0.property) \($0.count)" } == ["duplicates key 1"])
    guard resolution != .refuse else {
      let before = try bench.bytes()
      expectError(.migrationFailed) { try bench.migration(to: new)?.run() }
      return #expect(try bench.bytes() == before)
    }
    let context = try bench.migrated(to: new)
    #expect(try context.texts("Note", "name") == (resolution == .keepFirst ? ["A", "b"] : ["b", "Ä"]))
    #expect(try context.texts("Note", "key") == ["a", "b"])
    // Records that are gone are not counted.
    #expect(try context.texts("List", "count") == ["2"])
  }

  /// The constraint is that of before, but values are derived otherwise.
  @Test(arguments: MigrationBench.types)
  func whatIsDerivedOtherwiseMayBeTheSame(_ type: StoreType) throws {
    let old = try Self.model(unique: [["key"]], notes: try Self.key("name"))
    let bench = try Self.bench(type, ["A", "b", "Ä"], old)
    let new = try Self.model(
      unique: [["key"]],
      notes: try Self.key(),
      .attribute("memo", .string, optional: true)
    )
    let report = try #require(try bench.migration(to: new)).dryRun()
    #expect(report.obstacles.map { "\($0.kind) \($0.property) \($0.count)" } == ["duplicates key 1"])
    expectError(.migrationFailed) { try bench.migration(to: new)?.run() }
  }

  @Test(arguments: MigrationBench.types)
  func aDryRunTellsWhatBreaksARule(_ type: StoreType) throws {
    let bench = try Self.bench(type, ["A", "longer"])
    let new = try Self.model(notes: try Self.key(rules: AttributeRules(maxLength: 3)))
    let migration = try #require(try bench.migration(to: new))
    let before = try bench.bytes()
    expectError(.validationFailed) { try migration.dryRun() }
    expectError(.validationFailed) { try migration.run() }
    #expect(try bench.bytes() == before)
  }
}
