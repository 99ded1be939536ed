import Foundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import Heartwood

@Suite struct PersistentContainerTests {
  let folder: ScratchFolder

  init() throws {
    folder = try ScratchFolder()
  }

  @Test(arguments: Notes.types)
  func whatIsWrittenIsThereAgain(_ type: StoreType) async throws {
    let container = try Notes.container(in: folder.url, PersistentStoreDescription(type: type))
    try await container.loadPersistentStores()
    let written = try await container.write { context in
      for text in ["one", "two"] { try context.note(text) }
      return context.insertedObjects.count
    }
    #expect(written == 2)
    #expect(try await MainActor.run { try container.viewContext.texts() } == ["one", "two"])
    container.close()
    let again = try Notes.container(in: folder.url, PersistentStoreDescription(type: type))
    try await again.loadPersistentStores()
    #expect(try await again.texts() == (type == .inMemory ? [] : ["one", "two"]))
    #expect(again.persistentStoreCoordinator.persistentStores.map(\.type) == [type])
  }

  @Test func aFileIsCalledAsTheContainer() async throws {
    let container = try Notes.container(in: folder.url.appending(path: "deep/folder"))
    try await container.loadPersistentStores()
    try await container.write { try $0.note("a") }
    #expect(FileManager.default.fileExists(atPath: folder.path("deep/folder/Notes.heartwood")))
    let permissions = try FileManager.default.attributesOfItem(atPath: folder.path("deep"))[.posixPermissions]
    #expect(permissions as? Int == 0o700)
  }

  @Test(arguments: [
    ("list.csv", "CSV", "list.csv"), ("list.xml", "XML", "list.xml"), ("list.sqlite", "SQLite", "list.sqlite"),
    ("list", "Binary", "list.heartwood"), ("list.v1", "Binary", "list.v1.heartwood"),
  ])
  func aFileNameTellsTheType(_ fileName: String, _ type: String, _ file: String) async throws {
    let container = try Notes.container(in: folder.url, PersistentStoreDescription(fileName: fileName))
    try await container.loadPersistentStores()
    try await container.write { try $0.note("a") }
    #expect(container.persistentStoreCoordinator.persistentStores.map(\.type.rawValue) == [type])
    #expect(try folder.names().contains(file))
  }

  @Test func aTypeGivesTheFileItsExtension() async throws {
    let container = try Notes.container(in: folder.url, PersistentStoreDescription(fileName: "list", type: .csv))
    try await container.loadPersistentStores()
    try await container.write { try $0.note("a") }
    #expect(try folder.names() == ["list.csv"])
  }

  @Test func oneLineSetsUp() async throws {
    let model = try Notes.model()
    let url = folder.url.appending(path: "somewhere.csv")
    let named = try await PersistentContainer.open("Notes", managedObjectModel: model, directory: folder.url)
    let placed = try await PersistentContainer.open(
      "Notes",
      at: PersistentStoreDescription(url: url),
      managedObjectModel: model
    )
    let transient = try await PersistentContainer.open("Notes", at: .inMemory, managedObjectModel: model)
    for container in [named, placed, transient] { try await container.write { try $0.note("a") } }
    #expect(try folder.names() == ["Notes.heartwood", "somewhere.csv"])
  }

  @Test func oneLineFindsTheModel() async throws {
    try Notes.writeBundle("Notes", in: folder.url, attributes: "text")
    let container = try await PersistentContainer.open("Notes", modelIn: [folder.url], directory: folder.url)
    #expect(container.managedObjectModel.entities.map(\.name) == ["Note"])
  }

  @Test func severalStoresKeepTheirConfigurations() async throws {
    let model = try ManagedObjectModel(
      entities: [
        .entity("Note", .attribute("text", .string, default: .string(""))),
        .entity("Setting", .attribute("text", .string, default: .string(""))),
      ],
      configurations: ["Notes": ["Note"], "Settings": ["Setting"]]
    )
    let container = try Notes.container(
      in: folder.url,
      PersistentStoreDescription(fileName: "notes.csv", configuration: "Notes"),
      PersistentStoreDescription(fileName: "settings.plist", configuration: "Settings"),
      model: model
    )
    try await container.loadPersistentStores()
    try await container.write { context in
      try context.note("a")
      try context.insert(entityName: "Setting").setValue("b", forKey: "text")
    }
    #expect(try folder.names() == ["notes.csv", "settings.plist"])
    let stores = container.persistentStoreCoordinator.persistentStores
    #expect(stores.map { $0.entities.map(\.name) } == [["Note"], ["Setting"]])
  }

