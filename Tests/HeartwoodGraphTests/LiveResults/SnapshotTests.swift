import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

@Suite struct SnapshotTests {
  @MainActor
  @Test func aViewContextsResultsComeAsSnapshots() async throws {
    let stack = try TestStack()
    let view = ViewContext(stack.coordinator)
    view.context.automaticallyMergesChangesFromParent = true
    let controller = FetchedResultsController<Person>(
      FetchRequest(sortedBy: [Person.nameKey.ascending]),
      in: view.context
    )
    try controller.performFetch()
    var snapshots = controller.snapshots.makeAsyncIterator()
    #expect(await snapshots.next()?.objectIDs.isEmpty == true)
    let id = try await BackgroundContext(stack.coordinator).perform { context in
      let ann = try context.person("Ann")
      try context.save()
      return ann.objectID
    }
    #expect(await snapshots.next().map { Array($0.objectIDs) } == [id])
    let bob = try view.context.person("Bob")
    // A temporary id may be seen first; in the end there is the permanent one.
    var last = try #require(await snapshots.next())
    while last.objectIDs.last?.isTemporaryID ?? true { last = try #require(await snapshots.next()) }
    #expect(Array(last.objectIDs) == [id, bob.objectID])
    bob.name = "Al"
    let changed = try #require(await snapshots.next())
    #expect(Array(changed.objectIDs) == [bob.objectID, id])
    #expect(changed.updatedObjectIDs == [bob.objectID])
  }

  @Test func whatHasGoneSinceIsNotAmongWhatHasChanged() async throws {
    let context = try TestStack().context()
    let (ann, bob) = (try context.person("Ann"), try context.person("Bob"))
    try context.save()
    let controller = FetchedResultsController<Person>(FetchRequest(sortedBy: [Person.nameKey.ascending]), in: context)
    try controller.performFetch()
    var snapshots = controller.snapshots.makeAsyncIterator()
    _ = await snapshots.next()
    (ann.name, bob.name) = ("Al", "Bill")
    context.processPendingChanges()
    context.delete(bob)
    context.processPendingChanges()
    let snapshot = try #require(await snapshots.next())
    #expect(Array(snapshot.objectIDs) == [ann.objectID])
    #expect(snapshot.updatedObjectIDs == [ann.objectID])
  }

  @Test func resultsOfABackgroundContextTravelAsSnapshots() async throws {
    let stack = try TestStack()
    let background = BackgroundContext(stack.coordinator)
    let snapshots = try await background.perform { context in
      let controller = FetchedResultsController<Person>(
        FetchRequest(sortedBy: [Person.nameKey.ascending]),
        in: context,
        sectionedBy: .computed { $0.name.first.map { String($0) } }
      )
      try controller.performFetch()
      // The context keeps it.
      context.userInfo["people"] = controller
      return controller.snapshots
    }
    var iterator = snapshots.makeAsyncIterator()
    #expect(await iterator.next()?.sections.isEmpty == true)
    try await background.perform { context in
      for name in ["Ann", "Al", "Bob"] { _ = try context.person(name) }
      try context.save()
    }
    // A slow reader gets the newest.
    let newest = try #require(await iterator.next())
    #expect(newest.sections.map(\.name) == ["A", "B"])
    #expect(newest.sections.map(\.objectIDs.count) == [2, 1])
    #expect(newest.objectIDs.allSatisfy { !$0.isTemporaryID })
    await background.perform { context in context.userInfo = [:] }
    #expect(await iterator.next().map(\.objectIDs.count) == nil)
  }
}
