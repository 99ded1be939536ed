import CoreData
import Testing

@Suite(.serialized) struct MigrationPolicyTests {
  /// People with a name, and their dogs; in the new version, the name is in two parts, and dogs have a size.
  private static func model(isNew: Bool) -> NSManagedObjectModel {
    let person = NSEntityDescription()
    person.name = "Person"
    let dog = NSEntityDescription()
    dog.name = "Dog"
    let (dogs, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
    dogs.name = "dogs"
    dogs.destinationEntity = dog
    dogs.inverseRelationship = owner
    owner.name = "owner"
    owner.destinationEntity = person
    owner.maxCount = 1
    owner.inverseRelationship = dogs
    let names = isNew ? ["first", "last"] : ["name"]
    person.properties = names.map { Models.attribute($0, .stringAttributeType) } + [dogs]
    dog.properties = [Models.attribute("name", .stringAttributeType), owner]
    if isNew { dog.properties.append(Models.attribute("size", .integer32AttributeType, default: 0)) }
    let model = NSManagedObjectModel()
    model.entities = [person, dog]
    return model
  }

  /// Splits names, and notes what it is called for.
  final class Splitting: NSEntityMigrationPolicy {
    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
      note("begin \(mapping.name ?? "")", manager)
      #expect(manager.currentEntityMapping === mapping)
    }

    override func createDestinationInstances(
      forSource sInstance: NSManagedObject,
      in mapping: NSEntityMapping,
      manager: NSMigrationManager
    ) throws {
      note("create", manager)
      let new = NSEntityDescription.insertNewObject(
        forEntityName: mapping.destinationEntityName ?? "",
        into: manager.destinationContext
      )
      let parts = (sInstance.value(forKey: "name") as? String)?.split(separator: " ").map(String.init) ?? []
      if parts.first == "Nobody" { throw NSError(domain: "Splitting", code: 4) }
      new.setValue(parts.first, forKey: "first")
      new.setValue(parts.last, forKey: "last")
      manager.associate(sourceInstance: sInstance, withDestinationInstance: new, for: mapping)
      let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
      #expect(made == [new])
      #expect(manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [new]) == [sInstance])
    }

    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
      note("endInstances", manager)
    }

