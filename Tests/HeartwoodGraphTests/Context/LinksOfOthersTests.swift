import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// What becomes of links where others have changed, or deleted, what they lead to.
@Suite struct LinksOfOthersTests {
  // MARK: What the context deletes or puts elsewhere

  @Test(arguments: TestStoreKind.allCases)
  func whoLeadsBackByTheNewestRecordDeniesADeletion(_ kind: TestStoreKind) throws {
    let bench = try ShelfBench(kind)
    let (mine, theirs) = (bench.stack.context(), bench.stack.context())
    let (ann, book) = (try theirs.person("Ann"), try theirs.book("book"))
    try theirs.save()
    let reader: Person = try bench.find(ann.objectID, mine)
    #expect(reader.books.isEmpty)
    book.readers = [ann]
    try theirs.save()
    mine.delete(try bench.find(book.objectID, mine) as Book)
    #expect(persistenceError { try mine.save() }?.code == .validationFailed)
    #expect(try bench.stack.context().count(entityName: "Book") == 1)
  }

  private enum Merging: CaseIterable {
    case byItself, byRefreshing, byRefreshingAll, ofTheSave
  }

  /// The shelf, which this context has renamed, takes in that the book was put on it.
  @Test(arguments: Merging.allCases, [false, true])
  private func whatIsMergedLeadsToNothingThatIsRefused(_ merging: Merging, _ isDeleted: Bool) throws {
    let bench = try ShelfBench(.inMemory)
    let (mine, theirs) = (bench.stack.context(), bench.stack.context())
    mine.automaticallyMergesChangesFromParent = merging == .byItself
    let shelf: Shelf = try bench.find(bench.shelf, mine)
    shelf.title = "mine"
    let other = try mine.insert(Shelf.self)
    var told: [ContextChanges] = []
    let observation = theirs.observe(.didSave) { told.append($0) }
    let theirBook = try theirs.book("book", on: try bench.find(bench.shelf, theirs))
    try withExtendedLifetime(observation) { try theirs.save() }
    let book: Book = try bench.find(theirBook.objectID, mine)
    if isDeleted { mine.delete(book) } else { book.shelf = other }
    switch merging {
    case .byItself: break
    case .byRefreshing: mine.refresh(shelf, mergeChanges: true)
    case .byRefreshingAll: mine.refreshAllObjects()
    case .ofTheSave: told.forEach(mine.mergeChanges)
    }
    try mine.save()
    #expect(try bench.storedBooks() == [])
  }

  /// Both have put a book on a shelf; the one where it is in the store does not keep it.
  @Test func aRefreshTakesWhatBothHaveMovedFromWhereOthersHavePutIt() throws {
    let bench = try ShelfBench(.inMemory)
    let (mine, theirs) = (bench.stack.context(), bench.stack.context())
    let theirBook = try theirs.book("book")
    try theirs.save()
    let book: Book = try bench.find(theirBook.objectID, mine)
    let other = try mine.insert(Shelf.self)
    book.shelf = other
    theirBook.shelf = try bench.find(bench.shelf, theirs)
    try theirs.save()
    mine.refresh(book, mergeChanges: true)
    #expect(book.shelf === other)
    try mine.save()
    #expect(try bench.storedBooks() == [])
  }

  @Test func whatARefreshDoesToOthersIsNotUndone() throws {
    let bench = try ShelfBench(.inMemory)
    let (mine, theirs) = (bench.stack.context(), bench.stack.context())
    mine.undoManager = GraphUndoManager()
    let theirBook = try theirs.book("book")
    try theirs.save()
    let book: Book = try bench.find(theirBook.objectID, mine)
    book.title = "mine"
    mine.processPendingChanges()
    theirBook.shelf = try bench.find(bench.shelf, theirs)
    try theirs.save()
    mine.refresh(book, mergeChanges: true)
    mine.undo()
    #expect(book.title == "book")
    #expect(mine.undoManager?.canUndo == false)
    #expect(book.shelf?.objectID == bench.shelf)
    try expectBothEndsAgree(mine)
  }

