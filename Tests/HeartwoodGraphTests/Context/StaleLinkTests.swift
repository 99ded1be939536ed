import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Relationships of which a context has read one end long ago, and the other just now.
@Suite struct StaleLinkTests {
  private struct Library {
    let stack: TestStack
    let shelf: ManagedObjectID

    init(_ kind: TestStoreKind) throws {
      stack = try TestStack(kind)
      let context = stack.context()
      let shelf = try context.insert(Shelf.self)
      try context.save()
      self.shelf = shelf.objectID
    }

    func find<Object: ManagedObject>(_ id: ManagedObjectID, _ context: ManagedObjectContext) throws -> Object {
      try #require(try context.existingObject(with: id) as? Object)
    }

    /// Another context puts a book on the shelf.
    func addBook(_ title: String = "book") throws -> ManagedObjectID {
      let context = stack.context()
      let book = try context.book(title, on: try find(shelf, context))
      try context.save()
      return book.objectID
    }

    /// What the shelf leads to in the store.
    func storedBooks() throws -> [ManagedObjectID] {
      let context = stack.context()
      try expectBothEndsAgree(context)
      let shelf: Shelf = try find(shelf, context)
      return try shelf.objectIDs(forRelationshipNamed: "books")
    }
  }

  @Test(arguments: TestStoreKind.allCases, [false, true])
  func aListThatWasReadBeforeLosesWhatGoes(_ kind: TestStoreKind, _ isDeleted: Bool) throws {
    let library = try Library(kind)
    let context = library.stack.context()
    let shelf: Shelf = try library.find(library.shelf, context)
    #expect(shelf.books.isEmpty)
    let book: Book = try library.find(try library.addBook(), context)
    if isDeleted { context.delete(book) } else { book.shelf = nil }
    try context.save()
    #expect(try library.storedBooks() == [])
    #expect(shelf.books.isEmpty)
  }

  @Test(arguments: TestStoreKind.allCases)
  func aListThatWasReadBeforeGetsWhatComesBack(_ kind: TestStoreKind) throws {
    let library = try Library(kind)
    let id = try library.addBook()
    let (context, other) = (library.stack.context(), library.stack.context())
    let shelf: Shelf = try library.find(library.shelf, context)
    #expect(try shelf.objectIDs(forRelationshipNamed: "books") == [id])
    let taken: Book = try library.find(id, other)
    taken.shelf = nil
    try other.save()
    let book: Book = try library.find(id, context)
    book.shelf = shelf
    try context.save()
    #expect(try library.storedBooks() == [id])
  }

  @Test(arguments: TestStoreKind.allCases)
  func aBookThatWasReadBeforeIsTakenFromAList(_ kind: TestStoreKind) throws {
    let library = try Library(kind)
    let (context, other) = (library.stack.context(), library.stack.context())
    let book = try other.book("book")
    try other.save()
    let mine: Book = try library.find(book.objectID, context)
    #expect(mine.shelf == nil)
    book.shelf = try library.find(library.shelf, other)
    try other.save()
    let shelf: Shelf = try library.find(library.shelf, context)
    shelf.books = []
    #expect(mine.shelf == nil)
    try context.save()
    #expect(try library.storedBooks() == [])
  }

  @Test func whatIsUndoneIsWhatOthersHaveSaved() throws {
    let library = try Library(.inMemory)
    let context = library.stack.context()
    context.undoManager = GraphUndoManager()
    let shelf: Shelf = try library.find(library.shelf, context)
    #expect(shelf.books.isEmpty)
    let book: Book = try library.find(try library.addBook(), context)
    book.shelf = nil
    context.processPendingChanges()
    context.undo()
    #expect(shelf.books == [book])
    #expect(!context.hasChanges)
  }

  // MARK: Of an object with changes

  private static let policies: [MergePolicy] = [
    .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .rollback,
  ]

