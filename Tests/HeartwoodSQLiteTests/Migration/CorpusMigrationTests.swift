import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// A family of versions of a model, with stores of some of them.
struct CorpusFamily: Sendable, CustomTestStringConvertible {
  let bundle: String
  let stores: [String]
  /// The versions that stores are of and are migrated to, in order.
  let versions: [String]
  var mappingFolder: String?

  var testDescription: String { bundle.split(separator: "/").last.map(String.init) ?? bundle }

  static let all = [
    CorpusFamily(
      bundle: "objcio__core-data/Migrations/Migrations/Moody.xcdatamodeld",
      stores: ["Moody", "Moody 2", "Moody 3", "Moody 4"].map {
        "objcio__core-data/Migrations/MigrationsTests/\($0).moody"
      },
      versions: ["Moody", "Moody 2", "Moody 3", "Moody 4", "Moody 5"]
    ),
    CorpusFamily(
      bundle: wibosco + "/CoreDataMigration-Example/CoreData/Model/CoreDataMigration_Example.xcdatamodeld",
      stores: ["1", "2", "3", "WAL"].map {
        wibosco + "/CoreDataMigration-ExampleTests/Resources/SQLite/CoreDataMigration_Example_\($0).sqlite"
      },
      versions: ["", " 2", " 3", " 4"].map { "CoreDataMigration_Example\($0)" },
      mappingFolder: wibosco + "/CoreDataMigration-Example/CoreData/Migration/Mappings"
    ),
    CorpusFamily(
      bundle: "duckduckgo__BrowserServicesKit/Sources/Bookmarks/BookmarksModel.xcdatamodeld",
      stores: (1...5).map { "duckduckgo__BrowserServicesKit/Tests/BookmarksTests/Resources/Bookmarks_V\($0).sqlite" },
      versions: ["BookmarksModel"] + (2...6).map { "BookmarksModel \($0)" }
    ),
    CorpusFamily(
      bundle: "artsy__energy/Resources/CoreData/ArtsyPartner.xcdatamodeld",
      stores: ["1.3", "1.3.5", "1.4", "1.6"].map {
        "artsy__energy/ArtsyFolio Tests/Migrations/ArtsyPartner_\($0).sqlite"
      },
      // The versions before and after these have tests of their own, or none.
      versions: ["ArtsyFolio v1.4", "ArtsyFolio v1.5"]
    ),
    CorpusFamily(
      bundle: "alemar11__CoreDataPlus/Tests/Resources/SampleModel/SampleModel.xcdatamodeld",
      stores: ["1", "2"].map {
        "alemar11__CoreDataPlus/Tests/Resources/SampleModel/Fixtures/SampleModel_V\($0).sqlite"
      },
      versions: ["SampleModel", "SampleModel2", "SampleModel3"]
    ),
  ]

  private static let wibosco = "wibosco__CoreDataMigration-Example"

  static let moody = all[0]
  static let posts = all[1]
  static let artsy = all[3]
}

/// The colours of posts become objects of their own.
private final class Post2ToPost3MigrationPolicy: EntityMigrationPolicy {
  override func createDestinationInstances(
    forSource source: ManagedObject,
    in mapping: EntityMapping,
    manager: MigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    let post = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source]).first
    let color = try manager.destinationContext.insert(entityName: "Color")
    try color.setValue(try source.value(forKey: "hexColor"), forKey: "hex")
    try color.setValue(try source.value(forKey: "postID"), forKey: "colorID")
    try post?.setValue(color, forKey: "color")
  }

  override func createRelationships(
    forDestination destination: ManagedObject,
    in mapping: EntityMapping,
    manager: MigrationManager
  ) throws {}
}

@Suite(
  "Migrations of files that Core Data made, from public repositories",
  .enabled(if: SQLiteCorpus.folder != nil, "set HEARTWOOD_CORPUS to the folder of the corpus")
)
struct CorpusMigrationTests {
  /// A copy of a store, with what there is to migrate it.
  private struct Bench {
    let scratch: ScratchFolder
    let path: String
    let bundle: URL
    var options: StoreOptions

