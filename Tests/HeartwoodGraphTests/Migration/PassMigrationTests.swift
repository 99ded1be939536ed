import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Migrations by several mapping models, each over a part of the entities.
@Suite struct PassMigrationTests {
  private static func model(_ suffix: String = "") throws -> ManagedObjectModel {
    try ManagedObjectModel.of(
      .entity(
        "Author\(suffix)",
        .attribute("name", .string, optional: true),
        .toMany("books", "Book\(suffix)", inverse: "author", ordered: true)
      ),
      .entity(
        "Book\(suffix)",
        .attribute("name", .string, optional: true),
        .toOne("author", "Author\(suffix)", inverse: "books"),
        .toMany("tags", "Tag\(suffix)", inverse: "books")
      ),
      .entity(
        "Tag\(suffix)",
        .attribute("name", .string, optional: true),
        .toMany("books", "Book\(suffix)", inverse: "tags")
      )
    )
  }

  private static func fill(_ context: ManagedObjectContext) throws {
    let authors = try ["A", "B"].map { try context.make("Author", ["name": $0]) }
    let tags = try ["s", "t"].map { try context.make("Tag", ["name": $0]) }
    for (place, name) in ["x", "y", "z"].enumerated() {
      try context.make("Book", ["name": name, "author": authors[place / 2], "tags": [tags[place % 2]]])
    }
  }

  /// Looks whether a pass begins with nothing in memory.
  private final class EmptyMemoryPolicy: EntityMigrationPolicy {
    struct Crowded: Error {}

