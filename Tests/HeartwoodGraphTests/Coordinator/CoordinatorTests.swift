import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@Suite struct CoordinatorTests {
  private let memory = InMemoryFileSystem()
  private var files: FaultInjectingFileSystem { FaultInjectingFileSystem(wrapping: memory) }
  private let url = URL(filePath: "/folder/a.heartwood")
  private let otherURL = URL(filePath: "/folder/b.heartwood")

  private func code(_ body: () throws -> Void) -> PersistenceError.Code? { persistenceError(body)?.code }

  /// Saves a person into a binary store at `url`.
  @discardableResult
  private func makeStore(_ name: String = "Ann", at url: URL? = nil) throws -> UUID {
    let coordinator = try TestStack.coordinator(files)
    let store = try coordinator.addPersistentStore(type: .binary, at: url ?? self.url)
    let context = ManagedObjectContext(coordinator)
    _ = try context.person(name)
    try context.save()
    return store.identifier
  }

  private func names(at url: URL) throws -> [String] {
    let coordinator = try TestStack.coordinator(files)
    try coordinator.addPersistentStore(type: .binary, at: url)
    return try ManagedObjectContext(coordinator).fetch(Person.self).map(\.name)
  }

  @Test func storesAreAddedFoundAndRemoved() throws {
    let identifier = try makeStore()
    let coordinator = try TestStack.coordinator(files)
    let store = try coordinator.addPersistentStore(type: .binary, at: url)
    #expect(coordinator.persistentStores.map(ObjectIdentifier.init) == [ObjectIdentifier(store)])
    #expect(store.identifier == identifier)
    #expect(coordinator.persistentStore(for: url) === store)
    #expect(coordinator.persistentStore(withIdentifier: identifier) === store)
    #expect(coordinator.url(for: store)?.path == url.path)
    try coordinator.remove(store)
    #expect(coordinator.persistentStores.isEmpty)
    #expect(code { try coordinator.remove(store) } == .storeNotOpen)
    try coordinator.addPersistentStore(type: .binary, at: url)
  }

  @Test func aFileIsOpenOnce() throws {
    try makeStore()
    try memory.createSymbolicLink(atPath: "/folder/link.heartwood", destination: url.path)
    let coordinator = try TestStack.coordinator(files)
    try coordinator.addPersistentStore(type: .binary, at: url)
    #expect(code { try coordinator.addPersistentStore(type: .binary, at: url) } == .storeAlreadyOpen)
    let link = URL(filePath: "/folder/link.heartwood")
    #expect(code { try coordinator.addPersistentStore(type: .binary, at: link) } == .storeAlreadyOpen)
    #expect(code { try coordinator.destroyPersistentStore(at: link, type: .binary) } == .storeAlreadyOpen)
    let bytes = try #require(memory.contents(ofFileAtPath: url.path))
    try memory.setContents(bytes, ofFileAtPath: otherURL.path)
    let error = try #require(persistenceError { try coordinator.addPersistentStore(type: .binary, at: otherURL) })
    #expect(error.code == .storeAlreadyOpen)
    #expect(error.message.contains("identifier"))
    #expect(coordinator.persistentStores.count == 1)
    let remote = try #require(URL(string: "https://example.org/a.heartwood"))
    #expect(code { try coordinator.addPersistentStore(type: .binary, at: remote) } == .capabilityMissing)
    #expect(code { try coordinator.addPersistentStore(at: nil) } == .storeTypeUndetermined)
  }

  @Test func manyThreadsOpenAFileOnce() async throws {
    try makeStore()
    let coordinator = try TestStack.coordinator(files)
    let url = url
    let opened = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask { (try? coordinator.addPersistentStore(type: .binary, at: url)) == nil ? 0 : 1 }
      }
      return await group.reduce(0, +)
    }
    #expect(opened == 1)
    #expect(coordinator.persistentStores.count == 1)
  }

  @Test func objectsOfARemovedStore() throws {
    let stack = try TestStack(.binary)
    let context = stack.context()
    let ann = try context.person("Ann")
    ann.spouse = try context.person("Bob")
    try context.save()
    let id = ann.objectID
    try stack.coordinator.remove(stack.store)
    #expect(ann.name == "Ann")
    #expect(ann.spouse == nil)
    #expect(code { _ = try context.existingObject(with: id) } == .storeNotOpen)
    #expect(code { _ = try context.fetch(Person.self) } == .storeNotOpen)
    ann.name = "Anna"
    #expect(code { try context.save() } == .storeNotOpen)
    #expect(ann.isUpdated)
    context.rollback()
    _ = try context.person("New")
    #expect(code { try context.save() } == .storeNotOpen)
    #expect(stack.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == nil)
  }

  @Test func configurationsSplitSaves() throws {
    let coordinator = try TestStack.coordinator(files)
    let rest = try coordinator.addPersistentStore(type: .inMemory, configuration: "Rest", at: nil)
    let context = ManagedObjectContext(coordinator)
    let early = try context.insert(Note.self)
    #expect(code { try context.save() } == .storeNotOpen)
    #expect(early.isInserted)
    let notes = try coordinator.addPersistentStore(type: .binary, configuration: "Notes", at: url)
    let ann = try context.person("Ann")
    try context.save()
    #expect(ann.objectID.storeIdentifier == rest.identifier)
    #expect(early.objectID.storeIdentifier == notes.identifier)
    ann.name = "Anna"
    early.text = "Hello"
    try context.save()
    #expect(try ManagedObjectContext(coordinator).fetch(Note.self).map(\.text) == ["Hello"])
    #expect(try ManagedObjectContext(coordinator).fetch(Person.self).map(\.name) == ["Anna"])
  }

  @Test func aReadOnlyStoreIsNotWritten() throws {
    try makeStore()
    var options = StoreOptions()
    options[.isReadOnly] = true
    let coordinator = try TestStack.coordinator(files)
    try coordinator.addPersistentStore(type: .binary, at: url, options: options)
    let context = ManagedObjectContext(coordinator)
    try #require(try context.fetch(Person.self).first).name = "Anna"
    #expect(code { try context.save() } == .storeReadOnly)
    context.rollback()
    _ = try context.person("Bob")
    #expect(code { try context.save() } == .storeReadOnly)
  }

  @Test func classesMustFitTheModel() throws {
    final class Other: ManagedObject {
      override class var entityName: String { "Person" }
    }
    final class Clerk: ManagedObject {
      override class var entityName: String { "Employee" }
    }
    final class Nobody: ManagedObject {}
    func make(_ classes: ManagedObject.Type...) throws {
      _ = try PersistentStoreCoordinator(managedObjectModel: Library.model, registry: .default, objectClasses: classes)
    }
    #expect(code { try make(Nobody.self) } == .entityUnknown)
    #expect(code { try make(Person.self, Other.self) } == .objectClassMismatch)
    #expect(code { try make(Person.self, Clerk.self) } == .objectClassMismatch)
    try make(Clerk.self)
    try make(Person.self, Person.self)
  }

  // MARK: Metadata

  @Test func metadataIsReadAndSetWithoutOpening() throws {
    let identifier = try makeStore()
    let coordinator = try TestStack.coordinator(files)
    var metadata = try coordinator.metadataForPersistentStore(type: .binary, at: url)
    #expect(metadata.identifier == identifier)
    metadata.userInfo["key"] = "value"
    try coordinator.setMetadata(metadata, type: .binary, at: url)
    #expect(try coordinator.metadataForPersistentStore(at: url).userInfo == ["key": "value"])
    #expect(try names(at: url) == ["Ann"])
    let store = try coordinator.addPersistentStore(type: .binary, at: url)
    #expect(store.metadata.userInfo == ["key": "value"])
    #expect(code { try coordinator.setMetadata(metadata, type: .binary, at: url) } == .storeAlreadyOpen)
    #expect(code { _ = try coordinator.metadataForPersistentStore(type: .binary, at: otherURL) } == .fileNotFound)
  }

  /// Its file tells which entities the store keeps.
  @Test(arguments: MigrationBench.types)
  func metadataOfAConfigurationAreSetWithoutOpening(_ type: StoreType) throws {
    let name = PropertyDescription.attribute("name", .string, optional: true)
    let model = try ManagedObjectModel(
      entities: [.entity("Note", name), .entity("Page", name)],
      configurations: ["Local": ["Note"]]
    )
    let bench = try MigrationBench(type)
    let coordinator = try bench.coordinator(model)
    let store = try coordinator.addPersistentStore(type: type, configuration: "Local", at: bench.url)
    let context = ManagedObjectContext(coordinator)
    try context.make("Note", ["name": "a"])
    try context.save()
    try coordinator.remove(store)
    var metadata = try coordinator.metadataForPersistentStore(type: type, at: bench.url)
    metadata.userInfo["key"] = "value"
    try coordinator.setMetadata(metadata, type: type, at: bench.url)
    let found = try coordinator.metadataForPersistentStore(type: type, at: bench.url)
    #expect(found.userInfo["key"] == "value")
    #expect(found.modelVersionHashes == metadata.modelVersionHashes)
    try coordinator.addPersistentStore(type: type, configuration: "Local", at: bench.url)
    #expect(try ManagedObjectContext(coordinator).texts("Note", "name") == ["a"])
  }

  // MARK: Moving

  @Test func destroyRemovesStoresOnly() throws {
    let coordinator = try TestStack.coordinator(files)
    try makeStore()
    try memory.setContents(Array("A letter.".utf8), ofFileAtPath: "/folder/letter")
    let letter = URL(filePath: "/folder/letter")
    #expect(code { try coordinator.destroyPersistentStore(at: letter, type: .binary) } != nil)
    #expect(memory.contents(ofFileAtPath: "/folder/letter") != nil)
    try coordinator.destroyPersistentStore(at: url, type: .binary)
    #expect(memory.contents(ofFileAtPath: url.path) == nil)
    #expect(code { try coordinator.destroyPersistentStore(at: url, type: .binary) } == .fileNotFound)
  }

  @Test func replaceCopiesExactly() throws {
    try makeStore("Ann", at: url)
    try makeStore("Bob", at: otherURL)
    let coordinator = try TestStack.coordinator(files)
    let bytes = try #require(memory.contents(ofFileAtPath: otherURL.path))
    try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: otherURL, type: .binary)
    #expect(memory.contents(ofFileAtPath: url.path) == bytes)
    #expect(memory.contents(ofFileAtPath: otherURL.path) == bytes)
    #expect(try names(at: url) == ["Bob"])
    try coordinator.addPersistentStore(type: .binary, at: url)
    #expect(
      code { try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: otherURL, type: .binary) }
        == .storeAlreadyOpen
    )
  }

  @Test func aReplacementThatFailsLeavesTheOld() throws {
    try makeStore("Ann", at: url)
    try makeStore("Bob", at: otherURL)
    let old = try #require(memory.contents(ofFileAtPath: url.path))
    let new = try #require(memory.contents(ofFileAtPath: otherURL.path))
    let files = files
    let coordinator = try TestStack.coordinator(files)
    var step = 0
    var isDone = false
    while !isDone {
      step += 1
      try #require(step < 100)
      files.restart()
      files.crash(atOperation: step)
      isDone =
        persistenceError {
          try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: otherURL, type: .binary)
        } == nil
      let found = try #require(memory.contents(ofFileAtPath: url.path))
      #expect(found == old || found == new)
    }
    #expect(memory.contents(ofFileAtPath: url.path) == new)
  }

  @Test func storesAreConvertedAndTheirObjectsFollow() throws {
    let stack = try TestStack(.inMemory, files: files)
    let coordinator = stack.coordinator
    let context = stack.context()
    let ann = try context.person("Ann")
    let bob = try context.person("Bob")
    ann.spouse = bob
    try context.save()
    let id = ann.objectID
    context.refresh(bob, mergeChanges: false)
    ann.name = "Anna"
    let file = try coordinator.convert(stack.store, to: url, type: .binary)
    #expect(file.identifier == stack.store.identifier)
    #expect(coordinator.persistentStores.count == 1)
    #expect(coordinator.persistentStores.first === file)
    #expect(try context.existingObject(with: id) === ann)
    #expect(bob.name == "Bob")
    #expect(bob.spouse === ann)
    try context.save()
    #expect(try names(at: url).sorted() == ["Anna", "Bob"])
    let memoryStore = try coordinator.convert(file, to: nil, type: .inMemory)
    bob.name = "Bobby"
    try context.save()
    #expect(try names(at: url).sorted() == ["Anna", "Bob"])
    #expect(try context.fetch(Person.self) == [ann, bob])
    #expect(code { try coordinator.convert(memoryStore, to: url, type: .binary) } == .fileExists)
    #expect(coordinator.persistentStores.first === memoryStore)
    try coordinator.migratePersistentStore(memoryStore, to: url, type: .binary, replacing: true)
    #expect(try names(at: url).sorted() == ["Anna", "Bobby"])
    #expect(code { try coordinator.convert(file, to: otherURL, type: .binary) } == .storeNotOpen)
  }

  @Test func noSaveIsLostInAConversion() async throws {
    let stack = try TestStack(.inMemory, files: files)
    let coordinator = stack.coordinator
    async let saved = Task.detached {
      let context = ManagedObjectContext(coordinator)
      var count = 0
      for number in 0..<200 {
        _ = try context.person("\(number)")
        // A save may come just when its store is replaced; it is tried again with the new one.
        while (try? context.save()) == nil {}
        count += 1
      }
      return count
    }.value
    for number in 0..<10 {
      let store = try #require(coordinator.persistentStores.first)
      let type: StoreType = number % 2 == 0 ? .binary : .inMemory
      let url = number % 2 == 0 ? URL(filePath: "/folder/\(number).heartwood") : nil
      try coordinator.convert(store, to: url, type: type)
    }
    #expect(try await saved == 200)
    #expect(try stack.context().count(entityName: "Person") == 200)
  }

  // MARK: A store of one's own

  @Test func aStoreOfOnesOwnIsLikeAnyOther() throws {
    let registry = try StoreRegistry([LineStore.self])
    let text = "D35CF030-1EC1-4667-9666-70C8247A1010\n1  One\n2 1 Two\n"
    try memory.setContents(Array(text.utf8), ofFileAtPath: "/notes.lines")
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: Library.model,
      registry: registry,
      objectClasses: Library.objectClasses,
      fileSystem: memory
    )
    try coordinator.addPersistentStore(configuration: "Notes", at: URL(filePath: "/notes.lines"))
    let context = ManagedObjectContext(coordinator)
    let notes = try context.fetch(Note.self)
    #expect(notes.map(\.text) == ["One", "Two"])
    #expect(notes[1].about === notes[0])
    let three = try context.insert(Note.self)
    three.about = notes[1]
    #expect(persistenceError { try context.save() }?.code == .valueUnsupported)
    three.text = "Three"
    context.delete(notes[0])
    try context.save()
    // The save that failed has used up a number.
    #expect(three.objectID.reference == .integer(4))
    #expect(notes[1].about == nil)
    let saved = try #require(memory.contents(ofFileAtPath: "/notes.lines"))
    #expect(String(decoding: saved, as: UTF8.self) == "\(text.prefix(36))\n2 1 Two\n4 2 Three\n")
  }
}
