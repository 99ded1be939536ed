import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Synchronization
import Testing

/// What only incremental stores do: they are shared with others who save, and they save piecemeal.
@Suite struct IncrementalStoreTests {
  let database = RecordDatabase()

  private func options(isReadOnly: Bool = false) -> StoreOptions {
    var options = StoreOptions()
    options[.recordDatabase] = database
    if isReadOnly { options[.isReadOnly] = true }
    return options
  }

  /// A stack as another process has it.
  private func stack(isReadOnly: Bool = false) throws -> (PersistentStoreCoordinator, ManagedObjectContext) {
    let coordinator = try TestStack.coordinator()
    let options = options(isReadOnly: isReadOnly)
    try coordinator.addPersistentStore(type: RecordStore.typeDescription.type, at: nil, options: options)
    return (coordinator, ManagedObjectContext(coordinator))
  }

  // MARK: Saving

  @Test func whatIsSavedIsThereForThoseWhoOpenItLater() throws {
    let (coordinator, context) = try stack()
    let shelf = try context.insert(Shelf.self)
    shelf.title = "Sea"
    let books = try ["Moby-Dick", "Typee"].map { try context.book($0, on: shelf) }
    let ann = try context.person("Ann")
    ann.books = books
    try context.save()
    let (other, otherContext) = try stack()
    let found = try #require(try otherContext.fetch(Shelf.self).first)
    #expect(found.books.map(\.title) == ["Moby-Dick", "Typee"])
    #expect(try otherContext.fetch(Person.self).first?.books.count == 2)
    #expect(other.persistentStores.map(\.identifier) == coordinator.persistentStores.map(\.identifier))
    #expect(found.objectID == shelf.objectID)
  }

  @Test func aSaveWritesOnlyWhatItChanges() throws {
    let (_, context) = try stack()
    let people = try ["Ann", "Bob", "Cid"].map { try context.person($0) }
    try context.save()
    people[1].name = "Bobby"
    context.delete(people[2])
    try context.save()
    let records = try #require(database.current.records["Person"])
    #expect(records.count == 2)
    #expect(records.values.map(\.version).sorted() == [1, 2])
  }

  @Test func whatFailsLeavesTheStoreAndTheContext() throws {
    let (_, context) = try stack()
    let ann = try context.person("Ann")
    try context.save()
    ann.name = "Anna"
    database.failure.withLock { $0 = PersistenceError(.fileWriteFailed, "The disk is full.") }
    #expect(persistenceError { try context.save() }?.code == .fileWriteFailed)
    #expect(context.hasChanges && ann.name == "Anna")
    #expect(try stack().1.fetch(Person.self).map(\.name) == ["Ann"])
    try context.save()
    #expect(try stack().1.fetch(Person.self).map(\.name) == ["Anna"])
  }

  @Test func aDeletionWaitsUntilWhatMayDenyItCanBeRead() throws {
    let (_, writer) = try stack()
    let ann = try writer.person("Ann")
    try writer.book("Emma").readers = [ann]
    try writer.save()
    let (_, context) = try stack()
    let book = try #require(try context.fetch(Book.self).first)
    context.delete(book)
    database.readFailure.withLock { $0 = PersistenceError(.fileReadFailed, "The connection is lost.") }
    #expect(persistenceError { try context.save() }?.code == .fileReadFailed)
    #expect(book.isDeleted && book.managedObjectContext === context)
    let faults = persistenceError { try context.save() }?.context.validationFaults
    #expect(faults?.map(\.kind) == [.deletionDenied])
    #expect(faults?.map(\.relatedObjectIDs) == [[ann.objectID]])
    #expect(database.current.records["Book"]?.count == 1)
  }

  // MARK: Others

