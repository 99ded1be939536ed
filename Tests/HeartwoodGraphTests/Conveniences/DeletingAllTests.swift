import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// All objects of an entity, or some, deleted: with the next save or at once.
@Suite struct DeletingAllTests {
  @Test(arguments: TestStoreKind.allCases)
  func objectsAreDeletedWithTheNextSave(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    let shelf = try context.insert(Shelf.self)
    for title in ["a", "b", "c"] { _ = try context.book(title, on: shelf) }
    try context.save()
    let book = try #require(shelf.books.first)
    #expect(try context.deleteAll(Book.self, where: Book.titleKey < "c") == 2)
    #expect(shelf.books.map(\.title) == ["c"])
    #expect(book.events.last == "delete from Shelf")
    #expect(try stack.context().count(Book.self) == 3)
    try context.save()
    #expect(try stack.context().count(Book.self) == 1)
    #expect(try context.deleteAll(FetchRequest<ManagedObject>(entityName: "Shelf")) == 1)
    try context.save()
    #expect(try stack.context().count(Book.self) == 0)
    #expect(try context.deleteAll(Book.self) == 0)
  }

  @Test(arguments: TestStoreKind.allCases)
  func truncationIsSavedAtOnce(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    let shelves = try (0..<3).map { _ in try context.insert(Shelf.self) }
    let book = try context.book("lost", on: shelves[0])
    let tag = try context.insert(Tag.self)
    try context.save()
    let new = try context.insert(Shelf.self)
    let unsaved = try context.book("kept", on: shelves[1])
    shelves[2].title = "changed"
    unsaved.shelf = shelves[2]
    context.delete(shelves[1])
    tag.name = "kept"
    #expect(try context.truncate(Shelf.self) == 4)
    #expect(try stack.context().count(Shelf.self) == 0)
    // The delete rule has taken the book along.
    #expect(try stack.context().count(Book.self) == 0)
    #expect(try context.count(Shelf.self) == 0)
    #expect(book.isDeleted && new.isDeleted && shelves.allSatisfy(\.isDeleted))
    #expect(unsaved.shelf == nil)
    try context.save()
    let fresh = stack.context()
    #expect(try fresh.count(Shelf.self) == 0)
    #expect(try fresh.fetch(Book.self).map(\.title) == ["kept"])
    #expect(try fresh.fetch(Tag.self).map(\.name) == ["kept"])
    #expect(try fresh.fetchFirst(Book.self)?.shelf == nil)
  }

  @Test func truncationTakesSubentities() throws {
    let stack = try TestStack(.binary)
    let context = stack.context()
    let employee = try context.insert(Employee.self)
    (employee.name, employee.mentor) = ("Ann", try context.person("Bob"))
    try context.save()
    #expect(try context.truncate(entityName: "Employee") == 1)
    #expect(try context.fetch(Person.self).map(\.name) == ["Bob"])
    #expect(try context.truncate(Person.self) == 1)
    #expect(try stack.context().count(Person.self) == 0)
    #expect(persistenceError { try context.truncate(entityName: "Nobody") }?.code == .entityUnknown)
  }

  @Test func truncationThatIsDeniedChangesNothing() throws {
    let stack = try TestStack()
    let context = stack.context()
    let reader = try context.person("Ann")
    try context.book("a").readers = [reader]
    try context.save()
    let new = try context.book("new")
    #expect(persistenceError { try context.truncate(Book.self) }?.code == .validationFailed)
    #expect(!new.isDeleted)
    #expect(try stack.context().count(Book.self) == 1)
  }

  @Test(arguments: TestStoreKind.allCases)
  func childrenTruncateTheStores(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let parent = stack.context()
    parent.automaticallyMergesChangesFromParent = true
    _ = try parent.insert(Tag.self)
    try parent.save()
    let child = ManagedObjectContext(parent: parent)
    #expect(try child.truncate(Tag.self) == 1)
    #expect(try stack.context().count(Tag.self) == 0)
    #expect(try child.count(Tag.self) == 0 && parent.count(Tag.self) == 0)
  }
}
