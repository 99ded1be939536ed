import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// The code of the article "Files for other programs": it says what is here, word for word.
@Suite struct FormatsGuideTests {
  @Test func storesAreFilesOfOtherPrograms() throws {
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: ToDoStack.model(),
      registry: .default,
      fileSystem: InMemoryFileSystem()
    )
    try coordinator.addPersistentStore(type: .xml, at: URL(filePath: "/path/to/store.xml"))
    try coordinator.addPersistentStore(type: .propertyList, at: URL(filePath: "/path/to/store.plist"))
    let context = ManagedObjectContext(coordinator)
    _ = try context.insert(entityName: "Tag")
    try context.save()
    let store = coordinator.persistentStores[0]
    let identifier = store.identifier
    try coordinator.migratePersistentStore(store, to: URL(filePath: "/path/to/copy.plist"), type: .propertyList)
    #expect(coordinator.persistentStores.map(\.type) == [.propertyList, .propertyList])
    #expect(coordinator.persistentStores[0].identifier == identifier)
    #expect(try context.count(entityName: "Tag") == 1)
  }

  @Test func metadataOfAFileAreSet() throws {
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: ToDoStack.model(),
      registry: .default,
      fileSystem: InMemoryFileSystem()
    )
    let (url, options) = (URL(filePath: "/path/to/store.xml"), StoreOptions())
    let store = try coordinator.addPersistentStore(type: .xml, at: url)
    let context = ManagedObjectContext(coordinator)
    _ = try context.insert(entityName: "Tag")
    try context.save()
    try coordinator.remove(store)
    var metadata = try coordinator.metadataForPersistentStore(at: url, options: options)
    metadata.userInfo["lastExport"] = .date(Date())
    try coordinator.setMetadata(metadata, at: url, options: options)
    let stored = try coordinator.metadataForPersistentStore(at: url)
    #expect(stored.userInfo["lastExport"] != nil)
  }
}