  @Test func aFetchSeesWhatOthersHaveSaved() throws {
    let (_, context) = try stack()
    let (ann, bob) = (try context.person("Ann"), try context.person("Bob"))
    ann.friends = [bob]
    try context.save()
    let (_, other) = try stack()
    let theirs = try other.fetch(Person.self, sortedBy: Person.nameKey.ascending)
    theirs[0].name = "Anna"
    theirs[0].friends = []
    other.delete(theirs[1])
    _ = try other.person("Dan")
    try other.save()
    #expect(ann.name == "Ann", "what an object has read stays until it is refreshed")
    let names = try context.fetch(Person.self, sortedBy: Person.nameKey.ascending).map(\.objectID)
    #expect(names.count == 2 && names[0] == ann.objectID)
    context.refresh(ann, mergeChanges: false)
    #expect(ann.name == "Anna" && ann.friends.isEmpty)
    #expect(persistenceError { _ = try context.existingObject(with: theirs[1].objectID) } == nil)
  }

  @Test func onlyTheRecordsThatOthersHaveChangedAreReadAgain() throws {
    database.answers.withLock { $0 = true }
    let (coordinator, context) = try stack()
    let people = try (0..<1000).map { try context.person("Person \($0)") }
    try context.save()
    let store = try #require(coordinator.persistentStores.first)
    #expect(try store.engine.contents().count == 1000)
    let (_, other) = try stack()
    let theirs = try #require(try other.existingObject(with: people[7].objectID) as? Person)
    theirs.name = "Anna"
    other.delete(try other.existingObject(with: people[8].objectID))
    _ = try other.person("Dan")
    try other.save()
    let (loadCount, readCount) = (database.loadCount.withLock { $0 }, database.readCount.withLock { $0 })
    try store.engine.followOthers()
    #expect(database.loadCount.withLock { $0 } == loadCount)
    // The new record could be one of either entity, Person or Employee.
    #expect(database.readCount.withLock { $0 } == readCount + 4)
    let changes = try #require(store.engine.takeRemoteChanges())
    #expect(!changes.mayHaveMore && !changes.mayBeAny)
    #expect(changes.records.updated == [people[7].objectID])
    #expect(changes.records.deleted == [people[8].objectID])
    #expect(changes.records.inserted.count == 1)
    let found = Set(try context.fetch(Person.self).map(\.objectID))
    #expect(found.count == 1000 && !found.contains(people[8].objectID))
    context.refresh(people[7], mergeChanges: false)
    #expect(people[7].name == "Anna")
  }

  /// A store that has read all there was, before somebody else saved a second person.
  private func storeBehindOthers() throws -> (PersistentStoreCoordinator, PersistentStore) {
    let (coordinator, context) = try stack()
    _ = try context.person("Ann")
    try context.save()
    let store = try #require(coordinator.persistentStores.first)
    #expect(try store.engine.contents().count == 1)
    let (_, other) = try stack()
    _ = try other.person("Bob")
    try other.save()
    return (coordinator, store)
  }

  @Test func whatOthersHaveSavedIsConvertedToo() throws {
    let (coordinator, store) = try storeBehindOthers()
    let converted = try coordinator.convert(store, to: nil, type: .inMemory)
    #expect(try converted.engine.contents().count == 2)
  }

  @Test func aBatchIsAboutWhatOthersHaveSavedToo() throws {
    let (coordinator, _) = try storeBehindOthers()
    #expect(try coordinator.execute(BatchDeleteRequest(entityName: "Person")).count == 2)
    #expect(database.current.records["Person"]?.isEmpty == true)
  }

