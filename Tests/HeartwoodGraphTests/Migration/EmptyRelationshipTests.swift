import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore
import Testing

/// A required relationship to many may be empty, unless its least count asks for objects.
@Suite struct EmptyRelationshipTests {
  /// - Parameter least: the least count of games; nil means that there is no such relationship.
  private static func model(least: Int?, optional: Bool = false) throws -> ManagedObjectModel {
    guard let least else {
      return try ManagedObjectModel.of(
        .entity("Game", .attribute("name", .string, optional: true)),
        .entity("Skin", .attribute("name", .string, optional: true))
      )
    }
    return try ManagedObjectModel.of(
      .entity("Game", .attribute("name", .string, optional: true), .toOne("skin", "Skin", inverse: "games")),
      .entity(
        "Skin",
        .attribute("name", .string, optional: true),
        .toMany("games", "Game", inverse: "skin", optional: optional, count: least...9)
      )
    )
  }

  @Test(arguments: MigrationBench.types, [0, 1])
  func savesTakeIt(_ type: StoreType, _ least: Int) throws {
    for isOptional in [false, true] {
      let bench = try MigrationBench(type)
      let context = try bench.open(try Self.model(least: least, optional: isOptional))
      let skin = try context.make("Skin", ["name": "dark"])
      if least > 0, !isOptional {
        let error = try #require(persistenceError { try context.save() })
        #expect(error.context.validationFaults.map(\.kind) == [.missingValue])
        try skin.setValue([try context.make("Game", ["name": "one"])], forKey: "games")
      }
      try context.save()
      try context.expectSound()
      // What empties it is refused for the same reason.
      for game in try context.fetch(entityName: "Game") { context.delete(game) }
      if least > 0, !isOptional { expectError(.validationFailed) { try context.save() } } else { try context.save() }
    }
  }

  @Test(arguments: MigrationBench.types)
  func migrationsTakeIt(_ type: StoreType) throws {
    let bench = try MigrationBench(type)
    try bench.make(try Self.model(least: nil)) { try $0.make("Skin", ["name": "dark"]) }
    let context = try bench.migrated(to: try Self.model(least: 0))
    #expect(try context.texts("Skin", "name") == ["dark"])
    context.persistentStoreCoordinator.close()
    // From now on it needs one, and the record has none.
    let report = try #require(try bench.migration(to: try Self.model(least: 1))).dryRun()
    #expect(report.obstacles.map { "\($0.kind) \($0.property) \($0.count)" } == ["missing games 1"])
  }

  @Test(arguments: [StoreType.binary, .sqlite])
  func batchesTakeIt(_ type: StoreType) throws {
    let bench = try MigrationBench(type)
    let context = try bench.open(try Self.model(least: 0))
    try context.make("Game", ["name": "one", "skin": try context.make("Skin", ["name": "dark"])])
    try context.save()
    try context.persistentStoreCoordinator.execute(BatchDeleteRequest(entityName: "Game"))
    context.persistentStoreCoordinator.close()
    try bench.open(try Self.model(least: 0)).expectSound()
  }
}
