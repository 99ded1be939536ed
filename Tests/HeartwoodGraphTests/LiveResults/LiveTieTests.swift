import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// Objects that the order of live results leaves alike stand as in a fetch.
@Suite struct LiveTieTests {
  private func check(
    _ controllers: [FetchedResultsController<Person>],
    _ mirrors: [LiveMirror<Person>],
    _ comment: Comment
  ) throws {
    for (controller, mirror) in zip(controllers, mirrors) {
      let fetched = try controller.managedObjectContext.fetch(controller.fetchRequest)
      #expect(controller.fetchedObjects.map(Array.init) == fetched, comment)
      mirror.check(controller)
    }
  }

  private func controllers(_ context: ManagedObjectContext) throws -> [FetchedResultsController<Person>] {
    let orders = [
      [Person.nameKey.ascending], [Person.nameKey.descending], [FetchSortDescriptor("books.@count", ascending: false)],
    ]
    return try orders.map { order in
      let controller = FetchedResultsController(FetchRequest<Person>(sortedBy: order), in: context)
      try controller.performFetch()
      return controller
    }
  }

  @Test(arguments: TestStoreKind.allCases, [false, true])
  func theyStandAsInAFetch(_ kind: TestStoreKind, _ isChild: Bool) throws {
    let stack = try TestStack(kind)
    let context = isChild ? ManagedObjectContext(parent: stack.context()) : stack.context()
    for name in 0..<5 { _ = try context.person("\(name)") }
    try context.saveToPersistentStore()
    let controllers = try controllers(context)
    let mirrors = controllers.map(LiveMirror.init)
    func person(_ index: Int) throws -> Person { try context.fetch(Person.self)[index] }
    let steps: [(Comment, () throws -> Void)] = [
      ("changed", { try person(1).name = "4" }),
      ("changed back", { try person(4).name = "0" }),
      ("new", { _ = try context.person("4") }),
      ("new subentity", { try context.insert(Employee.self).name = "4" }),
      ("another new one", { _ = try context.person("4") }),
      ("all alike", { for person in try context.fetch(Person.self) { person.name = "4" } }),
      ("saved", { try context.saveToPersistentStore() }),
      ("deleted", { context.delete(try person(2)) }),
      ("rolled back", { context.rollback() }),
      ("changed again", { try person(3).name = "3" }),
      ("and back", { try person(3).name = "4" }),
      ("saved again", { try context.saveToPersistentStore() }),
    ]
    for (comment, step) in steps {
      try step()
      context.processPendingChanges()
      try check(controllers, mirrors, comment)
    }
    let elsewhere = stack.context()
    #expect(
      try elsewhere.fetch(controllers[1].fetchRequest).map(\.objectID) == Array(controllers[1].snapshot.objectIDs)
    )
  }

  @Test(arguments: TestStoreKind.allCases)
  func whatOthersInsertIsLast(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let (context, other) = (stack.context(), stack.context())
    for _ in 0..<3 { _ = try context.person("same") }
    try context.save()
    context.automaticallyMergesChangesFromParent = true
    let controllers = try controllers(context)
    let mirrors = controllers.map(LiveMirror.init)
    _ = try other.person("same")
    try other.save()
    try other.fetch(Person.self)[0].name = "other"
    try other.save()
    try other.fetch(Person.self)[0].name = "same"
    try other.save()
    _ = try context.count(Person.self)
    try check(controllers, mirrors, "merged")
  }
}
