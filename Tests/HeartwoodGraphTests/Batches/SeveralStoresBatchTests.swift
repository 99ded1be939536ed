import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Batches over several stores, of which a later one fails: what was saved in the others is told.
@Suite struct SeveralStoresBatchTests {
  private let stack: TestStack
  private let second: PersistentStore

  init() throws {
    stack = try TestStack()
    second = try stack.coordinator.addPersistentStore(type: .inMemory, at: nil)
  }

  private func follower() -> ManagedObjectContext {
    let context = stack.context()
    context.automaticallyMergesChangesFromParent = true
    return context
  }

  @Test func anUpdateThatFailsLater() throws {
    let context = stack.context()
    for (name, salary, store) in [("Ann", 1, stack.store), ("Bob", Int32.max, second)] {
      let employee = try context.insert(Employee.self)
      try context.assign(employee, to: store)
      (employee.name, employee.salary) = (name, salary)
    }
    try context.save()
    let follower = follower()
    let ann = try #require(try follower.fetch(Employee.self, where: Person.nameKey == "Ann").first)
    #expect(ann.salary == 1)
    let raise = BatchUpdateRequest(
      entityName: "Employee",
      propertiesToUpdate: ["salary": try FetchExpression(format: "salary + 1")]
    )
    #expect(persistenceError { try stack.coordinator.execute(raise) }?.code == .validationFailed)
    #expect(try follower.count(entityName: "Employee") == 2)
    #expect(ann.salary == 2)
  }

  @Test(arguments: [true, false])
  func aDeletionThatIsDeniedLater(_ isByID: Bool) throws {
    let context = stack.context()
    let books = try [stack.store, second].map { store in
      let book = try context.insert(Book.self)
      try context.assign(book, to: store)
      return book
    }
    let reader = try context.person("Ann")
    try context.assign(reader, to: second)
    reader.books = [books[1]]
    try context.save()
    let follower = follower()
    let followed = try books.map { try follower.existingObject(with: $0.objectID) }
    let request =
      isByID ? BatchDeleteRequest(objectIDs: books.map(\.objectID)) : BatchDeleteRequest(entityName: "Book")
    #expect(persistenceError { try stack.coordinator.execute(request) }?.code == .validationFailed)
    #expect(try follower.count(entityName: "Book") == 1)
    #expect(followed.map(\.isDeleted) == [true, false])
  }
}
