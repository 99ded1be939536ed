import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// Each change is told once, on whatever way it comes into a context.
@Suite struct ToldOnceTests {
  /// A way on which a change comes in.
  enum Way: CaseIterable {
    case ownChange, ownSave, undo, redo, rollback
    case automaticMerge, mergeByHand, bothMerges, mergeOfAFault, mergeAfterReading, mergeAfterRefresh
    case refresh, refreshAll, mergePolicy
    case batch, batchByHand, batchBothWays
    case childSave, siblingSave
  }

  /// What is told of objects, in an event or at once.
  private final class Listener: FetchedResultsControllerDelegate {
    var changes: [String] = []

    func controller(
      _ controller: FetchedResultsController<Person>,
      didChangeObject change: FetchedResultsObjectChange<Person>
    ) {
      switch change {
      case .insert(let person, _): changes.append("insert \(person.name)")
      case .delete: changes.append("delete")
      case .move(let person, _, _): changes.append("move \(person.name)")
      case .update(let person, _, _): changes.append("update \(person.name)")
      }
    }
  }

  /// A context with live results of Ann, Bob and Cid, and those who listen.
  private final class Bench {
    let stack: TestStack
    let parent: ManagedObjectContext
    let context: ManagedObjectContext
    let bob: ManagedObjectID
    let controller: FetchedResultsController<Person>
    let delegate = Listener()
    private var observations: [ContextObservation] = []
    private var told: [ManagedObjectID] = []
    private(set) var saved: [ContextChanges] = []
    private(set) var snapshotCount = 0

    init(_ kind: TestStoreKind, isChild: Bool) throws {
      stack = try TestStack(kind)
      let parent = stack.context()
      self.parent = parent
      let people = try ["Ann", "Bob", "Cid"].map { try parent.person($0) }
      try parent.save()
      bob = people[1].objectID
      context = isChild ? ManagedObjectContext(parent: parent) : stack.context()
      controller = FetchedResultsController(FetchRequest<Person>(sortedBy: [Person.nameKey.ascending]), in: context)
      try controller.performFetch()
      controller.delegate = delegate
    }

    /// Begins to listen to the context, now that all is as it shall be before the change.
    func listen() {
      context.processPendingChanges()
      delegate.changes = []
      observations.append(
        context.observe(.objectsDidChange) { [weak self] changes in
          let ids = changes.insertedObjectIDs.union(changes.updatedObjectIDs).union(changes.deletedObjectIDs)
          self?.told += ids.union(changes.refreshedObjectIDs)
        }
      )
    }

