import Foundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Synchronization
import Testing

/// What an application holds may lose its last reference on any thread, while its context is in use on the main actor.
@Suite(.serialized) @MainActor struct ReleasingTests {
  /// Holds something of the main actor's. It is Sendable, and its deinit is not isolated, so the compiler lets it go anywhere.
  @MainActor private final class Holder {
    let held: [Any]

    init(_ held: [Any]) {
      self.held = held
    }
  }

  /// Releases what it holds on the thread that says so.
  private final class Hand: Sendable {
    private let holders: Mutex<[Holder]>

    init(_ holders: sending [Holder]) {
      self.holders = Mutex(holders)
    }

    func open() { holders.withLock { $0 = [] } }
  }

  private static let rounds = 30
  private static let count = 300

  /// Hands the last references to another thread, one by one.
  private func release(_ held: [Any]) -> Task<Void, Never> {
    let hand = Hand(held.map { Holder([$0]) })
    return Task.detached { hand.open() }
  }

  private func fill(_ stack: TestStack) throws {
    let context = stack.context()
    for number in 0..<Self.count { _ = try context.person("\(number)") }
    try context.save()
  }

  // MARK: Objects

  @Test(arguments: TestStoreKind.allCases) func faultsGoWhileTheirContextFetches(_ kind: TestStoreKind) async throws {
    let stack = try TestStack(kind)
    try fill(stack)
    let context = stack.context()
    for _ in 0..<Self.rounds {
      let task = release(try context.fetch(Person.self))
      for _ in 0..<5 {
        let found = try context.fetch(Person.self)
        #expect(found.count == Self.count)
        #expect(found.allSatisfy { $0.managedObjectContext === context })
      }
      await task.value
    }
    #expect(context.registeredObjects.isEmpty)
  }