  /// The shelf has changes, so that it comes to a conflict; the book, which was read later, does not.
  @Test(arguments: policies, [false, true])
  func noPolicyTakesOneEndAlone(_ policy: MergePolicy, _ isDeleted: Bool) throws {
    let library = try Library(.inMemory)
    let context = library.stack.context()
    let shelf: Shelf = try library.find(library.shelf, context)
    let other = try context.book("other", on: shelf)
    let book: Book = try library.find(try library.addBook(), context)
    if isDeleted { context.delete(book) } else { book.shelf = nil }
    #expect(persistenceError { try context.save() }?.code == .saveConflict)
    context.mergePolicy = policy
    try context.save()
    let stored = try library.storedBooks()
    #expect(!stored.contains(book.objectID))
    #expect(stored.allSatisfy { $0 == other.objectID })
  }

  @Test func whatIsDeletedDoesNotComeBackToWhatIsRolledBack() throws {
    let library = try Library(.inMemory)
    let (mine, theirs) = (library.stack.context(), library.stack.context())
    let id = try library.addBook()
    mine.delete(try library.find(id, mine))
    let shelf: Shelf = try library.find(library.shelf, theirs)
    shelf.title = "renamed"
    try theirs.save()
    mine.mergePolicy = .rollback
    try mine.save()
    #expect(try library.storedBooks() == [])
    #expect(try library.stack.context().count(entityName: "Book") == 0)
  }

  @Test func aTransientChangeKeepsNoEndThatAPolicyRefuses() throws {
    let library = try Library(.inMemory)
    let (mine, theirs) = (library.stack.context(), library.stack.context())
    let (person, id) = (try theirs.person("Ann"), try library.addBook())
    try theirs.save()
    let ann: Person = try library.find(person.objectID, mine)
    let book: Book = try library.find(id, mine)
    book.cached = "kept"
    ann.name = "Anna"
    let theirBook: Book = try library.find(id, theirs)
    theirBook.readers = [person]
    try theirs.save()
    mine.mergePolicy = .overwrite
    try mine.save()
    #expect(book.cached == "kept")
    let check = library.stack.context()
    try expectBothEndsAgree(check)
    let checked: Person = try library.find(person.objectID, check)
    #expect(checked.books.isEmpty)
  }

  // MARK: In a parent

  @Test func aParentTakesWhatAChildKnewBetter() throws {
    let library = try Library(.inMemory)
    let (parent, other) = (library.stack.context(), library.stack.context())
    let mine: Shelf = try library.find(library.shelf, parent)
    #expect(mine.title == "Shelf")
    let theirs: Shelf = try library.find(library.shelf, other)
    theirs.title = "renamed"
    try other.save()
    let child = ManagedObjectContext(parent: parent)
    let seen: Shelf = try library.find(library.shelf, child)
    #expect(seen.title == "renamed")
    seen.title = "Shelf"
    try child.saveToPersistentStore()
    let checked: Shelf = try library.find(library.shelf, library.stack.context())
    #expect(checked.title == "Shelf")
  }

  @Test(arguments: [false, true])
  func aParentTakesBothEndsOfWhatAChildKnewBetter(_ isDeleted: Bool) throws {
    let library = try Library(.inMemory)
    let kept = try library.addBook("kept")
    let parent = library.stack.context()
    let mine: Shelf = try library.find(library.shelf, parent)
    #expect(mine.books.map(\.objectID) == [kept])
    let id = try library.addBook()
    let child = ManagedObjectContext(parent: parent)
    let book: Book = try library.find(id, child)
    if isDeleted { child.delete(book) } else { book.shelf = nil }
    try child.saveToPersistentStore()
    #expect(try library.storedBooks() == [kept])
  }

  /// What the parent has changed of the same object was made on the older record.
  @Test func aParentsOwnChangeOfTheObjectIsAConflictStill() throws {
    let library = try Library(.inMemory)
    let parent = library.stack.context()
    let mine: Shelf = try library.find(library.shelf, parent)
    mine.title = "mine"
    let id = try library.addBook()
    let child = ManagedObjectContext(parent: parent)
    let book: Book = try library.find(id, child)
    book.shelf = nil
    try child.save()
    #expect(persistenceError { try parent.save() }?.code == .saveConflict)
    parent.mergePolicy = .mergeByPropertyObjectTrump
    try parent.save()
    #expect(try library.storedBooks() == [])
    let checked: Shelf = try library.find(library.shelf, library.stack.context())
    #expect(checked.title == "mine")
  }
}