    override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
      guard manager.sourceContext.registeredObjects.isEmpty, manager.destinationContext.registeredObjects.isEmpty else {
        throw Crowded()
      }
    }
  }

  private static func mapping(_ entity: String, links: [String: String] = [:], policy: String? = nil) throws
    -> EntityMapping
  {
    EntityMapping(
      name: "\(entity)s",
      mappingType: .custom,
      sourceEntityName: entity,
      destinationEntityName: "\(entity)2",
      attributeMappings: [
        PropertyMapping(name: "name", valueExpression: try .init(format: "uppercase($source.name)"))
      ],
      relationshipMappings: links.sorted { $0.key < $1.key }.map { name, other in
        PropertyMapping(
          name: name,
          valueExpression: .destinationInstances(forEntityMappingNamed: "\(other)s", sourceInstances: name)
        )
      },
      entityMigrationPolicyClassName: policy
    )
  }

  private static func passes() throws -> [MappingModel] {
    [
      MappingModel(entityMappings: [try mapping("Author", policy: "EmptyMemoryPolicy")]),
      MappingModel(entityMappings: [
        try mapping("Book", links: ["author": "Author", "tags": "Tag"], policy: "EmptyMemoryPolicy"),
        try mapping("Tag"),
      ]),
    ]
  }

  private func bench(_ type: StoreType, _ passes: [MappingModel]) throws -> MigrationBench {
    var bench = try MigrationBench(type)
    try bench.make(try Self.model(), Self.fill)
    bench.options[.migrationPasses] = passes
    bench.options[.entityMigrationPolicies] = ["EmptyMemoryPolicy": EmptyMemoryPolicy.self]
    return bench
  }

  @Test(arguments: MigrationBench.types)
  func passesFindWhatEarlierOnesHaveMade(_ type: StoreType) throws {
    let bench = try bench(type, try Self.passes())
    let before = try bench.open(try Self.model())
    let identifier = before.persistentStoreCoordinator.persistentStores.first?.identifier
    before.persistentStoreCoordinator.close()
    let new = try Self.model("2")
    let report = try #require(try bench.migration(to: new)).dryRun()
    #expect(report.entities.map(\.destinationCount) == [2, 3, 2])
    let migration = try #require(try bench.migration(to: new))
    #expect(migration.steps.map(\.passes.count) == [2])
    #expect(try migration.run() == report)
    #expect(try bench.migration(to: new) == nil)
    let context = try bench.open(new)
    try context.expectSound()
    #expect(try context.links("Book2", "author") == ["X": ["A"], "Y": ["A"], "Z": ["B"]])
    #expect(try context.links("Author2", "books") == ["A": ["X", "Y"], "B": ["Z"]])
    #expect(try context.links("Tag2", "books") == ["S": ["X", "Z"], "T": ["Y"]])
    #expect(context.persistentStoreCoordinator.persistentStores.first?.identifier == identifier)
    // What is migrated can be changed.
    try context.make("Book2", ["name": "new", "author": try context.fetch(entityName: "Author2").first])
    try context.save()
  }

  /// A relationship to what a later pass makes leads nowhere yet; its inverse is set then.
  @Test(arguments: MigrationBench.types)
  func whatALaterPassMakesIsNotThereYet(_ type: StoreType) throws {
    let passes = [
      MappingModel(entityMappings: [try Self.mapping("Author", links: ["books": "Book"])]),
      MappingModel(entityMappings: [try Self.mapping("Book"), try Self.mapping("Tag")]),
    ]
    let bench = try bench(type, passes)
    let context = try bench.migrated(to: try Self.model("2"))
    #expect(try context.links("Author2", "books") == ["A": [], "B": []])
  }

  @Test(arguments: MigrationBench.types)
  func aPassThatFailsLeavesTheStore(_ type: StoreType) throws {
    var passes = try Self.passes()
    passes[1].entityMappings[1].attributeMappings = [
      PropertyMapping(name: "name", valueExpression: .constant(.integer(1)))
    ]
    passes[1].entityMappings[1].entityMigrationPolicyClassName = "Nobody"
    let bench = try bench(type, passes)
    let before = try bench.bytes()
    expectError(.mappingModelUnusable) { try bench.migration(to: try Self.model("2"))?.run() }
    #expect(try bench.bytes() == before)
    #expect(try bench.folder.names() == ["store"])
  }

  @Test(arguments: MigrationBench.types)
  func passesThatDoNotFitAreNamed(_ type: StoreType) throws {
    var passes = try Self.passes()
    passes[0].entityMappings[0].destinationEntityName = "Writer"
    let bench = try bench(type, passes)
    let error = persistenceError { try bench.migration(to: try Self.model("2"))?.run() }
    #expect(error?.code == .mappingModelUnusable)
    #expect(error?.message.contains("Writer") == true)
  }

  /// Lets what an earlier pass has taken be out of reach.
  private final class ClosingPolicy: EntityMigrationPolicy {
    override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
      let authors = manager.destinationInstances(forEntityMappingName: "Authors")
      #expect(authors.count == 2)
      manager.sourceContext.persistentStoreCoordinator.close()
      _ = manager.sourceInstances(forEntityMappingName: "Authors", destinationInstances: authors)
    }
  }

  @Test(arguments: MigrationBench.types)
  func whatCannotBeReadEndsTheMigration(_ type: StoreType) throws {
    let passes = [
      MappingModel(entityMappings: [try Self.mapping("Author")]),
      MappingModel(entityMappings: [try Self.mapping("Tag", policy: "ClosingPolicy")]),
    ]
    var bench = try bench(type, passes)
    bench.options[.entityMigrationPolicies] = ["ClosingPolicy": ClosingPolicy.self]
    let before = try bench.bytes()
    expectError(.coordinatorClosed) { try bench.migration(to: try Self.model("2"))?.run() }
    #expect(try bench.bytes() == before)
  }

  @Test func passesAndStagesAreNotGivenTogether() throws {
    var bench = try bench(.binary, try Self.passes())
    bench.options[.stagedMigrationManager] = StagedMigrationManager([])
    let error = persistenceError { _ = try bench.migration(to: try Self.model("2")) }
    #expect(error?.code == .mappingModelUnusable)
    #expect(error?.message.contains("Give one of them") == true)
  }
}
