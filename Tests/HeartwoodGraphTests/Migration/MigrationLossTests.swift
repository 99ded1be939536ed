import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore
import Testing

/// Records and values that nothing is made of: a migration says so with counts, and is not done unless that is allowed.
@Suite struct MigrationLossTests {
  /// A note with a text and pages, and a tag; `parts` chooses what there is.
  private static func model(_ parts: Set<String> = ["memo", "pages", "Tag"]) throws -> ManagedObjectModel {
    var properties: [PropertyDescription] = [.attribute("name", .string, optional: true)]
    if parts.contains("memo") { properties.append(.attribute("memo", .string, optional: true)) }
    if parts.contains("pages") { properties.append(.toMany("pages", "Page", inverse: "note")) }
    var page: [PropertyDescription] = [.attribute("number", .integer32, optional: true)]
    if parts.contains("pages") || parts.contains("note") {
      page.append(.toOne("note", "Note", inverse: parts.contains("pages") ? "pages" : nil))
    }
    var entities = [
      EntityDefinition(name: "Note", properties: properties), EntityDefinition(name: "Page", properties: page),
    ]
    if parts.contains("Tag") {
      entities.append(EntityDefinition(name: "Tag", properties: [.attribute("name", .string, optional: true)]))
    }
    return try ManagedObjectModel(entities: entities)
  }

  /// Three notes, two with a memo, one with two pages; four tags.
  private static func bench(_ type: StoreType, allowing isAllowed: Bool? = nil, empty: Bool = false) throws
    -> MigrationBench
  {
    var bench = try MigrationBench(type)
    bench.options[.allowsMigrationLoss] = isAllowed
    try bench.make(try model()) { context in
      let notes = try (1...3).map { try context.make("Note", ["name": "\($0)", "memo": $0 == 1 || empty ? nil : "m"]) }
      if empty { return }
      for number in 1...2 { try context.make("Page", ["number": number, "note": notes[0]]) }
      for _ in 1...4 { try context.make("Tag", ["name": "t"]) }
    }
    return bench
  }

  private static let all: Set<String> = ["memo", "pages", "Tag"]

  @Test(arguments: MigrationBench.types)
  func whatWouldBeLostIsRefusedWithCounts(_ type: StoreType) throws {
    let cases: [(removed: Set<String>, lines: [String])] = [
      (["memo"], ["Note.memo: 2 records with a value that is left out"]),
      (["Tag"], ["Tag: 4 records left out: nothing is made of them"]),
      (
        ["pages"],
        ["Note.pages: 1 record with a value that is left out", "Page.note: 2 records with a value that is left out"]
      ),
    ]
    for (removed, lines) in cases {
      let bench = try Self.bench(type)
      let before = try bench.bytes()
      let migration = try #require(try bench.migration(to: try Self.model(Self.all.subtracting(removed))))
      let dry = try migration.dryRun()
      #expect(dry.losses.map { "\($0)" } == lines)
      #expect(dry.obstacles == dry.losses)
      let error = try #require(persistenceError { try migration.run() })
      #expect(error.code == .migrationFailed)
      for line in lines { #expect(error.message.contains(line), "\(error.message)") }
      #expect(error.message.contains("allowsMigrationLoss"))
      #expect(try bench.bytes() == before)
    }
  }

  @Test(arguments: MigrationBench.types)
  func whatIsAllowedIsDoneAndReported(_ type: StoreType) throws {
    let bench = try Self.bench(type, allowing: true)
    let new = try Self.model(["pages"])
    let report = try #require(try bench.migration(to: new)).run()
    #expect(report.losses.map(\.count) == [4, 2])
    #expect(report.obstacles.isEmpty)
    #expect(try bench.open(new).texts("Note", "name") == ["1", "2", "3"])
  }

  @Test(arguments: MigrationBench.types)
  func whatHasNoValuesIsNoLoss(_ type: StoreType) throws {
    let bench = try Self.bench(type, empty: true)
    let report = try #require(try bench.migration(to: try Self.model([]))).run()
    #expect(report.losses.isEmpty)
  }

  /// The links are there as long as one end is.
  @Test(arguments: MigrationBench.types)
  func aRelationshipIsThereAtEitherEnd(_ type: StoreType) throws {
    let bench = try Self.bench(type)
    let report = try #require(try bench.migration(to: try Self.model(["memo", "Tag", "note"]))).dryRun()
    #expect(report.losses.isEmpty)
  }

  @Test(arguments: MigrationBench.types)
  func anApplicationsStoreIsMigratedAsItIsOpened(_ type: StoreType) throws {
    for isAllowed in [nil, true, false] {
      var bench = try Self.bench(type, allowing: isAllowed)
      bench.options[.shouldMigrateStoreAutomatically] = true
      let new = try Self.model([])
      if isAllowed == false {
        expectError(.migrationFailed) { try bench.open(new) }
      } else {
        #expect(try bench.open(new).texts("Note", "name") == ["1", "2", "3"])
      }
    }
  }

  @Test(arguments: MigrationBench.types)
  func recordsThatNoFilterTakesAreCounted(_ type: StoreType) throws {
    var bench = try Self.bench(type)
    bench.options[.mappingModels] = [
      MappingModel(entityMappings: [
        EntityMapping(
          name: "NoteToNote",
          sourceEntityName: "Note",
          destinationEntityName: "Note",
          sourcePredicate: try FetchPredicate(format: "memo != nil"),
          attributeMappings: [PropertyMapping(name: "name", valueExpression: .source("name"))],
          relationshipMappings: [
            PropertyMapping(name: "pages", valueExpression: .destinationInstances(forSourceRelationshipNamed: "pages"))
          ]
        ),
        EntityMapping(
          name: "PageToPage",
          mappingType: .copy,
          sourceEntityName: "Page",
          destinationEntityName: "Page"
        ),
      ])
    ]
    let new = try Self.model(["pages"])
    let report = try #require(try bench.migration(to: new)).dryRun()
    // The filter reads the memo, so that its values are not left out.
    #expect(
      report.losses.map { "\($0)" } == [
        "Tag: 4 records left out: nothing is made of them", "Note: 1 record left out: nothing is made of it",
      ]
    )
    bench.options[.allowsMigrationLoss] = true
    #expect(try bench.migrated(to: new).texts("Note", "name") == ["2", "3"])
  }