    init(_ family: CorpusFamily, _ store: String) throws {
      scratch = try ScratchFolder()
      let folder = try #require(SQLiteCorpus.folder)
      let corpus = try #require(SQLiteCorpus.stores.first { $0.store == store })
      path = try SQLiteCorpus.copy(corpus, to: scratch)
      bundle = folder.appending(path: family.bundle)
      options = StoreOptions()
      options[.allowsMigrationLoss] = true
      try options.setMigrations(
        fromModelAt: bundle,
        mappingModelsIn: family.mappingFolder.map { [folder.appending(path: $0)] } ?? []
      )
      options[.entityMigrationPolicies] = ["Post2ToPost3MigrationPolicy": Post2ToPost3MigrationPolicy.self]
    }

    func coordinator(_ version: String) throws -> PersistentStoreCoordinator {
      try SQLiteBench.coordinator(try ManagedObjectModel(contentsOf: bundle, version: version))
    }

    func migration(to version: String) throws -> StoreMigration? {
      try coordinator(version).migration(ofStoreAt: URL(filePath: path), type: .sqlite, options: options)
    }

    /// What the store keeps, opened with a version.
    func contents(_ version: String) throws -> StoreContents {
      let coordinator = try coordinator(version)
      defer { coordinator.close() }
      return try coordinator.addPersistentStore(type: .sqlite, at: URL(filePath: path)).engine.contents()
    }

    /// The version that the store is of now; nil where it is none of the bundle.
    func version() throws -> String? {
      let model = try #require(DataModelFile.models(at: bundle).first?.version)
      let metadata = try coordinator(model).metadataForPersistentStore(type: .sqlite, at: URL(filePath: path))
      return try DataModelFile.version(at: bundle, compatibleWith: metadata)
    }
  }

  private static let journeys = CorpusFamily.all.flatMap { family in family.stores.map { (family, $0) } }

  @Test("Each store comes to each later version, with all records and values", arguments: journeys)
  func journey(_ family: CorpusFamily, _ store: String) throws {
    let start = try #require(try Bench(family, store).version())
    guard let place = family.versions.firstIndex(of: start) else { return }
    for target in family.versions[(place + 1)...] {
      let bench = try Bench(family, store)
      let foretold = try foretold(bench, target)
      let before = try bench.contents(start)
      // Versions may differ in what no store shows.
      guard let migration = try bench.migration(to: target) else {
        #expect(target == "BookmarksModel 2")
        continue
      }
      let report = try migration.run()
      #expect(report == foretold)
      #expect(try bench.migration(to: target) == nil)
      let after = try bench.contents(target)
      if report.isDoneInStore { try expectSameThroughMemory(after, family, store, target) }
      #expect(after.metadata.identifier == before.metadata.identifier)
      try expectSame(before, after, report)
      // Whatever was sound before is sound now.
      if try ContentsValidation.findings(in: before, limit: 1).isEmpty {
        #expect(try ContentsValidation.findings(in: after, limit: 3).isEmpty, "\(start) → \(target)")
      }
      #expect(try bench.scratch.names() == ["Copy.sqlite"])
    }
  }

  /// What a dry run tells, which changes no file. A log gets what readers share of it.
  private func foretold(_ bench: Bench, _ target: String) throws -> MigrationReport? {
    func files() throws -> [String: Data] { try bench.scratch.files().filter { !$0.key.hasSuffix("-shm") } }
    let before = try files()
    let report = try bench.migration(to: target)?.dryRun()
    #expect(try files() == before)
    return report
  }

  /// What SQL has made is what goes through memory.
  private func expectSameThroughMemory(
    _ contents: StoreContents,
    _ family: CorpusFamily,
    _ store: String,
    _ target: String
  ) throws {
    var bench = try Bench(family, store)
    bench.options[.migratesInStore] = false
    let report = try #require(try bench.migration(to: target)).run()
    #expect(!report.isDoneInStore)
    let difference = ContentsComparison.firstDifference(contents, try bench.contents(target))
    #expect(difference == nil, "\(target): \(difference.map { "\($0)" } ?? "")")
  }

