import Foundation
import HeartwoodModel
import TestSupport
import Testing

@testable import HeartwoodModelFiles

@Suite("Compiled models that are written")
struct CompiledModelWritingTests {
  @Test("A model is read as it was written")
  func roundTrip() throws {
    for model in [try ModelFixture.everythingModel(), try CompiledModelFixture.model(), try Self.requests()] {
      let archive = try CompiledModelWriter.bytes(of: model)
      #expect(archive == (try CompiledModelWriter.bytes(of: model)), "the same bytes")
      let read = try ManagedObjectModel(compiled: archive, path: "M.mom")
      #expect(read == (try model.inArchiveOrder()))
      #expect(read.entityVersionHashesByName == model.entityVersionHashesByName)
    }
  }

  @Test(
    "Models from public repositories are read as they were written",
    .enabled(if: ModelCorpus.folder != nil, "set HEARTWOOD_CORPUS to the folder of the corpus")
  )
  func corpus() throws {
    var gaps: [String] = []
    let files = try ModelCorpus.files(named: "contents")
    for url in files {
      let model = try DataModelFile(contentsOf: url).model
      do {
        let read = try ManagedObjectModel(compiled: try CompiledModelWriter.bytes(of: model), path: url.path)
        #expect(read == (try model.inArchiveOrder()), "\(url.path)")
      } catch let gap as ArchiveGap {
        gaps.append(gap.description)
      }
    }
    #expect(gaps.count < files.count / 10, "\(gaps)")
  }

  @Test("Fetched properties, derived attributes and indexes of some records are read as they were written")
  func fetching() throws {
    let model = try Self.requests()
    let read = try ManagedObjectModel(compiled: try CompiledModelWriter.bytes(of: model), path: "M.mom")
    let owner = try #require(read.entity(named: "Owner"))
    #expect(owner.fetchedProperties.map(\.name) == ["namesakes"])
    #expect(owner.fetchIndexes.first?.partialIndexPredicate?.description == "age > 3 AND NOT name == nil")
    #expect(owner.attributesByName["count"]?.derivationExpression?.description == "count:(pets)")
    #expect(owner.attributesByName["folded"]?.derivationExpression?.description == "canonical:(name)")
  }

  @Test("A URL in a predicate is read as it was written")
  func urls() throws {
    let url = try #require(URL(string: "https://example.org/a?b=c"))
    let predicate = FetchPredicate.comparison(FetchComparison(.key("page"), .equalTo, .constant(.uri(url))))
    let model = try ManagedObjectModel(
      entities: [.entity("E", .attribute("page", .uri, optional: true))],
      fetchRequestTemplates: [FetchRequestTemplate(name: "r", entityName: "E", predicate: predicate)]
    )
    let read = try ManagedObjectModel(compiled: try CompiledModelWriter.bytes(of: model), path: "M.mom")
    #expect(read.fetchRequestTemplates.map(\.predicate) == [predicate])
  }

