import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodGraph

/// Both ends of every relationship agree for each two objects that a context has, whatever happens to them.
@Suite struct RelationshipCheckTests {
  // MARK: The check itself

  @Test(arguments: TestStoreKind.allCases)
  func findsAnEndThatWasChangedAlone(_ kind: TestStoreKind) throws {
    let context = try TestStack(kind).context()
    let (shelf, book) = (try context.insert(Shelf.self), try context.book("A"))
    try context.save()
    #expect(shelf.books.isEmpty && book.shelf == nil)
    let ordinal = try #require(shelf.entity.ordinal(ofProperty: "books"))
    shelf.changeLinks(ordinal) { $0.append(book.objectID) }
    let found = try #require(context.relationshipDisagreements.first)
    #expect(context.relationshipDisagreements.count == 1)
    #expect(found.contains("Shelf.books") && found.contains("whose shelf does not refer back"))
    shelf.changeLinks(ordinal) { $0.remove(book.objectID) }
    #expect(context.relationshipDisagreements.isEmpty)
  }

  @Test func findsAnEndThatWasCutAlone() throws {
    let context = try TestStack().context()
    let shelf = try context.insert(Shelf.self)
    let book = try context.book("A", on: shelf)
    try context.save()
    #expect(shelf.books == [book] && book.shelf == shelf)
    let ordinal = try #require(book.entity.ordinal(ofProperty: "shelf"))
    book.change(ordinal, to: .null)
    // Both ends say so, the one that leads there and the one that was cut.
    #expect(Set(context.relationshipDisagreements).count == 1)
  }

  @Test func findsWhatLeadsToADeletedObject() throws {
    let context = try TestStack().context()
    let shelf = try context.insert(Shelf.self)
    let book = try context.book("A", on: shelf)
    try context.save()
    #expect(shelf.books == [book])
    context.markDeleted(book)
    #expect(context.relationshipDisagreements.allSatisfy { $0.contains("deleted object") })
    #expect(context.relationshipDisagreements.count == 1)
  }

  @Test func readsNothing() throws {
    let stack = try TestStack(.incremental)
    let writer = stack.context()
    let book = try writer.book("A", on: try writer.insert(Shelf.self))
    try writer.save()
    let context = stack.context()
    let fault = try context.existingObject(with: book.objectID)
    #expect(context.relationshipDisagreements.isEmpty)
    #expect(fault.isFault)
    _ = (fault as? Book)?.title
    #expect(context.relationshipDisagreements.isEmpty)
    #expect(context.registeredObjects.count == 1, "the shelf is not made")
  }

  @Test func leavesAloneWhatARefreshHasDroppedAtOneEnd() throws {
    let context = try TestStack().context()
    let (shelf, book) = (try context.insert(Shelf.self), try context.book("A"))
    try context.save()
    book.shelf = shelf
    context.refresh(book, mergeChanges: false)
    #expect(book.shelf == nil && shelf.books == [book], "what refreshing without merging means")
    #expect(context.relationshipDisagreements.isEmpty)
    try context.save()
    #expect(context.relationshipDisagreements.isEmpty)
  }

  // MARK: What others have removed

  /// The other end still refers back where it was read before the removal, which is no change of it.
  @Test(arguments: TestStoreKind.allCases)
  func whatAPolicyKeepsRefersBack(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let parent = stack.context()
    let shelf = try parent.insert(Shelf.self)
    let book = try parent.book("A", on: shelf)
    try parent.save()
    let child = ManagedObjectContext(parent: parent)
    child.mergePolicy = .overwrite
    let childShelf = try #require(child.existingObject(with: shelf.objectID) as? Shelf)
    let childBook = try #require(child.existingObject(with: book.objectID) as? Book)
    #expect(childShelf.books == [childBook] && childBook.shelf == childShelf)
    book.shelf = nil
    childBook.title = "B"
    try child.save()
    #expect(child.relationshipDisagreements.isEmpty && parent.relationshipDisagreements.isEmpty)
    #expect(book.title == "B" && book.shelf == shelf && shelf.books == [book])
    try parent.save()
    let stored = stack.context()
    let storedShelf = try #require(stored.existingObject(with: shelf.objectID) as? Shelf)
    #expect(storedShelf.books.map(\.objectID) == [book.objectID])
  }

