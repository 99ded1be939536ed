import Heartwood
import HeartwoodGraph
import HeartwoodModel
import Testing

@Suite("Key paths to parts of composite attributes")
struct CompositeKeyPathTests {
  private static func context() throws -> ManagedObjectContext {
    let home = CompositeAttributeDescription(
      name: "home",
      compositeName: "Address",
      elements: [
        .init(name: "street", attributeName: "home_street"),
        .init(name: "place.city", attributeName: "home_place_city"),
      ]
    )
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(
        name: "Being",
        properties: [
          .attribute("home_street", .string, optional: true), .attribute("home_place_city", .string, optional: true),
          .toOne("friend", "Being", inverse: "friends"), .toMany("friends", "Being", inverse: "friend"),
        ],
        compositeAttributes: [home]
      ),
      .entity("Person", parent: "Being"),
    ])
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    var former: ManagedObject?
    for (street, city) in [("Main", "Ulm"), ("High", "Ely"), ("Main", "Ely")] {
      let person = try context.insert(entityName: "Person")
      try person.setPropertyValue(.string(street), forKey: "home_street")
      try person.setPropertyValue(.string(city), forKey: "home_place_city")
      if let former { try person.setPropertyValue(.toOne(former.objectID), forKey: "friend") }
      former = person
    }
    try context.save()
    return context
  }

  @Test(
    "A part is found and sorted by, also at the end of a relationship",
    arguments: [
      ("home.street == 'Main'", ["Ely", "Ulm"]), ("home.place.city == 'Ely' AND home.street == 'High'", ["Ely"]),
      ("friend.home.place.city == 'Ulm'", ["Ely"]), ("ANY friends.home.street == 'High'", ["Ulm"]),
      ("SUBQUERY(friends, $f, $f.home.street == 'Main').@count == 1", ["Ely"]), ("home_street == 'High'", ["Ely"]),
    ]
  )
  func fetching(_ format: String, _ cities: [String]) throws {
    let context = try Self.context()
    let request = FetchRequest<ManagedObject>(
      entityName: "Person",
      where: try FetchPredicate(format: format),
      sortedBy: [FetchSortDescriptor("home.place.city"), FetchSortDescriptor("friend.home.street")]
    )
    let found = try context.fetch(request).map { try $0.propertyValue(forKey: "home_place_city") }
    #expect(found == cities.map(PropertyValue.string))
  }

  @Test("The whole has no value", arguments: ["home == nil", "home.town == 'Ulm'", "home.place == 'Ulm'"])
  func mistakes(_ format: String) throws {
    let request = FetchRequest<ManagedObject>(entityName: "Person", where: try FetchPredicate(format: format))
    let error = #expect(throws: (any Error).self) { try Self.context().fetch(request) }
    let advice = "home is a composite attribute, whose parts have values: home.street, home.place.city."
    #expect("\(try #require(error))".contains(advice))
  }
}
