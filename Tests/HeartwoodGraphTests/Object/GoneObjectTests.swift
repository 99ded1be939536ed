import Heartwood
import HeartwoodGraph
import HeartwoodImporting
import HeartwoodModel
import HeartwoodStore
import Testing

/// Objects that are gone, and are used all the same: others may have deleted them between a user's look and tap.
@Suite struct GoneObjectTests {
  /// How an object goes.
  enum Leaving: CaseIterable {
    case deletion, savedDeletion, deletionElsewhere, reset, rollback, lossOfContext, upsert
  }

  /// A context with a gone book and what else there is.
  private struct Bench {
    let stack: TestStack
    let context: ManagedObjectContext
    let gone: Book

    init(_ kind: TestStoreKind, _ leaving: Leaving) throws {
      stack = try TestStack(kind)
      let context = stack.context()
      let book = try context.book("gone")
      if leaving != .rollback { try context.save() }
      self.context = leaving == .lossOfContext ? stack.context() : context
      switch leaving {
      case .deletion: context.delete(book)
      case .savedDeletion:
        context.delete(book)
        try context.save()
      case .deletionElsewhere:
        let other = stack.context()
        other.delete(try other.existingObject(with: book.objectID))
        var saved: ContextChanges?
        let observation = other.observe(.didSave) { saved = $0 }
        try other.save()
        try withExtendedLifetime(observation) { context.mergeChanges(from: try #require(saved)) }
      case .reset: context.reset()
      case .rollback: context.rollback()
      case .lossOfContext: break
      case .upsert: break
      }
      gone = book
    }
  }

  private static let leavings = Leaving.allCases.filter { $0 != .upsert }

  @Test(arguments: TestStoreKind.allCases, leavings)
  func writingToItDoesNothing(_ kind: TestStoreKind, _ leaving: Leaving) throws {
    let bench = try Bench(kind, leaving)
    let (context, gone) = (bench.context, bench.gone)
    let shelf = try context.insert(Shelf.self)
    let reader = try context.person("Ann")
    let hadChanges = context.updatedObjects.count
    let title = gone.title
    gone.title = "late commit of a text field"
    gone[primitive: AttributeKey<String?>("title")] = "late"
    try gone.setValue("late", forKey: "title")
    try gone.setPropertyValue(.string("late"), forKey: "title")
    try gone.setPrimitiveValue(.string("late"), forKey: "title")
    gone.shelf = shelf
    gone.readers = [reader]
    gone[set: Book.readersKey].insert(reader)
    gone[set: Book.readersKey].remove(reader)
    gone[set: Book.readersKey].removeAll()
    try gone.setValue(shelf, forKey: "shelf")
    try gone.setValue([reader], forKey: "readers")
    try gone.setPropertyValue(.toOne(shelf.objectID), forKey: "shelf")
    #expect(gone.title == title)
    #expect(gone.shelf == nil && gone.readers.isEmpty && gone[set: Book.readersKey].isEmpty)
    #expect(shelf.books.isEmpty && reader.books.isEmpty)
    #expect(context.updatedObjects.count == hadChanges)
    context.delete(gone)
    context.refresh(gone, mergeChanges: true)
    // A save that depends on a record which is gone fails.
    if leaving != .deletionElsewhere { context.detectConflicts(for: gone) }
    let imported = persistenceError { try gone.importValues(from: try ImportValue(["title": "late"])) }
    #expect(imported?.code == (gone.managedObjectContext == nil ? .objectNotFound : nil))
    try context.save()
    let found = try bench.stack.context().fetch(Book.self)
    let stays = leaving == .reset || leaving == .lossOfContext
    #expect(found.map(\.title) == (stays ? ["gone"] : []))
  }

  @Test(arguments: TestStoreKind.allCases, leavings)
  func aRelationshipToItIsLeftOut(_ kind: TestStoreKind, _ leaving: Leaving) throws {
    let bench = try Bench(kind, leaving)
    let (context, gone) = (bench.context, bench.gone)
    let (shelf, other) = (try context.insert(Shelf.self), try context.book("other"))
    let ann = try context.person("Ann")
    shelf.books = [gone, other, gone]
    #expect(shelf.books == [other])
    shelf[list: Shelf.booksKey].append(gone)
    shelf[list: Shelf.booksKey].insert(gone, at: 0)
    shelf[list: Shelf.booksKey].objects = [gone, other]
    shelf[list: Shelf.booksKey][0] = gone
    #expect(shelf.books.isEmpty)
    shelf.books = [other]
    ann[set: Person.booksKey].insert(gone)
    ann[set: Person.booksKey].formUnion([gone, other])
    ann[set: Person.booksKey].remove(gone)
    #expect(ann.books == [other])
    // By name it is an error, and nothing changes.
    #expect(persistenceError { try shelf.setValue([gone], forKey: "books") }?.code == .objectNotFound)
    #expect(shelf.books == [other])
    try context.save()
    let check = bench.stack.context()
    try expectBothEndsAgree(check)
    #expect(try check.fetch(Shelf.self).first?.books.map(\.title) == ["other"])
  }

  @Test(arguments: TestStoreKind.allCases)
  func aToOneRelationshipToAGoneObjectLeadsNowhere(_ kind: TestStoreKind) throws {
    let bench = try ShelfBench(kind)
    let (context, other) = (bench.stack.context(), bench.stack.context())
    context.automaticallyMergesChangesFromParent = true
    let shown: Shelf = try bench.find(bench.shelf, context)
    other.delete(try other.existingObject(with: bench.shelf))
    try other.save()
    _ = try context.count(entityName: "Shelf")
    let book = try context.book("new")
    book.shelf = shown
    #expect(shown.isDeleted && book.shelf == nil)
    #expect(persistenceError { try book.setValue(shown, forKey: "shelf") }?.code == .objectNotFound)
    try context.save()
    let check = bench.stack.context()
    #expect(try check.fetch(Book.self).map(\.shelf) == [nil])
  }

  /// The shelf was deleted elsewhere, and the context does not know it yet.
  @Test(arguments: TestStoreKind.allCases)
  func whatWasNotMergedIsAConflict(_ kind: TestStoreKind) throws {
    let bench = try ShelfBench(kind)
    let (context, other) = (bench.stack.context(), bench.stack.context())
    let shown: Shelf = try bench.find(bench.shelf, context)
    #expect(shown.title == "Shelf")
    other.delete(try other.existingObject(with: bench.shelf))
    try other.save()
    try context.book("new").shelf = shown
    #expect(persistenceError { try context.save() }?.code == .saveConflict)
  }

  @Test(arguments: TestStoreKind.allCases)
  func whatAnUpsertHasGivenUpIsGone(_ kind: TestStoreKind) throws {
    let model = try ManagedObjectModel(entities: [
      .entity(
        "List",
        unique: [["code"]],
        .attribute("code", .string, optional: true),
        .attribute("name", .string, optional: true)
      )
    ])
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let (context, other) = (ManagedObjectContext(coordinator), ManagedObjectContext(coordinator))
    try other.insert(entityName: "List").setValue("c", forKey: "code")
    try other.save()
    context.mergePolicy = .mergeByPropertyObjectTrump
    let new = try context.insert(entityName: "List")
    try new.setValue("c", forKey: "code")
    try context.save()
    #expect(new.isDeleted && new.managedObjectContext == nil)
    new[AttributeKey<String?>("name")] = "later"
    try new.setValue("later", forKey: "name")
    #expect(try new.value(forKey: "name") == nil)
    #expect(!context.hasChanges)
  }

  @Test func aGoneObjectHasNoRelatedObjects() throws {
    let context = try TestStack().context()
    let ann = try context.person("Ann")
    ann.spouse = ann
    try context.save()
    context.delete(ann)
    try context.save()
    #expect(ann.spouse == nil && ann.friends.isEmpty && ann[set: Person.friendsKey].isEmpty)
    #expect(ann.books.isEmpty && ann[list: Person.studentsKey].isEmpty)
  }

  @Test(arguments: TestStoreKind.allCases)
  func undoLeavesGoneObjectsOut(_ kind: TestStoreKind) throws {
    let bench = try ShelfBench(kind)
    let (context, other) = (bench.stack.context(), bench.stack.context())
    context.undoManager = GraphUndoManager()
    let book = try context.book("book", on: try bench.find(bench.shelf, context))
    try context.save()
    book.shelf = nil
    try context.save()
    other.delete(try other.existingObject(with: bench.shelf))
    var saved: ContextChanges?
    let observation = other.observe(.didSave) { saved = $0 }
    try other.save()
    try withExtendedLifetime(observation) { context.mergeChanges(from: try #require(saved)) }
    context.undo()
    #expect(book.shelf == nil)
    try context.save()
    try expectBothEndsAgree(bench.stack.context())
  }

  @Test func willSaveMayWriteToWhatIsDeleted() throws {
    final class Stamped: ManagedObject {
      override func willSave() {
        if isDeleted || self[AttributeKey<Int>("count")] != 1 { self[AttributeKey<Int>("count")] = 1 }
      }
      override func didSave() { if isDeleted { self[AttributeKey<Int>("count")] = 2 } }
    }
    let model = try ManagedObjectModel(entities: [.entity("Stamped", .attribute("count", .integer16))])
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, objectClasses: [Stamped.self])
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    let object = try context.insert(Stamped.self)
    try context.save()
    context.delete(object)
    try context.save()
    #expect(try ManagedObjectContext(coordinator).count(entityName: "Stamped") == 0)
  }
}