  @Test func fetchesReadTheRecordsOnce() throws {
    let (_, context) = try stack()
    _ = try context.person("Ann")
    try context.save()
    let (_, other) = try stack()
    let before = database.loadCount.withLock { $0 }
    for _ in 0..<5 { #expect(try other.fetch(Person.self).count == 1) }
    let person = try #require(try other.fetch(Person.self).first)
    person.name = "Anna"
    try other.save()
    #expect(try other.fetch(Person.self).count == 1)
    // All records of the entity, and those of the one that is unique among its subentities.
    let entityCount = other.persistentStoreCoordinator.managedObjectModel.entities.count
    #expect(database.loadCount.withLock { $0 } - before <= entityCount)
    let after = database.loadCount.withLock { $0 }
    for _ in 0..<5 { #expect(try other.fetch(Person.self).count == 1) }
    #expect(database.loadCount.withLock { $0 } == after)
  }

  @Test func whatWasSavedBeforeIsFoundAfterASave() throws {
    let (_, context) = try stack()
    let ann = try context.person("Ann")
    try context.save()
    let (_, other) = try stack()
    _ = try other.person("Bob")
    try other.save()
    #expect(try other.existingObject(with: ann.objectID).objectID == ann.objectID)
    #expect(try other.fetch(Person.self).count == 2)
  }

  @Test func relationshipsReadWhatTheyLeadToTogether() throws {
    let (_, context) = try stack()
    let ann = try context.person("Ann")
    ann.friends = try (0..<20).map { try context.person("\($0)") }
    try context.save()
    let (_, other) = try stack()
    let before = (loads: database.loadCount.withLock { $0 }, reads: database.readCount.withLock { $0 })
    let again = try #require(try other.existingObject(with: ann.objectID) as? Person)
    #expect(again.friends.count == 20)
    #expect(again.friends.map(\.name).sorted().first == "0")
    #expect(database.loadCount.withLock { $0 } == before.loads, "only what is needed is read")
    #expect(database.readCount.withLock { $0 } - before.reads == 21)
  }

  @Test func countsNeedNoRecords() throws {
    let (_, context) = try stack()
    _ = try context.person("Ann")
    try context.save()
    let (coordinator, _) = try stack()
    let before = database.loadCount.withLock { $0 }
    let person = try #require(coordinator.managedObjectModel.entity(named: "Person"))
    #expect(try coordinator.persistentStores[0].engine.count(of: person) == 1)
    #expect(database.loadCount.withLock { $0 } == before)
  }

  @Test func whoeverSavesAnOlderVersionHasAConflict() throws {
    let (_, context) = try stack()
    let ann = try context.person("Ann")
    try context.save()
    let (_, other) = try stack()
    let theirs = try #require(try other.fetch(Person.self).first)
    theirs.name = "Anna"
    try other.save()
    ann.name = "Anne"
    let error = persistenceError { try context.save() }
    #expect(error?.code == .saveConflict)
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    #expect(try stack().1.fetch(Person.self).map(\.name) == ["Anne"])
  }

  @Test func newRecordsOfTwoWritersHaveNamesOfTheirOwn() throws {
    let (_, context) = try stack()
    let (_, other) = try stack()
    let (ann, bob) = (try context.person("Ann"), try other.person("Bob"))
    try context.save()
    try other.save()
    #expect(ann.objectID != bob.objectID)
    #expect(try stack().1.fetch(Person.self).count == 2)
  }

  // MARK: What an author does wrong

  @Test func recordsThatNobodyAskedForAreRefused() throws {
    let (_, context) = try stack()
    for name in ["Ann", "Bob"] { _ = try context.person(name) }
    try context.save()
    let (_, other) = try stack()
    database.readsTooMuch.withLock { $0 = true }
    let id = try #require(try context.fetch(Person.self).first?.objectID)
    let error = persistenceError { _ = try other.existingObject(with: id) }
    #expect(error?.code == .capabilityMissing)
    #expect(error?.context.entity == "Person")
  }

  @Test func tooFewReferencesAreRefusedByAConversion() throws {
    let coordinator = try TestStack.coordinator()
    let store = try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    _ = try context.person("Ann")
    try context.save()
    database.givesTooFewReferences.withLock { $0 = true }
    let error = persistenceError {
      try coordinator.convert(store, to: nil, type: RecordStore.typeDescription.type, options: options())
    }
    #expect(error?.code == .capabilityMissing)
    #expect(try context.fetch(Person.self).count == 1)
  }

  // MARK: Opening and closing

  @Test func aReadOnlyStoreMustBeThere() throws {
    #expect(persistenceError { _ = try stack(isReadOnly: true) }?.code == .fileNotFound)
    _ = try stack()
    let (_, context) = try stack(isReadOnly: true)
    #expect(try context.fetch(Person.self).isEmpty)
  }

  @Test func anotherModelIsRefused() throws {
    let (first, _) = try stack()
    defer { first.close() }
    let connectionCount = database.connectionCount.withLock { $0 }
    let model = try ManagedObjectModel(entities: [.entity("Person", .attribute("age", .integer16))])
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: StoreRegistry([RecordStore.self])
    )
    let error = persistenceError {
      try coordinator.addPersistentStore(type: RecordStore.typeDescription.type, at: nil, options: options())
    }
    #expect(error?.code == .modelIncompatible)
    // What was opened in vain holds nothing.
    #expect(database.connectionCount.withLock { $0 } == connectionCount)
  }

  @Test func aStoreIsDisconnectedOnce() throws {
    let (coordinator, _) = try stack()
    let store = coordinator.persistentStores[0]
    let converted = try coordinator.convert(store, to: nil, type: .inMemory)
    #expect(database.connectionCount.withLock { $0 } == 0)
    _ = store.engine.close(unlessSavedSince: nil)
    try coordinator.remove(converted)
    coordinator.close()
    #expect(database.connectionCount.withLock { $0 } == 0)
  }

  @Test func aStoreThatWasRemovedIsNotRead() throws {
    let (coordinator, context) = try stack()
    _ = try context.person("Ann")
    try context.save()
    let store = coordinator.persistentStores[0]
    try coordinator.remove(store)
    #expect(persistenceError { _ = try store.engine.save(ChangeSet()) }?.code == .storeNotOpen)
  }

  @Test func metadataIsSavedWithoutRecords() throws {
    let (coordinator, context) = try stack()
    let store = coordinator.persistentStores[0]
    try store.setUserInfo(["owner": .string("Ann")])
    #expect(store.hasUnsavedMetadata)
    _ = try context.person("Ann")
    try context.save()
    #expect(!store.hasUnsavedMetadata)
    #expect(database.current.metadata?.userInfo == ["owner": .string("Ann")])
    #expect(try self.stack().0.persistentStores[0].metadata.userInfo == ["owner": .string("Ann")])
  }

  // MARK: Conversion

  @Test func recordsGetNamesThatTheStoreCanGive() throws {
    let coordinator = try TestStack.coordinator()
    let store = try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    let shelf = try context.insert(Shelf.self)
    let books = try ["Moby-Dick", "Typee", "Omoo"].map { try context.book($0, on: shelf) }
    let ann = try context.person("Ann")
    let employee = try context.insert(Employee.self)
    employee.name = "Bob"
    ann.spouse = employee
    try context.save()
    context.delete(books[1])
    try context.save()
    shelf.books = [books[2], books[0]]
    let carl = try context.person("Carl")
    carl.mentor = ann
    let converted = try coordinator.convert(
      store,
      to: nil,
      type: RecordStore.typeDescription.type,
      options: options()
    )
    #expect(converted.identifier == store.identifier)
    #expect(ann.spouse === employee, "objects belong to the new store")
    ann.name = "Anna"
    try context.save()
    let (_, other) = try stack()
    let theirs = try #require(try other.fetch(Shelf.self).first)
    #expect(theirs.books.map(\.title) == ["Omoo", "Moby-Dick"], "changes name the records by their new references")
    let people = try other.fetch(Person.self, sortedBy: Person.nameKey.ascending)
    #expect(people.map(\.name) == ["Anna", "Bob", "Carl"])
    #expect(people[0].spouse === people[1] && people[2].mentor === people[0])
  }

  @Test func itsRecordsAreConvertedBack() throws {
    let (coordinator, context) = try stack()
    let ann = try context.person("Ann")
    try context.save()
    let store = coordinator.persistentStores[0]
    try coordinator.convert(store, to: TestStack.url, type: .binary)
    #expect(ann.name == "Ann")
    ann.name = "Anna"
    try context.save()
    #expect(try context.fetch(Person.self).map(\.name) == ["Anna"])
  }
}
