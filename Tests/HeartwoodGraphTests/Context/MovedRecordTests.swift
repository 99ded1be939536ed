import HeartwoodGraph
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
