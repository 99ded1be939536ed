import HeartwoodGraph
import HeartwoodImporting
import HeartwoodModel
import HeartwoodStore
import Testing

/// Undo of the coming and going of objects that are not saved in the first store that keeps their entity.
@Suite struct AssignedStoreUndoTests {
  private let stack: TestStack
  private let context: ManagedObjectContext
  private let second: PersistentStore

  init() throws {
    stack = try TestStack()
    second = try stack.coordinator.addPersistentStore(type: .inMemory, at: nil)
    context = stack.context()
    context.undoManager = GraphUndoManager()
  }

  /// Ann and Bob, who are married and given to the second store, as new objects.
  private func couple() throws -> [Person] {
    let people = try ["Ann", "Bob"].map { try context.person($0) }
    for person in people { try context.assign(person, to: second) }
    people[0].spouse = people[1]
    context.processPendingChanges()
    return people
  }

  private func expectInSecondStore(_ people: [Person], sourceLocation: SourceLocation = #_sourceLocation) throws {
    try context.save()
    #expect(people[0].spouse === people[1], sourceLocation: sourceLocation)
    for person in people {
      #expect(person.objectID.storeIdentifier == second.identifier, sourceLocation: sourceLocation)
    }
  }

  @Test func aDeletionOfANewObject() throws {
    let people = try couple()
    context.delete(people[0])
    context.undo()
    try expectInSecondStore(people)
  }

  @Test func anInsertion() throws {
    let people = try couple()
    for _ in 0..<2 {
      context.undo()
      #expect(people.map(\.isDeleted) == [true, true])
      context.redo()
    }
    try expectInSecondStore(people)
  }

  @Test func aDeletionThatWasSaved() throws {
    let people = try couple()
    try context.save()
    people.forEach(context.delete)
    try context.save()
    context.undo()
    context.redo()
    context.undo()
    try expectInSecondStore(people)
  }

  @Test func aStoreThatWasConvertedMeanwhile() throws {
    let people = try couple()
    context.delete(people[0])
    try stack.coordinator.convert(second, to: TestStack.url, type: .binary)
    context.undo()
    try expectInSecondStore(people)
  }

  @Test func whatAFailedImportHasDeleted() throws {
    let stack = try ImportStack()
    let second = try stack.coordinator.addPersistentStore(type: .inMemory, at: nil)
    let contact = try stack.context.insert(Contact.self)
    contact[Contact.idKey] = 1
    try stack.context.assign(contact, to: second)
    let error = persistenceError {
      try stack.context.importObjects(Contact.self, from: [["id": 1, "leaves": true], ["id": 2, "score": "none"]])
    }
    #expect(error?.code == .importFailed)
    #expect(contact.isInserted)
    try stack.context.save()
    #expect(contact.objectID.storeIdentifier == second.identifier)
  }
}
