import Foundation
import Heartwood
import HeartwoodModelFiles
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// The code of the article on migration.
@Suite struct MigrationGuideTests {
  private static func notes(_ properties: PropertyDescription...) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [EntityDefinition(name: "Note", properties: properties)])
  }

  private static func benches() throws -> (MigrationBench, ManagedObjectModel) {
    let bench = try MigrationBench(.binary)
    try bench.make(try notes(.attribute("name", .string, optional: true))) { context in
      for name in ["1", "two", "two"] { try context.make("Note", ["name": name]) }
    }
    return (bench, try notes(.attribute("number", .integer32, optional: true, renamedFrom: "name")))
  }

  @Test func checkMigrateAndOpen() throws {
    let bench = try MigrationBench(.binary)
    try bench.make(try Self.notes(.attribute("name", .string, optional: true))) { try $0.make("Note") }
    let coordinator = try bench.coordinator(try Self.notes(.attribute("title", .string, default: .string("none"))))
    let url = bench.url
    if let migration = try coordinator.migration(ofStoreAt: url) { try migration.run() }
    try coordinator.addPersistentStore(at: url)
    #expect(try ManagedObjectContext(coordinator).texts("Note", "title") == ["none"])
  }

  @Test func migrateInPasses() throws {
    let names = ["Author", "Book", "Tag"]
    func model(_ suffix: String = "") throws -> ManagedObjectModel {
      try ManagedObjectModel(
        entities: names.map {
          EntityDefinition(name: $0 + suffix, properties: [.attribute("name", .string, optional: true)])
        }
      )
    }
    func pass(_ entities: String...) throws -> MappingModel {
      let name = PropertyMapping(name: "name", valueExpression: try .init(format: "uppercase($source.name)"))
      return MappingModel(
        entityMappings: entities.map { entity in
          EntityMapping(
            name: "\(entity)s",
            mappingType: .custom,
            sourceEntityName: entity,
            destinationEntityName: "\(entity)2",
            attributeMappings: [name],
            relationshipMappings: []
          )
        }
      )
    }
    var bench = try MigrationBench(.binary)
    try bench.make(try model()) { context in for name in names { try context.make(name, ["name": "a"]) } }
    let (authors, booksAndTags) = (try pass("Author"), try pass("Book", "Tag"))
    var options = StoreOptions()
    options[.migrationPasses] = [authors, booksAndTags]
    bench.options = options
    let context = try bench.migrated(to: try model("2"))
    for name in names { #expect(try context.texts("\(name)2", "name") == ["A"]) }
  }

  @Test func migrateWhenOpened() throws {
    let bench = try MigrationBench(.binary)
    try bench.make(try Self.notes(.attribute("name", .string, optional: true))) { try $0.make("Note") }
    let coordinator = try bench.coordinator(try Self.notes(.attribute("title", .string, default: .string("none"))))
    let url = bench.url
    var options = StoreOptions()
    options[.shouldMigrateStoreAutomatically] = true
    try coordinator.addPersistentStore(at: url, options: options)
    #expect(try ManagedObjectContext(coordinator).texts("Note", "title") == ["none"])
  }

  @Test func resolveAndReport() throws {
    let (bench, model) = try Self.benches()
    var options = StoreOptions()
    options[.migrationResolutions] = MigrationResolutions(duplicates: .keepFirst, unfitValues: .useDefault)
    let migration = try #require(try bench.coordinator(model).migration(ofStoreAt: bench.url, options: options))
    let report = try migration.dryRun()
    for finding in report.findings { print(finding) }
    #expect(report.findings.map(\.kind) == [.converted, .unfit])
    let progress = MigrationProgress { phase in print(phase) }
    try migration.run(progress: progress)
    #expect(progress.phase == .writing)
    #expect(try bench.open(model).texts("Note", "number") == ["1", "nil", "nil"])
  }

  @Test func aBundleTellsTheVersionsAndAMappingModelTheRest() throws {
    let folder = try MigrationBench()
    let bundle = folder.folder.url.appending(path: "Notes.xcdatamodeld")
    for (name, attribute) in [("Notes", "name"), ("Notes 2", "title")] {
      let version = bundle.appending(path: "\(name).xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
      let contents = """
        <model type="com.apple.IDECoreDataModeler.DataModel"><entity name="Note">
        <attribute name="\(attribute)" optional="YES" attributeType="String"/></entity></model>
        """
      try Data(contents.utf8).write(to: version.appending(path: "contents"))
    }
    var options = StoreOptions()
    try options.setMigrations(fromModelAt: bundle)
    #expect(options[.olderModels].map { $0.entities[0].attributes.map(\.name) } == [["name"], ["title"]])
    let person = try ManagedObjectModel.of(
      .entity("Person", .attribute("last", .string, optional: true), .attribute("cents", .integer32, optional: true))
    )
    let human = try ManagedObjectModel.of(
      .entity("Human", .attribute("name", .string, optional: true), .attribute("euros", .double, optional: true))
    )
    let mapping = MappingModel(entityMappings: [
      EntityMapping(
        name: "PersonToHuman",
        sourceEntityName: "Person",
        destinationEntityName: "Human",
        sourceEntityVersionHash: person.entity(named: "Person")?.versionHash,
        destinationEntityVersionHash: human.entity(named: "Human")?.versionHash,
        attributeMappings: [
          PropertyMapping(name: "name", valueExpression: .source("last")),
          PropertyMapping(name: "euros", valueExpression: try MappingExpression(format: "$source.cents / 100.0")),
        ]
      )
    ])
    options[.mappingModels] = [mapping]
    options[.entityMigrationPolicies] = ["PostPolicy": PostPolicy.self]
    let bench = try MigrationBench(.binary)
    try bench.make(person) { try $0.make("Person", ["last": "Lee", "cents": 250]) }
    try bench.coordinator(human).migration(ofStoreAt: bench.url, options: options)?.run()
    #expect(try bench.open(human).texts("Human", "euros") == ["2.5"])
  }

  private final class PostPolicy: EntityMigrationPolicy {}

  @Test func stages() throws {
    let first = try Self.notes(.attribute("name", .string, optional: true))
    let second = try Self.notes(
      .attribute("name", .string, optional: true),
      .attribute("count", .integer32, optional: true)
    )
    let third = try Self.notes(.attribute("count", .integer32, default: .integer(1)))
    var options = StoreOptions()
    options[.olderModels] = [first, second]
    options[.allowsMigrationLoss] = true
    options[.stagedMigrationManager] = StagedMigrationManager([
      .lightweight(LightweightMigrationStage([first.versionChecksum, second.versionChecksum])),
      .custom(
        CustomMigrationStage(migratingFrom: second, to: third) { context in
          for note in try context.fetch(entityName: "Note") { try note.setValue(0, forKey: "count") }
        }
      ),
    ])
    let bench = try MigrationBench(.binary)
    try bench.make(first) { try $0.make("Note", ["name": "a"]) }
    try bench.coordinator(third).migration(ofStoreAt: bench.url, options: options)?.run()
    #expect(try bench.open(third).texts("Note", "count") == ["0"])
  }
}
