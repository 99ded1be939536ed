import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Synchronization
import Testing

@Suite struct MergePolicyTests {
  private let stack: TestStack

  init() throws {
    stack = try TestStack()
    let context = stack.context()
    let book = try context.book("old")
    book.readers = [try context.person("Ann")]
    try context.save()
  }

  /// A context whose book is not what the store has: another context has changed `title` and `cached` meanwhile.
  private func conflict(_ change: (Book) throws -> Void) throws -> (context: ManagedObjectContext, book: Book) {
    let mine = stack.context()
    let book = try #require(try mine.fetch(Book.self).first)
    try change(book)
    let theirs = stack.context()
    let other = try #require(try theirs.fetch(Book.self).first)
    other.title = "theirs"
    try theirs.save()
    return (mine, book)
  }

  private func storedTitle() throws -> String? {
    let context = stack.context()
    return try context.fetch(Book.self).first?.title
  }

  @Test func withoutAPolicyTheSaveTellsEveryConflict() throws {
    let (mine, book) = try conflict { $0.title = "mine" }
    let error = try #require(persistenceError { try mine.save() })
    #expect(error.code == .saveConflict)
    let conflict = try #require(error.context.mergeConflicts.first)
    let title = try #require(book.entity.ordinal(ofProperty: "title"))
    #expect(conflict.objectID == book.objectID && conflict.oldVersion == 1 && conflict.newVersion == 2)
    #expect(conflict.cachedSnapshot?.values[title] == .string("old"))
    #expect(conflict.objectSnapshot?.values[title] == .string("mine"))
    #expect(conflict.persistedSnapshot?.values[title] == .string("theirs"))
    #expect(book.title == "mine" && mine.hasChanges)
  }

  @Test func severalConflictsAreToldAtOnce() throws {
    let setUp = stack.context()
    for number in 0..<3 { _ = try setUp.person("p\(number)") }
    try setUp.save()
    let (mine, theirs) = (stack.context(), stack.context())
    for person in try mine.fetch(Person.self) { person.name += "!" }
    for person in try theirs.fetch(Person.self) { person.name += "?" }
    try theirs.save()
    let error = try #require(persistenceError { try mine.save() })
    #expect(error.context.mergeConflicts.count == 4)
    #expect(Set(error.context.objectIDs) == Set(try mine.fetch(Person.self).map(\.objectID)))
  }

  @Test func storeTrumpKeepsOtherChanges() throws {
    let (mine, book) = try conflict {
      $0.title = "mine"
      $0.readers = []
    }
    mine.mergePolicy = .mergeByPropertyStoreTrump
    try mine.save()
    #expect(book.title == "theirs" && book.readers.isEmpty && !mine.hasChanges)
    #expect(try storedTitle() == "theirs")
  }

  @Test func anotherOrderOfASetIsNoChange() throws {
    let theirs = stack.context()
    let book = try #require(try theirs.fetch(Book.self).first)
    let tags = try (0..<2).map { _ in try theirs.insert(Tag.self) }
    book.tags = tags
    try theirs.save()
    let mine = stack.context()
    let myBook = try #require(try mine.fetch(Book.self).first)
    #expect(myBook.tags.count == 2)
    for order in [[tags[1]], [tags[1], tags[0]]] {
      book.tags = order
      try theirs.save()
    }
    myBook.tags = []
    mine.mergePolicy = .mergeByPropertyStoreTrump
    try mine.save()
    #expect(try #require(try stack.context().fetch(Book.self).first).tags.isEmpty)
  }

  @Test func objectTrumpSavesOnlyWhatTheObjectChanged() throws {
    let (mine, book) = try conflict { $0.readers = [] }
    mine.mergePolicy = .mergeByPropertyObjectTrump
    try mine.save()
    #expect(book.title == "theirs" && book.readers.isEmpty)
  }

  @Test func objectTrumpWinsWhereBothChangedTheSame() throws {
    let (mine, book) = try conflict { $0.title = "mine" }
    mine.mergePolicy = .mergeByPropertyObjectTrump
    try mine.save()
    #expect(book.title == "mine" && !mine.hasChanges)
    #expect(try storedTitle() == "mine")
  }

  @Test func overwriteSavesWhatTheObjectDidNotChange() throws {
    let (mine, book) = try conflict { $0.readers = [] }
    mine.mergePolicy = .overwrite
    try mine.save()
    #expect(book.title == "old")
    #expect(try storedTitle() == "old")
  }

  @Test func rollbackDropsTheObjectsChanges() throws {
    let (mine, book) = try conflict { $0.title = "mine" }
    let person = try mine.person("new")
    mine.mergePolicy = .rollback
    try mine.save()
    #expect(book.title == "theirs" && !mine.hasChanges)
    #expect(!person.objectID.isTemporaryID)
  }

