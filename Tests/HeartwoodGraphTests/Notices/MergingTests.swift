import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

@Suite(.timeLimit(.minutes(5))) struct MergingTests {
  /// Of notices that nobody has read in time one is made, in which a record that was changed is new.
  @Test func aRecordThatIsToldAsNewIsMergedWhereItWasReadBeforeItChanged() async throws {
    let stack = try TestStack()
    let (context, other) = (stack.context(), stack.context())
    let saves = stack.coordinator.didSaveChanges
    for _ in 0..<64 {
      _ = try other.insert(Tag.self)
      try other.save()
    }
    let ann = try other.person("Ann")
    try other.save()
    let seen = try #require(try context.existingObject(with: ann.objectID) as? Person)
    #expect(seen.name == "Ann")
    ann.name = "Anna"
    try other.save()
    var iterator = saves.makeAsyncIterator()
    for _ in 0..<63 { context.mergeChanges(from: try #require(await iterator.next())) }
    #expect(seen.name == "Ann")
    let last = try #require(await iterator.next())
    #expect(last.insertedObjectIDs.contains(ann.objectID) && last.updatedObjectIDs.isEmpty)
    context.mergeChanges(from: last)
    #expect(seen.name == "Anna")
  }

  @Test(arguments: TestStoreKind.allCases)
  func savesOfOthersAreMerged(_ kind: TestStoreKind) async throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    let people = try ["Ann", "Bob", "Cid"].map { try context.person($0) }
    try context.save()
    let saves = stack.coordinator.didSaveChanges
    let refreshed = context.objectsDidChange
    let ids = people.map(\.objectID)
    try await BackgroundContext(stack.coordinator).perform { other in
      let people = try ids.map { try #require(try other.existingObject(with: $0) as? Person) }
      people[0].name = "Anna"
      people[1].name = "Bobby"
      other.delete(people[2])
      try other.save()
    }
    people[1].mentor = people[0]
    #expect(people.map(\.name) == ["Ann", "Bob", "Cid"])
    var iterator = saves.makeAsyncIterator()
    context.mergeChanges(from: try #require(await iterator.next()))
    #expect(people[0].name == "Anna")
    #expect(people[1].name == "Bobby")
    #expect(people[1].mentor === people[0])
    #expect(people[2].isDeleted)
    var changes = refreshed.makeAsyncIterator()
    // What the context had changed itself is told first, and apart.
    #expect(await changes.next()?.updatedObjectIDs == Set(ids[..<2]))
    let told = try #require(await changes.next())
    #expect(told.refreshedObjectIDs == Set(ids[..<2]))
    #expect(told.deletedObjectIDs == [ids[2]])
    try context.save()
    #expect(try stack.context().count(entityName: "Person") == 2)
  }

  @Test func aFaultWhoseRecordIsGoneCountsAsDeleted() throws {
    let stack = try TestStack()
    let writer = stack.context()
    let people = try ["Ann", "Bob"].map { try writer.person($0) }
    try writer.save()
    let context = stack.context()
    let faults = try context.fetch(Person.self)
    var saved: ContextChanges?
    let saves = writer.observe(.didSave) { saved = $0 }
    var told: ContextChanges?
    let changes = context.observe(.objectsDidChange) { told = $0 }
    people[0].name = "Anna"
    writer.delete(people[1])
    try writer.save()
    #expect(faults.map(\.isDeleted) == [false, false])
    try withExtendedLifetime((saves, changes)) { context.mergeChanges(from: try #require(saved)) }
    #expect(faults.map(\.isDeleted) == [false, true])
    #expect(faults[0].isFault)
    #expect(told?.deletedObjectIDs == [people[1].objectID])
    #expect(told?.refreshedObjectIDs == [])
    #expect(!context.hasChanges)
  }

  @Test func contextsMergeByThemselvesBeforeTheyLook() throws {
    let stack = try TestStack()
    let context = stack.context()
    let ann = try context.person("Ann")
    try context.save()
    context.automaticallyMergesChangesFromParent = true
    #expect(context.automaticallyMergesChangesFromParent)
    let other = stack.context()
    try #require(try other.existingObject(with: ann.objectID) as? Person).name = "Anna"
    try other.save()
    #expect(ann.name == "Ann")
    #expect(try context.count(entityName: "Person") == 1)
    #expect(ann.name == "Anna")
    context.automaticallyMergesChangesFromParent = false
    try #require(try other.existingObject(with: ann.objectID) as? Person).name = "Annabel"
    try other.save()
    #expect(try context.count(entityName: "Person") == 1)
    #expect(ann.name == "Anna")
  }

  @MainActor
  @Test func aViewContextMergesSoon() async throws {
    let stack = try TestStack()
    let view = ViewContext(stack.coordinator)
    view.context.automaticallyMergesChangesFromParent = true
    let ann = try view.context.person("Ann")
    try view.context.save()
    let id = ann.objectID
    let changes = view.context.objectsDidChange
    try await BackgroundContext(stack.coordinator).perform { context in
      try #require(try context.existingObject(with: id) as? Person).name = "Anna"
      try context.save()
    }
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.next()?.refreshedObjectIDs == [id])
    #expect(ann.name == "Anna")
  }

  @MainActor
  @Test func aViewContextTakesWhatItsChildrenSaveSoon() async throws {
    let stack = try TestStack()
    let view = ViewContext(stack.coordinator)
    let ann = try view.context.person("Ann")
    try view.context.save()
    let id = ann.objectID
    try await BackgroundContext(parent: view).perform { context in
      try #require(try context.existingObject(with: id) as? Person).name = "Anna"
      try context.save()
    }
    // The main actor takes it in when it comes to it.
    while !ann.hasChanges { await Task.yield() }
    #expect(ann.name == "Anna")
  }

  @Test func childrenMergeWhatTheParentDoes() throws {
    let stack = try TestStack()
    let parent = stack.context()
    let ann = try parent.person("Ann")
    try parent.save()
    let child = ManagedObjectContext(parent: parent)
    child.automaticallyMergesChangesFromParent = true
    let annInChild = try #require(try child.fetch(Person.self).first)
    #expect(annInChild.name == "Ann")
    ann.name = "Anna"
    try parent.save()
    #expect(try child.count(entityName: "Person") == 1)
    #expect(annInChild.name == "Anna")
  }

  @Test(arguments: TestStoreKind.allCases)
  func whatOthersAddToARelationshipStays(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let (mine, theirs) = (stack.context(), stack.context())
    let shelf = try mine.insert(Shelf.self)
    let books = try ["a", "b", "c"].map { try mine.book($0, on: shelf) }
    try mine.save()
    let theirShelf = try #require(try theirs.existingObject(with: shelf.objectID) as? Shelf)
    #expect(theirShelf.books.map(\.title) == ["a", "b", "c"])
    books[0].shelf = nil
    _ = try mine.book("mine", on: shelf)
    theirShelf.books[1].shelf = nil
    _ = try theirs.book("theirs", on: theirShelf)
    try theirs.save()
    mine.refresh(shelf, mergeChanges: true)
    #expect(shelf.books.map(\.title) == ["c", "mine", "theirs"])
    try mine.save()
    let check = stack.context()
    let checked = try #require(try check.existingObject(with: shelf.objectID) as? Shelf)
    #expect(Set(checked.books.map(\.title)) == ["c", "mine", "theirs"])
    for book in try check.fetch(Book.self) {
      #expect((book.shelf === checked) == checked.books.contains(book))
    }
  }

  @Test func whatIsMergedIsNotUndone() throws {
    let stack = try TestStack()
    let (context, other) = (stack.context(), stack.context())
    let shelf = try context.insert(Shelf.self)
    try context.save()
    context.undoManager = GraphUndoManager()
    _ = try context.book("mine", on: shelf)
    var saved: ContextChanges?
    let saves = other.observe(.didSave) { saved = $0 }
    _ = try other.book("theirs", on: try other.existingObject(with: shelf.objectID) as? Shelf)
    try other.save()
    try withExtendedLifetime(saves) { context.mergeChanges(from: try #require(saved)) }
    #expect(shelf.books.map(\.title) == ["mine", "theirs"])
    context.undo()
    #expect(shelf.books.map(\.title) == ["theirs"])
    context.redo()
    #expect(Set(shelf.books.map(\.title)) == ["mine", "theirs"])
  }
}