    override func createRelationships(
      forDestination dInstance: NSManagedObject,
      in mapping: NSEntityMapping,
      manager: NSMigrationManager
    ) throws {
      note("relate", manager)
      let source = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [dInstance])
      let dogs = (source.first?.value(forKey: "dogs") as? NSSet)?.allObjects as? [NSManagedObject] ?? []
      let new = manager.destinationInstances(forEntityMappingName: "Dogs", sourceInstances: dogs)
      dInstance.setValue(NSSet(array: new), forKey: "dogs")
    }

    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
      note("endRelationships", manager)
    }

    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
      note("validate", manager)
    }

    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { note("end", manager) }

    private func note(_ event: String, _ manager: NSMigrationManager) {
      manager.userInfo = ["events": (manager.userInfo?["events"] as? [String] ?? []) + [event]]
    }
  }

  /// Gives dogs a size, and leaves the rest to the mapping.
  final class Sizing: NSEntityMigrationPolicy {
    override func createDestinationInstances(
      forSource sInstance: NSManagedObject,
      in mapping: NSEntityMapping,
      manager: NSMigrationManager
    ) throws {
      try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
      let new = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
      for dog in new { dog.setValue((dog.value(forKey: "name") as? String)?.count ?? 0, forKey: "size") }
    }
  }

  private static func mapping(_ policy: String? = nil) -> NSMappingModel {
    let people = NSEntityMapping()
    people.name = "People"
    people.mappingType = .customEntityMappingType
    people.sourceEntityName = "Person"
    people.destinationEntityName = "Person"
    people.entityMigrationPolicyClassName = policy ?? NSStringFromClass(Splitting.self)
    let name = NSPropertyMapping()
    name.name = "name"
    name.valueExpression = NSExpression(format: "$source.name")
    let dogs = NSEntityMapping()
    dogs.name = "Dogs"
    dogs.mappingType = .customEntityMappingType
    dogs.sourceEntityName = "Dog"
    dogs.destinationEntityName = "Dog"
    dogs.attributeMappings = [name]
    dogs.entityMigrationPolicyClassName = NSStringFromClass(Sizing.self)
    let mapping = NSMappingModel()
    mapping.entityMappings = [people, dogs]
    return mapping
  }

  private static func store(_ type: String, names: [String] = ["Ada Lovelace", "Alan Turing"]) throws -> Stack {
    let stack = try Stack(type, model: model(isNew: false))
    try stack.context.performAndWait {
      for name in names {
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: stack.context)
        person.setValue(name, forKey: "name")
        let dog = NSEntityDescription.insertNewObject(forEntityName: "Dog", into: stack.context)
        dog.setValue("Dog of \(name)", forKey: "name")
        dog.setValue(person, forKey: "owner")
      }
      try stack.context.save()
    }
    for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
    return stack
  }

  @discardableResult
  private static func migrate(_ stack: Stack, _ mapping: NSMappingModel, to url: URL) throws -> NSMigrationManager {
    let manager = NSMigrationManager(sourceModel: model(isNew: false), destinationModel: model(isNew: true))
    try manager.migrateStore(
      from: stack.url,
      sourceType: stack.type,
      options: nil,
      with: mapping,
      toDestinationURL: url,
      destinationType: stack.type,
      destinationOptions: nil
    )
    return manager
  }

  @Test(arguments: Stack.fileTypes) func policiesMakeTheNewObjects(type: String) throws {
    let stack = try Self.store(type)
    let url = stack.folder.appendingPathComponent("new")
    let manager = try Self.migrate(stack, Self.mapping(), to: url)
    let expected = [
      "begin People", "create", "create", "endInstances", "relate", "relate", "endRelationships", "validate", "end",
    ]
    #expect(manager.userInfo?["events"] as? [String] == expected)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(isNew: true))
    try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
    let context = Stack.context(of: coordinator)
    try context.performAndWait { () throws in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "first", ascending: true)]
      let people = try context.fetch(request)
      #expect(people.map { $0.value(forKey: "last") as? String } == ["Lovelace", "Turing"])
      #expect(people.first?.value(forKeyPath: "dogs.name") as? NSSet == NSSet(object: "Dog of Ada Lovelace"))
      #expect(people.first?.value(forKeyPath: "dogs.size") as? NSSet == NSSet(object: 19))
    }
  }

  @Test func whatAPolicyThrowsEndsTheMigration() throws {
    let stack = try Self.store(NSSQLiteStoreType, names: ["Nobody"])
    let url = stack.folder.appendingPathComponent("new")
    let error = #expect(throws: NSError.self) { try Self.migrate(stack, Self.mapping(), to: url) }
    #expect(error?.domain == "Splitting" && error?.code == 4)
    #expect(!FileManager.default.fileExists(atPath: url.path))
    let missing = #expect(throws: CocoaError.self) { try Self.migrate(stack, Self.mapping("NoSuchPolicy"), to: url) }
    #expect(missing?.localizedDescription.contains("NoSuchPolicy") == true)
  }

  // MARK: Stages

  @Test(arguments: Stack.fileTypes) func stagesMigrateAStore(type: String) throws {
    let stack = try Self.store(type)
    let (old, new) = (Self.model(isNew: false), Self.model(isNew: true))
    #expect(!old.versionChecksum.isEmpty && old.versionChecksum != new.versionChecksum)
    let stage = NSCustomMigrationStage(
      migratingFrom: NSManagedObjectModelReference(model: old, versionChecksum: old.versionChecksum),
      to: NSManagedObjectModelReference(model: new, versionChecksum: new.versionChecksum)
    )
    stage.label = "Names"
    final class Names: @unchecked Sendable {
      var byDog: [String: String] = [:]
    }
    let names = Names()
    stage.willMigrateHandler = { manager, _ in
      let context = try #require(manager.container?.newBackgroundContext())
      try context.performAndWait {
        for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
          for case let dog as NSManagedObject in person.value(forKey: "dogs") as? NSSet ?? NSSet() {
            names.byDog[dog.value(forKey: "name") as? String ?? ""] = person.value(forKey: "name") as? String
          }
        }
      }
    }
    stage.didMigrateHandler = { manager, stage in
      #expect(stage.label == "Names")
      let context = try #require(manager.container?.newBackgroundContext())
      try context.performAndWait {
        for dog in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Dog")) {
          let name = names.byDog[dog.value(forKey: "name") as? String ?? ""]
          dog.setValue(name?.split(separator: " ").last.map(String.init), forKeyPath: "owner.last")
        }
        try context.save()
      }
    }
    let manager = NSStagedMigrationManager([stage])
    let container = NSPersistentContainer(name: "Stages", managedObjectModel: Self.model(isNew: true))
    let description = NSPersistentStoreDescription(url: stack.url)
    description.type = type
    description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    #expect(manager.container == nil)
    let context = container.newBackgroundContext()
    let last = try context.performAndWait {
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).compactMap {
        $0.value(forKey: "last") as? String
      }
    }
    #expect(Set(last) == ["Lovelace", "Turing"])
  }

  @Test func aReferenceChecksItsModel() throws {
    let stack = try Self.store(NSSQLiteStoreType)
    let (old, new) = (Self.model(isNew: false), Self.model(isNew: true))
    #expect(NSManagedObjectModelReference(model: old, versionChecksum: old.versionChecksum).resolvedModel === old)
    let stage = NSCustomMigrationStage(
      migratingFrom: NSManagedObjectModelReference(model: old, versionChecksum: "other"),
      to: NSManagedObjectModelReference(model: new, versionChecksum: new.versionChecksum)
    )
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
    let error = #expect(throws: CocoaError.self) {
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType,
        configurationName: nil,
        at: stack.url,
        options: [
          NSMigratePersistentStoresAutomaticallyOption: true,
          NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager([stage]),
        ]
      )
    }
    #expect(error?.code == .migrationMissingSourceModel)
    let lightweight = NSStagedMigrationManager([
      NSLightweightMigrationStage([old.versionChecksum, new.versionChecksum])
    ])
    #expect(throws: CocoaError.self) {
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType,
        configurationName: nil,
        at: stack.url,
        options: [NSPersistentStoreStagedMigrationManagerOptionKey: lightweight]
      )
    }
  }
}
