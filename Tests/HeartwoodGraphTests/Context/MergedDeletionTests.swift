import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// Deletions in one context, and links to the same objects that another one makes, under policies that let both go on.
@Suite struct MergedDeletionTests {
  private let stack: TestStack
  private let ann: ManagedObjectID
  private let bob: ManagedObjectID
  private let shelf: ManagedObjectID
  private let tag: ManagedObjectID

  init() throws {
    stack = try TestStack()
    let context = stack.context()
    let people = try ["Ann", "Bob"].map { try context.person($0) }
    let (shelf, tag) = (try context.insert(Shelf.self), try context.insert(Tag.self))
    try context.save()
    (ann, bob) = (people[0].objectID, people[1].objectID)
    (self.shelf, self.tag) = (shelf.objectID, tag.objectID)
  }

  private func find<Object: ManagedObject>(_ id: ManagedObjectID, _ context: ManagedObjectContext) throws -> Object {
    try #require(try context.existingObject(with: id) as? Object)
  }

  /// Two contexts over the same records: both over the store, or a child and its parent.
  private func contexts(_ isChild: Bool) -> (mine: ManagedObjectContext, theirs: ManagedObjectContext) {
    let theirs = stack.context()
    return (isChild ? ManagedObjectContext(parent: theirs) : stack.context(), theirs)
  }

  // MARK: What is deleted here