  @Test(arguments: [true, false])
  func deletionAgainstAChange(_ objectTrumps: Bool) throws {
    let mine = stack.context()
    let person = try #require(try mine.fetch(Person.self).first)
    mine.delete(person)
    let theirs = stack.context()
    try #require(try theirs.fetch(Person.self).first).name = "theirs"
    try theirs.save()
    mine.mergePolicy = objectTrumps ? .mergeByPropertyObjectTrump : .mergeByPropertyStoreTrump
    // The book denies nothing: the relationship that leads here is of the other side.
    try mine.save()
    let context = stack.context()
    let stored = try context.fetch(Person.self)
    #expect(stored.map(\.name) == (objectTrumps ? [] : ["theirs"]))
    if !objectTrumps {
      #expect(!person.isDeleted && person.name == "theirs")
      #expect(try context.fetch(Book.self).first?.readers.map(\.name) == ["theirs"])
    }
  }

  @Test(arguments: [false, true])
  func objectsWhoseDeletionIsTakenBackLeadToEachOther(_ isReversed: Bool) throws {
    let theirs = stack.context()
    let people = try ["Ann", "Bob"].map { try theirs.person($0) }
    let (ann, bob) = isReversed ? (people[1], people[0]) : (people[0], people[1])
    try theirs.save()
    let mine = stack.context()
    for person in people { mine.delete(try mine.existingObject(with: person.objectID)) }
    // What a policy adds to a relationship comes to both of its ends.
    let other = stack.context()
    let otherAnn = try #require(try other.existingObject(with: ann.objectID) as? Person)
    let otherBob = try #require(try other.existingObject(with: bob.objectID) as? Person)
    otherBob.mentor = otherAnn
    try theirs.person("Cid").mentor = ann
    try theirs.save()
    other.mergePolicy = .mergeByPropertyStoreTrump
    try other.save()
    #expect(otherBob.mentor === otherAnn && otherAnn.students.map(\.name) == ["Cid", otherBob.name])
    mine.mergePolicy = .rollback
    try mine.save()
    let check = stack.context()
    let checked = try #require(try check.existingObject(with: ann.objectID) as? Person)
    #expect(checked.students.map(\.name) == ["Cid", isReversed ? "Ann" : "Bob"])
    #expect(!mine.hasChanges && mine.deletedObjects.isEmpty)
  }

  /// Two contexts over the same records: both over the store, or a child and its parent.
  private func contexts(_ isChild: Bool) -> (mine: ManagedObjectContext, theirs: ManagedObjectContext) {
    let theirs = stack.context()
    return (isChild ? ManagedObjectContext(parent: theirs) : stack.context(), theirs)
  }

  @Test(arguments: [false, true])
  func anObjectThatComesBackNoLongerLeadsToWhatWasDeletedWithIt(_ isChild: Bool) throws {
    let setUp = stack.context()
    try setUp.person("Bob").passport = try setUp.insert(Passport.self)
    try setUp.save()
    let (mine, theirs) = contexts(isChild)
    let bob = try #require(try mine.fetch(Person.self).first { $0.name == "Bob" })
    mine.delete(bob)
    #expect(mine.deletedObjects.count == 2)
    try #require(try theirs.existingObject(with: bob.objectID) as? Person).name = "Bo"
    if !isChild { try theirs.save() }
    mine.mergePolicy = .mergeByPropertyStoreTrump
    try mine.save()
    #expect(bob.name == "Bo")
    #expect(try bob.propertyValue(forKey: "passport") == .null)
    try theirs.save()
    let check = stack.context()
    let checked = try check.existingObject(with: bob.objectID)
    #expect(try checked.propertyValue(forKey: "passport") == .null)
    #expect(try check.count(entityName: "Passport") == 0)
  }

