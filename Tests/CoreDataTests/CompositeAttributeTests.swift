import CoreData
import Testing

@Suite struct CompositeAttributeTests {
  /// Campgrounds with a place, which has a point.
  private static func model() -> NSManagedObjectModel {
    let point = NSCompositeAttributeDescription()
    point.name = "point"
    point.elements = [
      Models.attribute("latitude", .doubleAttributeType), Models.attribute("longitude", .doubleAttributeType),
    ]
    let place = NSCompositeAttributeDescription()
    place.name = "place"
    place.elements = [Models.attribute("street", .stringAttributeType), point]
    let campground = NSEntityDescription()
    campground.name = "Campground"
    campground.properties = [Models.attribute("name", .stringAttributeType), place]
    let model = NSManagedObjectModel()
    model.entities = [campground]
    return model
  }

  private static func place(_ street: String, _ latitude: Double) -> [String: Any] {
    ["street": street, "point": ["latitude": latitude, "longitude": 1.5]]
  }

  @discardableResult
  private static func insert(_ name: String, _ place: [String: Any]?, in stack: Stack) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: "Campground", into: stack.context)
    object.setValue(name, forKey: "name")
    object.setValue(place, forKey: "place")
    return object
  }

  private static func request() -> NSFetchRequest<NSManagedObject> { NSFetchRequest(entityName: "Campground") }

  @Test(arguments: Stack.types) func valuesAreDictionaries(type: String) throws {
    let stack = try Stack(type, model: Self.model())
    try stack.context.performAndWait {
      Self.insert("North", Self.place("A", 40.7), in: stack)
      Self.insert("Nowhere", nil, in: stack)
      try stack.context.save()
    }
    let other = Stack.context(of: stack.coordinator)
    try other.performAndWait {
      let request = Self.request()
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let found = try other.fetch(request)
      let place = try #require(found[0].value(forKey: "place") as? [String: Any])
      #expect(place["street"] as? String == "A")
      #expect((place["point"] as? [String: Any])?["latitude"] as? Double == 40.7)
      #expect(found[0].value(forKeyPath: "place.point.longitude") as? Double == 1.5)
      #expect(found[1].value(forKey: "place") == nil)
    }
  }

  @Test(arguments: Stack.types) func partsAreInPredicatesAndOrders(type: String) throws {
    let stack = try Stack(type, model: Self.model())
    try stack.context.performAndWait {
      for (name, latitude) in [("North", 40.7), ("Middle", 33), ("South", 25.8)] {
        Self.insert(name, Self.place(name, latitude), in: stack)
      }
      try stack.context.save()
      let request = Self.request()
      request.predicate = NSPredicate(format: "place.point.latitude > 30")
      request.sortDescriptors = [NSSortDescriptor(key: "place.point.latitude", ascending: true)]
      let found = try stack.context.fetch(request)
      #expect(found.map { $0.value(forKey: "name") as? String } == ["Middle", "North"])
      #expect(NSPredicate(format: "place.street == 'Middle'").evaluate(with: found[0]))
    }
  }

  @Test func partsAreChangedAlone() throws {
    let stack = try Stack(NSSQLiteStoreType, model: Self.model())
    try stack.context.performAndWait {
      let object = Self.insert("North", Self.place("A", 40.7), in: stack)
      try stack.context.save()
      object.setValue(50.0, forKeyPath: "place.point.latitude")
      #expect(object.value(forKeyPath: "place.street") as? String == "A")
      #expect(object.value(forKeyPath: "place.point.latitude") as? Double == 50)
      let changed = try #require(object.changedValues()["place"] as? [String: Any])
      #expect((changed["point"] as? [String: Any])?["latitude"] as? Double == 50)
      #expect(Array(object.changedValues().keys) == ["place"])
      let committed = try #require(object.committedValues(forKeys: ["place"])["place"] as? [String: Any])
      #expect((committed["point"] as? [String: Any])?["latitude"] as? Double == 40.7)
      object.setValue(nil, forKey: "place")
      #expect(object.value(forKey: "place") == nil)
    }
  }

  @Test func objectsInNoContextHaveThem() throws {
    let entity = try #require(Self.model().entitiesByName["Campground"])
    let object = NSManagedObject(entity: entity, insertInto: nil)
    object.setValue(Self.place("A", 1), forKey: "place")
    object.setValue("B", forKeyPath: "place.street")
    #expect(object.value(forKeyPath: "place.street") as? String == "B")
    #expect(object.value(forKeyPath: "place.point.latitude") as? Double == 1)
  }

  @Test func descriptionsSurviveCopying() throws {
    let copy = try #require(Self.model().copy() as? NSManagedObjectModel)
    let entity = try #require(copy.entitiesByName["Campground"])
    #expect(Set(entity.attributesByName.keys) == ["name", "place"])
    let place = try #require(entity.attributesByName["place"] as? NSCompositeAttributeDescription)
    #expect(place.attributeType == .compositeAttributeType)
    #expect(place.elements.map(\.name) == ["street", "point"])
    let point = try #require(place.elements[1] as? NSCompositeAttributeDescription)
    #expect(point.elements.map(\.name) == ["latitude", "longitude"])
    #expect(copy == Self.model() && copy.entityVersionHashesByName == Self.model().entityVersionHashesByName)
  }

  @Test func attributesThatNoRecordKeepsAreErrors() throws {
    let recursive = NSCompositeAttributeDescription()
    recursive.name = "recursive"
    recursive.elements = [recursive]
    let empty = NSCompositeAttributeDescription()
    empty.name = "empty"
    for attribute in [
      recursive, empty, Models.attribute("id", .objectIDAttributeType), Models.attribute("c", .compositeAttributeType),
    ] {
      let entity = NSEntityDescription()
      entity.name = "Campground"
      entity.properties = [attribute]
      let model = NSManagedObjectModel()
      model.entities = [entity]
      // A model that is not sound has no hashes.
      #expect(model.entityVersionHashesByName.isEmpty)
    }
  }
}