  @Test(arguments: TestStoreKind.allCases) func objectsGoWhileTheirContextReadsAndSaves(
    _ kind: TestStoreKind
  ) async throws {
    let stack = try TestStack(kind)
    try fill(stack)
    let context = stack.context()
    for round in 0..<Self.rounds {
      var people = try context.fetch(Person.self)
      let first = try #require(people.first)
      for person in people.dropFirst() { #expect(!person.name.isEmpty) }
      first.spouse = people[1]
      people[2].name = "\(round)"
      context.delete(people[3])
      _ = try context.person("new")
      let task = release(people + [first.friends])
      people = []
      try context.save()
      let others = try context.fetch(Person.self)
      #expect(others.count == Self.count)
      #expect(first.spouse != nil)
      first.spouse = nil
      await task.value
    }
  }

  @Test(arguments: TestStoreKind.allCases) func objectsGoWhileTheirContextIsResetAndGoes(
    _ kind: TestStoreKind
  ) async throws {
    let stack = try TestStack(kind)
    try fill(stack)
    for round in 0..<Self.rounds {
      var context: ManagedObjectContext? = stack.context()
      let people = try #require(try context?.fetch(Person.self))
      let task = release(people)
      if round.isMultiple(of: 2) { context?.reset() }
      #expect(try context?.fetch(Person.self).count == Self.count)
      context = nil
      await task.value
    }
  }

  @Test func objectsOfAChildGoWhileItsParentMovesThem() async throws {
    let stack = try TestStack(.binary)
    try fill(stack)
    let parent = stack.context()
    let child = ManagedObjectContext(parent: parent)
    for _ in 0..<Self.rounds {
      let new = try parent.person("new")
      let task = release(try child.fetch(Person.self))
      #expect(try child.fetch(Person.self).count == Self.count + 1)
      parent.delete(new)
      #expect(try child.fetch(Person.self).count == Self.count)
      await task.value
    }
  }

  // MARK: Contexts and their hosts

  @Test(arguments: TestStoreKind.allCases) func aContextGoesWhileItsObjectsAreUsed(_ kind: TestStoreKind) async throws {
    let stack = try TestStack(kind)
    try fill(stack)
    for _ in 0..<Self.rounds {
      let context = stack.context()
      let people = try context.fetch(Person.self)
      people[0].name = "changed"
      let inserted = try context.person("new")
      let task = release([context])
      for person in people {
        #expect(!person.isDeleted)
        _ = person.managedObjectContext?.hasChanges
        #expect(person.objectID.entity.name == "Person")
      }
      #expect(inserted.name == "new")
      await task.value
    }
  }

  @Test func valuesOutliveTheContext() throws {
    let stack = try TestStack(.binary)
    try fill(stack)
    var context: ManagedObjectContext? = stack.context()
    let people = try #require(try context?.fetch(Person.self))
    #expect(people[0].name == "0")
    context = nil
    #expect(people[0].managedObjectContext == nil)
    #expect(people[0].name == "0")
    #expect(people[1].name == "1")
  }

  @Test func hostsGoOnAnyThread() async throws {
    let stack = try TestStack(.binary)
    try fill(stack)
    for _ in 0..<Self.rounds {
      let view = ViewContext(stack.coordinator)
      view.context.automaticallyMergesChangesFromParent = true
      let background = BackgroundContext(parent: view)
      let people = try view.context.fetch(Person.self)
      let task = release([view, background])
      try await BackgroundContext(stack.coordinator).perform { context in
        let first = try context.fetch(Person.self).first
        first?.name = "renamed"
        try context.save()
      }
      #expect(people.allSatisfy { !$0.isDeleted })
      await task.value
    }
  }

  // MARK: What keeps up with a context

  @Test func whatListensGoesWhileItIsTold() async throws {
    let stack = try TestStack(.binary)
    try fill(stack)
    let context = stack.context()
    let told = Mutex(0)
    for round in 0..<Self.rounds {
      let controller = FetchedResultsController(
        FetchRequest<Person>(sortedBy: [FetchSortDescriptor("name")]),
        in: context
      )
      try controller.performFetch()
      let observations = (0..<50).map { _ in
        context.observe(.objectsDidChange) { _ in told.withLock { $0 += 1 } }
      }
      let task = release([controller] + observations)
      let person = try #require(try context.fetch(Person.self).first)
      person.name = "\(round)"
      context.processPendingChanges()
      try context.save()
      await task.value
    }
    let count = told.withLock(\.self)
    try context.fetch(Person.self).first?.name = "nobody listens"
    context.processPendingChanges()
    #expect(told.withLock(\.self) == count)
  }

  @Test func undoGoesOnAnyThread() async throws {
    let stack = try TestStack(.binary)
    try fill(stack)
    for round in 0..<Self.rounds {
      let context = stack.context()
      let undoManager = GraphUndoManager()
      context.undoManager = undoManager
      let people = try context.fetch(Person.self)
      people[0].name = "\(round)"
      context.delete(people[1])
      context.processPendingChanges()
      context.undoManager = nil
      let task = release([undoManager])
      people[2].name = "\(round)"
      try context.save()
      context.reset()
      await task.value
      context.delete(try #require(try context.fetch(Person.self).last))
      _ = try context.person("new")
      try context.save()
    }
  }
}

/// Objects that nobody holds go, though their context finds them by row.
@Suite(.serialized) struct UnusedObjectTests {
  /// An object that counts how many there are.
  final class Counted: ManagedObject {
    static let living = Atomic<Int>(0)

    required init(_ seed: ManagedObjectSeed) {
      super.init(seed)
      Self.living.add(1, ordering: .relaxed)
    }

    deinit {
      Self.living.subtract(1, ordering: .relaxed)
    }
  }

  private static let count = 5000

  private func context() throws -> ManagedObjectContext {
    let model = try ManagedObjectModel(entities: [.entity("Counted", .attribute("n", .integer64, optional: true))])
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: TestStack.registry,
      objectClasses: [Counted.self]
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    for _ in 0..<Self.count { _ = try context.insert(Counted.self) }
    try context.save()
    context.reset()
    return context
  }

  @Test func whatNobodyHoldsGoes() throws {
    let context = try context()
    #expect(Counted.living.load(ordering: .relaxed) == 0)
    var objects = try context.fetch(Counted.self)
    #expect(context.registeredObjects.count == Self.count)
    let kept = objects[7]
    objects = []
    #expect(context.registeredObjects == [kept])
    // One fetch may look at objects that are still held; the end of an event finds what there is after some.
    for _ in 0..<Self.count where Counted.living.load(ordering: .relaxed) > 1 { context.processPendingChanges() }
    #expect(Counted.living.load(ordering: .relaxed) == 1)
    #expect(try context.fetch(Counted.self)[7] === kept)
    context.reset()
    #expect(kept.managedObjectContext == nil)
  }

  @Test func fetchesGoOverNoMoreThanTwiceWhatIsHeld() throws {
    let context = try context()
    for _ in 0..<20 { _ = try context.fetch(Counted.self) }
    #expect(Counted.living.load(ordering: .relaxed) <= 2 * Self.count)
    context.reset()
    #expect(Counted.living.load(ordering: .relaxed) == 0)
  }

  @Test func anObjectThatIsFetchedAnewReadsAnew() throws {
    let stack = try TestStack(.binary)
    let context = stack.context()
    _ = try context.person("Ann")
    try context.save()
    let other = stack.context()
    var ann = try other.fetch(Person.self).first
    #expect(ann?.name == "Ann")
    try context.fetch(Person.self).first?.name = "Anna"
    try context.save()
    #expect(ann?.name == "Ann")
    ann = nil
    #expect(try other.fetch(Person.self).first?.name == "Anna")
  }
}
