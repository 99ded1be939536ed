import Foundation
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Wrapped stores in files in memory.
struct WrapperFixture {
  static let path = "/store"

  let files = InMemoryFileSystem()
  let registry: StoreRegistry
  let model: ManagedObjectModel
  var options = StoreOptions()

  init(_ storeClasses: any StoreClass.Type...) throws {
    registry = try StoreRegistry(storeClasses)
    model = try ManagedObjectModel(entities: [.entity("Note", .attribute("text", .string, optional: true))])
  }

  func coordinator(_ type: StoreType) throws -> PersistentStoreCoordinator {
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, registry: registry, fileSystem: files)
    try coordinator.addPersistentStore(type: type, at: URL(filePath: Self.path), options: options)
    return coordinator
  }

  /// Saves notes of these texts as a new store.
  func write(_ texts: [String], _ type: StoreType) throws {
    let context = ManagedObjectContext(try coordinator(type))
    for text in texts { try context.insert(entityName: "Note").setPropertyValue(.string(text), forKey: "text") }
    try context.save()
  }

  /// The texts of all notes.
  func read(_ type: StoreType) throws -> [String] {
    try ManagedObjectContext(try coordinator(type)).fetch(entityName: "Note").compactMap { note in
      guard case .string(let text) = try note.propertyValue(forKey: "text") else { return nil }
      return text
    }
  }

  func readingError(_ type: StoreType) throws -> PersistenceError {
    try #require(throws: PersistenceError.self) { try read(type) }
  }

  var bytes: [UInt8] {
    get throws { try #require(files.contents(ofFileAtPath: Self.path)) }
  }

  func setBytes(_ bytes: [UInt8]) throws {
    try files.setContents(bytes, ofFileAtPath: Self.path)
  }
}
