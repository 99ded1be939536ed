import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// Both ends of relationships agree, whatever a parent does not take of what its child has saved.
@MainActor
@Suite struct ChildSaveLinkTests {
  /// A view context, and a child of another isolation, which sees nothing of it but what is saved.
  private struct Family {
    let stack: TestStack
    let view: ViewContext
    let child: ManagedObjectContext

    @MainActor
    init(_ kind: TestStoreKind) throws {
      stack = try TestStack(kind)
      view = ViewContext(stack.coordinator)
      child = ManagedObjectContext(parent: view)
    }

    func inChild<Object: ManagedObject>(_ object: Object) throws -> Object {
      try #require(try child.existingObject(with: object.objectID) as? Object)
    }

    /// Expects that a save of the parent tells once that it keeps `objects` as they are, and saves them.
    @MainActor
    func save(keeping objects: [ManagedObject]) throws {
      let ids = Set(objects.map(\.objectID))
      let error = persistenceError { try view.context.save() }
      #expect(error?.code == .saveConflict)
      #expect(Set(error?.context.objectIDs ?? []) == ids)
      try view.context.save()
      try expectBothEndsAgree(stack.context())
    }
  }

  @Test(arguments: TestStoreKind.allCases)
  func whatBothAddToAListIsThere(_ kind: TestStoreKind) throws {
    let family = try Family(kind)
    let shelf = try family.view.context.insert(Shelf.self)
    try family.view.context.save()
    let inChild = try family.inChild(shelf)
    _ = try family.view.context.book("parent's", on: shelf)
    _ = try family.child.book("child's", on: inChild)
    try family.child.save()
    _ = try family.child.book("child's second", on: inChild)
    try family.child.save()
    try family.view.context.save()
    #expect(shelf.books.map(\.title) == ["parent's", "child's", "child's second"])
    let context = family.stack.context()
    #expect(try context.fetch(Shelf.self).map(\.books.count) == [3])
    try expectBothEndsAgree(context)
  }

  @Test(arguments: TestStoreKind.allCases)
  func whatBothMoveIsWhereTheParentHasPutIt(_ kind: TestStoreKind) throws {
    let family = try Family(kind)
    let shelves = try (0..<3).map { _ in try family.view.context.insert(Shelf.self) }
    let book = try family.view.context.book("book", on: shelves[0])
    try family.view.context.save()
    book.shelf = shelves[1]
    try family.inChild(book).shelf = family.inChild(shelves[2])
    try family.child.save()
    try family.save(keeping: [book])
    #expect(shelves.map(\.books) == [[], [book], []])
  }

  @Test(arguments: TestStoreKind.allCases)
  func whomBothMarryIsMarriedOnce(_ kind: TestStoreKind) throws {
    let family = try Family(kind)
    let people = try ["Ann", "Bob", "Cid"].map { try family.view.context.person($0) }
    try family.view.context.save()
    people[0].spouse = people[1]
    try family.inChild(people[0]).spouse = family.inChild(people[2])
    try family.child.save()
    try family.save(keeping: [people[0]])
    #expect(people.map(\.spouse) == [people[1], people[0], nil])
  }

  @Test(arguments: TestStoreKind.allCases)
  func whatTheParentKeepsIsLinkedAsItWas(_ kind: TestStoreKind) throws {
    let family = try Family(kind)
    let people = try ["Ann", "Bob", "Cid"].map { try family.view.context.person($0) }
    people[0].students = [people[1], people[2]]
    try family.view.context.save()
    people[1].name = "Bobby"
    family.child.delete(try family.inChild(people[1]))
    try family.child.save()
    try family.save(keeping: [people[1]])
    #expect(people[0].students == [people[1], people[2]])
    family.child.refreshAllObjects()
    people[0].name = "Anna"
    family.child.delete(try family.inChild(people[0]))
    try family.child.save()
    try family.save(keeping: [people[0]])
    #expect(people[0].students == [people[1], people[2]])
    #expect(people.map(\.mentor) == [nil, people[0], people[0]])
  }

  @Test(arguments: TestStoreKind.allCases)
  func whatIsDeletedWithWhatTheParentKeepsIsGone(_ kind: TestStoreKind) throws {
    let family = try Family(kind)
    let shelf = try family.view.context.insert(Shelf.self)
    _ = try family.view.context.book("book", on: shelf)
    try family.view.context.save()
    shelf.title = "Parent's"
    family.child.delete(try family.inChild(shelf))
    try family.child.save()
    try family.save(keeping: [shelf])
    #expect(try shelf.propertyValue(forKey: "books") == .toMany([]))
    let context = family.stack.context()
    let saved = try #require(try context.fetch(Shelf.self).first)
    #expect(try saved.propertyValue(forKey: "books") == .toMany([]))
    #expect(try context.count(entityName: "Book") == 0)
  }

  @Test(arguments: TestStoreKind.allCases)
  func nothingNewLeadsToWhatTheParentHasDeleted(_ kind: TestStoreKind) throws {
    let family = try Family(kind)
    let shelf = try family.view.context.insert(Shelf.self)
    try family.view.context.save()
    let inChild = try family.inChild(shelf)
    family.view.context.delete(shelf)
    _ = try family.child.book("child's", on: inChild)
    try family.child.save()
    try family.save(keeping: [shelf])
    let context = family.stack.context()
    let book = try #require(try context.fetch(Book.self).first)
    #expect(try book.propertyValue(forKey: "shelf") == .null)
    #expect(try context.count(entityName: "Shelf") == 0)
  }

  @Test(arguments: TestStoreKind.allCases)
  func whatTheChildHasMovedStaysThere(_ kind: TestStoreKind) throws {
    let family = try Family(kind)
    let people = try ["Ann", "Bob", "Cid"].map { try family.view.context.person($0) }
    people[0].students = [people[1]]
    try family.view.context.save()
    people[0].name = "Anna"
    try family.inChild(people[1]).mentor = family.inChild(people[2])
    family.child.delete(try family.inChild(people[0]))
    try family.child.save()
    try family.save(keeping: [people[0]])
    #expect(people.map(\.students) == [[], [], [people[1]]])
  }

  /// What a new object was led to by is not what the child saw, once the object is gone.
  @Test(arguments: TestStoreKind.allCases)
  func whatLedToANewObjectThatIsGoneIsNoConflict(_ kind: TestStoreKind) throws {
    let family = try Family(kind)
    let shelf = try family.view.context.insert(Shelf.self)
    try family.view.context.save()
    let notes = try (0..<2).map { _ in try family.view.context.insert(Note.self) }
    notes[0].about = notes[1]
    _ = try family.view.context.book("new", on: shelf)
    family.view.context.publishChanges()
    family.child.delete(try family.inChild(shelf))
    family.child.delete(try family.inChild(notes[1]))
    try family.child.save()
    try family.inChild(notes[0]).about = try family.child.insert(Note.self)
    try family.child.save()
    try family.view.context.save()
    let context = family.stack.context()
    #expect(try context.count(entityName: "Book") == 0)
    #expect(try context.count(entityName: "Note") == 2)
    #expect(notes[0].about != nil)
  }
}
