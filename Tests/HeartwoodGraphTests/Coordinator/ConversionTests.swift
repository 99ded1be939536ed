import Heartwood
import HeartwoodGraph
import HeartwoodStore
import Testing

/// Stores that are converted while contexts use them.
@Suite struct ConversionTests {
  @Test func aFaultReadsFromTheNewStore() throws {
    let stack = try TestStack()
    let first = stack.context()
    let ann = try first.person("Ann")
    try first.save()
    first.refresh(ann, mergeChanges: false)
    try stack.coordinator.convert(stack.store, to: TestStack.url, type: .binary)
    let second = stack.context()
    try #require(try second.fetch(Person.self).first).name = "Anna"
    try second.save()
    #expect(ann.isFault)
    #expect(ann.name == "Anna")
    ann.name = "Annabel"
    try first.save()
    second.reset()
    #expect(try second.fetch(Person.self).map(\.name) == ["Annabel"])
  }

  /// A stack with a second store, which has Bob; Ann is in the first.
  private func couple() throws -> (stack: TestStack, context: ManagedObjectContext, second: PersistentStore) {
    let stack = try TestStack()
    let context = stack.context()
    let second = try stack.coordinator.addPersistentStore(type: .inMemory, at: nil)
    _ = try context.person("Ann")
    try context.assign(try context.person("Bob"), to: second)
    try context.save()
    return (stack, context, second)
  }

  @Test func requestsFollowTheStoresThatTheyName() throws {
    let (stack, context, second) = try couple()
    var request = FetchRequest<Person>(sortedBy: [Person.nameKey.ascending])
    request.affectedStores = [second]
    var limited = request
    limited.fetchLimit = 5
    let controllers = [request, limited].map { FetchedResultsController($0, in: context) }
    for controller in controllers { try controller.performFetch() }
    try stack.coordinator.convert(second, to: TestStack.url, type: .binary)
    #expect(try context.fetch(request).map(\.name) == ["Bob"])
    #expect(try stack.context().count(for: request) == 1)
    try #require(try context.fetch(request).first).name = "Bobby"
    context.processPendingChanges()
    for controller in controllers { #expect(controller.fetchedObjects?.map(\.name) == ["Bobby"]) }
    try context.save()
    var update = BatchUpdateRequest(entityName: "Person", propertiesToUpdate: ["name": "Bo"])
    update.affectedStores = [second]
    #expect(try context.execute(update).count == 1)
    #expect(try stack.context().fetch(Person.self, sortedBy: Person.nameKey.ascending).map(\.name) == ["Ann", "Bo"])
    var deletion = BatchDeleteRequest(entityName: "Person")
    deletion.affectedStores = [second]
    #expect(try context.execute(deletion).count == 1)
    #expect(try stack.context().fetch(Person.self).map(\.name) == ["Ann"])
  }

  @Test func requestsThatNameAStoreWhichIsNotOpenFail() throws {
    let (stack, context, second) = try couple()
    try stack.coordinator.remove(second)
    var request = FetchRequest<Person>()
    request.affectedStores = [stack.store, second]
    #expect(persistenceError { _ = try context.fetch(request) }?.code == .storeNotOpen)
    #expect(persistenceError { _ = try context.count(for: request) }?.code == .storeNotOpen)
    var deletion = BatchDeleteRequest(entityName: "Person")
    deletion.affectedStores = [stack.store, second]
    #expect(persistenceError { try context.execute(deletion) }?.code == .storeNotOpen)
    var update = BatchUpdateRequest(entityName: "Person", propertiesToUpdate: ["name": "Bo"])
    update.affectedStores = [second]
    #expect(persistenceError { try context.execute(update) }?.code == .storeNotOpen)
    #expect(try context.fetch(Person.self).map(\.name) == ["Ann"])
  }
}
