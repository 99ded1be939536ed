import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodGraph

/// What contexts remember for the sake of their undo managers.
@Suite struct UndoMemoryTests {
  private let context: ManagedObjectContext
  private let undoManager = GraphUndoManager()

  init() throws {
    context = try TestStack().context()
    context.undoManager = undoManager
  }

  /// Inserts and saves more objects than are noted without a look at what can be undone.
  private func insertMany() throws {
    for number in 0..<1500 { _ = try context.person("\(number)") }
    try context.save()
  }

  @Test func idsAreForgottenWithTheEventsThatNameThem() throws {
    undoManager.levelsOfUndo = 4
    let ann = try context.person("Ann")
    context.processPendingChanges()
    let bob = try context.person("Bob")
    ann.spouse = bob
    context.processPendingChanges()
    // This event names both by temporary ids.
    ann.spouse = nil
    try context.save()
    try insertMany()
    let recorder = try #require(context.recorder)
    #expect(recorder.idCount > 1500)
    ann.name = "Anna"
    context.processPendingChanges()
    #expect(recorder.idCount == 2)
    for _ in 0..<3 { context.undo() }
    #expect(ann.name == "Ann" && ann.spouse === bob && bob.spouse === ann)
    try context.save()
    #expect(try context.count(Person.self) == 2)
    for _ in 0..<3 { context.redo() }
    #expect(ann.name == "Anna" && ann.spouse == nil)
    try context.save()
    #expect(try context.count(Person.self) == 1502)
  }

  @Test func idsInObjectsThatMayComeBackAreKept() throws {
    undoManager.levelsOfUndo = 3
    let (shelf, book) = (try context.insert(Shelf.self), try context.book("Emma"))
    let tag = try context.insert(Tag.self)
    book.shelf = shelf
    book.tags = [tag]
    context.processPendingChanges()
    // The book goes as a new object, and leads to the tag by the id that this has now.
    context.delete(book)
    try context.save()
    try insertMany()
    shelf.title = "Novels"
    context.processPendingChanges()
    #expect(try #require(context.recorder).idCount < 10)
    for _ in 0..<3 { context.undo() }
    #expect(book.isInserted && book.shelf === shelf && book.tags == [tag])
    #expect(shelf.books == [book] && tag.books == [book])
    try context.save()
    try expectBothEndsAgree(context)
  }

  @Test func nothingIsKeptOnceNothingCanBeUndone() throws {
    for _ in 0..<3 {
      try insertMany()
      undoManager.removeAllActions()
      #expect(try #require(context.recorder).idCount == 0)
    }
    #expect(!undoManager.canUndo)
  }
}
