import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Synchronization
import Testing

/// Stores that are at URLs, made by a format that the application configures.
@Suite struct PlaceTests {
  let server = RecordServer()
  let files = InMemoryFileSystem()
  let url: URL

  init() throws {
    url = try #require(URL(string: "records://ann:secret@host/todos"))
  }

  private func registry(_ format: RecordFormat? = nil) throws -> StoreRegistry {
    let registry = try StoreRegistry([BinaryStore.self, CSVStore.self, InMemoryStore.self])
    try registry.register(format ?? RecordFormat(server: server))
    return registry
  }

  private func coordinator(_ format: RecordFormat? = nil) throws -> PersistentStoreCoordinator {
    try PersistentStoreCoordinator(
      managedObjectModel: Library.model,
      registry: try registry(format),
      objectClasses: Library.objectClasses,
      fileSystem: files
    )
  }

  private func fill(_ names: String...) throws {
    let coordinator = try coordinator()
    try coordinator.addPersistentStore(at: url)
    let context = ManagedObjectContext(coordinator)
    for name in names { _ = try context.person(name) }
    try context.save()
    coordinator.close()
  }

  private func names(at url: URL? = nil) throws -> [String] {
    let coordinator = try coordinator()
    try coordinator.addPersistentStore(at: url ?? self.url)
    defer { coordinator.close() }
    return try ManagedObjectContext(coordinator).fetch(Person.self).map(\.name).sorted()
  }

  // MARK: Opening

  @Test func theSchemeOfAURLTellsTheTypeOfItsStore() throws {
    try fill("Ann", "Bob")
    let coordinator = try coordinator()
    let store = try coordinator.addPersistentStore(at: url)
    #expect(store.type == RecordFormat.type)
    #expect(store.place == .url(url))
    #expect(store.path == nil)
    #expect(coordinator.url(for: store) == url)
    #expect(coordinator.persistentStore(for: url) === store)
    #expect(try ManagedObjectContext(coordinator).fetch(Person.self).count == 2)
    #expect(try store.fileState() == .absent)
  }

  @Test func errorsOfReadingNameThePlace() throws {
    try fill("Ann")
    try server.database(at: url).unreadable.withLock { $0 = Set(1...1_000) }
    let coordinator = try coordinator()
    try coordinator.addPersistentStore(at: url)
    let error = persistenceError { _ = try ManagedObjectContext(coordinator).fetch(Person.self) }
    #expect(error?.code == .fileCorrupt)
    #expect(error?.context.path?.hasPrefix("records://") == true)
    #expect(error?.context.path?.contains("secret") == false)
  }

  @Test func schemesAreToldWithoutRegardToCase() throws {
    let registry = try registry()
    #expect(registry.types(forURLScheme: "RECORDS") == [RecordFormat.type])
    let loud = try #require(URL(string: "Records://host/todos"))
    #expect(try registry.type(ofStoreAt: StorePlace(loud)) == RecordFormat.type)
  }

  @Test func aSchemeThatNoStoreHasIsRefused() throws {
    let other = try #require(URL(string: "gopher://host/todos"))
    let coordinator = try coordinator()
    let error = persistenceError { try coordinator.addPersistentStore(at: other) }
    #expect(error?.code == .storeTypeUndetermined)
    #expect(error?.context.path == "gopher://host/todos")
    #expect(error?.message.contains("records://") == true)
  }

  @Test func aStoreIsRefusedWhereItCannotBe() throws {
    let coordinator = try coordinator()
    let atURL = persistenceError { try coordinator.addPersistentStore(type: .binary, at: url) }
    #expect(atURL?.code == .capabilityMissing)
    #expect(atURL?.message.contains("file URL") == true)
    let atFile = persistenceError {
      try coordinator.addPersistentStore(type: RecordFormat.type, at: URL(filePath: "/todos"))
    }
    #expect(atFile?.code == .capabilityMissing)
    #expect(atFile?.message.contains("records://") == true)
    let wrong = try #require(URL(string: "https://host/todos"))
    let atOther = persistenceError { try coordinator.addPersistentStore(type: RecordFormat.type, at: wrong) }
    #expect(atOther?.code == .capabilityMissing)
    #expect(server.paths.isEmpty && files.paths.isEmpty)
  }

