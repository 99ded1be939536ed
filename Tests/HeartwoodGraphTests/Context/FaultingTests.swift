import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@Suite(.serialized) struct FaultingTests {
  /// Two contexts on one store, with one person in it that the first has read.
  private func twoContexts(_ kind: TestStoreKind) throws -> (ManagedObjectContext, ManagedObjectContext, Person) {
    let stack = try TestStack(kind)
    let first = stack.context()
    let ann = try first.person("Ann")
    try first.save()
    return (first, stack.context(), ann)
  }

  private func rename(_ person: Person, _ name: String, in context: ManagedObjectContext) throws {
    let other = try #require(try context.existingObject(with: person.objectID) as? Person)
    other.name = name
    try context.save()
  }

  private func delete(_ person: Person, in context: ManagedObjectContext) throws {
    context.delete(try context.existingObject(with: person.objectID))
    try context.save()
  }

  @Test(arguments: TestStoreKind.allCases)
  func whatWasReadStaysUntilItIsRefreshed(_ kind: TestStoreKind) throws {
    let (first, second, ann) = try twoContexts(kind)
    try rename(ann, "Anna", in: second)
    #expect(try first.fetch(Person.self).map(\.name) == ["Ann"])
    first.refresh(ann, mergeChanges: false)
    #expect(ann.isFault)
    #expect(ann.name == "Anna")
    #expect(!ann.isFault)
    #expect(!ann.hasChanges)
  }

  @Test(arguments: TestStoreKind.allCases)
  func aFaultReadsTheNewest(_ kind: TestStoreKind) throws {
    let (first, second, ann) = try twoContexts(kind)
    let fault = try #require(try second.fetch(Person.self).first)
    ann.name = "Anna"
    try first.save()
    #expect(fault.name == "Anna")
  }

  @Test(arguments: TestStoreKind.allCases)
  func aRecordThatIsGone(_ kind: TestStoreKind) throws {
    let (first, second, ann) = try twoContexts(kind)
    let fault = try #require(try second.fetch(Person.self).first)
    let id = ann.objectID
    first.delete(ann)
    try first.save()
    // What is not there has no values, and says so.
    #expect(fault.name == "")
    #expect(fault.isDeleted)
    #expect(!fault.hasChanges)
    #expect(!second.hasChanges)
    #expect(fault.friends.isEmpty)
    #expect(fault.spouse == nil)
    #expect(fault.objectID == id)
    second.delete(fault)
    #expect(!second.hasChanges)
    #expect(persistenceError { _ = try second.existingObject(with: id) }?.code == .objectNotFound)
    #expect(second.registeredObject(for: id) == nil)
    #expect(try second.fetch(Person.self).isEmpty)
    // A change of it does nothing.
    fault.name = "Zombie"
    #expect(!second.hasChanges)
    #expect(fault.name == "")
    #expect(fault.isDeleted)
  }

  @Test func whatWasReadOfAGoneRecordStays() throws {
    let (first, second, ann) = try twoContexts(.inMemory)
    try delete(ann, in: second)
    #expect(ann.name == "Ann")
    #expect(!ann.isDeleted)
    first.refresh(ann, mergeChanges: false)
    #expect(ann.name == "")
    #expect(ann.isDeleted)
  }

  @Test func transientValuesAreNoChanges() throws {
    let stack = try TestStack()
    let writer = stack.context()
    _ = try writer.book("Emma")
    try writer.save()
    let context = stack.context()
    let book = try #require(try context.fetch(Book.self).first)
    #expect(book.events.isEmpty)
    #expect(book.title == "Emma")
    #expect(book.events == ["fetch"])
    #expect(book.cached == "cached Emma")
    #expect(!book.hasChanges)
    #expect(!context.hasChanges)
    #expect(book.changedValues().isEmpty)
    book.cached = "mine"
    #expect(book.hasChanges)
    try context.save()
    #expect(!book.hasChanges)
    #expect(book.cached == "mine")
    book.title = "Emma 2"
    try context.save()
    #expect(book.cached == "mine")
    context.refresh(book, mergeChanges: false)
    #expect(book.cached == "cached Emma 2")
    book.title = "Emma 3"
    book.cached = nil
    context.rollback()
    #expect(book.title == "Emma 2")
    #expect(book.cached == "cached Emma 2")
  }

  @Test func aSaveOfTransientValuesWritesNothing() throws {
    let stack = try TestStack(.binary)
    let context = stack.context()
    let book = try context.book("Emma")
    try context.save()
    book.cached = "mine"
    stack.files.restart()
    try context.save()
    #expect(stack.files.operations.isEmpty)
    #expect(!context.hasChanges)
  }

  @Test func objectsOutliveTheirContext() throws {
    var context: ManagedObjectContext? = try TestStack().context()
    let ann = try #require(try context?.person("Ann"))
    let bob = try #require(try context?.person("Bob"))
    ann.spouse = bob
    try context?.save()
    context?.refresh(bob, mergeChanges: false)
    let new = try #require(try context?.person("New"))
    context = nil
    #expect(ann.managedObjectContext == nil)
    #expect(ann.name == "Ann")
    #expect(bob.isFault)
    #expect(bob.name == "Bob")
    #expect(new.name == "New")
    #expect(!ann.objectID.isTemporaryID)
  }

  @Test func anObjectWithoutContextCannotBeChangedOrFollowed() throws {
    let ann = try TestStack().context().person("Ann")
    ann.name = "Anna"
    #expect(ann.name == "Ann")
    let context = try TestStack().context()
    let bob = try context.person("Bob")
    bob.spouse = bob
    context.reset()
    #expect(bob.spouse == nil)
  }
}