  /// A refresh that does not merge drops one end of a move; the child saves the other one alone.
  @Test(arguments: TestStoreKind.allCases)
  func whatAChildSavesOfOneEndIsFollowedByTheOther(_ kind: TestStoreKind) throws {
    let parent = try TestStack(kind).context()
    let (former, new) = (try parent.insert(Shelf.self), try parent.insert(Shelf.self))
    let book = try parent.book("A", on: former)
    try parent.save()
    let child = ManagedObjectContext(parent: parent)
    let childFormer = try #require(child.existingObject(with: former.objectID) as? Shelf)
    let childBook = try #require(child.existingObject(with: book.objectID) as? Book)
    childBook.shelf = try #require(child.existingObject(with: new.objectID) as? Shelf)
    child.refresh(childFormer, mergeChanges: false)
    #expect(childFormer.books == [childBook], "what refreshing without merging means")
    try child.save()
    #expect(book.shelf == new && new.books == [book] && former.books.isEmpty)
    #expect(parent.relationshipDisagreements.isEmpty)
  }

  // MARK: Random graphs

  @Test(arguments: TestStoreKind.allCases, [1, 2, 3, 4, 5, 6] as [UInt64])
  func bothEndsAgreeWhateverHappens(_ kind: TestStoreKind, _ seed: UInt64) throws {
    var run = try RelationshipRun(kind, seed: seed)
    try run.run(stepCount: 250)
  }
}

/// Contexts with policies of all kinds over one store, one of them a child, to which random things happen.
private struct RelationshipRun {
  private static let policies: [MergePolicy] = [
    .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback,
  ]
  private let stack: TestStack
  private let seed: UInt64
  private var generator: SeededGenerator
  private var libraries: [RandomLibrary]
  /// Objects that somebody holds, so that contexts go on knowing what they have read of them.
  private var held: [ManagedObject] = []

  init(_ kind: TestStoreKind, seed: UInt64) throws {
    stack = try TestStack(kind)
    self.seed = seed
    generator = SeededGenerator(seed: seed)
    var contexts: [ManagedObjectContext] = []
    for policy in Self.policies.shuffled(using: &generator).prefix(3) {
      let context = stack.context()
      context.mergePolicy = policy
      if generator.chance(oneIn: 2) { context.undoManager = GraphUndoManager() }
      context.automaticallyMergesChangesFromParent = generator.chance(oneIn: 2)
      contexts.append(context)
    }
    contexts.append(ManagedObjectContext(parent: contexts[0]))
    libraries = []
    for context in contexts {
      libraries.append(RandomLibrary(context, seed: .random(in: .min ... .max, using: &generator)))
    }
  }

  mutating func run(stepCount: Int) throws {
    for step in 1...stepCount {
      let index = Int.random(in: 0..<libraries.count, using: &generator)
      let event = try perform(index)
      for (other, library) in libraries.enumerated() {
        held += library.context.registeredObjects
        let found = library.context.relationshipDisagreements
        try #require(found.isEmpty, "seed \(seed), step \(step), \(event) in \(index): context \(other): \(found)")
      }
      if held.count > 4000 { held = [] }
    }
  }

  private mutating func perform(_ index: Int) throws -> String {
    let context = libraries[index].context
    switch Int.random(in: 0..<24, using: &generator) {
    case 0, 1, 2:
      do {
        try context.save()
        return "save"
      } catch let error as PersistenceError {
        context.rollback()
        return "save that came to \(error.code), and rollback"
      }
    case 3:
      context.processPendingChanges()
      context.undo()
      return "undo"
    case 4:
      context.redo()
      return "redo"
    case 5:
      context.refreshAllObjects()
      return "refresh of all"
    case 6:
      guard let person = try libraries[index].one(of: Person.self) else { return "nothing" }
      let merges = generator.chance(oneIn: 2)
      context.refresh(person, mergeChanges: merges)
      return "refresh\(merges ? ", merging" : "")"
    case 7: return try readAll(context)
    case 8:
      context.processPendingChanges()
      return "end of event"
    default:
      try libraries[index].step()
      return "step"
    }
  }

  private func readAll(_ context: ManagedObjectContext) throws -> String {
    for entity in ["Person", "Passport", "Shelf", "Book", "Tag"] {
      for object in try context.fetch(entityName: entity) where object.isFault { object.fireFault() }
    }
    return "reading of all"
  }
}
