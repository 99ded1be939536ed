import Heartwood
import HeartwoodFoundation
import HeartwoodStore

extension StoreConformance {
  /// Every value of every declared type is read as it was saved, or refused as declared.
  var attributeCases: [ConformanceCase] {
    AttributeType.allCases.flatMap { type in
      [
        makeCase("keeps every \(type.rawValue) and nil", needs: .attributes(type)) { try $0.keepsValues(of: type) },
        makeCase("refuses every \(type.rawValue) that it cannot hold", needs: .attributes(type)) {
          try $0.refusesValues(of: type)
        },
      ]
    } + [makeCase("keeps records with attributes of all types") { try $0.keepsRecords() }]
  }

  private func keepsValues(of type: AttributeType) throws {
    let bench = try Workbench(self, model: try ModelMaker.model(attribute: type))
    let values = EdgeValues.values(of: type).filter { !refuses($0, type) }
    let open = try bench.open()
    let context = open.makeContext()
    let objects = try (values + [.null]).map { value in
      let object = try context.insert(entityName: ModelMaker.entity)
      try object.setPropertyValue(value, forKey: ModelMaker.value)
      return object
    }
    try context.save()
    let expected = zip(objects, values + [.null]).map { ($0.objectID.uriRepresentation(), $1) }
    let reopened = try bench.reopened(open)
    let other = reopened.makeContext()
    for (uri, value) in expected {
      let id = try unwrap(reopened.coordinator.managedObjectID(forURIRepresentation: uri), "an object of the id \(uri)")
      let found = try other.existingObject(with: id).propertyValue(forKey: ModelMaker.value)
      try expect("an attribute of type \(type.rawValue)", is: value, found: found)
    }
  }

  private func refusesValues(of type: AttributeType) throws {
    for value in EdgeValues.values(of: type) where refuses(value, type) {
      let bench = try Workbench(self, model: try ModelMaker.model(attribute: type))
      let open = try bench.open()
      _ = try open.makeContext().insertValue(.null)
      let before = try beforeRefusal(bench)
      let context = open.makeContext()
      try expectError(.valueUnsupported, when: "the value \(brief(value)) is saved") {
        try context.insertValue(value)
      }
      try expect(context.hasChanges, "expected the change that was refused to stay in the context")
      try expect(try beforeRefusal(bench) == before, "expected the file to stay as it was when a value is refused")
    }
  }

  /// Returns the names of all files, and the bytes of the store's file.
  private func beforeRefusal(_ bench: Workbench) throws -> [String] {
    guard capabilities.supports(.persistence) else { return [] }
    return try (isFile ? bench.disk.fileNames() : []) + [String(decoding: try bench.bytes(), as: UTF8.self)]
  }

  private func keepsRecords() throws {
    for seed in UInt64(1)...5 {
      let bench = try smallBench()
      let open = try bench.open()
      try open.insertRandom(50, seed: seed)
      try bench.expectReopensSame(open)
    }
  }
}

extension ManagedObjectContext {
  /// Saves a record with one value.
  fileprivate func insertValue(_ value: PropertyValue) throws {
    try insert(entityName: ModelMaker.entity).setPropertyValue(value, forKey: ModelMaker.value)
    try save()
  }
}

// MARK: EntityCases

extension StoreConformance {
  /// Several entities are kept apart, and subentities have the properties of their parents.
  var entityCases: [ConformanceCase] {
    [
      makeCase("keeps several entities", needs: .entities(2)) { try $0.keepsSeveralEntities() },
      makeCase("keeps an entity that inherits from an abstract one") {
        try $0.keepsInheritance(subentities: ["Circle"])
      },
      makeCase("keeps entities that inherit from one that has records", needs: .entities(3)) {
        try $0.keepsInheritance(subentities: ["Circle", "Square"], isAbstract: false)
      },
      makeCase("keeps properties whatever they are called") { try $0.keepsAwkwardProperties() },
      makeCase("keeps the entities of its configuration only", needs: .place) { try $0.keepsConfiguration() },
    ]
  }

