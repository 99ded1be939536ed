import HeartwoodGraph
import HeartwoodModel
import HeartwoodTesting
import Testing

/// To-many relationships whose members go and come one by one, so that there are as many as were read again and again.
///
/// Those of many members are held against the time that a test may take: with quadratic work none of them ended within a minute.
@Suite struct ReplacedMembersTests {
  private static let many = 20_000

  /// A shelf of saved books in order, and a tag of the same books, which has none.
  private struct Stock {
    let stack: TestStack
    let context: ManagedObjectContext
    let shelf: Shelf
    let tag: Tag
    let books: [Book]

    init(_ count: Int) throws {
      stack = try TestStack()
      let context = stack.context()
      self.context = context
      shelf = try context.insert(Shelf.self)
      tag = try context.insert(Tag.self)
      books = try (0..<count).map { try context.book("\($0)") }
      shelf.books = books
      tag.books = books
      try context.save()
    }

    var listed: RelatedList<Book> { shelf[list: Shelf.booksKey] }
    var tagged: RelatedSet<Book> { tag[set: Tag.booksKey] }

    /// Whether books of the shelf, or of the tag, are to be saved.
    func hasChanged(_ owner: ManagedObject) -> Bool { owner.changedValues()["books"] != nil }
  }

  // MARK: Many

  @Test(arguments: [false, true])
  func manyAreReplacedOneByOne(_ isBackwards: Bool) throws {
    let stock = try Stock(Self.many)
    let context = stock.context
    let news = try (isBackwards ? stock.books.reversed() : stock.books).map { old in
      context.delete(old)
      return try context.book("new", on: stock.shelf)
    }
    #expect(stock.shelf.books == news)
    try context.save()
    context.refresh(stock.shelf, mergeChanges: false)
    #expect(stock.shelf.books == news)
  }

