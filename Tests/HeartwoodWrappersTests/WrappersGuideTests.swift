import Foundation
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import HeartwoodWrappers
import Testing

/// The code of the article "Stores around stores": it says what is here, word for word.
@Suite struct WrappersGuideTests {
  private let files = InMemoryFileSystem()
  private let registry = StoreRegistry()
  private let coordinator: PersistentStoreCoordinator

  init() throws {
    let model = try ManagedObjectModel(entities: [.entity("Note", .attribute("text", .string, optional: true))])
    coordinator = try PersistentStoreCoordinator(managedObjectModel: model, registry: registry, fileSystem: files)
  }

  private func saveNote() throws {
    let context = ManagedObjectContext(coordinator)
    try context.insert(entityName: "Note").setValue("Bread", forKey: "text")
    try context.save()
  }

  private func bytes(_ path: String) throws -> [UInt8] { try #require(files.contents(ofFileAtPath: path)) }

  @Test func encrypting() throws {
    let (url, other) = (URL(filePath: "/path/to/notes"), URL(filePath: "/path/to/others"))
    var newOptions = StoreOptions()
    newOptions[.encryptionKey] = try EncryptionKey(bytes: Data(0..<32))
    try registry.register(EncryptedStore<BinaryStore>.self)
    var options = StoreOptions()
    options[.encryptionKey] = try EncryptionKey(passphrase: "correct horse battery staple")
    try coordinator.addPersistentStore(type: "EncryptedBinary", at: url, options: options)
    try saveNote()
    let store = try #require(coordinator.persistentStores.first)
    try coordinator.convert(store, to: other, type: "EncryptedBinary", options: newOptions)
    #expect(try bytes("/path/to/others").starts(with: Array("HWENC".utf8)))
    #expect(try ManagedObjectContext(coordinator).count(entityName: "Note") == 1)
  }

  @Test func compressing() throws {
    try registry.register(CompressedStore<CSVStore>.self)
    try coordinator.addPersistentStore(at: URL(filePath: "/path/to/list.csv.gz"))
    try saveNote()
    #expect(try bytes("/path/to/list.csv.gz").starts(with: [0x1F, 0x8B]))
  }

  @Test func oneInAnother() throws {
    try registry.register(EncryptedStore<CompressedStore<CSVStore>>.self)
    #expect(registry.typeDescriptions.map(\.type).contains("EncryptedCompressedCSV"))
  }
}
