import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// Live results that cannot be fetched anew.
@Suite struct RefetchFailureTests {
  private final class Listener: FetchedResultsControllerDelegate {
    var errors: [any Error] = []
    var changeCount = 0

    func controllerDidChangeContent(_ controller: FetchedResultsController<Person>) { changeCount += 1 }

    func controller(_ controller: FetchedResultsController<Person>, didFailToUpdateWith error: any Error) {
      errors.append(error)
    }
  }

  @Test func theDelegateLearnsItAndTheNextEventTriesAgain() throws {
    let stack = try TestStack()
    let context = stack.context()
    let ann = try context.person("Ann")
    try context.save()
    // With a limit, all is fetched anew after each event.
    let controller = FetchedResultsController(
      FetchRequest<Person>(sortedBy: [Person.nameKey.ascending], limit: 2),
      in: context
    )
    let listener = Listener()
    controller.delegate = listener
    try controller.performFetch()
    let bob = try context.person("Bob")
    try stack.coordinator.remove(stack.store)
    context.processPendingChanges()
    #expect(listener.errors.map { ($0 as? PersistenceError)?.code } == [.storeNotOpen])
    #expect(listener.changeCount == 0)
    #expect(controller.fetchedObjects.map(Array.init) == [ann])
    #expect(persistenceError { try controller.performFetch() }?.code == .storeNotOpen)
    try stack.coordinator.addPersistentStore(type: .inMemory, at: nil)
    bob.name = "Bobby"
    context.processPendingChanges()
    #expect(listener.errors.count == 1 && listener.changeCount == 1)
    #expect(controller.fetchedObjects.map(Array.init) == [bob])
  }
}