  /// The shelf has books of its own by now, and was read before the others put theirs there.
  @Test(arguments: [false, true])
  func aListThatIsOlderRefusesNothing(_ takesListFirst: Bool) throws {
    let bench = try ShelfBench(.inMemory)
    let (mine, theirs) = (bench.stack.context(), bench.stack.context())
    let theirBook = try theirs.book("book")
    try theirs.save()
    let shelf: Shelf = try bench.find(bench.shelf, mine)
    let book: Book = try bench.find(theirBook.objectID, mine)
    #expect(shelf.books.isEmpty)
    book.title = "mine"
    let own = try mine.book("own", on: shelf)
    theirBook.shelf = try bench.find(bench.shelf, theirs)
    try theirs.save()
    for object in takesListFirst ? [shelf, book] : [book, shelf] { mine.refresh(object, mergeChanges: true) }
    try mine.save()
    #expect(try Set(bench.storedBooks()) == [theirBook.objectID, own.objectID])
  }

  @Test func aRefreshTakesNoWatchAway() throws {
    let bench = try ShelfBench(.inMemory)
    let (mine, theirs) = (bench.stack.context(), bench.stack.context())
    let theirBook = try theirs.book("book")
    try theirs.save()
    let shelf: Shelf = try bench.find(bench.shelf, mine)
    #expect(shelf.title == "Shelf")
    mine.detectConflicts(for: shelf)
    let book: Book = try bench.find(theirBook.objectID, mine)
    book.shelf = try mine.insert(Shelf.self)
    let theirShelf: Shelf = try bench.find(bench.shelf, theirs)
    (theirBook.shelf, theirShelf.title) = (theirShelf, "renamed")
    try theirs.save()
    mine.refresh(book, mergeChanges: true)
    #expect(persistenceError { try mine.save() }?.code == .saveConflict)
  }

  // MARK: What others have deleted

  @Test(arguments: TestStoreKind.allCases, [false, true])
  func aNewLinkToWhatIsGoneIsAConflict(_ kind: TestStoreKind, _ isRefreshed: Bool) throws {
    let bench = try ShelfBench(kind)
    let (mine, theirs) = (bench.stack.context(), bench.stack.context())
    let (theirAnn, theirBob) = (try theirs.person("Ann"), try theirs.person("Bob"))
    if !isRefreshed { theirBob.mentor = theirAnn }
    try theirs.save()
    let ann: Person = try bench.find(theirAnn.objectID, mine)
    #expect(try ann.objectIDs(forRelationshipNamed: "students").count == (isRefreshed ? 0 : 1))
    func link() throws { (try bench.find(theirBob.objectID, mine) as Person).mentor = ann }
    if isRefreshed { try link() }
    theirs.delete(theirAnn)
    try theirs.save()
    if isRefreshed {
      #expect(persistenceError { try mine.save() }?.code == .saveConflict)
      mine.refresh(ann, mergeChanges: false)
    } else {
      try link()
    }
    let error = try #require(persistenceError { try mine.save() })
    #expect(error.code == .saveConflict)
    #expect(error.context.objectIDs == [theirAnn.objectID])
    mine.mergePolicy = .mergeByPropertyObjectTrump
    try mine.save()
    let check = bench.stack.context()
    let bob: Person = try bench.find(theirBob.objectID, check)
    #expect(try bob.objectIDs(forRelationshipNamed: "mentor") == [])
    try expectBothEndsAgree(check)
  }

  // MARK: A deletion that is taken back