  @Test("An archive is a property list that Foundation reads, and tells classes with those above them")
  func foundation() throws {
    let archive = try CompiledModelWriter.bytes(of: try Self.requests())
    let list = try PropertyListSerialization.propertyList(from: Data(archive), format: nil)
    let members = try #require(list as? [String: Any])
    #expect(members["$archiver"] as? String == "NSKeyedArchiver")
    #expect(members["$version"] as? Int == 100_000)
    let objects = try #require(members["$objects"] as? [Any])
    let classes = objects.compactMap { ($0 as? [String: Any])?["$classes"] as? [String] }
    #expect(
      classes.contains(["NSDerivedAttributeDescription", "NSAttributeDescription", "NSPropertyDescription", "NSObject"])
    )
    #expect(classes.allSatisfy { $0.last == "NSObject" })
    #expect(Set(classes).count == classes.count)
  }

  @Test("For what no archive is known to hold there is none, and it is said why")
  func gaps() throws {
    let index = FetchIndexElementDescription(.property("age"), collationType: .rTree)
    let definitions: [(EntityDefinition, String)] = [
      (
        EntityDefinition(
          name: "E",
          properties: [.attribute("home_city", .string)],
          compositeAttributes: [
            CompositeAttributeDescription(
              name: "home",
              compositeName: "Place",
              elements: [.init(name: "city", attributeName: "home_city")]
            )
          ]
        ), "the composite attributes of E"
      ),
      (
        EntityDefinition(
          name: "E",
          properties: [.attribute("age", .double)],
          fetchIndexes: [FetchIndexDescription(name: "i", elements: [index])]
        ), "an R-tree in the index i of E"
      ),
      (
        .entity("E", .attribute("data", .binary, default: .binary(Data([1])))), "the default value of data"
      ),
      (
        .entity(
          "E",
          .attribute(
            "age",
            .integer16,
            rules: AttributeRules(predicates: [try ValidationPredicate("SELF BETWEEN {1, 2}", warning: "no")])
          )
        ), "{1, 2}"
      ),
    ]
    for (definition, word) in definitions {
      let model = try ManagedObjectModel(entities: [definition])
      let gap = try #require(throws: ArchiveGap.self) { try CompiledModelWriter.bytes(of: model) }
      #expect(gap.description.contains(word), "\(gap)")
      #expect(model.compiled() == nil)
    }
    let request = FetchRequestTemplate(name: "all", entityName: "E", returnsDistinctResults: true)
    let model = try ManagedObjectModel(
      entities: [.entity("E", .attribute("age", .double))],
      fetchRequestTemplates: [request]
    )
    #expect(throws: ArchiveGap.self) { try CompiledModelWriter.bytes(of: model) }
  }

  /// A model with predicates and expressions.
  private static func requests() throws -> ManagedObjectModel {
    let owner = EntityDefinition(
      name: "Owner",
      properties: [
        .attribute("name", .string, optional: true),
        .attribute("age", .integer32, rules: AttributeRules(minValue: .integer(0), maxValue: .integer(150))),
        .attribute("price", .decimal, default: .decimal(Decimal(string: "-12345678901234567890.125") ?? 0)),
        .attribute("none", .decimal, default: .decimal(0)),
        .attribute(
          AttributeDescription(name: "count", type: .integer64, derivationExpression: .function(.count, [.key("pets")]))
        ),
        .attribute(
          AttributeDescription(
            name: "folded",
            type: .string,
            derivationExpression: .function(.canonical, [.key("name")])
          )
        ),
        .toMany("pets", "Pet", inverse: "owner"),
      ],
      fetchedProperties: [
        FetchedPropertyDescription(
          name: "namesakes",
          fetchRequest: FetchRequestTemplate(
            name: "fetchedPropertyFetchRequest",
            entityName: "Owner",
            predicate: try FetchPredicate(format: "name LIKE[c] $FETCH_SOURCE.name")
          ),
          userInfo: ["why": "to see"]
        )
      ],
      fetchIndexes: [
        FetchIndexDescription(
          name: "byAge",
          elements: [
            FetchIndexElementDescription(.property("age"), isAscending: false),
            FetchIndexElementDescription(.property("name")),
          ],
          partialIndexPredicate: try FetchPredicate(format: "age > 3 AND NOT name == nil")
        )
      ]
    )
    let pet = EntityDefinition.entity("Pet", .toOne("owner", "Owner", inverse: "pets"))
    let formats = [
      "name CONTAINS[cd] 'a' OR name IN $NAMES", "pets.owner.name MATCHES 'a.*'", "ANY pets.owner.age != 3",
      "pets.@count >= 2 AND ALL pets.owner.age < 4.5", "pets.@sum.age <= 3",
    ]
    return try ManagedObjectModel(
      entities: [owner, pet],
      fetchRequestTemplates: formats.enumerated().map { number, format in
        FetchRequestTemplate(
          name: "request\(number)",
          entityName: "Owner",
          predicate: try FetchPredicate(format: format),
          resultType: .dictionaries,
          fetchBatchSize: 20
        )
      }
    )
  }
}

extension ManagedObjectModel {
  /// The model as an archive tells it: entities and properties in the order of their names.
  fileprivate func inArchiveOrder() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: entities.map { entity in
        var definition = entity.definition
        // A name of before that is the present one says nothing, nor does the class that objects have for which none was said.
        if definition.renamingIdentifier == definition.name { definition.renamingIdentifier = nil }
        if definition.managedObjectClassName == "NSManagedObject" { definition.managedObjectClassName = nil }
        definition.properties.sort { $0.name < $1.name }
        definition.fetchedProperties.sort { $0.name < $1.name }
        return definition
      }
      .sorted { $0.name < $1.name },
      configurations: configurations.mapValues { $0.sorted() },
      versionIdentifiers: versionIdentifiers,
      fetchRequestTemplates: fetchRequestTemplates.sorted { $0.name < $1.name }
    )
  }
}