  @Test(arguments: [false, true])
  func objectsThatComeBackHaveTheirPlacesAgain(_ isChild: Bool) throws {
    let setUp = stack.context()
    let shelf = try setUp.insert(Shelf.self)
    for title in ["a", "b", "c", "d"] { _ = try setUp.book(title, on: shelf) }
    try setUp.save()
    let (mine, theirs) = contexts(isChild)
    let myShelf = try #require(try mine.existingObject(with: shelf.objectID) as? Shelf)
    for title in ["c", "a", "d"] { mine.delete(try #require(myShelf.books.first { $0.title == title })) }
    _ = try mine.book("e", on: myShelf)
    let theirShelf = try #require(try theirs.existingObject(with: shelf.objectID) as? Shelf)
    for book in theirShelf.books.prefix(3) { book.title? += "!" }
    if !isChild { try theirs.save() }
    mine.mergePolicy = .rollback
    try mine.save()
    #expect(myShelf.books.map(\.title) == ["a!", "b!", "c!", "e"])
  }

  @Test(arguments: [MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback])
  func whatAnotherSaveDeletedStaysDeleted(_ policy: MergePolicy) throws {
    let mine = stack.context()
    let person = try #require(try mine.fetch(Person.self).first)
    person.name = "mine"
    let theirs = stack.context()
    theirs.delete(try #require(try theirs.fetch(Person.self).first))
    try theirs.save()
    mine.mergePolicy = policy
    try mine.save()
    #expect(!mine.hasChanges)
    #expect(try stack.context().count(entityName: "Person") == 0)
    #expect(try mine.count(entityName: "Person") == 0)
  }

  @Test func manyRecordsThatAreKnownToBeGoneAreQuick() throws {
    // Quadratic work would take minutes here.
    let (mine, theirs) = (stack.context(), stack.context())
    for number in 0..<20_000 { _ = try theirs.person("\(number)") }
    try theirs.save()
    for person in try mine.fetch(Person.self) { person.name += "!" }
    for person in try theirs.fetch(Person.self) { theirs.delete(person) }
    var saved: ContextChanges?
    let saves = theirs.observe(.didSave) { saved = $0 }
    try theirs.save()
    try withExtendedLifetime(saves) { mine.mergeChanges(from: try #require(saved)) }
    mine.mergePolicy = .mergeByPropertyObjectTrump
    try mine.save()
    #expect(!mine.hasChanges)
    #expect(try mine.count(entityName: "Person") == 0)
  }

  @Test func aPolicyOfOnesOwnDecidesEachConflict() throws {
    let (mine, book) = try conflict { $0.title = "mine" }
    let seen = Mutex<[ManagedObjectID]>([])
    mine.mergePolicy = MergePolicy { conflict in
      seen.withLock { $0.append(conflict.objectID) }
      return .takeObject
    }
    try mine.save()
    #expect(seen.withLock { $0 } == [book.objectID])
    #expect(try storedTitle() == "mine")
  }

  @Test(arguments: [nil, 0, 2] as [Int?])
  func bothEndsOfARelationshipFollowAPolicy(_ place: Int?) throws {
    #expect(try shelves(place, .mergeByPropertyStoreTrump) == (place == 0 ? [1] : [place].compactMap(\.self)))
    #expect(try shelves(place, .mergeByPropertyObjectTrump) == [1])
    #expect(try shelves(place, .overwrite) == [1])
    #expect(try shelves(place, .rollback) == [place].compactMap(\.self))
  }

  /// The shelves that have a book in the end which was on the first of three, which one context moves to the second while another one
  /// renames it and puts it in `place`.
  private func shelves(_ place: Int?, _ policy: MergePolicy) throws -> [Int] {
    let setUp = stack.context()
    let former = try (0..<3).map { _ in try setUp.insert(Shelf.self) }
    let book = try setUp.book("moved", on: former[0])
    try setUp.save()
    let (mine, theirs) = (stack.context(), stack.context())
    let (myShelves, theirShelves) = (try shelves(former, mine), try shelves(former, theirs))
    #expect(myShelves.map(\.books.count) == [1, 0, 0])
    try #require(try mine.existingObject(with: book.objectID) as? Book).shelf = myShelves[1]
    let theirBook = try #require(try theirs.existingObject(with: book.objectID) as? Book)
    theirBook.title = "renamed"
    theirBook.shelf = place.map { theirShelves[$0] }
    try theirs.save()
    mine.mergePolicy = policy
    try mine.save()
    #expect(!mine.hasChanges)
    let check = stack.context()
    let checked = try shelves(former, check)
    let found = checked.indices.filter { checked[$0].books.map(\.objectID) == [book.objectID] }
    let checkedBook = try #require(try check.existingObject(with: book.objectID) as? Book)
    #expect(checkedBook.shelf == found.first.map { checked[$0] })
    return found
  }

  private func shelves(_ shelves: [Shelf], _ context: ManagedObjectContext) throws -> [Shelf] {
    try shelves.map { try #require(try context.existingObject(with: $0.objectID) as? Shelf) }
  }

  @Test(arguments: [true, false])
  func whatBothAddIsThere(_ objectTrumps: Bool) throws {
    let setUp = stack.context()
    let shelf = try setUp.insert(Shelf.self)
    try setUp.save()
    let (mine, theirs) = (stack.context(), stack.context())
    _ = try mine.book("mine", on: try shelves([shelf], mine)[0])
    _ = try theirs.book("theirs", on: try shelves([shelf], theirs)[0])
    try theirs.save()
    mine.mergePolicy = objectTrumps ? .mergeByPropertyObjectTrump : .mergeByPropertyStoreTrump
    try mine.save()
    let check = stack.context()
    let checked = try shelves([shelf], check)
    #expect(checked[0].books.map(\.title) == (objectTrumps ? ["mine", "theirs"] : ["theirs", "mine"]))
    #expect(checked[0].books.allSatisfy { $0.shelf === checked[0] })
  }
}