  @Test func whatTheContextHasPutElsewhereStaysThere() throws {
    let bench = try ShelfBench(.inMemory)
    let (mine, theirs) = (bench.stack.context(), bench.stack.context())
    let (theirAnn, theirBob) = (try theirs.person("Ann"), try theirs.person("Bob"))
    let theirCid = try theirs.person("Cid")
    theirBob.mentor = theirAnn
    try theirs.save()
    let bob: Person = try bench.find(theirBob.objectID, mine)
    bob.mentor = try bench.find(theirCid.objectID, mine)
    mine.delete(try bench.find(theirAnn.objectID, mine))
    theirAnn.name = "Anna"
    try theirs.save()
    mine.mergePolicy = .mergeByPropertyStoreTrump
    try mine.save()
    let check = bench.stack.context()
    let stored: Person = try bench.find(theirBob.objectID, check)
    #expect(stored.mentor?.objectID == theirCid.objectID)
    #expect(try check.count(entityName: "Person") == 3)
    try expectBothEndsAgree(check)
  }

  @Test func whatOthersHavePutThereStays() throws {
    let bench = try ShelfBench(.inMemory)
    let (mine, theirs) = (bench.stack.context(), bench.stack.context())
    let (theirAnn, theirBob) = (try theirs.person("Ann"), try theirs.person("Bob"))
    theirBob.mentor = try theirs.person("Cid")
    try theirs.save()
    let bob: Person = try bench.find(theirBob.objectID, mine)
    #expect(bob.mentor?.name == "Cid")
    mine.delete(try bench.find(theirAnn.objectID, mine))
    theirBob.mentor = theirAnn
    try theirs.save()
    mine.mergePolicy = .mergeByPropertyStoreTrump
    try mine.save()
    let check = bench.stack.context()
    let stored: Person = try bench.find(theirBob.objectID, check)
    #expect(stored.mentor?.objectID == theirAnn.objectID)
    try expectBothEndsAgree(check)
  }

  // MARK: In a parent

  @Test(arguments: [false, true])
  func aParentsListKeepsWhatOthersHaveAdded(_ mergesByItself: Bool) throws {
    let bench = try ShelfBench(.inMemory)
    let parent = bench.stack.context()
    parent.automaticallyMergesChangesFromParent = mergesByItself
    let shelf: Shelf = try bench.find(bench.shelf, parent)
    let mine = try parent.book("mine", on: shelf)
    let theirs = try bench.addBook("theirs")
    let child = ManagedObjectContext(parent: parent)
    let seen: Shelf = try bench.find(bench.shelf, child)
    seen.title = "renamed"
    try child.save()
    if !mergesByItself {
      #expect(persistenceError { try parent.save() }?.code == .saveConflict)
      parent.refresh(shelf, mergeChanges: true)
    }
    try parent.save()
    #expect(try Set(bench.storedBooks()) == [mine.objectID, theirs])
    #expect(shelf.title == "renamed")
  }

  @Test(arguments: [MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite])
  func noPolicyOfAParentDropsWhatOthersHaveAdded(_ policy: MergePolicy) throws {
    let bench = try ShelfBench(.inMemory)
    let parent = bench.stack.context()
    let shelf: Shelf = try bench.find(bench.shelf, parent)
    let mine = try parent.book("mine", on: shelf)
    let (theirs, refused) = (try bench.addBook("theirs"), try bench.addBook("refused"))
    parent.delete(try bench.find(refused, parent))
    let child = ManagedObjectContext(parent: parent)
    let seen: Shelf = try bench.find(bench.shelf, child)
    seen.title = "renamed"
    try child.save()
    parent.mergePolicy = policy
    try parent.save()
    #expect(try Set(bench.storedBooks()) == [mine.objectID, theirs])
  }

  // MARK: What else an object that is read anew must not lose

  @Test func whatIsUndoneIsTheEventAlone() throws {
    let bench = try ShelfBench(.inMemory)
    let context = bench.stack.context()
    context.undoManager = GraphUndoManager()
    let shelf: Shelf = try bench.find(bench.shelf, context)
    shelf.books = []
    let (first, second) = (try bench.addBook("first"), try bench.addBook("second"))
    (try bench.find(first, context) as Book).shelf = nil
    context.processPendingChanges()
    context.undo()
    #expect(shelf.books.map(\.objectID) == [first, second])
    #expect(!context.hasChanges)
  }

