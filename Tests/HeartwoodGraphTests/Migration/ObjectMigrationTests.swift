import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Synchronization
import Testing

/// Migrations by mapping models with expressions of their own, and by policies.
@Suite struct ObjectMigrationTests {
  private static func old() throws -> ManagedObjectModel {
    try ManagedObjectModel.of(
      .entity(
        "Person",
        .attribute("first", .string, optional: true),
        .attribute("last", .string, optional: true),
        .attribute("cents", .integer64, optional: true),
        .toOne("boss", "Person", inverse: "staff"),
        .toMany("staff", "Person", inverse: "boss")
      )
    )
  }

  private static func new() throws -> ManagedObjectModel {
    try ManagedObjectModel.of(
      .entity(
        "Human",
        .attribute("name", .string),
        .attribute("euros", .double, optional: true),
        .attribute("kind", .string, default: .string("person")),
        .toOne("boss", "Human", inverse: "staff"),
        .toMany("staff", "Human", inverse: "boss"),
        .toOne("card", "Card", inverse: "owner")
      ),
      .entity("Card", .attribute("text", .string), .toOne("owner", "Human", inverse: "card"))
    )
  }

  private static func mapping(policy: String? = nil) throws -> MappingModel {
    MappingModel(entityMappings: [
      EntityMapping(
        name: "PersonToHuman",
        mappingType: .custom,
        sourceEntityName: "Person",
        destinationEntityName: "Human",
        attributeMappings: [
          PropertyMapping(name: "name", valueExpression: .source("last")),
          PropertyMapping(name: "euros", valueExpression: try .init(format: "$source.cents / 100.0")),
        ],
        relationshipMappings: [
          PropertyMapping(
            name: "boss",
            valueExpression: .destinationInstances(forEntityMappingNamed: "PersonToHuman", sourceInstances: "boss")
          )
        ],
        entityMigrationPolicyClassName: policy
      )
    ])
  }

  private static func fill(_ context: ManagedObjectContext) throws {
    let boss = try context.make("Person", ["first": "Ann", "last": "Lee", "cents": 250])
    for name in ["Bob", "Cid"] { try context.make("Person", ["first": name, "last": name, "boss": boss]) }
  }

  private func bench(_ type: StoreType, policy: String? = nil) throws -> MigrationBench {
    var bench = try MigrationBench(type)
    try bench.make(try Self.old(), Self.fill)
    bench.options[.mappingModels] = [try Self.mapping(policy: policy)]
    return bench
  }

  @Test(arguments: MigrationBench.types)
  func valuesAreComputedAndRelationshipsComeBack(_ type: StoreType) throws {
    let bench = try bench(type)
    let before = try bench.open(try Self.old())
    let references = Set(try before.fetch(entityName: "Person").map(\.objectID.reference))
    before.persistentStoreCoordinator.close()
    let migration = try #require(try bench.migration(to: try Self.new()))
    #expect(migration.steps.map(\.isInferred) == [false])
    let context = try bench.migrated(to: try Self.new())
    #expect(try context.texts("Human", "name") == ["Bob", "Cid", "Lee"])
    #expect(try context.texts("Human", "euros") == ["2.5", "nil", "nil"])
    #expect(try context.texts("Human", "kind") == ["person", "person", "person"])
    #expect(try context.links("Human", "staff") == ["Lee": ["Bob", "Cid"], "Bob": [], "Cid": []])
    #expect(Set(try context.fetch(entityName: "Human").map(\.objectID.reference)) == references)
  }

  /// Writes down in which order it is called.
  private final class Recorder: EntityMigrationPolicy {
    static let calls = Mutex<[String]>([])

    private func note(_ call: String) { Self.calls.withLock { $0.append(call) } }

    override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws { note("begin") }