  @Test func someAreMigratedInSQL() throws {
    let bench = try Bench(.moody, CorpusFamily.moody.stores[0])
    let report = try #require(try bench.migration(to: "Moody 2")).run()
    #expect(report.isDoneInStore)
  }

  /// Covers were artworks and become images: nobody can infer which.
  @Test func coversOfAnotherEntityNeedAMappingModel() throws {
    var bench = try Bench(.artsy, CorpusFamily.artsy.stores[3])
    let start = try #require(try bench.version())
    let error = #expect(throws: PersistenceError.self) { try bench.migration(to: "ArtsyFolio v1.7") }
    #expect(error?.code == .mappingModelMissing)
    for entity in ["Album", "Artist", "Show"] { #expect(error?.message.contains("\(entity).cover") == true) }
    let before = try bench.contents(start)
    let new = try bench.coordinator("ArtsyFolio v1.7").managedObjectModel
    bench.options[.mappingModels] = [Self.keepingAllBut(["cover"], from: before.model, to: new)]
    let report = try #require(try bench.migration(to: "ArtsyFolio v1.7")).run()
    #expect(report.destinationCount == before.count)
    let after = try bench.contents("ArtsyFolio v1.7")
    try expectSame(before, after, report)
    let image = try #require(after.model.entity(named: "Image"))
    let oldImage = try #require(before.model.entity(named: "Image"))
    for node in before.nodes(of: oldImage) {
      let migrated = try #require(try after.node(node.reference, of: image))
      #expect(node["artwork"].objectIDs.map(\.reference) == migrated["artwork"].objectIDs.map(\.reference))
    }
  }

  /// A mapping model that keeps what has the same name, but for some relationships.
  private static func keepingAllBut(
    _ relationships: Set<String>,
    from old: ManagedObjectModel,
    to new: ManagedObjectModel
  ) -> MappingModel {
    MappingModel(
      entityMappings: new.entities.filter { !$0.isAbstract }.compactMap { entity in
        guard let source = old.entity(named: entity.name) else { return nil }
        let attributes = entity.attributes.filter { source.attributesByName[$0.name]?.type == $0.type }
        let kept = entity.relationships.filter {
          source.relationshipsByName[$0.name] != nil && !relationships.contains($0.name)
        }
        return EntityMapping(
          name: entity.name,
          mappingType: .transform,
          sourceEntityName: entity.name,
          destinationEntityName: entity.name,
          attributeMappings: attributes.map { PropertyMapping(name: $0.name, valueExpression: .source($0.name)) },
          relationshipMappings: kept.map {
            PropertyMapping(
              name: $0.name,
              valueExpression: .destinationInstances(forSourceRelationshipNamed: $0.name)
            )
          }
        )
      }
    )
  }

  /// Records of entities that are in both have the same values where the property is of the same name and type.
  private func expectSame(_ before: StoreContents, _ after: StoreContents, _ report: MigrationReport) throws {
    for entity in report.entities {
      guard let source = entity.sourceName.flatMap(before.model.entity(named:)),
        let destination = entity.destinationName.flatMap(after.model.entity(named:))
      else { continue }
      #expect(before.table(of: source).count == after.table(of: destination).count, "\(entity.mappingName)")
      let names = destination.attributes.filter { attribute in
        source.property(named: attribute.name)?.attribute?.type == attribute.type
      }.map(\.name)
      for node in before.nodes(of: source) {
        let migrated = try #require(try after.node(node.reference, of: destination))
        for name in names where !node[name].isNull { #expect(node[name] == migrated[name], "\(source.name).\(name)") }
      }
    }
  }

  // MARK: What the mapping models do

  @Test func moodsGetTheContinentsOfTheirCountries() throws {
    let bench = try Bench(.moody, CorpusFamily.moody.stores[1])
    let before = try bench.contents("Moody 2")
    let migration = try #require(try bench.migration(to: "Moody 3"))
    #expect(migration.steps.map(\.isInferred) == [false])
    try migration.run()
    let after = try bench.contents("Moody 3")
    let mood = try #require(after.model.entity(named: "Mood"))
    #expect(after.table(of: mood).count > 0)
    let oldMood = try #require(before.model.entity(named: "Mood"))
    for node in after.nodes(of: mood) {
      let old = try #require(try before.node(node.reference, of: oldMood))
      let country = try #require(old["country"].objectIDs.first)
      let continent = try before.node(country.reference, of: country.entity)?["continent"].objectIDs.map(\.reference)
      #expect(node["continent"].objectIDs.map(\.reference) == continent)
    }
  }

  @Test func moodyGoesAllTheWayByItsMappingModels() throws {
    let bench = try Bench(.moody, CorpusFamily.moody.stores[0])
    let migration = try #require(try bench.migration(to: "Moody 5"))
    #expect(migration.steps.map(\.isInferred) == [true, false, false, false])
    let before = try bench.contents("Moody")
    let report = try migration.dryRun()
    #expect(report.obstacles.isEmpty)
    #expect(try bench.version() == "Moody")
    try migration.run()
    let after = try bench.contents("Moody 5")
    let (old, new) = (
      try #require(before.model.entity(named: "Country")), try #require(after.model.entity(named: "Country"))
    )
    for node in before.nodes(of: old) {
      let continent = try #require(node["continent"].objectIDs.first)
      let code = try before.node(continent.reference, of: continent.entity)?["numericISO3166Code"]
      #expect(try after.node(node.reference, of: new)?["isoContinent"] == code)
    }
    #expect(after.model.entity(named: "Continent") == nil)
  }

  @Test func coloursBecomeObjects() throws {
    let bench = try Bench(.posts, CorpusFamily.posts.stores[0])
    let migration = try #require(try bench.migration(to: "CoreDataMigration_Example 4"))
    #expect(migration.steps.map(\.isInferred) == [false, false, true])
    let before = try bench.contents("CoreDataMigration_Example")
    try migration.run()
    let after = try bench.contents("CoreDataMigration_Example 4")
    let (old, new) = (try #require(before.model.entity(named: "Post")), try #require(after.model.entity(named: "Post")))
    #expect(after.table(of: new).count == 1001)
    #expect(after.count == 2002)
    for node in before.nodes(of: old) {
      let color = try #require(try after.node(node.reference, of: new)?["color"].objectIDs.first)
      #expect(try after.node(color.reference, of: color.entity)?["hex"] == node["color"])
    }
  }

  @Test func anEntityWithAnotherNameIsFollowed() throws {
    let bench = try Bench(.artsy, CorpusFamily.artsy.stores[0])
    let versions = ["ArtsyPartner"] + (2...5).map { "ArtsyPartner \($0)" }
    let before = try #require(versions.lazy.compactMap { try? bench.contents($0) }.first)
    let migration = try #require(try bench.migration(to: "ArtsyFolio v1.4"))
    #expect(migration.steps.map(\.isInferred) == [true])
    try migration.run()
    let after = try bench.contents("ArtsyFolio v1.4")
    let collection = try #require(before.model.entity(named: "Collection"))
    let album = try #require(after.model.entity(named: "Album"))
    #expect(after.table(of: album).count == before.table(of: collection).count)
    let mappings = migration.steps[0].mappingModel.entityMappings
    #expect(mappings.contains { $0.sourceEntityName == "Collection" && $0.destinationEntityName == "Album" })
  }

  @Test func aPolicyThatIsMissingIsNamed() throws {
    var bench = try Bench(.posts, CorpusFamily.posts.stores[1])
    bench.options.removeValue(for: .entityMigrationPolicies)
    let migration = try #require(try bench.migration(to: "CoreDataMigration_Example 3"))
    let error = #expect(throws: PersistenceError.self) { try migration.run() }
    #expect(error?.code == .mappingModelUnusable)
    #expect(error?.message.contains("Post2ToPost3MigrationPolicy") == true)
    #expect(try bench.version() == "CoreDataMigration_Example 2")
  }
}