  /// What a policy reads is not known, so that it counts as taken.
  @Test func whatAPolicyGetsIsNoLoss() throws {
    var bench = try Self.bench(.binary)
    bench.options[.entityMigrationPolicies] = ["Policy": EntityMigrationPolicy.self]
    bench.options[.mappingModels] = [
      MappingModel(
        entityMappings: ["Note", "Page", "Tag"].map { name in
          EntityMapping(
            name: name,
            sourceEntityName: name,
            destinationEntityName: name == "Tag" ? "Page" : name,
            entityMigrationPolicyClassName: "Policy"
          )
        }
      )
    ]
    #expect(try #require(try bench.migration(to: try Self.model([]))).run().losses.isEmpty)
  }

  @Test(arguments: MigrationBench.types)
  func passesCountTheirLosses(_ type: StoreType) throws {
    var bench = try Self.bench(type)
    bench.options[.migrationPasses] = ["Note", "Page"].map { name in
      MappingModel(entityMappings: [
        EntityMapping(
          name: name,
          sourceEntityName: name,
          destinationEntityName: name,
          attributeMappings: name == "Note" ? [PropertyMapping(name: "name", valueExpression: .source("name"))] : []
        )
      ])
    }
    let new = try Self.model([])
    let before = try bench.bytes()
    let error = try #require(persistenceError { _ = try bench.migration(to: new)?.run() })
    for line in ["Tag: 4 records", "Note.memo: 2 records", "Note.pages: 1 record", "Page.number: 2 records"] {
      #expect(error.message.contains(line), "\(error.message)")
    }
    #expect(try bench.bytes() == before)
    bench.options[.allowsMigrationLoss] = true
    #expect(try bench.migrated(to: new).texts("Note", "name") == ["1", "2", "3"])
  }
}

/// Names that change from version to version.
@Suite struct RenamingChainTests {
  private static func version(_ number: Int, extra: Bool = false) throws -> ManagedObjectModel {
    var properties: [PropertyDescription] = [
      .attribute("text\(number)", .string, optional: true, renamedFrom: number > 1 ? "text\(number - 1)" : nil)
    ]
    if extra { properties.append(.attribute("stars", .integer16, default: .integer(3))) }
    return try ManagedObjectModel(entities: [
      EntityDefinition(
        name: "Note\(number)",
        properties: properties,
        renamingIdentifier: number > 1 ? "Note\(number - 1)" : nil
      )
    ])
  }

  @Test(arguments: MigrationBench.types)
  func namesAreFollowedOverTheVersionsBetween(_ type: StoreType) throws {
    var bench = try MigrationBench(type)
    try bench.make(try Self.version(1)) { try $0.make("Note1", ["text1": "a"]) }
    bench.options[.olderModels] = try (1...3).map { try Self.version($0) }
    let new = try Self.version(4)
    #expect(try #require(try bench.migration(to: new)).steps.count == 3)
    #expect(try bench.migrated(to: new).texts("Note4", "text4") == ["a"])
  }

  /// A version between has an attribute with a default value that the last has not: nobody loses it.
  @Test func whatAStepMakesOfNothingIsNoLossInTheNext() throws {
    var bench = try MigrationBench()
    try bench.make(try Self.version(1)) { try $0.make("Note1", ["text1": "a"]) }
    bench.options[.olderModels] = [try Self.version(1), try Self.version(2, extra: true)]
    let report = try #require(try bench.migration(to: try Self.version(3))).dryRun()
    #expect(report.losses.isEmpty)
    #expect(report.destinationCount == 1)
  }
}
