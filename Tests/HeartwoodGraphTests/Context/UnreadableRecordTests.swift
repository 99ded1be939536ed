import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Synchronization
import Testing

/// A record that cannot be read is no record that is gone: getters note it, and no change is saved that depends on it.
@Suite struct UnreadableRecordTests {
  let database = RecordDatabase()

  private func context() throws -> ManagedObjectContext {
    let coordinator = try TestStack.coordinator()
    var options = StoreOptions()
    options[.recordDatabase] = database
    try coordinator.addPersistentStore(type: RecordStore.typeDescription.type, at: nil, options: options)
    return ManagedObjectContext(coordinator)
  }

  /// A shelf with three books, one of which cannot be read, and another shelf.
  private func spoiledShelf() throws -> (shelf: ManagedObjectID, book: ManagedObjectID, other: ManagedObjectID) {
    let context = try context()
    let shelf = try context.insert(Shelf.self)
    shelf.title = "Sea"
    let books = try ["Moby-Dick", "Typee", "Omoo"].map { try context.book($0, on: shelf) }
    let other = try context.insert(Shelf.self)
    try context.save()
    try spoil(books[1].objectID)
    return (shelf.objectID, books[1].objectID, other.objectID)
  }

  private func spoil(_ ids: ManagedObjectID...) throws {
    for id in ids {
      guard case .integer(let number) = id.reference else { throw PersistenceError(.objectNotFound, "No number.") }
      database.unreadable.withLock { _ = $0.insert(number) }
    }
  }

  private func mend() { database.unreadable.withLock { $0 = [] } }

  private func shelf(_ id: ManagedObjectID, in context: ManagedObjectContext) throws -> Shelf {
    try #require(try context.existingObject(with: id) as? Shelf)
  }

  /// The records as the store has them.
  private var records: [String: [Int64: [String: RecordDatabase.Value]]] {
    database.current.records.mapValues { $0.mapValues(\.values) }
  }

  // MARK: Getters

  @Test func gettersGiveWhatIsKnownAndNoteTheRest() throws {
    let ids = try spoiledShelf()
    let context = try context()
    let shelf = try shelf(ids.shelf, in: context)
    #expect(shelf.books.map(\.title) == ["Moby-Dick", "Omoo"])
    let failure = try #require(context.readFailures.first)
    #expect(context.readFailures.count == 1)
    #expect(failure.code == .fileCorrupt)
    #expect(failure.context.objectIDs == [ids.book])
    #expect(failure.context.entity == "Shelf" && failure.context.property == "books")
    #expect((failure.underlyingError as? PersistenceError)?.message == "The record cannot be read.")
    _ = shelf.books
    #expect(context.readFailures.count == 1, "the same failure is noted once")
    #expect(context.takeReadFailures().count == 1)
    #expect(context.readFailures.isEmpty)
    mend()
    #expect(shelf.books.count == 3)
    #expect(context.readFailures.isEmpty)
  }

  @Test func throwingFormsThrow() throws {
    let ids = try spoiledShelf()
    let context = try context()
    let shelf = try shelf(ids.shelf, in: context)
    #expect(persistenceError { _ = try shelf.read(Shelf.booksKey) }?.context.objectIDs == [ids.book])
    #expect(persistenceError { _ = try shelf.value(forKey: "books") }?.context.objectIDs == [ids.book])
    #expect(persistenceError { _ = try shelf[list: Shelf.booksKey].read() }?.context.objectIDs == [ids.book])
    #expect(persistenceError { _ = try context.reading { shelf.books.map(\.title) } }?.context.objectIDs == [ids.book])
    #expect(try shelf.read(Shelf.titleKey) == "Sea")
    #expect(context.readFailures.isEmpty, "what is thrown is not noted")
    mend()
    #expect(try shelf.read(Shelf.booksKey).count == 3)
  }

