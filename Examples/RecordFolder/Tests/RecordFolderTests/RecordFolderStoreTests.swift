import Foundation
import Heartwood
import RecordFolder
import Testing

@Suite final class RecordFolderStoreTests {
  private let folder: URL
  private let registry: StoreRegistry

  init() throws {
    registry = try StoreRegistry([RecordFolderStore.self, BinaryStore.self, InMemoryStore.self])
    folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func coordinator() throws -> PersistentStoreCoordinator {
    let model = try ManagedObjectModel(
      entities: [
        EntityDefinition(
          name: "Note",
          properties: [.attribute("text", .string), .toOne("topic", "Topic", inverse: "notes")]
        ),
        EntityDefinition(
          name: "Topic",
          properties: [.attribute("name", .string), .toMany("notes", "Note", inverse: "topic")]
        ),
      ]
    )
    return try PersistentStoreCoordinator(managedObjectModel: model, registry: registry)
  }

  private func context() throws -> ManagedObjectContext {
    let coordinator = try coordinator()
    try coordinator.addPersistentStore(at: folder.appending(path: "Notes.records"))
    return ManagedObjectContext(coordinator)
  }

  private func notes(_ context: ManagedObjectContext) throws -> [String?] {
    try context.fetch(entityName: "Note").map { try $0.value(forKey: "text") as? String }
  }

  private func files(_ name: String = "Notes") throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "\(name).records-files").path))
  }

  @Test func aSaveWritesTheFilesOfWhatHasChanged() throws {
    let context = try context()
    let topic = try context.insert(entityName: "Topic")
    try topic.setValue("Trees", forKey: "name")
    let notes = try ["oak", "elm"].map { text in
      let note = try context.insert(entityName: "Note")
      try note.setValue(text, forKey: "text")
      try note.setValue(topic, forKey: "topic")
      return note
    }
    try context.save()
    let before = try files()
    #expect(before.count == 3)
    try notes[0].setValue("ash", forKey: "text")
    try context.save()
    let after = try files()
    #expect(after.count == 3)
    #expect(after.intersection(before).count == 2)
    context.delete(notes[1])
    try context.save()
    #expect(try self.notes(self.context()) == ["ash"])
  }

  @Test func whatAnotherSavesIsSeenAndConflicts() throws {
    let (one, other) = (try context(), try context())
    let note = try one.insert(entityName: "Note")
    try note.setValue("oak", forKey: "text")
    try one.save()
    let theirs = try #require(try other.fetch(entityName: "Note").first)
    try theirs.setValue("elm", forKey: "text")
    try note.setValue("ash", forKey: "text")
    try other.save()
    #expect(throws: PersistenceError.self) { try one.save() }
    #expect(try notes(context()) == ["elm"])
  }

  /// What has the same version is taken for the same record.
  @Test func whatWasConvertedKeepsItsVersions() throws {
    let coordinator = try coordinator()
    let store = try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let mine = ManagedObjectContext(coordinator)
    let note = try mine.insert(entityName: "Note")
    for text in ["yew", "fir", "oak"] {
      try note.setValue(text, forKey: "text")
      try mine.save()
    }
    try coordinator.convert(store, to: folder.appending(path: "Notes.records"))
    mine.reset()
    let found = try #require(try mine.fetch(entityName: "Note").first)
    #expect(try found.value(forKey: "text") as? String == "oak")
    let other = try context()
    let theirs = try #require(try other.fetch(entityName: "Note").first)
    for text in ["ash", "elm"] {
      try theirs.setValue(text, forKey: "text")
      try other.save()
    }
    try found.setValue("box", forKey: "text")
    #expect(throws: PersistenceError.self) { try mine.save() }
    #expect(try notes(context()) == ["elm"])
  }

  @Test func whatAnInterruptedSaveHasLeftGoes() throws {
    let context = try context()
    try context.insert(entityName: "Note").setValue("oak", forKey: "text")
    try context.save()
    let before = try files()
    for name in [UUID().uuidString + ".json", ".record.a1.heartwood-tmp", "README.md"] {
      try Data("{}".utf8).write(to: folder.appending(path: "Notes.records-files/\(name)"))
    }
    let unfinished = folder.appending(path: ".Notes.records-index.a1.heartwood-tmp")
    try Data("{}".utf8).write(to: unfinished)
    #expect(try notes(self.context()) == ["oak"])
    #expect(try files() == before.union(["README.md"]))
    #expect(!FileManager.default.fileExists(atPath: unfinished.path))
  }

  @Test func itIsConvertedCopiedAndDestroyed() throws {
    let context = try context()
    try context.insert(entityName: "Note").setValue("oak", forKey: "text")
    try context.save()
    let coordinator = context.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    let binary = try coordinator.convert(
      store,
      to: folder.appending(path: "Notes.heartwood"),
      type: .binary
    )
    let copy = folder.appending(path: "Copy.records")
    try coordinator.convert(binary, to: copy)
    #expect(try notes(context) == ["oak"])
    coordinator.close()
    let other = try self.coordinator()
    try other.replacePersistentStore(at: folder.appending(path: "Notes.records"), withPersistentStoreFrom: copy)
    #expect(try files() == files("Copy"))
    #expect(try notes(self.context()) == ["oak"])
    try other.destroyPersistentStore(at: copy)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("Copy") }.isEmpty)
  }
}