    func person() throws -> Person { try #require(try context.existingObject(with: bob) as? Person) }

    func elsewhere(_ other: ManagedObjectContext? = nil) throws -> (ManagedObjectContext, Person) {
      let other = other ?? stack.context()
      let observation = other.observe(.didSave) { [weak self] in self?.saved.append($0) }
      observations.append(observation)
      return (other, try #require(try other.existingObject(with: bob) as? Person))
    }

    func mergeByHand() { for changes in saved { context.mergeChanges(from: changes) } }

    /// What was told of Bob to those who observe the context.
    var tellings: Int { told.count { $0 == bob } }
  }

  /// Lets Bob be Bobby.
  private func change(_ bench: Bench, _ way: Way) throws {
    switch way {
    case .ownChange: try bench.person().name = "Bobby"
    case .ownSave:
      try bench.person().name = "Bobby"
      try bench.context.save()
    case .undo, .redo, .rollback: try goBack(bench, way)
    case .automaticMerge, .mergeByHand, .bothMerges, .mergeOfAFault, .mergeAfterReading, .mergeAfterRefresh:
      try renameElsewhere(bench)
      try merge(bench, way)
    case .refresh, .refreshAll, .mergePolicy:
      try renameElsewhere(bench)
      try refresh(bench, way)
    case .batch, .batchByHand, .batchBothWays:
      let changes = try renameByBatch(bench)
      if way != .batch { bench.context.mergeChanges(from: changes) }
      if way != .batchByHand { _ = try bench.context.count(entityName: "Person") }
    case .childSave:
      let (child, bob) = try bench.elsewhere(ManagedObjectContext(parent: bench.context))
      bob.name = "Bobby"
      try child.save()
    case .siblingSave:
      let (sibling, bob) = try bench.elsewhere(ManagedObjectContext(parent: bench.parent))
      bob.name = "Bobby"
      try sibling.save()
      _ = try bench.context.count(entityName: "Person")
      try bench.parent.save()
      _ = try bench.context.count(entityName: "Person")
    }
  }

  private func renameElsewhere(_ bench: Bench) throws {
    let (other, bob) = try bench.elsewhere()
    bob.name = "Bobby"
    try other.save()
  }

  private func renameByBatch(_ bench: Bench) throws -> ContextChanges {
    var request = BatchUpdateRequest(entityName: "Person", propertiesToUpdate: ["name": "Bobby"])
    request.predicate = Person.nameKey == "Bob"
    request.resultType = .objectIDs
    return try bench.stack.coordinator.execute(request).changes
  }

  private func merge(_ bench: Bench, _ way: Way) throws {
    switch way {
    case .automaticMerge: _ = try bench.context.count(entityName: "Person")
    case .bothMerges:
      bench.mergeByHand()
      _ = try bench.context.count(entityName: "Person")
      bench.mergeByHand()
    case .mergeAfterReading:
      #expect(try bench.person().name == "Bobby")
      bench.mergeByHand()
    case .mergeAfterRefresh:
      bench.context.refresh(try bench.person(), mergeChanges: true)
      bench.mergeByHand()
    default: bench.mergeByHand()
    }
  }

  private func refresh(_ bench: Bench, _ way: Way) throws {
    switch way {
    case .refresh: bench.context.refresh(try bench.person(), mergeChanges: true)
    case .refreshAll: bench.context.refreshAllObjects()
    default:
      bench.context.mergePolicy = .rollback
      try bench.context.save()
    }
  }

  private func goBack(_ bench: Bench, _ way: Way) throws {
    switch way {
    case .undo: bench.context.undo()
    case .redo: bench.context.redo()
    default: bench.context.rollback()
    }
  }

  /// Sees to what has to be so before the change.
  private func prepare(_ bench: Bench, _ way: Way) throws {
    let context = bench.context
    if ![.mergeOfAFault, .mergeAfterReading].contains(way) { _ = bench.controller.names }
    switch way {
    case .automaticMerge, .bothMerges, .batch, .batchBothWays, .siblingSave:
      context.automaticallyMergesChangesFromParent = true
    case .undo, .redo:
      let bob = try bench.person()
      context.undoManager = GraphUndoManager()
      bob.name = way == .undo ? "Bobby" : "Bob"
      context.processPendingChanges()
      bob.name = way == .undo ? "Bert" : "Bobby"
      context.processPendingChanges()
      if way == .redo { context.undo() }
    case .rollback:
      try bench.person().name = "Bobby"
      try context.save()
      try bench.person().name = "Bert"
    case .mergePolicy: try bench.person().name = "Bert"
    default: break
    }
  }

  @Test(arguments: TestStoreKind.allCases, Way.allCases)
  func aChangeIsToldOnce(_ kind: TestStoreKind, _ way: Way) throws {
    let bench = try Bench(kind, isChild: way == .siblingSave)
    try prepare(bench, way)
    bench.listen()
    try change(bench, way)
    for _ in 0..<3 {
      bench.context.processPendingChanges()
      _ = try bench.context.count(entityName: "Person")
    }
    #expect(bench.delegate.changes == ["update Bobby"])
    // A fault that nobody has read has not changed for those who observe objects.
    let isUnread = way == .mergeAfterReading || way == .mergeOfAFault
    #expect(bench.tellings == (isUnread ? 0 : 1))
    #expect(bench.controller.names == ["Ann", "Bobby", "Cid"])
  }

  /// A change of the context's own is not lost on the way, and what others change after it is told too.
  @Test(arguments: TestStoreKind.allCases)
  func changesOfBothAreToldApart(_ kind: TestStoreKind) throws {
    let bench = try Bench(kind, isChild: false)
    let bob = try bench.person()
    bench.listen()
    bob.mentor = bob
    let (other, theirs) = try bench.elsewhere()
    theirs.name = "Bobby"
    try other.save()
    bench.mergeByHand()
    #expect(bench.delegate.changes == ["update Bob", "update Bobby"])
    bench.delegate.changes = []
    bench.context.processPendingChanges()
    #expect(bench.delegate.changes.isEmpty)
    #expect(bench.tellings == 2)
    theirs.name = "Bert"
    try other.save()
    bench.mergeByHand()
    bench.context.processPendingChanges()
    #expect(bench.delegate.changes == ["update Bert"])
  }

  @Test(arguments: TestStoreKind.allCases)
  func insertionsAndDeletionsOfOthersAreToldOnce(_ kind: TestStoreKind) throws {
    let bench = try Bench(kind, isChild: false)
    bench.context.automaticallyMergesChangesFromParent = true
    bench.listen()
    let (other, bob) = try bench.elsewhere()
    other.delete(bob)
    _ = try other.person("Dee")
    try other.save()
    for _ in 0..<2 {
      bench.mergeByHand()
      _ = try bench.context.count(entityName: "Person")
      bench.context.processPendingChanges()
    }
    #expect(bench.delegate.changes.sorted() == ["delete", "insert Dee"])
  }

  /// Values that an object gives itself when it is read are no change.
  @Test func readingIsNoChange() throws {
    final class Cached: ManagedObject {
      override func awakeFromFetch() { self[AttributeKey<Int?>("cache")] = 1 }
    }
    let model = try ManagedObjectModel(entities: [
      .entity(
        "Cached",
        .attribute("number", .integer16, optional: true),
        .attribute("cache", .integer16, optional: true, transient: true)
      )
    ])
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: TestStack.registry,
      objectClasses: [Cached.self]
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let maker = ManagedObjectContext(coordinator)
    _ = try maker.insert(Cached.self)
    try maker.save()
    let context = ManagedObjectContext(coordinator)
    let controller = FetchedResultsController(FetchRequest<Cached>(), in: context)
    try controller.performFetch()
    var count = 0
    let observation = context.observe(.objectsDidChange) { _ in count += 1 }
    #expect(controller.fetchedObjects?.first?[AttributeKey<Int?>("cache")] == 1)
    withExtendedLifetime(observation) { context.processPendingChanges() }
    #expect(count == 0)
  }
}