  @Test func onePlaceIsOpenOnceWhateverThePassword() throws {
    let coordinator = try coordinator()
    try coordinator.addPersistentStore(at: url)
    let again = try #require(URL(string: "records://ann:other@host/todos"))
    let error = persistenceError { try coordinator.addPersistentStore(at: again) }
    #expect(error?.code == .storeAlreadyOpen)
    let beside = try #require(URL(string: "records://ann@host/lists"))
    try coordinator.addPersistentStore(at: beside)
    #expect(server.paths == ["/lists", "/todos"])
  }

  @Test func noPasswordIsTold() throws {
    #expect(StorePlace(url).description == "records://ann@host/todos")
    let query = try #require(URL(string: "https://host/a?page=2&access_token=abc&Password=x#part"))
    #expect(StorePlace(query).description == "https://host/a?page=2&access_token=xxx&Password=xxx#part")
    try fill("Ann")
    let coordinator = try coordinator()
    try coordinator.addPersistentStore(at: url)
    let error = persistenceError { try coordinator.addPersistentStore(at: url) }
    #expect(error.map { "\($0)".contains("secret") } == false)
    let object = try #require(try ManagedObjectContext(coordinator).fetch(Person.self).first)
    #expect(!object.objectID.uriRepresentation().absoluteString.contains("secret"))
  }

  // MARK: Without opening

  @Test func aStoreTellsItsMetadataAndTakesOthers() throws {
    try fill("Ann")
    let coordinator = try coordinator()
    var metadata = try coordinator.metadataForPersistentStore(at: url)
    #expect(metadata.storeType == RecordFormat.type)
    metadata.userInfo = ["owner": "Ann"]
    try coordinator.setMetadata(metadata, at: url)
    #expect(try coordinator.metadataForPersistentStore(at: url).userInfo == ["owner": "Ann"])
    #expect(try names() == ["Ann"])
  }

  @Test func aStoreThatIsNotThereIsNotTold() throws {
    let coordinator = try coordinator()
    let read = persistenceError { _ = try coordinator.metadataForPersistentStore(at: url) }
    #expect(read?.code == .fileNotFound)
    let destroyed = persistenceError { try coordinator.destroyPersistentStore(at: url) }
    #expect(destroyed?.code == .fileNotFound)
    var options = StoreOptions()
    options[.isReadOnly] = true
    let opened = persistenceError { try coordinator.addPersistentStore(at: url, options: options) }
    #expect(opened?.code == .fileNotFound)
    #expect(server.paths.isEmpty)
  }

  @Test func aStoreIsDestroyed() throws {
    try fill("Ann")
    try coordinator().destroyPersistentStore(at: url)
    #expect(server.paths.isEmpty)
    try fill("Bob")
    let owned = try coordinator(RecordFormat(server: server, isReadOnly: true))
    let error = persistenceError { try owned.destroyPersistentStore(at: url) }
    #expect(error?.code == .storeReadOnly)
    #expect(try names() == ["Bob"])
  }

  @Test func whatTheServerSaysIsSaid() throws {
    try fill("Ann")
    server.failure.withLock { $0 = PersistenceError(.fileReadFailed, "The server does not answer.") }
    let coordinator = try coordinator()
    let added = persistenceError { try coordinator.addPersistentStore(at: url) }
    #expect(added?.message.contains("does not answer") == true)
    let told = persistenceError { _ = try coordinator.metadataForPersistentStore(at: url) }
    #expect(told?.message.contains("does not answer") == true)
  }

  // MARK: Conversion

  @Test func aFileIsConvertedToAURLAndBack() throws {
    let file = URL(filePath: "/library.heartwood")
    let coordinator = try coordinator()
    let store = try coordinator.addPersistentStore(at: file)
    let context = ManagedObjectContext(coordinator)
    let ann = try context.person("Ann")
    try context.save()
    let converted = try coordinator.convert(store, to: url)
    #expect(converted.place == .url(url))
    #expect(ann.name == "Ann" && server.paths == ["/todos"])
    ann.name = "Anna"
    try context.save()
    let back = try coordinator.convert(converted, to: URL(filePath: "/back.heartwood"))
    #expect(back.identifier == store.identifier)
    #expect(try context.fetch(Person.self).map(\.name) == ["Anna"])
  }

