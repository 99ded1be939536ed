import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// Objects whose records are gone from what their context reads, and come back.
@Suite struct LostObjectTests {
  @Test(arguments: TestStoreKind.allCases)
  func aRollbackOfTheParentBringsAnObjectBack(_ kind: TestStoreKind) throws {
    let parent = try TestStack(kind).context()
    let ann = try parent.person("Ann")
    let bob = try parent.person("Bob")
    try parent.save()
    let child = ManagedObjectContext(parent: parent)
    let inChild = try child.fetch(Person.self)
    inChild[1].name = "Bobby"
    parent.delete(ann)
    parent.delete(bob)
    #expect(inChild[0].name == "")
    #expect(inChild[0].isDeleted)
    child.refresh(inChild[1], mergeChanges: true)
    #expect(inChild[1].isDeleted)
    #expect(try child.fetch(Person.self).isEmpty)
    parent.rollback()
    #expect(try child.fetch(Person.self) == inChild)
    #expect(try child.count(entityName: "Person") == 2)
    #expect(try child.existingObject(with: ann.objectID) === inChild[0])
    #expect(!inChild[0].isDeleted)
    #expect(inChild.map(\.name) == ["Ann", "Bobby"])
    try child.save()
    #expect(bob.name == "Bobby")
  }

  @Test func anUnsavedRecordComesBackToItsObject() throws {
    let top = try TestStack().context()
    _ = try top.person("Ann")
    _ = try top.person("Bob")
    let middle = ManagedObjectContext(parent: top)
    let bottom = ManagedObjectContext(parent: middle)
    let objects = try bottom.fetch(Person.self)
    #expect(objects.map(\.name) == ["Ann", "Bob"])
    objects[1].name = "Bobby"
    for person in try middle.fetch(Person.self) { middle.delete(person) }
    #expect(try bottom.fetch(Person.self).isEmpty)
    #expect(objects.map(\.isDeleted) == [true, true])
    #expect(Set(bottom.registeredObjects) == Set(objects))
    middle.rollback()
    #expect(try bottom.fetch(Person.self) == objects)
    #expect(objects.map(\.name) == ["Ann", "Bobby"])
    #expect(bottom.updatedObjects == [objects[1]])
    try bottom.saveToPersistentStore()
    #expect(try top.fetch(Person.self).map(\.name) == ["Ann", "Bobby"])
  }

  @Test func whatAPolicyTookBackKeepsWhatItReadUntilItIsRefreshed() throws {
    let top = try TestStack().context()
    let middle = ManagedObjectContext(parent: top)
    middle.mergePolicy = .mergeByPropertyStoreTrump
    let ann = try middle.person("Ann")
    try middle.saveToPersistentStore()
    try top.setQueryGeneration(from: .current)
    let version = try #require(top.queryGenerationToken)
    top.delete(try top.fetch(Person.self)[0])
    try top.save()
    try top.setQueryGeneration(from: version)
    ann.name = "Anna"
    try middle.save()
    middle.delete(ann)
    top.rollback()
    _ = try top.person("Bob")
    // The parent has changed it since, so the deletion is taken back; then the parent moves on to a version that lacks its record.
    try middle.saveToPersistentStore()
    #expect(try middle.fetch(Person.self).map(\.name) == ["Bob"])
    #expect(!ann.isDeleted)
    #expect(ann.name == "Ann")
    middle.refresh(ann, mergeChanges: false)
    #expect(ann.name == "")
    #expect(ann.isDeleted)
  }

  @Test func whatWasTakenFromALostObjectIsNotItsAnyMore() throws {
    let bench = try ShelfBench(.inMemory)
    let context = bench.stack.context()
    try context.setQueryGeneration(from: .current)
    let version = try #require(context.queryGenerationToken)
    let other = bench.stack.context()
    let second = try other.insert(Shelf.self)
    try other.save()
    try context.setQueryGeneration(from: .current)
    let lost: Shelf = try bench.find(second.objectID, context)
    let book = try context.book("book", on: lost)
    try context.setQueryGeneration(from: version)
    #expect(lost.isDeleted)
    let shelf: Shelf = try bench.find(bench.shelf, context)
    book.shelf = shelf
    try context.setQueryGeneration(from: nil)
    #expect(!lost.isDeleted)
    #expect(lost.books.isEmpty)
    #expect(shelf.books == [book])
    try expectBothEndsAgree(context)
    try context.save()
    try expectBothEndsAgree(bench.stack.context())
  }

  @Test func anUndoOfTheParentBringsAnObjectBack() throws {
    let parent = try TestStack().context()
    parent.undoManager = GraphUndoManager()
    let ann = try parent.person("Ann")
    parent.processPendingChanges()
    let child = ManagedObjectContext(parent: parent)
    let inChild = try #require(try child.fetch(Person.self).first)
    #expect(inChild.name == "Ann")
    parent.delete(ann)
    #expect(try child.fetch(Person.self).isEmpty)
    #expect(inChild.isDeleted)
    parent.undo()
    #expect(try child.existingObject(with: ann.objectID) === inChild)
    #expect(inChild.name == "Ann")
  }

