import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// Delegates that do something while they are told.
@Suite struct FetchedResultsDelegateTests {
  /// Fetches anew where there is nothing any more.
  private final class Refetching: FetchedResultsControllerDelegate {
    func controllerDidChangeContent(_ controller: FetchedResultsController<Person>) {
      if controller.numberOfObjects == 0 { try? controller.performFetch() }
    }
  }

  @Test func whatIsFetchedWhileAResetIsToldStays() throws {
    let context = try TestStack().context()
    _ = try context.person("ann")
    try context.save()
    let (controller, _) = try context.livePeople()
    let delegate = Refetching()
    controller.delegate = delegate
    context.reset()
    #expect(controller.names == ["ann"])
    controller.fetchedObjects?.first?.name = "al"
    context.processPendingChanges()
    #expect(controller.names == ["al"])
  }

  @Test func whatADelegateDoesIsAnEventOfItsOwn() throws {
    final class Busy: FetchedResultsControllerDelegate {
      var log: [String] = []

      func controllerWillChangeContent(_ controller: FetchedResultsController<Person>) { log.append("will") }

      func controller(
        _ controller: FetchedResultsController<Person>,
        didChangeObject change: FetchedResultsObjectChange<Person>
      ) {
        guard case .insert(let person, _) = change, person.name == "ann" else { return log.append("other") }
        log.append("ann")
        person.name = "anna"
        controller.managedObjectContext.processPendingChanges()
      }

      func controllerDidChangeContent(_ controller: FetchedResultsController<Person>) { log.append("did") }
    }
    let context = try TestStack().context()
    let (controller, _) = try context.livePeople()
    let busy = Busy()
    controller.delegate = busy
    _ = try context.person("ann")
    context.processPendingChanges()
    #expect(busy.log == ["will", "ann", "did", "will", "other", "did"])
    #expect(controller.names == ["anna"])
  }

  /// Resets the context in the midst of the first event, and tells a copy all that it is told.
  private final class Resetting: FetchedResultsControllerDelegate {
    let mirror: LiveMirror<Person>
    var fetchesAnew = false

    init(_ mirror: LiveMirror<Person>) { self.mirror = mirror }

    func controllerWillChangeContent(_ controller: FetchedResultsController<Person>) {
      mirror.controllerWillChangeContent(controller)
      if mirror.eventCount == 0 { controller.managedObjectContext.reset() }
    }

    func controller(
      _ controller: FetchedResultsController<Person>,
      didChangeObject change: FetchedResultsObjectChange<Person>
    ) {
      mirror.controller(controller, didChangeObject: change)
    }

    func controller(
      _ controller: FetchedResultsController<Person>,
      didChangeContent changes: FetchedResultsChanges<Person>
    ) {
      mirror.controller(controller, didChangeContent: changes)
    }

    func controllerDidChangeContent(_ controller: FetchedResultsController<Person>) {
      mirror.controllerDidChangeContent(controller)
      if fetchesAnew, mirror.eventCount == 1 { try? controller.performFetch() }
    }
  }

  @Test func aResetByADelegateIsAnEventOfItsOwn() throws {
    let context = try TestStack().context()
    let people = try ["ann", "cid", "dan"].map(context.person)
    try context.save()
    let (controller, mirror) = try context.livePeople()
    let delegate = Resetting(mirror)
    controller.delegate = delegate
    context.delete(people[0])
    people[1].name = "eve"
    context.processPendingChanges()
    #expect(mirror.takeTold() == ["-0.0", "0.1>0.1", "-0.0", "-0.1"])
    #expect(mirror.eventCount == 2)
    #expect(controller.fetchedObjects == nil)
  }

  @Test func whatIsFetchedAfterAResetByADelegateStays() throws {
    let context = try TestStack().context()
    let people = try ["ann", "cid"].map(context.person)
    try context.save()
    let (controller, mirror) = try context.livePeople()
    let delegate = Resetting(mirror)
    delegate.fetchesAnew = true
    controller.delegate = delegate
    people[0].name = "eve"
    context.processPendingChanges()
    #expect(controller.names == ["ann", "cid"])
    #expect(mirror.eventCount == 1)
  }
}
