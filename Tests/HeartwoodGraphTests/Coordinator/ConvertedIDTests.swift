import Foundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// What objects are called right after their store was converted to one that calls its records otherwise, before their contexts are used.
@Suite struct ConvertedIDTests {
  private let folder: ScratchFolder
  private let coordinator: PersistentStoreCoordinator
  private let store: PersistentStore

  init() throws {
    folder = try ScratchFolder()
    coordinator = try PersistentStoreCoordinator(
      managedObjectModel: Library.model,
      registry: TestStack.registry,
      objectClasses: Library.objectClasses
    )
    store = try coordinator.addPersistentStore(at: folder.url.appending(path: "a.heartwood"))
  }

  private func convert() throws {
    try coordinator.convert(store, to: folder.url.appending(path: "b.sqlite"))
  }

  /// What the only book is called in the store.
  private func stored() throws -> ManagedObjectID {
    try #require(try ManagedObjectContext(coordinator).fetchObjectIDs(FetchRequest<Book>()).first)
  }

  @Test func objectsOfAllContextsHaveTheNewOnes() throws {
    let context = ManagedObjectContext(coordinator)
    let book = try context.book("book")
    try context.save()
    let old = book.objectID
    let others = (0..<3).map { _ in ManagedObjectContext(coordinator) }
    let objects = try others.map { try $0.existingObject(with: old) }
    objects[0].willAccessValue()
    objects[1][AttributeKey<String?>("title")] = "changed"
    others[2].delete(objects[2])
    try convert()
    let uri = book.objectID.uriRepresentation()
    #expect(book.objectID != old)
    #expect(book.objectID.reference == .integer(1))
    for object in objects { #expect(object.objectID == book.objectID) }
    #expect(try stored() == book.objectID)
    let found = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
    for context in [context] + others[..<2] {
      #expect(try context.existingObject(with: found).objectID == found)
      #expect(context.registeredObject(for: found) != nil)
    }
    // The store knows nothing of the names that its records had.
    let former = coordinator.managedObjectID(forURIRepresentation: old.uriRepresentation())
    let dead = try #require(former)
    #expect(persistenceError { _ = try context.existingObject(with: dead) }?.code == .objectNotFound)
  }

  @Test func whatObjectsLeadToHasTheNewOnes() throws {
    let context = ManagedObjectContext(coordinator)
    let shelf = try context.insert(Shelf.self)
    let book = try context.book("book", on: shelf)
    try context.save()
    let other = ManagedObjectContext(coordinator)
    let seen = try #require(try other.existingObject(with: book.objectID) as? Book)
    seen.shelf = nil
    let new = try other.insert(Shelf.self)
    try other.obtainPermanentIDs(for: [new])
    seen.shelf = new
    let former = new.objectID
    try convert()
    #expect(try book.objectIDs(forRelationshipNamed: "shelf") == [shelf.objectID])
    #expect(book.committedValues()["shelf"] == .toOne(shelf.objectID))
    #expect(seen.changedValues()["shelf"] == .toOne(new.objectID))
    #expect(new.objectID != former && other.registeredObject(for: new.objectID) === new)
    try other.save()
    #expect(try stored() == book.objectID)
  }

  @Test func snapshotsHaveTheNewOnes() throws {
    let context = ManagedObjectContext(coordinator)
    let book = try context.book("book")
    try context.save()
    let controller = FetchedResultsController(FetchRequest<Book>(), in: context)
    try controller.performFetch()
    #expect(Array(controller.snapshot.objectIDs) == [book.objectID])
    try convert()
    #expect(try Array(controller.snapshot.objectIDs) == [stored()])
  }
}