  @Test func anErrorOfTheApplicationComesFirst() throws {
    struct Mistake: Error {}
    let ids = try spoiledShelf()
    let context = try context()
    let shelf = try shelf(ids.shelf, in: context)
    #expect(throws: Mistake.self) {
      try context.reading {
        _ = shelf.books
        throw Mistake()
      }
    }
  }

  @Test func aToOneThatCannotBeReadIsNoted() throws {
    let ids = try spoiledShelf()
    try spoil(ids.shelf)
    mend()
    let context = try context()
    let book = try #require(try context.existingObject(with: ids.book) as? Book)
    try spoil(ids.shelf)
    #expect(book.shelf == nil)
    #expect(context.takeReadFailures().first?.context.objectIDs == [ids.shelf])
    #expect(persistenceError { _ = try book.read(Book.shelfKey) }?.context.property == "shelf")
    mend()
    #expect(book.shelf?.title == "Sea")
  }

  @Test func noMoreThanAHundredFailuresAreKept() throws {
    let writer = try context()
    let people = try (0..<120).map { try writer.person("\($0)") }
    for person in people { person.passport = try writer.insert(Passport.self) }
    try writer.save()
    let context = try context()
    let found = try context.fetch(Person.self)
    for person in people { try spoil(try #require(person.passport).objectID) }
    for person in found { #expect(person.passport == nil) }
    #expect(context.readFailures.count == 100)
  }

  // MARK: Objects

  @Test func anObjectThatCannotBeReadIsNotDeleted() throws {
    let ids = try spoiledShelf()
    let context = try context()
    let book = try #require(context.object(with: ids.book) as? Book)
    #expect(!book.isDeleted)
    #expect(book.title == nil)
    #expect(context.takeReadFailures().first?.context.objectIDs == [ids.book])
    #expect(persistenceError { _ = try book.read(Book.titleKey) }?.code == .fileCorrupt)
    #expect(persistenceError { _ = try book.propertyValue(forKey: "title") }?.code == .fileCorrupt)
    #expect(context.object(with: ids.book) === book)
    mend()
    #expect(book.title == "Typee")
    #expect(try context.existingObject(with: ids.book) === book)
    #expect(book.objectID == ids.book && !book.isDeleted)
  }

  @Test func changesOfAnObjectThatCannotBeReadWait() throws {
    let ids = try spoiledShelf()
    let context = try context()
    let book = try #require(context.object(with: ids.book) as? Book)
    let tag = try context.insert(Tag.self)
    book.title = "Taipi"
    book.tags = [tag]
    let before = records
    #expect(persistenceError { try context.save() }?.context.objectIDs.contains(ids.book) == true)
    #expect(records == before)
    mend()
    try context.save()
    let fresh = try self.context()
    let found = try #require(try fresh.existingObject(with: ids.book) as? Book)
    #expect(found.title == "Taipi" && found.tags.count == 1 && found.shelf?.title == "Sea")
  }

  @Test func theDeletionOfAnObjectThatCannotBeReadWaits() throws {
    let ids = try spoiledShelf()
    mend()
    try spoil(ids.shelf)
    let context = try context()
    let shelf = context.object(with: ids.shelf)
    context.delete(shelf)
    let before = records
    #expect(persistenceError { try context.save() }?.context.objectIDs == [ids.shelf])
    #expect(records == before)
    mend()
    try context.save()
    #expect(database.current.records["Book"]?.isEmpty == true)
    #expect(database.current.records["Shelf"]?.count == 1)
  }

  // MARK: Changes

  @Test func aCascadeThatCannotReachAllSavesNothing() throws {
    let ids = try spoiledShelf()
    let context = try context()
    let before = records
    context.delete(try shelf(ids.shelf, in: context))
    for _ in 0..<2 {
      let error = persistenceError { try context.save() }
      #expect(error?.code == .fileCorrupt)
      #expect(error?.context.objectIDs == [ids.book])
    }
    #expect(records == before)
    mend()
    try context.save()
    #expect(database.current.records["Book"]?.isEmpty == true)
    #expect(database.current.records["Shelf"]?.count == 1)
  }

  @Test func deletingAllThrowsWhatItCannotRead() throws {
    let ids = try spoiledShelf()
    let context = try context()
    #expect(persistenceError { try context.deleteAll(Shelf.self) }?.context.objectIDs == [ids.book])
    #expect(persistenceError { try context.save() }?.context.objectIDs == [ids.book])
    mend()
    try context.save()
    #expect(database.current.records["Book"]?.isEmpty == true)
  }

  @Test(arguments: [true, false])
  func aRollbackForgetsWhatWaits(_ resets: Bool) throws {
    let ids = try spoiledShelf()
    let context = try context()
    context.delete(try shelf(ids.shelf, in: context))
    if resets { context.reset() } else { context.rollback() }
    try context.save()
    _ = try context.person("Ann")
    try context.save()
    #expect(database.current.records["Shelf"]?.count == 2)
  }

  @Test func anInverseThatCannotBeReadFollowsOnceItCan() throws {
    let ids = try spoiledShelf()
    let context = try context()
    let shelf = try shelf(ids.shelf, in: context)
    let before = records
    shelf.books = []
    #expect(persistenceError { try context.save() }?.context.objectIDs == [ids.book])
    #expect(records == before)
    mend()
    try context.save()
    let fresh = try self.context()
    let book = try #require(try fresh.existingObject(with: ids.book) as? Book)
    #expect(book.shelf == nil)
  }

  @Test func aFormerOwnerThatCannotBeReadFollowsOnceItCan() throws {
    let ids = try spoiledShelf()
    mend()
    try spoil(ids.shelf)
    let context = try context()
    let book = try #require(try context.existingObject(with: ids.book) as? Book)
    let other = try shelf(ids.other, in: context)
    let before = records
    other.books = [book]
    #expect(persistenceError { try context.save() }?.context.objectIDs == [ids.shelf])
    #expect(records == before)
    mend()
    try context.save()
    let fresh = try self.context()
    #expect(try shelf(ids.shelf, in: fresh).books.count == 2)
    #expect(try shelf(ids.other, in: fresh).books.map(\.objectID) == [ids.book])
  }

  @Test func settersByNameThrowAndChangeNothing() throws {
    let ids = try spoiledShelf()
    let context = try context()
    let shelf = try shelf(ids.shelf, in: context)
    #expect(
      persistenceError { try shelf.setValue([ManagedObject](), forKey: "books") }?.context.objectIDs == [ids.book]
    )
    #expect(persistenceError { try shelf.setPropertyValue(.toMany([]), forKey: "books") }?.code == .fileCorrupt)
    #expect(!context.hasChanges)
    try context.save()
  }

  @Test func aDeletionThatIsUndoneIsNoMatterAnyMore() throws {
    let ids = try spoiledShelf()
    let context = try context()
    context.undoManager = GraphUndoManager()
    let shelf = try shelf(ids.shelf, in: context)
    context.delete(shelf)
    context.undo()
    #expect(!shelf.isDeleted)
    try context.save()
    mend()
    let fresh = try self.context()
    #expect(try self.shelf(ids.shelf, in: fresh).books.count == 3)
  }

  @Test func anEndThatChangedAtTheSaveComesBackWithTheOther() throws {
    let ids = try spoiledShelf()
    mend()
    let context = try context()
    context.undoManager = GraphUndoManager()
    let book = try #require(try context.existingObject(with: ids.book) as? Book)
    let others = try context.fetch(Book.self).filter { $0 !== book }
    try spoil(ids.shelf)
    context.delete(book)
    mend()
    context.delete(others[0])
    try context.save()
    #expect(try shelf(ids.shelf, in: context).books == [others[1]])
    context.undo()
    #expect(Set(try shelf(ids.shelf, in: context).books) == Set([book] + others))
    try context.save()
    let fresh = try self.context()
    #expect(Set(try shelf(ids.shelf, in: fresh).books.map(\.title)) == ["Moby-Dick", "Typee", "Omoo"])
  }

  // MARK: Fetches and live results

  @Test func filteringWhatWasFetchedThrowsWithinReading() throws {
    let ids = try spoiledShelf()
    let context = try context()
    func full() throws -> [Shelf] {
      let shelves = try context.fetch(Shelf.self)
      return try context.reading { shelves.filter { $0.books.count == 3 } }
    }
    #expect(persistenceError { _ = try full() }?.code == .fileCorrupt)
    mend()
    #expect(try full().map(\.objectID) == [ids.shelf])
  }

  @Test func liveResultsTellTheirDelegateAndCatchUp() throws {
    let ids = try spoiledShelf()
    mend()
    let context = try context()
    let request = FetchRequest<Shelf>(sortedBy: [Shelf.titleKey.ascending], limit: 10)
    let controller = FetchedResultsController(request, in: context)
    let delegate = FailureNoter()
    controller.delegate = delegate
    try controller.performFetch()
    let (shelf, other) = (try shelf(ids.shelf, in: context), try shelf(ids.other, in: context))
    // What others have saved is read with all that is known.
    let writer = try self.context()
    try writer.insert(Shelf.self).title = "Air"
    try writer.save()
    try spoil(ids.shelf)
    other.title = "Lake"
    context.processPendingChanges()
    #expect(delegate.errors.count == 1 && delegate.updateCount == 0)
    #expect((controller.updateError as? PersistenceError)?.code == .fileCorrupt)
    #expect(controller.fetchedObjects?.map(\.title) == ["Sea", "Lake"])
    mend()
    shelf.title = "Ocean"
    context.processPendingChanges()
    #expect(controller.updateError == nil)
    #expect(controller.fetchedObjects?.map(\.title) == ["Air", "Lake", "Ocean"])
    #expect(delegate.errors.count == 1 && delegate.updateCount == 1)
  }
}

/// Notes what cannot be told.
private final class FailureNoter: FetchedResultsControllerDelegate {
  var errors: [any Error] = []
  var updateCount = 0

  func controller(_ controller: FetchedResultsController<Shelf>, didFailToUpdateWith error: any Error) {
    errors.append(error)
  }

  func controllerDidChangeContent(_ controller: FetchedResultsController<Shelf>) { updateCount += 1 }
}
