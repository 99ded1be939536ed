import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore
import Testing

/// Mapping models that make several records of one, or some of an entity's records only.
@Suite struct SplitMigrationTests {
  private static func old() throws -> ManagedObjectModel {
    try ManagedObjectModel.of(
      .entity("Person", .attribute("name", .string), .attribute("street", .string), .attribute("age", .integer16))
    )
  }

  private static func new() throws -> ManagedObjectModel {
    try ManagedObjectModel.of(
      .entity("Address", .attribute("street", .string), .toOne("person", "Adult", inverse: "address")),
      .entity("Adult", .attribute("name", .string), .toOne("address", "Address", inverse: "person")),
      .entity("Child", .attribute("name", .string))
    )
  }

  private static func mapping(
    _ destination: String,
    _ attribute: String,
    where filter: String?,
    _ relationships: [PropertyMapping] = []
  ) throws -> EntityMapping {
    EntityMapping(
      name: "PersonTo\(destination)",
      sourceEntityName: "Person",
      destinationEntityName: destination,
      sourcePredicate: try filter.map { try FetchPredicate(format: $0) },
      attributeMappings: [PropertyMapping(name: attribute, valueExpression: .source(attribute))],
      relationshipMappings: relationships
    )
  }

  private static func mappings(_ address: String) throws -> MappingModel {
    MappingModel(entityMappings: [
      try mapping("Address", "street", where: "age >= 18"),
      try mapping(
        "Adult",
        "name",
        where: "age >= 18",
        [PropertyMapping(name: "address", valueExpression: try .init(format: address))]
      ),
      try mapping("Child", "name", where: "age < 18"),
    ])
  }

  private static let ofSource =
    #"FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "PersonToAddress", $source)"#

  private static func bench(_ type: StoreType, _ mapping: MappingModel) throws -> MigrationBench {
    var bench = try MigrationBench(type)
    bench.options[.mappingModels] = [mapping]
    try bench.make(try old()) { context in
      for (name, street, age) in [("Alice", "Elm", 41), ("Bob", "Oak", 7), ("Cid", "Fir", 18)] {
        try context.make("Person", ["name": name, "street": street, "age": age])
      }
    }
    return bench
  }

  @Test(arguments: MigrationBench.types)
  func filtersAndTheSourceItselfAreFollowed(_ type: StoreType) throws {
    let bench = try Self.bench(type, try Self.mappings(Self.ofSource))
    let context = try bench.migrated(to: try Self.new())
    #expect(try context.texts("Adult", "name") == ["Alice", "Cid"])
    #expect(try context.texts("Child", "name") == ["Bob"])
    let streets = try context.fetch(entityName: "Adult").map { adult in
      let address = try adult.value(forKey: "address") as? ManagedObject
      return "\(try adult.value(forKey: "name") ?? "") \(try address?.value(forKey: "street") ?? "")"
    }
    #expect(streets.sorted() == ["Alice Elm", "Cid Fir"])
  }

  @Test(
    "What cannot be followed is refused by name, also where there is no record for it",
    arguments: [
      (
        #"FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "Nobody", $source)"#,
        "Nobody"
      ),
      (
        #"FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "PersonToChild", $source)"#,
        "Child"
      ),
      (#"FUNCTION($manager, "sourceInstancesForEntityMappingNamed:", "PersonToAddress", $source)"#, "no such function"),
      (#"FUNCTION($entityPolicy, "address:", $source)"#, "no policy"), ("$nobody", "there is no variable $nobody"),
      ("$source.home", "Person has no property home"), ("$source.name.length", "Person.name is not a relationship"),
      (#"FUNCTION($source, "address")"#, "only $manager and $entityPolicy"),
    ]
  )
  func expressionsAreCheckedBefore(_ expression: String, _ reason: String) throws {
    var bench = try MigrationBench()
    bench.options[.mappingModels] = [try Self.mappings(expression)]
    try bench.make(try Self.old()) { try $0.make("Person", ["name": "n", "street": "s", "age": 1]) }
    let migration = try #require(try bench.migration(to: try Self.new()))
    for error in [persistenceError { _ = try migration.dryRun() }, persistenceError { try migration.run() }] {
      #expect(error?.code == .mappingModelUnusable)
      #expect(error?.message.contains("PersonToAdult.address: the expression") == true, "\(error?.message ?? "")")
      #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }
  }

  @Test func aFilterThatDoesNotFitIsRefusedByName() throws {
    let mapping = try Self.mapping("Child", "name", where: "height > 3")
    let bench = try Self.bench(.binary, MappingModel(entityMappings: [mapping]))
    let error = persistenceError { _ = try bench.migration(to: try Self.new())?.run() }
    #expect(error?.code == .mappingModelUnusable)
    #expect(error?.message.contains("PersonToChild: the filter predicate height > 3") == true)
  }

  @Test func namesOfMappingsAreDistinct() throws {
    let mapping = try Self.mapping("Child", "name", where: nil)
    let model = MappingModel(entityMappings: [mapping, mapping])
    #expect(
      model.faults(from: try Self.old(), to: try Self.new()) == ["PersonToChild: two entity mappings have this name"]
    )
  }

  /// It names entities of both versions, and would be passed over in silence.
  @Test func aGivenMappingModelThatDoesNotFitIsAnError() throws {
    let mapping = try Self.mapping("Child", "street", where: nil)
    let bench = try Self.bench(.binary, MappingModel(entityMappings: [mapping]))
    let error = persistenceError { _ = try bench.migration(to: try Self.new()) }
    #expect(error?.code == .mappingModelUnusable)
    #expect(error?.message.contains("the destination entity Child has no attribute street") == true)
  }

  @Test(arguments: MigrationBench.types)
  func operatorsOfPredicatesAreComputed(_ type: StoreType) throws {
    let old = try ManagedObjectModel.of(
      .entity("Order", .attribute("name", .string), .toMany("items", "Item", inverse: "order")),
      .entity("Item", .attribute("price", .integer32), .toOne("order", "Order", inverse: "items"))
    )
    let new = try ManagedObjectModel.of(.entity("Order", .attribute("name", .string), .attribute("total", .integer64)))
    var bench = try MigrationBench(type)
    bench.options[.allowsMigrationLoss] = true
    bench.options[.mappingModels] = [
      MappingModel(entityMappings: [
        EntityMapping(
          name: "OrderToOrder",
          sourceEntityName: "Order",
          destinationEntityName: "Order",
          attributeMappings: [
            PropertyMapping(name: "name", valueExpression: .source("name")),
            PropertyMapping(name: "total", valueExpression: try .init(format: "$source.items.@sum.price")),
          ]
        )
      ])
    ]
    try bench.make(old) { context in
      let order = try context.make("Order", ["name": "o"])
      for price in [3, 4] { try context.make("Item", ["price": price, "order": order]) }
    }
    #expect(try bench.migrated(to: new).texts("Order", "total") == ["7"])
  }
}