  @Test func whatIsUndoneComesBackToItsPlace() throws {
    let bench = try ShelfBench(.inMemory)
    let context = bench.stack.context()
    context.undoManager = GraphUndoManager()
    let shelf: Shelf = try bench.find(bench.shelf, context)
    #expect(shelf.books.isEmpty)
    let ids = [try bench.addBook("first"), try bench.addBook("second"), try bench.addBook("third")]
    context.delete(try bench.find(ids[1], context))
    context.processPendingChanges()
    context.undo()
    #expect(shelf.books.map(\.objectID) == ids)
    #expect(!context.hasChanges)
  }

  @Test func aWatchedObjectIsNotReadAnew() throws {
    let bench = try ShelfBench(.inMemory)
    let (mine, theirs) = (bench.stack.context(), bench.stack.context())
    let shelf: Shelf = try bench.find(bench.shelf, mine)
    #expect(shelf.title == "Shelf")
    mine.detectConflicts(for: shelf)
    let theirShelf: Shelf = try bench.find(bench.shelf, theirs)
    theirShelf.title = "renamed"
    let theirBook = try theirs.book("book", on: theirShelf)
    try theirs.save()
    (try bench.find(theirBook.objectID, mine) as Book).shelf = nil
    #expect(persistenceError { try mine.save() }?.code == .saveConflict)
  }

  @Test func whoListensIsToldOfAnObjectThatIsReadAnew() throws {
    let bench = try ShelfBench(.inMemory)
    let (mine, theirs) = (bench.stack.context(), bench.stack.context())
    let shelf: Shelf = try bench.find(bench.shelf, mine)
    #expect(shelf.books.isEmpty)
    let theirBook = try theirs.book("book", on: try bench.find(bench.shelf, theirs))
    try theirs.save()
    let book: Book = try bench.find(theirBook.objectID, mine)
    #expect(book.shelf === shelf)
    theirBook.shelf?.title = "renamed"
    theirBook.shelf = nil
    try theirs.save()
    var told: Set<ManagedObjectID> = []
    let observation = mine.observe(.objectsDidChange) { told.formUnion($0.updatedObjectIDs) }
    mine.delete(book)
    withExtendedLifetime(observation) { mine.processPendingChanges() }
    #expect(shelf.title == "renamed")
    #expect(told.contains(bench.shelf))
  }

  /// It lets a child save while it is validated.
  private final class Worker: ManagedObject {
    static let nameKey = AttributeKey<String?>("name")
    static let salaryKey = AttributeKey<Int?>("salary")
    var whileValidating: () throws -> Void = {}

    override func validateForUpdate() throws {
      let body = whileValidating
      whileValidating = {}
      try body()
    }
  }

  @Test func whatAContextHasSavedIsNotTakenBackByAChild() throws {
    let model = try ManagedObjectModel(
      entities: [
        .entity("Worker", .attribute("name", .string, optional: true), .attribute("salary", .integer64, optional: true))
      ]
    )
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: TestStack.registry,
      objectClasses: [Worker.self]
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let root = ManagedObjectContext(coordinator)
    let worker = try root.insert(Worker.self)
    try root.save()
    let view = ManagedObjectContext(parent: root)
    let child = ManagedObjectContext(parent: view)
    let seen = try #require(try view.existingObject(with: worker.objectID) as? Worker)
    seen[Worker.nameKey] = "Anna"
    let paid = try #require(try child.existingObject(with: seen.objectID) as? Worker)
    paid[Worker.salaryKey] = 5
    seen.whileValidating = { try child.save() }
    try view.save()
    #expect(seen[Worker.nameKey] == "Anna")
    try view.save()
    try root.save()
    let stored = try #require(
      try ManagedObjectContext(coordinator).existingObject(with: seen.objectID) as? Worker
    )
    #expect(stored[Worker.nameKey] == "Anna")
    #expect(stored[Worker.salaryKey] == 5)
  }
}