  @Test func aChangeOfWhatCameBackIsAConflict() throws {
    let top = try TestStack().context()
    let ann = try top.person("Ann")
    let middle = ManagedObjectContext(parent: top)
    let bottom = ManagedObjectContext(parent: middle)
    let inBottom = try #require(try bottom.fetch(Person.self).first)
    inBottom.name = "Anna"
    middle.delete(try middle.existingObject(with: ann.objectID))
    #expect(try bottom.fetch(Person.self).isEmpty)
    middle.rollback()
    ann.name = "Annabel"
    #expect(persistenceError { try bottom.save() }?.code == .saveConflict)
    bottom.refresh(inBottom, mergeChanges: true)
    try bottom.save()
    #expect(try middle.fetch(Person.self).map(\.name) == ["Anna"])
  }

  @Test func objectsComeBackWithTheNewerVersion() throws {
    let stack = try TestStack()
    let context = stack.context()
    try context.setQueryGeneration(from: .current)
    let empty = try #require(context.queryGenerationToken)
    let people = try ["Ann", "Bob", "Cid"].map { try context.person($0) }
    try context.save()
    people[1].name = "Bobby"
    context.delete(people[2])
    try context.setQueryGeneration(from: empty)
    #expect(people.map(\.isDeleted) == [true, true, true])
    #expect(try context.fetch(Person.self).isEmpty)
    try context.setQueryGeneration(from: nil)
    #expect(try context.fetch(Person.self) == [people[0], people[1]])
    #expect(people[0].name == "Ann")
    #expect(people[1].name == "Bobby")
    #expect(people[2].isDeleted)
    try context.save()
    #expect(!context.hasChanges)
    #expect(try stack.context().fetch(Person.self).map(\.name) == ["Ann", "Bobby"])
  }

  /// A save lets a pinned context move on, and what has been saved before the object may bring its record back already.
  @Test(arguments: OtherChange.allCases)
  fileprivate func aSaveKeepsTheTransientValuesOfWhatAnOlderVersionLacks(_ change: OtherChange) throws {
    let context = try TestStack().context()
    let earlier = try context.book("earlier")
    let person = try context.person("Ann")
    try context.save()
    try context.setQueryGeneration(from: .current)
    let old = try #require(context.queryGenerationToken)
    let later = try context.book("later")
    try context.save()
    later.cached = "seen"
    try context.setQueryGeneration(from: old)
    #expect(later.isDeleted)
    switch change {
    case .sameEntity: earlier.title = "changed"
    case .otherEntity: person.name = "Anna"
    case .none: break
    }
    try context.save()
    #expect(!context.hasChanges && !later.isDeleted)
    #expect(!later.isFault && later.cached == "seen" && later.title == "later")
    #expect(later.changedValues().isEmpty)
    later.title = "changed, too"
    try context.save()
    #expect(later.cached == "seen")
  }

  fileprivate enum OtherChange: CaseIterable {
    case sameEntity, otherEntity, none
  }

  @Test func transientValuesThatASaveHasLeftComeBack() throws {
    let context = try TestStack().context()
    try context.setQueryGeneration(from: .current)
    let empty = try #require(context.queryGenerationToken)
    let book = try context.book("title")
    book.cached = "seen"
    try context.save()
    try context.setQueryGeneration(from: empty)
    #expect(book.isDeleted && !context.hasChanges)
    try context.setQueryGeneration(from: nil)
    #expect(!book.isDeleted && book.cached == "seen" && book.title == "title")
    context.refresh(book, mergeChanges: false)
    #expect(book.cached == "cached title")
  }

  @Test func rowsOfAnOlderVersionAreNobodyElses() throws {
    let stack = try TestStack()
    let parent = stack.context()
    _ = try parent.person("Ann")
    try parent.save()
    try parent.setQueryGeneration(from: .current)
    let old = try #require(parent.queryGenerationToken)
    let bob = try parent.person("Bob")
    try parent.save()
    let child = ManagedObjectContext(parent: parent)
    let both = try child.fetch(Person.self)
    #expect(both.map(\.name) == ["Ann", "Bob"])
    _ = try parent.person("Cid")
    // Cid is in the row now that is Bob's in the store.
    try parent.setQueryGeneration(from: old)
    let seen = try child.fetch(Person.self)
    #expect(seen.map(\.name) == ["Ann", "Cid"])
    #expect(seen[0] === both[0])
    #expect(both[1].isDeleted)
    #expect(both[1].objectID == bob.objectID)
    try parent.setQueryGeneration(from: nil)
    #expect(try child.fetch(Person.self) == both + [seen[1]])
    #expect(both[1].name == "Bob")
  }

  @Test func objectsThatNobodyHoldsGo() throws {
    let parent = try TestStack().context()
    let ann = try parent.person("Ann")
    let child = ManagedObjectContext(parent: parent)
    var inChild = try child.fetch(Person.self).first
    #expect(inChild?.name == "Ann")
    parent.delete(ann)
    #expect(try child.fetch(Person.self).isEmpty)
    #expect(child.registeredObjects.count == 1)
    weak let former = inChild
    inChild = nil
    #expect(former == nil)
    #expect(child.registeredObjects.isEmpty)
    _ = try parent.person("Bob")
    #expect(try child.fetch(Person.self).map(\.name) == ["Bob"])
  }
}
