import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// Changes of objects whose records another save has deleted.
@Suite struct AbandonedChangeTests {
  private struct Bench {
    let stack: TestStack
    let context: ManagedObjectContext
    let book: Book
    let shelf: Shelf

    /// A book and a shelf that the context shows, and which have changes there.
    init(_ kind: TestStoreKind) throws {
      stack = try TestStack(kind)
      let maker = stack.context()
      let (shelf, book) = (try maker.insert(Shelf.self), try maker.book("book"))
      try maker.save()
      context = stack.context()
      self.book = try #require(try context.existingObject(with: book.objectID) as? Book)
      self.shelf = try #require(try context.existingObject(with: shelf.objectID) as? Shelf)
      self.book.title = "mine"
    }

    func deleteElsewhere(_ object: ManagedObject, merges: Bool) throws {
      let other = stack.context()
      var saved: ContextChanges?
      let observation = other.observe(.didSave) { saved = $0 }
      other.delete(try other.existingObject(with: object.objectID))
      try other.save()
      try withExtendedLifetime(observation) { if merges { context.mergeChanges(from: try #require(saved)) } }
    }
  }

  @Test(arguments: TestStoreKind.allCases, [false, true])
  func whatAPolicyDropsCountsAsDeletedAtOnce(_ kind: TestStoreKind, _ merges: Bool) throws {
    let bench = try Bench(kind)
    try bench.deleteElsewhere(bench.book, merges: merges)
    bench.context.mergePolicy = .mergeByPropertyObjectTrump
    try bench.context.save()
    #expect(bench.book.isDeleted && !bench.context.hasChanges)
  }

  @Test(arguments: TestStoreKind.allCases)
  func whatIsGoneStaysGoneThroughRollbackAndRefresh(_ kind: TestStoreKind) throws {
    let bench = try Bench(kind)
    try bench.deleteElsewhere(bench.book, merges: true)
    #expect(bench.book.isDeleted)
    bench.context.rollback()
    #expect(bench.book.isDeleted)
    bench.context.refresh(bench.book, mergeChanges: false)
    #expect(bench.book.isDeleted)
    bench.context.refreshAllObjects()
    #expect(bench.book.isDeleted)
  }

  @Test(arguments: TestStoreKind.allCases, [false, true])
  func deletingUnblocksTheSave(_ kind: TestStoreKind, _ isLinked: Bool) throws {
    let bench = try Bench(kind)
    let context = bench.context
    if isLinked {
      bench.book.shelf = bench.shelf
      bench.book.tags = [try context.insert(Tag.self)]
    }
    try bench.deleteElsewhere(bench.book, merges: true)
    #expect(bench.book.isDeleted && context.hasChanges)
    #expect(persistenceError { try context.save() }?.code == .saveConflict)
    context.delete(bench.book)
    #expect(!context.updatedObjects.contains(bench.book))
    if !isLinked { #expect(!context.hasChanges) }
    try context.save()
    #expect(bench.book.isDeleted && !context.hasChanges)
    #expect(bench.shelf.books.isEmpty)
    context.refresh(bench.book, mergeChanges: false)
    #expect(!context.hasChanges)
    try expectBothEndsAgree(bench.stack.context())
  }

  /// What was put on the gone shelf goes with it, as its delete rule says.
  @Test(arguments: TestStoreKind.allCases)
  func deletingCascades(_ kind: TestStoreKind) throws {
    let bench = try Bench(kind)
    let context = bench.context
    bench.shelf.books = [bench.book, try context.book("new")]
    try bench.deleteElsewhere(bench.shelf, merges: true)
    context.delete(bench.shelf)
    try context.save()
    #expect(try bench.stack.context().count(entityName: "Book") == 0)
  }

  @Test(arguments: TestStoreKind.allCases)
  func aCascadeOverOneUnblocksTheSaveToo(_ kind: TestStoreKind) throws {
    let bench = try Bench(kind)
    let context = bench.context
    bench.shelf.books = [bench.book]
    try bench.deleteElsewhere(bench.book, merges: true)
    context.delete(bench.shelf)
    try context.save()
    #expect(!context.hasChanges)
    #expect(try bench.stack.context().count(entityName: "Shelf") == 0)
  }
}
