import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// The code of the article "Persistent history": it says what is here, word for word.
@Suite struct HistoryGuideTests {
  private func coordinator() throws -> PersistentStoreCoordinator {
    let identifier = AttributeDescription(name: "identifier", type: .string, preservesValueInHistoryOnDeletion: true)
    return try PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(entities: [.entity("ToDo", .attribute(identifier))]),
      registry: .default,
      fileSystem: InMemoryFileSystem()
    )
  }

  @Test func historyIsFollowedAndPurged() throws {
    let coordinator = try coordinator()
    let url = URL(filePath: "/folder/todo.heartwood")
    let context = ManagedObjectContext(coordinator)
    var options = StoreOptions()
    options[.tracksPersistentHistory] = true
    try coordinator.addPersistentStore(at: url, options: options)
    context.transactionAuthor = "app"
    try context.insert(entityName: "ToDo").setValue("a", forKey: "identifier")
    try context.save()

    let start = try coordinator.currentPersistentHistoryToken()
    var token = start
    let other = ManagedObjectContext(coordinator)
    let toDo = try #require(try other.fetch(entityName: "ToDo").first)
    other.delete(toDo)
    try other.save()
    var request = PersistentHistoryChangeRequest.fetchHistory(after: token)
    request.excludedAuthors = ["app"]
    for transaction in try coordinator.execute(request) {
      for change in transaction.changes where change.changedObjectID.entity.name == "ToDo" {
        print(change.changeType, change.changedObjectID, change.updatedProperties)
      }
    }
    token = try coordinator.currentPersistentHistoryToken()
    #expect(token != start)
    let transaction = try #require(try coordinator.execute(request).first)
    for change in transaction.changes where change.changeType == .delete {
      print(change.tombstone["identifier"] ?? .null)
    }
    #expect(transaction.changes.map { $0.tombstone["identifier"] } == [.string("a")])
    try purge(coordinator, try #require(token))
    #expect(throws: PersistenceError.self) { try coordinator.execute(.fetchHistory(after: start)) }
  }

  private func purge(_ coordinator: PersistentStoreCoordinator, _ token: PersistentHistoryToken) throws {
    try coordinator.deleteHistory(before: token)
    try coordinator.deleteHistory(before: Date(timeIntervalSinceNow: -30 * 86_400))
  }
}