  @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite], [false, true])
  func whatOthersLedToADeletedObjectLeadsNowhere(_ policy: MergePolicy, _ isChild: Bool) throws {
    let (mine, theirs) = contexts(isChild)
    let bobInMine: Person = try find(bob, mine)
    // It is read before the other context changes it.
    #expect(bobInMine.mentor == nil)
    mine.delete(try find(ann, mine))
    let (annInTheirs, bobInTheirs): (Person, Person) = (try find(ann, theirs), try find(bob, theirs))
    bobInTheirs.mentor = annInTheirs
    if !isChild { try theirs.save() }
    mine.mergePolicy = policy
    try mine.save()
    if isChild { try theirs.save() }
    let check = stack.context()
    let checked: Person = try find(bob, check)
    #expect(try checked.propertyValue(forKey: "mentor") == .null)
    #expect(try bobInMine.propertyValue(forKey: "mentor") == .null)
  }

  @Test(arguments: [false, true])
  func whatOthersPutOnADeletedShelfIsDeleted(_ isChild: Bool) throws {
    let (mine, theirs) = contexts(isChild)
    let tagInMine: Tag = try find(tag, mine)
    #expect(tagInMine.books.isEmpty)
    mine.delete(try find(shelf, mine))
    let book = try theirs.book("new", on: try find(shelf, theirs))
    book.tags = [try find(tag, theirs)]
    if !isChild { try theirs.save() }
    mine.mergePolicy = .mergeByPropertyObjectTrump
    try mine.save()
    if isChild { try theirs.save() }
    let check = stack.context()
    #expect(try check.count(entityName: "Shelf") == 0)
    #expect(try check.count(entityName: "Book") == 0)
    let checked: Tag = try find(tag, check)
    #expect(try checked.propertyValue(forKey: "books") == .toMany([]))
  }

  /// The other save puts the book on the shelf that is deleted here, and this context has changed the book.
  @Test(arguments: [false, true], [false, true])
  func whatIsPutElsewhereStaysThere(_ overwrites: Bool, _ isMoved: Bool) throws {
    let (mine, theirs) = contexts(false)
    let (book, other) = (try theirs.book("book", on: nil), try theirs.insert(Shelf.self))
    try theirs.save()
    let mineBook: Book = try find(book.objectID, mine)
    if isMoved { mineBook.shelf = try find(other.objectID, mine) } else { mineBook.title = "renamed" }
    mine.delete(try find(shelf, mine))
    book.shelf = try find(shelf, theirs)
    try theirs.save()
    mine.mergePolicy = overwrites ? .overwrite : .mergeByPropertyObjectTrump
    try mine.save()
    let check = stack.context()
    // Only a policy that takes the other's shelf along with its own title lets the book go with the shelf.
    let isKept = isMoved || overwrites
    #expect(try check.count(entityName: "Book") == (isKept ? 1 : 0))
    guard isKept else { return }
    let checked: Book = try find(book.objectID, check)
    #expect(try checked.propertyValue(forKey: "shelf") == (isMoved ? .toOne(other.objectID) : .null))
    try expectBothEndsAgree(check)
  }

  @Test func whatWasTakenFromAShelfBeforeItsDeletionStays() throws {
    let (mine, theirs) = contexts(false)
    let kept = try theirs.book("kept", on: try find(shelf, theirs))
    try theirs.save()
    let keptInMine: Book = try find(kept.objectID, mine)
    keptInMine.shelf = nil
    mine.delete(try find(shelf, mine))
    let theirShelf: Shelf = try find(shelf, theirs)
    theirShelf.title = "renamed"
    try theirs.save()
    mine.mergePolicy = .mergeByPropertyObjectTrump
    try mine.save()
    let check = stack.context()
    let checked: Book = try find(kept.objectID, check)
    #expect(try checked.propertyValue(forKey: "shelf") == .null)
  }

  // MARK: What is deleted elsewhere

  private static let policies: [MergePolicy] = [
    .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
  ]

  @Test(arguments: policies, [false, true])
  func whatIsLedToADeletedObjectLeadsNowhere(_ policy: MergePolicy, _ isMerged: Bool) throws {
    let (mine, theirs) = contexts(false)
    let (annInMine, bobInMine): (Person, Person) = (try find(ann, mine), try find(bob, mine))
    bobInMine.mentor = annInMine
    bobInMine.name = "Bobby"
    let cid = try mine.person("Cid")
    cid.mentor = annInMine
    var saved: ContextChanges?
    let saves = theirs.observe(.didSave) { saved = $0 }
    theirs.delete(try find(ann, theirs))
    try theirs.save()
    try withExtendedLifetime(saves) { if isMerged { mine.mergeChanges(from: try #require(saved)) } }
    mine.mergePolicy = policy
    try mine.save()
    #expect(!mine.hasChanges)
    let check = stack.context()
    #expect(try Set(check.fetch(Person.self).map(\.name)) == ["Bobby", "Cid"])
    for person in try check.fetch(Person.self) { #expect(try person.propertyValue(forKey: "mentor") == .null) }
  }

  /// Ann is in no conflict: this context has changed nothing of her.
  @Test func whatOverwritesDoesNotLeadBackToWhatIsGone() throws {
    let (mine, theirs) = contexts(false)
    let (annInTheirs, bobInTheirs): (Person, Person) = (try find(ann, theirs), try find(bob, theirs))
    bobInTheirs.mentor = annInTheirs
    try theirs.save()
    let bobInMine: Person = try find(bob, mine)
    #expect(bobInMine.mentor?.name == "Ann")
    bobInMine.name = "Bobby"
    theirs.delete(annInTheirs)
    try theirs.save()
    mine.mergePolicy = .overwrite
    try mine.save()
    let check = stack.context()
    let checked: Person = try find(bob, check)
    #expect(try checked.propertyValue(forKey: "mentor") == .null)
    #expect(checked.name == "Bobby")
  }

  @Test func aParentsDeletionLeavesNoLinkInAChild() throws {
    let (mine, theirs) = contexts(true)
    let (annInMine, bobInMine): (Person, Person) = (try find(ann, mine), try find(bob, mine))
    bobInMine.mentor = annInMine
    theirs.delete(try find(ann, theirs))
    mine.mergePolicy = .mergeByPropertyObjectTrump
    try mine.saveToPersistentStore()
    let check = stack.context()
    let checked: Person = try find(bob, check)
    #expect(try checked.propertyValue(forKey: "mentor") == .null)
  }
}
