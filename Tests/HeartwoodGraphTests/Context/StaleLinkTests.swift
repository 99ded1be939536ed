import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Relationships of which a context has read one end long ago, and the other just now.
@Suite struct StaleLinkTests {
  @Test(arguments: TestStoreKind.allCases, [false, true])
  func aListThatWasReadBeforeLosesWhatGoes(_ kind: TestStoreKind, _ isDeleted: Bool) throws {
    let bench = try ShelfBench(kind)
    let context = bench.stack.context()
    let shelf: Shelf = try bench.find(bench.shelf, context)
    #expect(shelf.books.isEmpty)
    let book: Book = try bench.find(try bench.addBook(), context)
    if isDeleted { context.delete(book) } else { book.shelf = nil }
    try context.save()
    #expect(try bench.storedBooks() == [])
    #expect(shelf.books.isEmpty)
  }

  @Test(arguments: TestStoreKind.allCases)
  func aListThatWasReadBeforeGetsWhatComesBack(_ kind: TestStoreKind) throws {
    let bench = try ShelfBench(kind)
    let id = try bench.addBook()
    let (context, other) = (bench.stack.context(), bench.stack.context())
    let shelf: Shelf = try bench.find(bench.shelf, context)
    #expect(try shelf.objectIDs(forRelationshipNamed: "books") == [id])
    let taken: Book = try bench.find(id, other)
    taken.shelf = nil
    try other.save()
    let book: Book = try bench.find(id, context)
    book.shelf = shelf
    try context.save()
    #expect(try bench.storedBooks() == [id])
  }

  @Test(arguments: TestStoreKind.allCases)
  func aBookThatWasReadBeforeIsTakenFromAList(_ kind: TestStoreKind) throws {
    let bench = try ShelfBench(kind)
    let (context, other) = (bench.stack.context(), bench.stack.context())
    let book = try other.book("book")
    try other.save()
    let mine: Book = try bench.find(book.objectID, context)
    #expect(mine.shelf == nil)
    book.shelf = try bench.find(bench.shelf, other)
    try other.save()
    let shelf: Shelf = try bench.find(bench.shelf, context)
    shelf.books = []
    #expect(mine.shelf == nil)
    try context.save()
    #expect(try bench.storedBooks() == [])
  }

  @Test func whatIsUndoneIsWhatOthersHaveSaved() throws {
    let bench = try ShelfBench(.inMemory)
    let context = bench.stack.context()
    context.undoManager = GraphUndoManager()
    let shelf: Shelf = try bench.find(bench.shelf, context)
    #expect(shelf.books.isEmpty)
    let book: Book = try bench.find(try bench.addBook(), context)
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
    let bench = try ShelfBench(.inMemory)
    let context = bench.stack.context()
    let shelf: Shelf = try bench.find(bench.shelf, context)
    let other = try context.book("other", on: shelf)
    let book: Book = try bench.find(try bench.addBook(), context)
    if isDeleted { context.delete(book) } else { book.shelf = nil }
    #expect(persistenceError { try context.save() }?.code == .saveConflict)
    context.mergePolicy = policy
    try context.save()
    let stored = try bench.storedBooks()
    #expect(!stored.contains(book.objectID))
    #expect(stored.allSatisfy { $0 == other.objectID })
  }

  @Test func whatIsDeletedDoesNotComeBackToWhatIsRolledBack() throws {
    let bench = try ShelfBench(.inMemory)
    let (mine, theirs) = (bench.stack.context(), bench.stack.context())
    let id = try bench.addBook()
    mine.delete(try bench.find(id, mine))
    let shelf: Shelf = try bench.find(bench.shelf, theirs)
    shelf.title = "renamed"
    try theirs.save()
    mine.mergePolicy = .rollback
    try mine.save()
    #expect(try bench.storedBooks() == [])
    #expect(try bench.stack.context().count(entityName: "Book") == 0)
  }

  @Test func aTransientChangeKeepsNoEndThatAPolicyRefuses() throws {
    let bench = try ShelfBench(.inMemory)
    let (mine, theirs) = (bench.stack.context(), bench.stack.context())
    let (person, id) = (try theirs.person("Ann"), try bench.addBook())
    try theirs.save()
    let ann: Person = try bench.find(person.objectID, mine)
    let book: Book = try bench.find(id, mine)
    book.cached = "kept"
    ann.name = "Anna"
    let theirBook: Book = try bench.find(id, theirs)
    theirBook.readers = [person]
    try theirs.save()
    mine.mergePolicy = .overwrite
    try mine.save()
    #expect(book.cached == "kept")
    let check = bench.stack.context()
    try expectBothEndsAgree(check)
    let checked: Person = try bench.find(person.objectID, check)
    #expect(checked.books.isEmpty)
  }

  // MARK: In a parent

  @Test func aParentTakesWhatAChildKnewBetter() throws {
    let bench = try ShelfBench(.inMemory)
    let (parent, other) = (bench.stack.context(), bench.stack.context())
    let mine: Shelf = try bench.find(bench.shelf, parent)
    #expect(mine.title == "Shelf")
    let theirs: Shelf = try bench.find(bench.shelf, other)
    theirs.title = "renamed"
    try other.save()
    let child = ManagedObjectContext(parent: parent)
    let seen: Shelf = try bench.find(bench.shelf, child)
    #expect(seen.title == "renamed")
    seen.title = "Shelf"
    try child.saveToPersistentStore()
    let checked: Shelf = try bench.find(bench.shelf, bench.stack.context())
    #expect(checked.title == "Shelf")
  }

  @Test(arguments: [false, true])
  func aParentTakesBothEndsOfWhatAChildKnewBetter(_ isDeleted: Bool) throws {
    let bench = try ShelfBench(.inMemory)
    let kept = try bench.addBook("kept")
    let parent = bench.stack.context()
    let mine: Shelf = try bench.find(bench.shelf, parent)
    #expect(mine.books.map(\.objectID) == [kept])
    let id = try bench.addBook()
    let child = ManagedObjectContext(parent: parent)
    let book: Book = try bench.find(id, child)
    if isDeleted { child.delete(book) } else { book.shelf = nil }
    try child.saveToPersistentStore()
    #expect(try bench.storedBooks() == [kept])
  }

  /// What the parent has changed of the same object was made on the older record.
  @Test func aParentsOwnChangeOfTheObjectIsAConflictStill() throws {
    let bench = try ShelfBench(.inMemory)
    let parent = bench.stack.context()
    let mine: Shelf = try bench.find(bench.shelf, parent)
    mine.title = "mine"
    let id = try bench.addBook()
    let child = ManagedObjectContext(parent: parent)
    let book: Book = try bench.find(id, child)
    book.shelf = nil
    try child.save()
    #expect(persistenceError { try parent.save() }?.code == .saveConflict)
    parent.mergePolicy = .mergeByPropertyObjectTrump
    try parent.save()
    #expect(try bench.storedBooks() == [])
    let checked: Shelf = try bench.find(bench.shelf, bench.stack.context())
    #expect(checked.title == "mine")
  }
}
