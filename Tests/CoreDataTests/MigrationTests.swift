import CoreData
import Testing

@Suite struct MigrationTests {
  /// The model of notes, whose text is called `text` first, and `body` later.
  private static func notes(_ text: String, renamedFrom former: String? = nil) -> NSManagedObjectModel {
    let attribute = Models.attribute(text, .stringAttributeType)
    attribute.renamingIdentifier = former
    let note = NSEntityDescription()
    note.name = "Note"
    note.properties = [attribute, Models.attribute("stars", .integer32AttributeType, default: 0)]
    let model = NSManagedObjectModel()
    model.entities = [note]
    return model
  }

  /// A model of notes that need a value which no older model has.
  private static func required() -> NSManagedObjectModel {
    let note = NSEntityDescription()
    note.name = "Note"
    note.properties = [Models.attribute("due", .dateAttributeType, optional: false)]
    let model = NSManagedObjectModel()
    model.entities = [note]
    return model
  }

  private static let old = notes("text")
  private static let new = notes("body", renamedFrom: "text")

  /// A store with two notes of the old model.
  private static func store(_ type: String) throws -> Stack {
    let stack = try Stack(type, model: notes("text"))
    try stack.context.performAndWait {
      for (text, stars) in [("a", 1), ("b", 2)] {
        let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: stack.context)
        note.setValuesForKeys(["text": text, "stars": stars])
      }
      try stack.context.save()
    }
    for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
    return stack
  }

  private static func bodies(_ url: URL, _ type: String) throws -> [String: Int] {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: notes("body", renamedFrom: "text"))
    try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
    let context = Stack.context(of: coordinator)
    return try context.performAndWait {
      var found: [String: Int] = [:]
      for note in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")) {
        found[note.value(forKey: "body") as? String ?? ""] = note.value(forKey: "stars") as? Int
      }
      return found
    }
  }

  private static func migrate(_ stack: Stack, with mapping: NSMappingModel?, to url: URL, _ type: String) throws {
    let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
    try manager.migrateStore(
      from: stack.url,
      sourceType: stack.type,
      options: nil,
      with: mapping,
      toDestinationURL: url,
      destinationType: type,
      destinationOptions: nil
    )
    #expect(manager.mappingModel === mapping && manager.migrationProgress == 1)
  }

  @Test(arguments: Stack.fileTypes) func storesAreMigratedToAnotherPlace(type: String) throws {
    let stack = try Self.store(type)
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: Self.old, destinationModel: Self.new)
    let url = stack.folder.appendingPathComponent("new")
    try Self.migrate(stack, with: mapping, to: url, type)
    #expect(try Self.bodies(url, type) == ["a": 1, "b": 2])
    // The old one stays.
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: stack.url)
    #expect(Self.old.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    // A file that is there stays too.
    #expect(throws: CocoaError.self) { try Self.migrate(stack, with: mapping, to: url, type) }
    #expect(try Self.bodies(url, type) == ["a": 1, "b": 2])
  }

  @Test func storesAreNamedByTypesOfNewerSDKs() throws {
    let stack = try Self.store(NSSQLiteStoreType)
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: Self.old, destinationModel: Self.new)
    let (url, copy) = (stack.folder.appendingPathComponent("new"), stack.folder.appendingPathComponent("copy"))
    let manager = NSMigrationManager(sourceModel: Self.old, destinationModel: Self.new)
    try manager.migrateStore(from: stack.url, type: .sqlite, mapping: mapping, to: url, type: .xml)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.notes("body", renamedFrom: "text"))
    try coordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: url, type: .xml)
    let store = try coordinator.addPersistentStore(type: .xml, at: copy)
    #expect(store.type == NSXMLStoreType)
    let moved = stack.folder.appendingPathComponent("moved")
    try coordinator.migratePersistentStore(store, to: moved, type: .binary)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    #expect(try Self.bodies(moved, NSBinaryStoreType) == ["a": 1, "b": 2])
    try NSPersistentStoreCoordinator.setMetadata(["note": "mine"], type: .binary, at: moved)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .binary, at: moved)
    #expect(metadata["note"] as? String == "mine")
    try coordinator.destroyPersistentStore(at: moved, type: .binary)
    #expect(!FileManager.default.fileExists(atPath: moved.path))
    #expect(throws: CocoaError.self) {
      try coordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: moved, type: .binary)
    }
  }

  @Test func theTypeCanChange() throws {
    let stack = try Self.store(NSXMLStoreType)
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: Self.old, destinationModel: Self.new)
    let url = stack.folder.appendingPathComponent("new")
    try Self.migrate(stack, with: mapping, to: url, NSSQLiteStoreType)
    #expect(try Self.bodies(url, NSSQLiteStoreType) == ["a": 1, "b": 2])
  }

  @Test func mappingsAreWrittenInCode() throws {
    let stack = try Self.store(NSSQLiteStoreType)
    let body = NSPropertyMapping()
    body.name = "body"
    body.valueExpression = NSExpression(
      forFunction: NSExpression(forVariable: "source"),
      selectorName: "valueForKey:",
      arguments: ["text"]
    )
    let stars = NSPropertyMapping()
    stars.name = "stars"
    stars.valueExpression = NSExpression(format: "$source.stars * 10")
    let notes = NSEntityMapping()
    notes.name = "NoteToNote"
    notes.mappingType = .transformEntityMappingType
    notes.sourceEntityName = "Note"
    notes.destinationEntityName = "Note"
    notes.attributeMappings = [body, stars]
    let mapping = NSMappingModel()
    mapping.entityMappings = [notes]
    #expect(mapping.entityMappingsByName["NoteToNote"] === notes)
    let url = stack.folder.appendingPathComponent("new")
    try Self.migrate(stack, with: mapping, to: url, NSSQLiteStoreType)
    #expect(try Self.bodies(url, NSSQLiteStoreType) == ["a": 10, "b": 20])
  }

  @Test func inferredMappingsCanBeRead() throws {
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: Self.old, destinationModel: Self.new)
    let notes = try #require(mapping.entityMappings.first)
    #expect(notes.sourceEntityName == "Note" && notes.mappingType == .transformEntityMappingType)
    let body = try #require(notes.attributeMappings?.first { $0.name == "body" })
    #expect(body.valueExpression?.keyPath == "$source.text")
    let again = try NSMappingModel.inferredMappingModel(forSourceModel: Self.old, destinationModel: Self.new)
    #expect(mapping == again && mapping.hash == again.hash)
    again.entityMappings[0].name = "Other"
    #expect(mapping != again)
  }

  @Test func whatCannotBeMigratedIsAnError() throws {
    let stack = try Self.store(NSSQLiteStoreType)
    let url = stack.folder.appendingPathComponent("new")
    let missing = #expect(throws: CocoaError.self) {
      try Self.migrate(stack, with: nil, to: url, NSSQLiteStoreType)
    }
    #expect(missing?.code == .migrationMissingMappingModel)
    let notInferred = #expect(throws: CocoaError.self) {
      _ = try NSMappingModel.inferredMappingModel(
        forSourceModel: Self.old,
        destinationModel: Self.required()
      )
    }
    #expect(notInferred?.code == .inferredMappingModel)
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: Self.old, destinationModel: Self.new)
    let manager = NSMigrationManager(sourceModel: Self.old, destinationModel: Self.new)
    manager.cancelMigrationWithError(CocoaError(.userCancelled))
    #expect(throws: CocoaError(.userCancelled)) {
      try manager.migrateStore(
        from: stack.url,
        sourceType: NSSQLiteStoreType,
        with: mapping,
        toDestinationURL: url,
        destinationType: NSSQLiteStoreType
      )
    }
    #expect(!FileManager.default.fileExists(atPath: url.path))
  }

  /// A mapping model as Xcode keeps it: the stars come from the stars.
  private static let mappingText = """
    <?xml version="1.0"?><!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
    <database><databaseInfo><version>134481920</version><UUID>6D9C5F52-0000-4000-8000-28A1F65F3F4D</UUID>
    <nextObjectID>104</nextObjectID><metadata><plist version="1.0"><dict><key>NSStoreModelVersionHashes</key>
    <dict><key>XDDevMappingModel</key><data>AA==</data><key>XDDevEntityMapping</key><data>AA==</data>
    <key>XDDevAttributeMapping</key><data>AA==</data></dict></dict></plist></metadata></databaseInfo>
    <object type="XDDEVMAPPINGMODEL" id="z101">
    <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="z102"></relationship></object>
    <object type="XDDEVENTITYMAPPING" id="z102"><attribute name="sourcename" type="string">Note</attribute>
    <attribute name="destinationname" type="string">Note</attribute>
    <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING" idrefs="z103"></relationship>
    </object>
    <object type="XDDEVATTRIBUTEMAPPING" id="z103"><attribute name="name" type="string">stars</attribute>
    <relationship name="entitymapping" type="1/1" destination="XDDEVENTITYMAPPING" idrefs="z102"></relationship></object>
    </database>
    """

  @Test func mappingModelsAreFoundInBundles() throws {
    let stack = try Self.store(NSSQLiteStoreType)
    let empty = try #require(Bundle(url: stack.folder))
    #expect(NSMappingModel(from: [empty], forSourceModel: Self.old, destinationModel: Self.new) == nil)
    // A bundle keeps the names of its files.
    let folder = stack.folder.appendingPathComponent("resources")
    let url = folder.appendingPathComponent("Notes.cdm")
    #expect(NSMappingModel(contentsOf: url) == nil)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try Data(Self.mappingText.utf8).write(to: url.appendingPathComponent("xcmapping.xml"))
    let read = try #require(NSMappingModel(contentsOf: url))
    let bundle = try #require(Bundle(url: folder))
    let found = try #require(NSMappingModel(from: [bundle], forSourceModel: Self.old, destinationModel: Self.new))
    #expect(found == read && found.entityMappings.first?.attributeMappings?.map(\.name) == ["stars"])
    #expect(NSMappingModel(from: [bundle], forSourceModel: Models.toDos(), destinationModel: Self.new) == nil)
    let new = stack.folder.appendingPathComponent("new")
    try Self.migrate(stack, with: found, to: new, NSSQLiteStoreType)
    #expect(try Self.bodies(new, NSSQLiteStoreType)[""] != nil)
  }

  @Test func aStoreOfTheCoordinatorIsDestroyedAndMadeAnew() throws {
    let stack = try Stack(NSSQLiteStoreType)
    try stack.context.performAndWait {
      stack.insert("Milk")
      try stack.context.save()
      stack.context.reset()
    }
    try stack.coordinator.destroyPersistentStore(at: stack.url, ofType: NSSQLiteStoreType)
    #expect(stack.coordinator.persistentStores.isEmpty)
    try stack.coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: stack.url)
    let context = Stack.context(of: stack.coordinator)
    #expect(try context.performAndWait { try context.count(for: toDoRequest()) } == 0)
  }
}
