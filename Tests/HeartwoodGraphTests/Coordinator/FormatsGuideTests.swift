import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
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
    try coordinator.compact(store)
    try coordinator.convert(store, to: URL(filePath: "/path/to/copy.plist"), type: .propertyList)
    #expect(coordinator.persistentStores.map(\.type) == [.propertyList, .propertyList])
    #expect(coordinator.persistentStores[0].identifier == identifier)
    #expect(try context.count(entityName: "Tag") == 1)
  }

  @Test func textIsLaidOutOtherwise() throws {
    let files = InMemoryFileSystem()
    let file = """
      #3C1A6A0E-4B56-4C19-8D23-9A51B4B0D8E1
      id;memo;colour
      7;Bread;blue

      """
    try files.setContents(Array(file.utf8), ofFileAtPath: "/path/to/list.csv")
    let memo = AttributeDescription(name: "memo", type: .string, isOptional: true)
    let model = try ManagedObjectModel(entities: [.entity("ToDo", .attribute(memo))])
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: .default,
      fileSystem: files
    )
    var options = StoreOptions()
    var layout = CSVStore.Layout(columns: [.reference(title: "id"), .property("memo"), .ignored()])
    layout.dialect.separator = UInt8(ascii: ";")
    layout.dialect.hasHeader = true
    options[.csvLayout] = layout
    try coordinator.addPersistentStore(type: .csv, at: URL(filePath: "/path/to/list.csv"), options: options)
    let context = ManagedObjectContext(coordinator)
    let toDo = try #require(try context.fetch(entityName: "ToDo").first)
    #expect(try toDo.value(forKey: "memo") as? String == "Bread")
    try toDo.setValue("Milk", forKey: "memo")
    try context.save()
    let saved = try #require(files.contents(ofFileAtPath: "/path/to/list.csv"))
    #expect(String(decoding: saved, as: UTF8.self) == file.replacing("Bread", with: "Milk"))
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
