import Foundation
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import HeartwoodWrappers
import Testing

@Suite struct ReadOnlyStoreTests {
  @Test func recordsAreReadAndNeverWritten() throws {
    let fixture = try WrapperFixture(BinaryStore.self, ReadOnlyStore<BinaryStore>.self)
    try fixture.write(["a"], .binary)
    let before = try fixture.bytes
    #expect(try fixture.read("ReadOnlyBinary") == ["a"])
    let error = #expect(throws: PersistenceError.self) { try fixture.write(["b"], "ReadOnlyBinary") }
    #expect(error?.code == .storeReadOnly)
    #expect(error?.message.contains("Binary") == true)
    #expect(try fixture.bytes == before)
  }

  private func fixture() throws -> WrapperFixture {
    let fixture = try WrapperFixture(BinaryStore.self, ReadOnlyStore<BinaryStore>.self)
    try fixture.write(["a"], .binary)
    return fixture
  }

  @Test func filesAreNeverReplacedOrRemoved() throws {
    let fixture = try fixture()
    let before = try fixture.bytes
    try fixture.files.setContents(before, ofFileAtPath: "/other")
    let (url, other) = (URL(filePath: WrapperFixture.path), URL(filePath: "/other"))
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: fixture.model,
      registry: fixture.registry,
      fileSystem: fixture.files
    )
    let removal = #expect(throws: PersistenceError.self) {
      try coordinator.destroyPersistentStore(at: url, type: "ReadOnlyBinary")
    }
    #expect(removal?.code == .storeReadOnly)
    #expect(removal?.context.path == WrapperFixture.path)
    let replacement = #expect(throws: PersistenceError.self) {
      try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: other, type: "ReadOnlyBinary")
    }
    #expect(replacement?.code == .storeReadOnly)
    #expect(try fixture.bytes == before)
    try coordinator.destroyPersistentStore(at: url, type: .binary)
    #expect(fixture.files.contents(ofFileAtPath: WrapperFixture.path) == nil)
  }

  @Test func aContainerDoesNotReplaceWhatDoesNotFit() throws {
    let fixture = try fixture()
    let before = try fixture.bytes
    let model = try ManagedObjectModel(
      entities: [
        .entity("Note", .attribute("text", .string, optional: true), .attribute("title", .string, optional: true))
      ]
    )
    var description = PersistentStoreDescription(type: "ReadOnlyBinary", url: URL(filePath: WrapperFixture.path))
    description.losesAllDataOnModelMismatch = true
    description.shouldInferMappingModelAutomatically = false
    for migrates in [true, false] {
      description.shouldMigrateStoreAutomatically = migrates
      let container = try PersistentContainer(
        name: "Notes",
        managedObjectModel: model,
        stores: [description],
        registry: fixture.registry,
        fileSystem: fixture.files
      )
      let error = #expect(throws: PersistenceError.self) { try container.loadPersistentStoresAndWait() }
      #expect(error?.code == (migrates ? .mappingModelMissing : .modelIncompatible))
      #expect(try fixture.bytes == before)
    }
  }

  @Test func wrappersAroundItAreReadOnlyToo() {
    #expect(LoggingStore<ReadOnlyStore<BinaryStore>>.isReadOnly)
    #expect(CompressedStore<ReadOnlyStore<BinaryStore>>.isReadOnly)
    #expect(!LoggingStore<BinaryStore>.isReadOnly)
  }
}
