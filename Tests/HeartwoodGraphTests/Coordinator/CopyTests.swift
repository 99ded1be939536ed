import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Snapshots of open stores as files of any type.
@Suite struct CopyTests {
  private static let fileTypes = StoreRegistry.default.typeDescriptions
    .filter { $0.capabilities.supports(.persistence) }.map(\.type)
  private let files = InMemoryFileSystem()
  private let model: ManagedObjectModel

  init() throws {
    model = try ManagedObjectModel(entities: [.entity("Item", .attribute("text", .string, optional: true))])
  }

  private func coordinator() throws -> PersistentStoreCoordinator {
    try PersistentStoreCoordinator(managedObjectModel: model, registry: .default, fileSystem: files)
  }

  private func add(_ text: String, to context: ManagedObjectContext) throws {
    try context.insert(entityName: "Item").setPropertyValue(.string(text), forKey: "text")
  }

  private func texts(_ context: ManagedObjectContext) throws -> [PropertyValue] {
    try context.fetch(entityName: "Item").map { try $0.propertyValue(forKey: "text") }
  }

  @Test(arguments: fileTypes)
  func aSnapshotOfMemoryIsAFile(_ type: StoreType) throws {
    let coordinator = try coordinator()
    let store = try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    try add("saved", to: context)
    try context.save()
    try add("unsaved", to: context)
    let url = URL(filePath: "/snapshot")
    try coordinator.copyPersistentStore(store, to: url, type: type)
    // The store in memory goes on, and the file is as it was.
    try context.save()
    #expect(coordinator.persistentStores.map(\.type) == [.inMemory])
    #expect(try texts(context).count == 2)
    let other = try self.coordinator()
    let copy = try other.addPersistentStore(type: type, at: url)
    #expect(try texts(ManagedObjectContext(other)) == [.string("saved")])
    #expect(copy.identifier == store.identifier)
    #expect(
      errorCode { try coordinator.copyPersistentStore(store, to: url, type: type) } == .fileExists
    )
    try coordinator.copyPersistentStore(store, to: url, type: type, replacing: true)
    let newest = try self.coordinator()
    try newest.addPersistentStore(type: type, at: url)
    #expect(try texts(ManagedObjectContext(newest)).count == 2)
  }

  private func errorCode(_ body: () throws -> Void) -> PersistenceError.Code? { persistenceError(body)?.code }
}
