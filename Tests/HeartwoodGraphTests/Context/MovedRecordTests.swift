import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// Records that only a parent has, and that get other rows where somebody saves.
@Suite struct MovedRecordTests {
  private let stack: TestStack
  private let parent: ManagedObjectContext
  private let child: ManagedObjectContext
  /// The same record, which is not saved yet.
  private let ann: Person
  private let annInChild: Person

  init() throws {
    let stack = try TestStack()
    let parent = stack.context()
    let child = ManagedObjectContext(parent: parent)
    ann = try parent.person("Ann")
    let found = try child.fetch(Person.self).first
    annInChild = try #require(found)
    // Its values are read.
    #expect(found?.name == "Ann")
    (self.stack, self.parent, self.child) = (stack, parent, child)
  }

  /// Lets another save take the row that the record had.
  private func saveAnother() throws {
    let others = stack.context()
    _ = try others.person("Bob")
    try others.save()
  }

  @Test(arguments: [false, true])
  func aDeletionOfWhatHasChangedIsAConflict(_ isChanged: Bool) throws {
    child.delete(annInChild)
    if isChanged { ann.name = "Anna" }
    try saveAnother()
    let error = persistenceError { try child.save() }
    #expect(error?.code == (isChanged ? .saveConflict : nil))
    #expect(ann.isDeleted == !isChanged)
  }

  @Test func transientValuesAreInNobodysWay() throws {
    let book = try parent.book("old")
    let found = try child.fetch(Book.self).first
    let bookInChild = try #require(found)
    bookInChild.cached = "seen"
    try child.save()
    book.title = "new"
    let others = stack.context()
    _ = try others.book("another")
    try others.save()
    _ = try child.fetch(Book.self)
    #expect(bookInChild.title == "new" && bookInChild.cached == "seen")
    bookInChild.title = "newest"
    try child.save()
    #expect(book.title == "newest")
  }

  /// What the child has changed of the same relationship was made on values that the parent has taken back since.
  @Test(arguments: [false, true])
  func aParentsRelationshipStaysWhereTheStoreTrumps(_ isSeenBefore: Bool) throws {
    let (bob, cid) = (try child.person("Bob"), try child.person("Cid"))
    try child.save()
    let grandchild = ManagedObjectContext(parent: child)
    grandchild.mergePolicy = .mergeByPropertyStoreTrump
    let objects = try [annInChild, bob, cid].map { object in
      try #require(try grandchild.existingObject(with: object.objectID) as? Person)
    }
    annInChild.students = [bob]
    #expect(objects[0].students == [objects[1]])
    objects[0].students = [objects[1], objects[2]]
    objects[0].name = "Anna"
    child.rollback()
    try saveAnother()
    // What the child has taken back counts as a change of its own, whether the grandchild knows of it before the next one or not.
    if isSeenBefore { #expect(try grandchild.fetch(Person.self).count == 4) }
    annInChild.students = [cid]
    try grandchild.save()
    #expect(annInChild.students == [cid] && annInChild.name == "Anna")
    #expect(objects[0].students == [objects[2]] && !grandchild.hasChanges)
  }

  /// What the list was before is not known any more, so the child's is taken as it is.
  @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite])
  func bothEndsFollowWhereTheChildTrumps(_ policy: MergePolicy) throws {
    let (bob, cid) = (try parent.person("Bob"), try parent.person("Cid"))
    // Then the child can find them.
    #expect(try child.fetch(Person.self).count == 3)
    child.mergePolicy = policy
    annInChild.students = [try #require(try child.existingObject(with: bob.objectID) as? Person)]
    ann.students = [cid]
    try saveAnother()
    try child.save()
    #expect(ann.students == [bob] && bob.mentor === ann)
    #expect(cid.mentor == nil)
    try expectBothEndsAgree(parent)
  }

  @Test func aDeletionFollowsItsRulesForWhatTheParentHasAdded() throws {
    let bob = try parent.person("Bob")
    child.mergePolicy = .mergeByPropertyObjectTrump
    child.delete(annInChild)
    ann.students = [bob]
    try saveAnother()
    try child.save()
    #expect(ann.isDeleted)
    #expect(try bob.propertyValue(forKey: "mentor") == .null)
  }

  @Test func aPolicyTakesSuchADeletionBack() throws {
    child.mergePolicy = .mergeByPropertyStoreTrump
    child.delete(annInChild)
    ann.name = "Anna"
    try saveAnother()
    try child.save()
    #expect(!annInChild.isDeleted && annInChild.name == "Anna")
    #expect(!ann.isDeleted)
  }

  @Test func aPolicyDeletesAllTheSame() throws {
    child.mergePolicy = .mergeByPropertyObjectTrump
    child.delete(annInChild)
    ann.name = "Anna"
    try saveAnother()
    try child.saveToPersistentStore()
    #expect(ann.isDeleted)
    #expect(try stack.context().fetch(Person.self).map(\.name) == ["Bob"])
  }

  @Test func aDeletionThatIsRolledBackReadsWhatIsThere() throws {
    child.delete(annInChild)
    ann.name = "Anna"
    try saveAnother()
    #expect(try child.fetch(Person.self).map(\.name) == ["Bob"])
    child.rollback()
    #expect(annInChild.name == "Anna")
    annInChild.name = "Annabel"
    try child.saveToPersistentStore()
    #expect(ann.name == "Annabel")
  }
}