  @Test func aStoreIsReplacedOnlyIfThatIsSaid() throws {
    try fill("Old")
    let coordinator = try coordinator()
    let store = try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    _ = try context.person("New")
    try context.save()
    let error = persistenceError { try coordinator.copyPersistentStore(store, to: url) }
    #expect(error?.code == .fileExists)
    #expect(try names() == ["Old"])
    try coordinator.copyPersistentStore(store, to: url, replacing: true)
    #expect(try names() == ["New"])
    #expect(server.paths == ["/todos"], "Drafts are gone: \(server.paths)")
  }

  @Test func aStoreThatCannotTakeThePlaceOfAnotherLeavesIt() throws {
    try fill("Old")
    let coordinator = try coordinator(RecordFormat(server: server, replacesStores: false))
    let store = try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let error = persistenceError { try coordinator.copyPersistentStore(store, to: url, replacing: true) }
    #expect(error?.code == .fileExists)
    #expect(try names() == ["Old"])
    let free = try #require(URL(string: "records://host/free"))
    try coordinator.copyPersistentStore(store, to: free)
    #expect(server.paths == ["/free", "/todos"])
  }

  @Test func onlyFilesAreReplacedByFiles() throws {
    try fill("Ann")
    let coordinator = try coordinator()
    let other = try #require(URL(string: "records://host/other"))
    let error = persistenceError { try coordinator.replacePersistentStore(at: other, withPersistentStoreFrom: url) }
    #expect(error?.code == .capabilityMissing)
    #expect(server.paths == ["/todos"])
  }

  // MARK: Migration

  @Test func aStoreIsMigratedAtItsURL() throws {
    let old = try ManagedObjectModel(entities: [.entity("ToDo", .attribute("title", .string))])
    let new = try ManagedObjectModel(
      entities: [
        .entity(
          "ToDo",
          .attribute("name", .string, renamedFrom: "title"),
          .attribute("done", .boolean, optional: true)
        )
      ]
    )
    func open(_ model: ManagedObjectModel, _ options: StoreOptions) throws -> ManagedObjectContext {
      let coordinator = try PersistentStoreCoordinator(
        managedObjectModel: model,
        registry: try registry(),
        fileSystem: files
      )
      try coordinator.addPersistentStore(at: url, options: options)
      return ManagedObjectContext(coordinator)
    }
    let context = try open(old, StoreOptions())
    try context.insert(entityName: "ToDo").setValue("Buy milk", forKey: "title")
    try context.save()
    context.persistentStoreCoordinator.close()
    var options = StoreOptions()
    options[.shouldMigrateStoreAutomatically] = false
    #expect(persistenceError { _ = try open(new, options) }?.code == .modelIncompatible)
    options[.shouldMigrateStoreAutomatically] = true
    let migrated = try open(new, options)
    let todo = try #require(try migrated.fetch(entityName: "ToDo").first)
    #expect(try todo.value(forKey: "name") as? String == "Buy milk")
    #expect(server.paths == ["/todos"], "Drafts are gone: \(server.paths)")
  }

  // MARK: Registry

  @Test func aFormatIsRegisteredOnceAndUnregistered() throws {
    let registry = try registry()
    let error = persistenceError { try registry.register(RecordFormat(server: server)) }
    #expect(error?.code == .storeTypeAlreadyRegistered)
    let found = try registry.format(for: RecordFormat.type)
    #expect(found is RecordFormat)
    registry.unregister(RecordFormat.type)
    #expect(registry.types(forURLScheme: "records").isEmpty)
  }

  @Test func aFormatThatMakesNoStoreIsRefused() throws {
    struct Nothing: StoreFormat {
      let typeDescription = StoreTypeDescription(
        type: "Nothing",
        displayName: "Nothing",
        capabilities: InMemoryStore.typeDescription.capabilities
      )
    }
    let error = persistenceError { try StoreRegistry().register(Nothing()) }
    #expect(error?.code == .capabilityMissing)
    #expect(error?.message.contains("IncrementalStoreFormat") == true)
  }
}
