import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// Reading what a store kept that was removed from the coordinator.
@Suite struct RemovedStoreTests {
  @Test(arguments: TestStoreKind.allCases)
  func itIsAnError(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    let book = try context.book("book")
    try context.save()
    let controller = FetchedResultsController(FetchRequest<Book>(limit: 3), in: context)
    try controller.performFetch()
    try stack.coordinator.remove(stack.store)
    func code(_ body: () throws -> Void) -> PersistenceError.Code? { persistenceError(body)?.code }
    #expect(code { _ = try context.fetch(Book.self) } == .storeNotOpen)
    #expect(code { _ = try context.fetch(FetchRequest<Book>()) } == .storeNotOpen)
    #expect(code { _ = try context.fetch(FetchRequest<Book>(where: Book.titleKey == "book")) } == .storeNotOpen)
    #expect(code { _ = try context.fetchObjectIDs(FetchRequest<Book>()) } == .storeNotOpen)
    #expect(code { _ = try context.fetchBatch(FetchRequest<Book>()) } == .storeNotOpen)
    #expect(code { _ = try context.count(Book.self) } == .storeNotOpen)
    #expect(code { _ = try context.count(entityName: "Book") } == .storeNotOpen)
    #expect(code { _ = try context.fetch(entityName: "Book") } == .storeNotOpen)
    #expect(code { try context.execute(BatchDeleteRequest(entityName: "Book")) } == .storeNotOpen)
    let update = BatchUpdateRequest(entityName: "Book", propertiesToUpdate: ["title": "x"])
    #expect(code { try context.execute(update) } == .storeNotOpen)
    #expect(code { try controller.performFetch() } == .storeNotOpen)
    let message = persistenceError { _ = try context.fetch(Book.self) }
    #expect(message?.context.entity == "Book")
    var request = FetchRequest<Book>()
    request.affectedStores = [stack.store]
    #expect(code { _ = try context.fetch(request) } == .storeNotOpen)
    // What was read stays.
    #expect(book.title == "book")
    // Another store that keeps the entity is as good.
    try stack.coordinator.addPersistentStore(type: .inMemory, at: nil)
    #expect(try context.fetch(Book.self).isEmpty)
    #expect(try context.count(Book.self) == 0)
  }

  @Test func aCoordinatorThatNeverHadAStoreHasNoObjects() throws {
    let context = ManagedObjectContext(try TestStack.coordinator())
    #expect(try context.fetch(Book.self).isEmpty)
    #expect(try context.count(entityName: "Book") == 0)
  }

  @Test func entitiesOfOtherStoresAreReadOn() throws {
    let coordinator = try TestStack.coordinator()
    let notes = try coordinator.addPersistentStore(type: .inMemory, configuration: "Notes", at: nil)
    try coordinator.addPersistentStore(type: .inMemory, configuration: "Rest", at: nil)
    let context = ManagedObjectContext(coordinator)
    _ = try context.book("book")
    _ = try context.insert(Note.self)
    try context.save()
    try coordinator.remove(notes)
    #expect(try context.fetch(Book.self).count == 1)
    #expect(persistenceError { _ = try context.fetch(Note.self) }?.code == .storeNotOpen)
  }
}