  @Test func manyAreReplacedInASetAndPutBack() throws {
    let stock = try Stock(Self.many)
    let tagged = stock.tagged
    let others = try stock.books.map { _ in try stock.context.insert(Book.self) }
    for (old, new) in zip(stock.books.reversed(), others) {
      tagged.remove(old)
      tagged.insert(new)
    }
    #expect(tagged.objects == Set(others))
    for (old, new) in zip(stock.books, others).dropLast() {
      tagged.remove(new)
      tagged.insert(old)
    }
    #expect(stock.hasChanged(stock.tag))
    tagged.remove(try #require(others.last))
    tagged.insert(try #require(stock.books.last))
    #expect(!stock.hasChanged(stock.tag) && !stock.tag.isUpdated)
    #expect(tagged.objects == Set(stock.books))
  }

  @Test func manyAreMovedToTheEndAndBack() throws {
    let stock = try Stock(Self.many)
    let listed = stock.listed
    func moveToTheEnd(_ books: some Sequence<Book>) {
      for book in books {
        listed.remove(book)
        listed.append(book)
      }
    }
    // Each of them lets the first difference be where it was.
    moveToTheEnd(stock.books.dropLast().reversed())
    #expect(listed.objects == [try #require(stock.books.last)] + stock.books.dropLast().reversed())
    #expect(stock.hasChanged(stock.shelf))
    moveToTheEnd(stock.books.dropLast())
    #expect(stock.hasChanged(stock.shelf))
    moveToTheEnd(stock.books.suffix(1))
    #expect(!stock.hasChanged(stock.shelf) && !stock.shelf.isUpdated)
    #expect(listed.objects == stock.books)
  }

  // MARK: What was read becomes something else

  /// More than are looked through each time.
  private static let several = 40

  @Test func whatWasInItsPlaceMayLeaveIt() throws {
    let stock = try Stock(Self.several)
    let listed = stock.listed
    let last = stock.books.count - 1
    // All but the last is found to be in order the second time. The first is not any more then.
    for place in [last - 1, last - 1, 0, last] {
      listed.remove(stock.books[place])
      listed.append(stock.books[place])
      #expect(stock.hasChanged(stock.shelf))
    }
    for book in stock.books {
      listed.remove(book)
      listed.append(book)
    }
    #expect(!stock.hasChanged(stock.shelf))
  }

  @Test func whatOthersHaveSavedIsWhatMembersAreHeldAgainst() throws {
    let stock = try Stock(Self.several)
    let (listed, tagged) = (stock.listed, stock.tagged)
    let new = try stock.context.book("new")
    try stock.context.save()
    listed.remove(stock.books[0])
    listed.append(new)
    tagged.remove(stock.books[0])
    tagged.insert(new)
    #expect(stock.hasChanged(stock.shelf) && stock.hasChanged(stock.tag))
    try edit(stock, takingOut: 1)
    for object in stock.context.registeredObjects { stock.context.refresh(object, mergeChanges: true) }
    #expect(listed.objects == stock.books[2...] + [new])
    listed.remove(new)
    tagged.remove(new)
    // It was among those that were read at first, and is not any more.
    listed.append(stock.books[1])
    tagged.insert(stock.books[1])
    #expect(stock.hasChanged(stock.shelf) && stock.hasChanged(stock.tag))
    listed.remove(stock.books[1])
    tagged.remove(stock.books[1])
    tagged.insert(stock.books[0])
    listed.append(stock.books[0])
    #expect(stock.hasChanged(stock.shelf), "It was the first, and is the last.")
    #expect(!stock.hasChanged(stock.tag))
    for book in stock.books[2...] {
      listed.remove(book)
      listed.append(book)
    }
    #expect(!stock.hasChanged(stock.shelf))
  }

  /// Lets another context take a book away from the shelf and the tag.
  private func edit(_ stock: Stock, takingOut place: Int) throws {
    let context = stock.stack.context()
    let book = try #require(context.object(with: stock.books[place].objectID) as? Book)
    book.shelf = nil
    book.tags = []
    try context.save()
  }

  @Test func whatWasSavedIsWhatMembersAreHeldAgainst() throws {
    let stock = try Stock(Self.several)
    let (listed, tagged) = (stock.listed, stock.tagged)
    for book in stock.books[..<2] {
      listed.remove(book)
      listed.append(book)
      tagged.remove(book)
      tagged.insert(try stock.context.insert(Book.self))
    }
    try stock.context.save()
    #expect(!stock.hasChanged(stock.shelf) && !stock.hasChanged(stock.tag))
    // As they were read at first, which is not as they are saved now.
    listed.objects = stock.books
    stock.tag[set: Tag.booksKey] = RelatedSet(stock.books)
    #expect(stock.hasChanged(stock.shelf) && stock.hasChanged(stock.tag))
    stock.context.rollback()
    #expect(!stock.hasChanged(stock.shelf) && !stock.hasChanged(stock.tag))
    #expect(stock.shelf.books == Array(stock.books[2...] + stock.books[..<2]))
  }

  @Test func namesOfTodayAreWhatMembersAreHeldAgainst() throws {
    let stock = try Stock(Self.several)
    let tagged = stock.tagged
    let others = try stock.books.map { _ in try stock.context.insert(Book.self) }
    for (old, new) in zip(stock.books, others) {
      tagged.remove(old)
      tagged.insert(new)
    }
    try stock.stack.convertToNumbers()
    for (old, new) in zip(stock.books, others) {
      #expect(stock.hasChanged(stock.tag))
      tagged.remove(new)
      tagged.insert(old)
    }
    #expect(!stock.hasChanged(stock.tag))
  }

  @Test func aRecordThatMovesIsWhatMembersAreHeldAgainst() throws {
    let stock = try Stock(Self.several)
    let (parent, child) = (stock.context, ManagedObjectContext(parent: stock.context))
    let others = try (0..<2).map { _ in try parent.insert(Book.self) }
    try parent.save()
    let tag = try parent.insert(Tag.self)
    tag.books = stock.books
    let found = try child.fetch(Tag.self).first { $0.objectID != stock.tag.objectID }
    let tagInChild = try #require(found)
    let books = try (stock.books[..<2] + others).map { book in
      try #require(try child.existingObject(with: book.objectID) as? Book)
    }
    let tagged = tagInChild[set: Tag.booksKey]
    tagged.remove(books[0])
    tagged.insert(books[2])
    tag[set: Tag.booksKey].remove(stock.books[1])
    tag[set: Tag.booksKey].insert(others[1])
    try saveAnotherTag(stock)
    // The other tag has the row now, so what the parent has is read from the next one.
    #expect(try child.fetch(Tag.self).count == 3)
    tagged.remove(books[1])
    tagged.insert(books[0])
    tagged.remove(books[2])
    #expect(stock.hasChanged(tagInChild))
    tagged.insert(books[3])
    #expect(!stock.hasChanged(tagInChild))
  }

  private func saveAnotherTag(_ stock: Stock) throws {
    let context = stock.stack.context()
    _ = try context.insert(Tag.self)
    try context.save()
  }

  // MARK: At random

  /// Whether a relationship counts as changed is held against what was read and what is there, whatever has happened to either.
  @Test func changesAreToldAsByLookingThroughAll() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed: \(seed)")
    var generator = SeededGenerator(seed: seed)
    let stock = try Stock(Self.several)
    stock.context.undoManager = GraphUndoManager()
    for round in 0..<1500 {
      try step(stock, &generator)
      try expectChangesAreTold(stock, "seed \(seed), round \(round)")
    }
  }

  private func step(_ stock: Stock, _ generator: inout SeededGenerator) throws {
    let (context, place) = (stock.context, Int.random(in: 0..<Self.several, using: &generator))
    let book = stock.books[place]
    let (listed, tagged) = (stock.listed, stock.tagged)
    switch Int.random(in: 0..<100, using: &generator) {
    case 0: try context.save()
    case 1: context.rollback()
    case 2:
      // What others change here is not to be a conflict.
      try context.save()
      try edit(stock, takingOut: place)
      for object in context.registeredObjects { context.refresh(object, mergeChanges: true) }
    case 3: context.processPendingChanges()
    case 4: context.undo()
    case 5: listed.objects = stock.books
    case 6: stock.tag.books = stock.books
    case 7..<40:
      listed.remove(book)
      listed.append(book)
    case 40..<60: if tagged.remove(book) == nil { tagged.insert(book) }
    case 60..<75: if listed.remove(book) { listed.append(stock.books[(place + 1) % Self.several]) }
    default:
      // In the order of what was read, so that it comes to be the same now and then.
      let books = try stock.shelf.committedBooks(among: stock.books)
      for book in books.suffix(Int.random(in: 0...Self.several, using: &generator)) {
        listed.remove(book)
        listed.append(book)
      }
    }
  }

  private func expectChangesAreTold(_ stock: Stock, _ place: String) throws {
    for (owner, isOrdered) in [(stock.shelf as ManagedObject, true), (stock.tag, false)] {
      let former = try owner.committedValues(forKeys: ["books"])["books"]?.objectIDs ?? []
      let ids = try owner.objectIDs(forRelationshipNamed: "books")
      let isSame = isOrdered ? former == ids : Set(former) == Set(ids)
      #expect(stock.hasChanged(owner) != isSame, "\(place), \(owner.entity.name)")
    }
  }
}

extension Shelf {
  /// Those of `books` that the shelf was read with, in the order that they had.
  fileprivate func committedBooks(among books: [Book]) throws -> [Book] {
    let byID = Dictionary(books.map { ($0.objectID, $0) }) { first, _ in first }
    return try committedValues(forKeys: ["books"])["books"]?.objectIDs.compactMap { byID[$0] } ?? []
  }
}