  private func keepsSeveralEntities() throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).withEntities(2))
    let source = try bench.openInMemory()
    try source.insertRandom(9, seed: 1)
    let open = try bench.convert(source)
    try bench.expectReopensSame(open)
    let context = try bench.reopened(open).makeContext()
    try expect("the records of the first entity", is: 5, found: try context.count(entityName: ModelMaker.entity))
    try expect("the records of the second", is: 4, found: try context.count(entityName: "\(ModelMaker.entity)1"))
  }

  private func keepsInheritance(subentities: [String], isAbstract: Bool = true) throws {
    let type = try unwrap(
      AttributeType.allCases.first(where: capabilities.attributeTypes.contains),
      "an attribute type"
    )
    let parent = EntityDefinition(
      name: "Shape",
      isAbstract: isAbstract,
      properties: [.attribute("inherited", type, optional: true)]
    )
    let children = subentities.map { name in
      EntityDefinition(
        name: name,
        superentityName: "Shape",
        properties: [.attribute("own\(name)", type, optional: true)]
      )
    }
    let bench = try Workbench(self, model: try ManagedObjectModel(entities: [parent] + children))
    let open = try bench.open()
    try open.insertRandom(12, seed: 1)
    let reopened = try bench.expectReopensSame(open)
    let context = reopened.makeContext()
    try expect("the objects of the parent and below", is: 12, found: try context.count(entityName: "Shape"))
    // A store that has not been read yet counts records itself.
    let (contents, unread) = (try open.contents(), try bench.reopened(open))
    for entity in unread.concreteEntities {
      let count = try unread.store.engine.count(of: entity)
      try expect("the number of \(entity.name) itself", is: contents.table(of: entity).count, found: count)
    }
    let found = try bench.reopened(open).makeContext().count(entityName: "Shape")
    try expect("the objects of the parent and below", is: 12, found: found)
    try expectError(.entityUnknown, when: "an object of an entity is asked for that is not there") {
      _ = try context.fetch(entityName: "Triangle")
    }
  }

  private func keepsAwkwardProperties() throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).withAwkwardProperties())
    var open = try bench.open()
    try open.insertRandom(5, seed: 1)
    for round in 0..<2 {
      open = try bench.expectReopensSame(open)
      let context = open.makeContext()
      let objects = try context.fetch(entityName: ModelMaker.entity)
      var generator = SeededGenerator(seed: UInt64(round))
      try open.setRandomAttributes(of: objects[round], &generator)
      if capabilities.supports(.relationships) {
        let others = [objects[4], objects[round + 1]].map(\.objectID)
        try objects[round].setPropertyValue(.toOne(others[0]), forKey: "order")
        // Without an inverse, a store may have space for only one owner of each object.
        for object in objects { try object.setPropertyValue(.toMany([]), forKey: "group") }
        try objects[round].setPropertyValue(.toMany(others), forKey: "group")
        try objects[round].setPropertyValue(.toMany(others), forKey: "mates")
      }
      try context.save()
    }
    try bench.expectReopensSame(open)
  }

  private func keepsConfiguration() throws {
    let whole = try ModelMaker(capabilities).withEntities(2)
    let model = try ManagedObjectModel(
      entities: whole.entities.map(\.definition),
      configurations: ["first": [ModelMaker.entity]]
    )
    let bench = try Workbench(self, model: model)
    let coordinator = try bench.makeCoordinator()
    let store = try coordinator.addPersistentStore(
      type: type,
      configuration: "first",
      at: bench.url(),
      options: bench.options
    )
    let open = bench.openStore(store, in: coordinator)
    try open.insertRandom(3, seed: 1)
    let context = open.makeContext()
    _ = try context.insert(entityName: "\(ModelMaker.entity)1")
    try expectError(.storeNotOpen, when: "an object is saved whose entity no store keeps") { try context.save() }
    try expect("the records", is: 3, found: try open.contents().count)
    let other = try bench.makeCoordinator()
    let reopened = try other.addPersistentStore(
      type: type,
      configuration: "first",
      at: bench.url(),
      options: bench.options
    )
    try expectSame(
      try bench.openStore(reopened, in: other).contents(),
      as: try open.contents(),
      "the reopened store of a configuration"
    )
  }
}
