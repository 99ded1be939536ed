import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodMetrics
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// The code of the article on containers.
@Suite struct ContainersGuideTests {
  fileprivate final class Note: ManagedObject {
    static let textKey = AttributeKey<String>("text")

    var text: String {
      get { self[Self.textKey] }
      set { self[Self.textKey] = newValue }
    }
  }

  private let scratch: ScratchFolder
  private var folder: URL { scratch.url }

  init() throws {
    scratch = try ScratchFolder()
  }

  @Test func oneLine() async throws {
    let container = try await PersistentContainer.open("Notes", objectClasses: [Note.self], directory: folder)
    try await container.write { context in
      try context.insert(Note.self).text = "Bread"
    }
    #expect(try scratch.names() == ["Notes.heartwood"])
  }

  #if Metrics
    @Test func metrics() throws {
      let model = try Notes.model()
      let container = try PersistentContainer(
        name: "Notes",
        managedObjectModel: model,
        operationObserver: OperationMetrics()
      )
      #expect(container.persistentStoreCoordinator.operationObserver is OperationMetrics)
    }
  #endif

  @Test func twoLines() async throws {
    let model = try Notes.model()
    let container = try PersistentContainer(name: "Notes", managedObjectModel: model, directory: folder)
    try await container.loadPersistentStores()
    #expect(container.persistentStoreCoordinator.persistentStores.map(\.type) == [.binary])
  }

  @Test func checkMigrateOpen() async throws {
    let bundle = folder
    let description = PersistentStoreDescription(url: folder.appending(path: "notes.xml"))
    try Notes.writeBundle("Notes", in: bundle, attributes: "text")
    let old = try PersistentContainer(name: "Notes", modelIn: [bundle], stores: [description])
    try old.loadPersistentStoresAndWait()
    try old.writeAndWait { try $0.note("kept") }
    old.close()
    try Notes.writeBundle("Notes", in: bundle, attributes: "text", "title")
    let container = try PersistentContainer(name: "Notes", modelIn: [bundle], stores: [description])
    for migration in try container.migrations() { try migration.run() }
    try await container.loadPersistentStores()
    #expect(try await container.texts("title") == ["kept"])
  }

  @Test func descriptions() throws {
    let url = folder.appending(path: "some")
    let descriptions = [
      PersistentStoreDescription(),  // called as the container, in its folder, as a binary file
      PersistentStoreDescription(fileName: "list.csv"),  // in its folder, of the type that the name tells
      PersistentStoreDescription(type: .xml, url: url),
      PersistentStoreDescription.inMemory,
    ]
    #expect(descriptions.map(\.fileName) == [nil, "list.csv", nil, nil])
    let backup = folder.appending(path: "backup")
    var description = PersistentStoreDescription(fileName: "cache.heartwood")
    description.shouldMigrateStoreAutomatically = true  // the default
    description.migrationBackupURL = backup
    description.losesAllDataOnModelMismatch = true  // for what can be fetched again
    description.options[.tracksPersistentHistory] = true
    #expect(description.options[.migrationBackupPath] == backup.path)
  }

  @Test func writing() async throws {
    let container = try await PersistentContainer.open("Notes", at: .inMemory, objectClasses: [Note.self])
    try await container.write { try $0.insert(Note.self).text = "a" }  // to the stores
    try await container.write(to: .viewContext) { try $0.insert(Note.self).text = "b" }  // unsaved in the view context
    #expect(try await container.texts() == ["a"])
    try await container.write(to: .viewContextAndStores) { try $0.insert(Note.self).text = "c" }  // all the way up
    try container.writeAndWait { try $0.insert(Note.self).text = "d" }  // here and now
    #expect(try await container.texts() == ["a", "b", "c", "d"])
  }
}

private typealias Note = ContainersGuideTests.Note

private let model: ManagedObjectModel = {
  do {
    return try Notes.model()
  } catch {
    preconditionFailure("\(error)")
  }
}()

@Suite struct NoteTests {
  let test: TemporaryContainer
  init() throws { test = try TemporaryContainer(model, objectClasses: [Note.self]) }

  @Test func textsAreKept() async throws {
    try await test.container.write { try $0.insert(Note.self).text = "Bread" }
    let texts = try await test.container.performBackgroundTask { try $0.fetch(Note.self).map(\.text) }
    #expect(texts == ["Bread"])
  }
}