  @Test func aReadOnlyStoreIsNotSaved() async throws {
    let first = try Notes.container(in: folder.url)
    try await first.loadPersistentStores()
    try await first.write { try $0.note("a") }
    first.close()
    var description = PersistentStoreDescription()
    description.isReadOnly = true
    let container = try Notes.container(in: folder.url, description)
    try await container.loadPersistentStores()
    let error = await persistenceError { try await container.write { try $0.note("b") } }
    #expect(error?.code == .storeReadOnly)
    #expect(try await container.texts() == ["a"])
  }

  @Test func aTypeThatNobodyHasRegisteredIsAnError() async throws {
    let container = try PersistentContainer(
      name: "Notes",
      managedObjectModel: try Notes.model(),
      stores: [PersistentStoreDescription(fileName: "list", type: "SQLite")],
      directory: folder.url,
      registry: StoreRegistry()
    )
    await #expect { try await container.loadPersistentStores() } throws: {
      PersistenceError.Code.storeTypeUnknown ~= $0
    }
  }

  @Test func foldersOfAPlatformAreUsed() {
    let home = URL(filePath: "/home/ann")
    let folder = DefaultDirectory(application: "todo", environment: ["XDG_DATA_HOME": "/data"], home: home)
    let relative = DefaultDirectory(application: "todo", environment: ["XDG_DATA_HOME": "data"], home: home)
    let plain = DefaultDirectory(application: "todo", environment: [:], home: home)
    #if canImport(Darwin)
      for folder in [folder, relative, plain] {
        #expect(folder.url.path == "/home/ann/Library/Application Support/todo")
      }
    #else
      #expect(folder.url.path == "/data/todo")
      #expect(relative.url.path == "/home/ann/.local/share/todo")
      #expect(plain.url.path == "/home/ann/.local/share/todo")
    #endif
    #expect(plain.formerURL.path == "/home/ann/.todo")
    #expect(PersistentContainer.defaultDirectoryURL(applicationName: "todo").lastPathComponent == "todo")
  }

  @Test func theFolderOfAnOlderConventionIsTheLastToBeLookedIn() throws {
    let files = InMemoryFileSystem()
    let home = DefaultDirectory(application: "todo", environment: [:], home: URL(filePath: "/home/ann"))
    let place = StoreLocation(
      name: "Notes",
      directory: home.url,
      formerDirectory: home.formerURL,
      registry: .default,
      fileSystem: files
    )
    var description = PersistentStoreDescription()
    description.formerDirectories = [URL(filePath: "/former")]
    let name = "Notes.heartwood"
    let places = [home.formerURL, URL(filePath: "/former"), home.url].map { $0.appending(path: name) }
    #expect(try place.url(of: description) == places[2])
    for url in places {
      try files.setContents([1], ofFileAtPath: url.path)
      #expect(try place.url(of: description) == url)
    }
  }

  @Test func anOlderPlaceIsUsedWhereTheFileLiesThere() async throws {
    let former = folder.url.appending(path: "former")
    let current = folder.url.appending(path: "current")
    var description = PersistentStoreDescription()
    description.formerDirectories = [folder.url.appending(path: "never"), former]
    let old = try Notes.container(in: former)
    try await old.loadPersistentStores()
    try await old.write { try $0.note("old") }
    old.close()
    let container = try Notes.container(in: current, description)
    try await container.loadPersistentStores()
    #expect(try await container.texts() == ["old"])
    try await container.write { try $0.note("new") }
    #expect(try folder.names() == ["former"])
    container.close()
    // What lies in the container's own folder comes first.
    try FileManager.default.createDirectory(at: current, withIntermediateDirectories: true)
    let name = "Notes.heartwood"
    try FileManager.default.moveItem(at: former.appending(path: name), to: current.appending(path: name))
    let other = try Notes.container(in: former)
    try await other.loadPersistentStores()
    try await other.write { try $0.note("other") }
    let again = try Notes.container(in: current, description)
    try await again.loadPersistentStores()
    #expect(try await again.texts() == ["new", "old"])
  }
}