    override func createDestinationInstances(
      forSource source: ManagedObject,
      in mapping: EntityMapping,
      manager: MigrationManager
    ) throws {
      note("create")
      #expect(manager.currentEntityMapping == mapping)
      #expect(manager.sourceEntity(for: mapping) === source.entity)
      #expect(manager.destinationEntity(for: mapping)?.name == "Human")
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
      let human = try #require(
        manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source]).first
      )
      #expect(
        manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [human]).first === source
      )
      let card = try manager.destinationContext.insert(entityName: "Card")
      try card.setValue(try source.value(forKey: "first"), forKey: "text")
      try human.setValue(card, forKey: "card")
    }

    override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
      note("endCreation")
    }

    override func createRelationships(
      forDestination destination: ManagedObject,
      in mapping: EntityMapping,
      manager: MigrationManager
    ) throws {
      note("relate")
      try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
    }

    override func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
      note("endRelating")
    }

    override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
      note("validate")
    }

    override func end(_ mapping: EntityMapping, manager: MigrationManager) throws { note("end") }
  }

  @Test func hooksAreCalledInOrder() throws {
    var bench = try bench(.binary, policy: "App.Recorder")
    bench.options[.entityMigrationPolicies] = ["Recorder": Recorder.self]
    let context = try bench.migrated(to: try Self.new())
    let expected =
      ["begin", "create", "create", "create", "endCreation"] + ["relate", "relate", "relate", "endRelating"]
      + ["validate", "end"]
    #expect(Recorder.calls.withLock { $0 } == expected)
    #expect(try context.texts("Card", "text") == ["Ann", "Bob", "Cid"])
    let cards = try context.fetch(entityName: "Card").filter { try $0.value(forKey: "text") as? String == "Ann" }
    let card = try #require(cards.first)
    #expect(try (card.value(forKey: "owner") as? ManagedObject)?.value(forKey: "name") as? String == "Lee")
  }

  private final class FullName: EntityMigrationPolicy {
    override func value(ofFunction name: String, arguments: [Any?], manager: MigrationManager) throws -> Any? {
      guard name == "fullName:", let person = arguments.first as? ManagedObject else {
        return try super.value(ofFunction: name, arguments: arguments, manager: manager)
      }
      let names = try ["first", "last"].map { try person.value(forKey: $0) as? String ?? "" }
      return names.joined(separator: " ")
    }
  }

  @Test func expressionsCallThePolicy() throws {
    var bench = try bench(.xml, policy: "FullName")
    var mapping = try Self.mapping(policy: "FullName")
    mapping.entityMappings[0].attributeMappings[0].valueExpression = try .init(
      format: "FUNCTION($entityPolicy, \"fullName:\", $source)"
    )
    bench.options[.mappingModels] = [mapping]
    bench.options[.entityMigrationPolicies] = ["FullName": FullName.self]
    #expect(try bench.migrated(to: try Self.new()).texts("Human", "name") == ["Ann Lee", "Bob Bob", "Cid Cid"])
  }

  private final class Refusing: EntityMigrationPolicy {
    struct Refusal: Error {}

    override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
      throw Refusal()
    }
  }

  private final class Cancelling: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject,
      in mapping: EntityMapping,
      manager: MigrationManager
    ) throws {
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
      manager.cancelMigration(with: Refusing.Refusal())
    }
  }

  private static let refusals: [String: EntityMigrationPolicy.Type] = [
    "Refusing": Refusing.self, "Cancelling": Cancelling.self,
  ]

  @Test(arguments: MigrationBench.types, refusals.keys.sorted())
  func whatAPolicyThrowsOrCancelsChangesNothing(_ type: StoreType, _ policy: String) throws {
    var bench = try bench(type, policy: policy)
    bench.options[.entityMigrationPolicies] = Self.refusals
    let before = try bench.bytes()
    let migration = try #require(try bench.migration(to: try Self.new()))
    #expect(throws: Refusing.Refusal.self) { try migration.run() }
    #expect(try bench.bytes() == before)
  }

  /// A mapping model need not name all entities: records of the others are gone, and the report says so.
  @Test(arguments: MigrationBench.types, [false, true])
  func recordsThatNoMappingTakesAreReported(_ type: StoreType, usesObjects: Bool) throws {
    func model(_ names: String...) throws -> ManagedObjectModel {
      try ManagedObjectModel(
        entities: names.map { .entity($0, .attribute("name", .string, optional: true)) }
      )
    }
    var bench = try MigrationBench(type)
    try bench.make(try model("Cat", "Dog", "Fish")) { context in
      for name in ["Cat", "Dog", "Dog"] { try context.make(name, ["name": "a"]) }
    }
    let value = try MappingExpression(format: usesObjects ? "uppercase($source.name)" : "$source.name")
    bench.options[.mappingModels] = [
      MappingModel(entityMappings: [
        EntityMapping(
          name: "Cats",
          sourceEntityName: "Cat",
          destinationEntityName: "Cat",
          attributeMappings: [PropertyMapping(name: "name", valueExpression: value)]
        )
      ])
    ]
    let new = try model("Cat")
    let report = try #require(try bench.migration(to: new)).dryRun()
    #expect(report.entities.map(\.mappingName) == ["Cats", "none"])
    #expect(report.entities.map(\.sourceName) == ["Cat", "Dog"])
    #expect(report.entities.map(\.sourceCount) == [1, 2] && report.entities.map(\.destinationCount) == [1, 0])
    #expect(try bench.migrated(to: new).texts("Cat", "name") == [usesObjects ? "A" : "a"])
  }

  /// A mapping that copies need not name the properties.
  @Test(arguments: MigrationBench.types, [false, true])
  func recordsThatAreCopiedStayAsTheyAre(_ type: StoreType, usesObjects: Bool) throws {
    func model(_ properties: PropertyDescription...) throws -> ManagedObjectModel {
      let name = PropertyDescription.attribute("name", .string, optional: true)
      return try ManagedObjectModel(entities: [
        EntityDefinition(
          name: "Note",
          properties: [
            name, .attribute("stars", .integer32, default: .integer(1)), .toOne("page", "Page", inverse: "notes"),
          ]
        ),
        EntityDefinition(name: "Page", properties: [name, .toMany("notes", "Note", inverse: "page")] + properties),
      ])
    }
    var bench = try MigrationBench(type)
    try bench.make(try model()) { context in
      let page = try context.make("Page", ["name": "p"])
      for stars in [2, 3] { try context.make("Note", ["name": "n\(stars)", "stars": stars, "page": page]) }
    }
    let value = try MappingExpression(format: usesObjects ? "uppercase($source.name)" : "$source.name")
    bench.options[.mappingModels] = [
      MappingModel(entityMappings: [
        EntityMapping(name: "Notes", mappingType: .copy, sourceEntityName: "Note", destinationEntityName: "Note"),
        EntityMapping(
          name: "Pages",
          mappingType: .transform,
          sourceEntityName: "Page",
          destinationEntityName: "Page",
          attributeMappings: [PropertyMapping(name: "name", valueExpression: value)]
        ),
      ])
    ]
    let context = try bench.migrated(to: try model(.attribute("memo", .string, optional: true)))
    #expect(try context.texts("Note", "stars") == ["2", "3"])
    let page = usesObjects ? "P" : "p"
    #expect(try context.links("Note", "page") == ["n2": [page], "n3": [page]])
    #expect(try context.links("Page", "notes") == [page: ["n2", "n3"]])
  }

  @Test func entityMappingsAreFoundByName() throws {
    let mapping = try Self.mapping()
    #expect(mapping.entityMappingsByName == ["PersonToHuman": mapping.entityMappings[0]])
  }

  @Test func whatDoesNotValidateIsNamed() throws {
    var bench = try bench(.binary)
    var mapping = try Self.mapping()
    mapping.entityMappings[0].attributeMappings.removeFirst()
    bench.options[.mappingModels] = [mapping]
    let before = try bench.bytes()
    let migration = try #require(try bench.migration(to: try Self.new()))
    let error = #expect(throws: PersistenceError.self) { try migration.run() }
    #expect(error?.code == .validationFailed)
    #expect(error?.context.validationFaults.count == 3)
    #expect(try bench.bytes() == before)
  }

  @Test func onlySomeRecordsAreTaken() throws {
    var bench = try bench(.binary)
    var mapping = try Self.mapping()
    mapping.entityMappings[0].sourcePredicate = try FetchPredicate(format: "boss == nil")
    bench.options[.mappingModels] = [mapping]
    #expect(try bench.migrated(to: try Self.new()).texts("Human", "name") == ["Lee"])
  }

  @Test func aMappingModelThatDoesNotFitIsNotTaken() throws {
    var bench = try bench(.binary)
    var mapping = try Self.mapping()
    mapping.entityMappings[0].destinationEntityVersionHash = Data([1])
    bench.options[.mappingModels] = [mapping]
    let migration = try #require(try bench.migration(to: try Self.old(named: "Being")))
    #expect(migration.steps.map(\.isInferred) == [true])
  }
}

extension ObjectMigrationTests {
  fileprivate static func old(named name: String) throws -> ManagedObjectModel {
    try ManagedObjectModel.of(.entity(name, renamedFrom: "Person", .attribute("first", .string, optional: true)))
  }

  /// A policy decides for itself; a mapping without one cannot make what there is none of.
  @Test func recordsOfAnAbstractEntityAreRefusedByName() throws {
    var bench = try MigrationBench()
    try bench.make(try Self.old(), Self.fill)
    let new = try ManagedObjectModel.of(
      .entity("Being", abstract: true, .attribute("name", .string, optional: true)),
      .entity("Human", parent: "Being")
    )
    bench.options[.mappingModels] = [
      MappingModel(entityMappings: [
        EntityMapping(name: "PersonToBeing", sourceEntityName: "Person", destinationEntityName: "Being")
      ])
    ]
    let before = try bench.bytes()
    let error = #expect(throws: PersistenceError.self) { try bench.migration(to: new)?.run() }
    #expect(error?.code == .mappingModelUnusable)
    #expect(error?.context.entity == "Being")
    #expect(error?.message.contains("there are 3 records for it") == true)
    #expect(error?.message.contains("a subentity (Human)") == true)
    #expect(try bench.bytes() == before)
  }
}
