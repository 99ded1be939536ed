import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// Objects that have read their values, and whose records another context has deleted since.
@Suite struct GoneRecordTests {
  @Test(arguments: TestStoreKind.allCases)
  func aChangedObjectIsStillFound(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    let ann = try context.person("Ann")
    try context.save()
    ann.name = "Anna"
    try delete(ann, in: stack.context())
    #expect(context.registeredObject(for: ann.objectID) === ann)
    #expect(try context.existingObject(with: ann.objectID) === ann)
    #expect(persistenceError { try context.save() }?.code == .saveConflict)
    context.rollback()
    #expect(context.registeredObject(for: ann.objectID) === ann)
    context.refresh(ann, mergeChanges: false)
    #expect(ann.name == "")
    #expect(context.registeredObject(for: ann.objectID) == nil)
  }

  @Test(arguments: TestStoreKind.allCases)
  func bothEndsOfARelationshipChange(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    let ann = try context.person("Ann")
    try context.save()
    let book = try context.book("Emma")
    book.readers = [ann]
    try delete(ann, in: stack.context())
    #expect(book.readers == [ann])
    book.readers = []
    #expect(ann.books.isEmpty)
    #expect(context.updatedObjects.isEmpty)
    try context.save()
  }

  private func delete(_ object: ManagedObject, in context: ManagedObjectContext) throws {
    context.delete(try context.existingObject(with: object.objectID))
    try context.save()
  }
}
