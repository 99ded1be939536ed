import Foundation
import HeartwoodModelFiles
import HeartwoodModel
import TestSupport
import Testing

@Suite(
  "Mapping models that Xcode made, from public repositories",
  .enabled(if: ModelCorpus.folder != nil, "set HEARTWOOD_CORPUS to the folder of the corpus")
)
struct MappingModelCorpusTests {
  private static let files = [
    "JohnEstropia__CoreStore/Demo/Sources/Demos/Advanced/EvolutionDemo/Advanced.EvolutionDemo.V2.FromV1",
    "JohnEstropia__CoreStore/Demo/Sources/Demos/Advanced/EvolutionDemo/Advanced.EvolutionDemo.V1.FromV2",
    "objcio__core-data/Migrations/Migrations/Moody 2-Moody 3",
    "objcio__core-data/Migrations/Migrations/Moody 3-Moody 4",
    "objcio__core-data/Migrations/Migrations/Moody 4-Moody 5",
    "wibosco__CoreDataMigration-Example/CoreDataMigration-Example/CoreData/Migration/Mappings/Migration1to2",
    "wibosco__CoreDataMigration-Example/CoreDataMigration-Example/CoreData/Migration/Mappings/Migration2to3",
  ]

  private func file(_ name: String) throws -> MappingModelFile {
    try MappingModelFile(contentsOf: #require(ModelCorpus.folder).appending(path: name + ".xcmappingmodel"))
  }

  @Test(arguments: files)
  func everyFileIsReadWhole(_ name: String) throws {
    let file = try file(name)
    #expect(file.notes.isEmpty)
    #expect(file.sourceVersion != nil)
    #expect(file.destinationVersion != nil)
  }

  @Test func whatXcodeFillsInIsFilledIn() throws {
    let file = try file(Self.files[3])
    #expect(file.sourceVersion == "Moody 3")
    #expect(file.destinationVersion == "Moody 4")
    let bundle = try #require(ModelCorpus.folder).appending(
      path: "objcio__core-data/Migrations/Migrations/Moody.xcdatamodeld"
    )
    let models = try ["Moody 3", "Moody 4"].map { try ManagedObjectModel(contentsOf: bundle, version: $0) }
    let mapping = try file.mappingModel(forSourceModel: models[0], destinationModel: models[1])
    #expect(mapping.entityMappings.map(\.name) == ["ContinentToContinent", "CountryToCountry", "MoodToMood"])
    let mood = mapping.entityMappings[2]
    #expect(mood.attributeMappings.first { $0.name == "rating" }?.valueExpression == .source("rating"))
    #expect(
      mood.relationshipMappings.first { $0.name == "country" }?.valueExpression
        == .destinationInstances(forSourceRelationshipNamed: "country")
    )
    #expect(mood.sourceEntityVersionHash == models[0].entity(named: "Mood")?.versionHash)
    #expect(mapping.leads(from: models[0], to: models[1]))
    #expect(!mapping.leads(from: models[1], to: models[1]))
  }

  @Test func expressionsAreThoseOfTheFile() throws {
    let bundle = try #require(ModelCorpus.folder).appending(
      path: "objcio__core-data/Migrations/Migrations/Moody.xcdatamodeld"
    )
    func expressions(_ name: String, _ versions: [String], _ entity: String) throws -> [String: String] {
      let models = try versions.map { try ManagedObjectModel(contentsOf: bundle, version: $0) }
      let mapping = try file(name).mappingModel(forSourceModel: models[0], destinationModel: models[1])
      let own = try #require(mapping.entityMappings.first { $0.destinationEntityName == entity })
      return Dictionary(
        uniqueKeysWithValues: (own.attributeMappings + own.relationshipMappings).map {
          ($0.name, $0.valueExpression.map { "\($0)" } ?? "none")
        }
      )
    }
    let continent = try expressions(Self.files[2], ["Moody 2", "Moody 3"], "Continent")
    #expect(
      continent["moods"] == "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", "
        + "\"MoodToMood\", $source.countries.@distinctUnionOfSets.moods)"
    )
    let country = try expressions(Self.files[4], ["Moody 4", "Moody 5"], "Country")
    #expect(country["isoContinent"] == "$source.continent.numericISO3166Code")
  }
}
