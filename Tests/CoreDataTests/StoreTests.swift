import CoreData
import Testing

@Suite struct StoreTests {
  @Test func aStoreInMemoryKeepsItsURLAsAName() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Models.toDos())
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("names-" + UUID().uuidString)
    let store = try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType,
      configurationName: nil,
      at: url,
      options: nil
    )
    #expect(store.url == url && coordinator.persistentStore(for: url) === store && coordinator.url(for: store) == url)
    #expect(coordinator.persistentStore(for: url.appendingPathComponent("other")) == nil)
    #expect(!FileManager.default.fileExists(atPath: url.path))
  }

  @Test(arguments: Stack.fileTypes) func storesAreReopened(type: String) throws {
    let stack = try Stack(type)
    try stack.context.performAndWait {
      stack.insert("Milk", 1)
      try stack.context.save()
    }
    let store = try #require(stack.coordinator.persistentStores.first)
    #expect(store.type == type && store.url == stack.url && store.persistentStoreCoordinator === stack.coordinator)
    #expect(stack.coordinator.persistentStore(for: stack.url) === store)
    try stack.coordinator.remove(store)
    #expect(stack.coordinator.persistentStores.isEmpty)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Models.toDos())
    let opened = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: stack.url)
    #expect(opened.identifier == store.identifier)
    let context = Stack.context(of: coordinator)
    #expect(try context.performAndWait { try context.fetch(toDoRequest()).map(\.memo) } == ["Milk"])
  }

  @Test(arguments: Stack.fileTypes) func metadataHaveCoreDataKeys(type: String) throws {
    let stack = try Stack(type)
    let store = try #require(stack.coordinator.persistentStores.first)
    var metadata = try #require(store.metadata)
    metadata["author"] = "me"
    stack.coordinator.setMetadata(metadata, for: store)
    try stack.context.performAndWait {
      stack.insert("Milk")
      try stack.context.save()
    }
    let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: stack.url)
    #expect(read[NSStoreTypeKey] as? String == type)
    #expect(read[NSStoreUUIDKey] as? String == store.identifier)
    #expect(read["author"] as? String == "me")
    #expect(Models.toDos().isConfiguration(withName: nil, compatibleWithStoreMetadata: read))
    let other = Models.toDos()
    other.entities[0].properties.append(Models.attribute("more", .stringAttributeType))
    #expect(!other.isConfiguration(withName: nil, compatibleWithStoreMetadata: read))
    try stack.coordinator.remove(store)
    try NSPersistentStoreCoordinator.setMetadata(["author": "you"], forPersistentStoreOfType: type, at: stack.url)
    let changed = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: stack.url)
    #expect(changed["author"] as? String == "you")
  }

  @Test(arguments: Stack.types, Stack.fileTypes) func storesAreMoved(from type: String, to other: String) throws {
    let stack = try Stack(type)
    try stack.context.performAndWait {
      let toDo = stack.insert("Milk")
      let list = List(context: stack.context)
      list.title = "Shopping"
      toDo.list = list
      try stack.context.save()
    }
    let store = try #require(stack.coordinator.persistentStores.first)
    let url = stack.folder.appendingPathComponent("moved")
    let moved = try stack.coordinator.migratePersistentStore(store, to: url, options: nil, withType: other)
    #expect(moved.type == other && stack.coordinator.persistentStores == [moved])
    #expect(store.persistentStoreCoordinator == nil)
    let context = Stack.context(of: stack.coordinator)
    try context.performAndWait {
      let found = try #require(try context.fetch(toDoRequest()).first)
      #expect(found.memo == "Milk" && found.list?.title == "Shopping")
    }
  }

  @Test func anOlderStoreIsMigratedIfItsModelIsKnown() throws {
    let stack = try Stack(NSSQLiteStoreType)
    try stack.context.performAndWait {
      stack.insert("Milk")
      try stack.context.save()
    }
    try stack.coordinator.remove(try #require(stack.coordinator.persistentStores.first))
    let newer = Models.toDos()
    newer.entities[0].properties.append(Models.attribute("place", .stringAttributeType))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: newer)
    let error = #expect(throws: CocoaError.self) {
      try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: stack.url)
    }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    // SQLite stores keep the model that they were written with, as Core Data's do.
    let options = [
      NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
    ]
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType,
      configurationName: nil,
      at: stack.url,
      options: options
    )
    let context = Stack.context(of: coordinator)
    try context.performAndWait {
      let found = try #require(try context.fetch(toDoRequest()).first)
      #expect(found.memo == "Milk" && found.value(forKey: "place") == nil)
    }
  }

  @Test func unknownOptionsAndTypesAreErrors() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Models.toDos())
    #expect(throws: CocoaError.self) {
      try coordinator.addPersistentStore(ofType: "Nothing", configurationName: nil, at: nil)
    }
    let error = #expect(throws: CocoaError.self) {
      try coordinator.addPersistentStore(
        ofType: NSInMemoryStoreType,
        configurationName: nil,
        at: nil,
        options: ["NSFileProtectionKey": true]
      )
    }
    #expect(error?.code == .persistentStoreOpen)
  }

  @Test @MainActor func containersLoadTheirStores() throws {
    let container = NSPersistentContainer(name: "ToDos", managedObjectModel: Models.toDos())
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [description]
    var loaded: [NSPersistentStoreDescription] = []
    container.loadPersistentStores { description, error in
      #expect(error == nil)
      loaded.append(description)
    }
    #expect(loaded == [description])
    let toDo = ToDo(context: container.viewContext)
    toDo.memo = "Milk"
    try container.viewContext.save()
    let background = container.newBackgroundContext()
    #expect(try background.performAndWait { try background.fetch(toDoRequest()).map(\.memo) } == ["Milk"])
  }

  @Test func coordinatorsAnnounceTheirStores() throws {
    let stack = try Stack(NSInMemoryStoreType)
    let heard = Counter()
    let observer = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreCoordinatorStoresDidChange,
      object: stack.coordinator,
      queue: nil
    ) { notification in heard.count += (notification.userInfo?[NSRemovedPersistentStoresKey] as? [Any])?.count ?? 10 }
    defer { NotificationCenter.default.removeObserver(observer) }
    try stack.coordinator.remove(try #require(stack.coordinator.persistentStores.first))
    #expect(heard.count == 1)
    try stack.coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    #expect(heard.count == 11)
  }
}

/// Counts on one thread: notifications are posted where the coordinator is used.
private final class Counter: @unchecked Sendable {
  var count = 0

  @Test(arguments: Stack.fileTypes) func newStoresHaveTheirFileAtOnce(type: String) throws {
    let stack = try Stack(type)
    #expect(FileManager.default.fileExists(atPath: stack.url.path))
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: stack.url)
    #expect(metadata[NSStoreUUIDKey] as? String == stack.coordinator.persistentStores[0].identifier)
  }
}
