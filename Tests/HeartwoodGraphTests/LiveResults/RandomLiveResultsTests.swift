import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Live results under random changes, held against a fetch after every event.
@Suite struct RandomLiveResultsTests {
  @Test(arguments: TestStoreKind.allCases)
  func resultsAreWhatAFetchGives(_ kind: TestStoreKind) throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    try run(kind, seed: seed, rounds: 150)
  }

  private func run(_ kind: TestStoreKind, seed: UInt64, rounds: Int) throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    context.undoManager = GraphUndoManager()
    var session = RandomSession(stack, context, seed: seed)
    let watchers = try Self.watchers(context)
    for round in 0..<rounds {
      try session.step()
      context.processPendingChanges()
      for watcher in watchers { try watcher.check("seed \(seed), round \(round), after \(session.lastStep)") }
    }
    #expect(watchers.map(\.eventCount).contains { $0 > 10 }, "seed \(seed)")
  }

  private static func watchers(_ context: ManagedObjectContext) throws -> [any Watcher] {
    let byTitle = [FetchSortDescriptor("title", comparison: .caseInsensitive)]
    let byNames = [FetchSortDescriptor("mentor.name", ascending: false), FetchSortDescriptor("name")]
    return [
      try LiveWatcher(FetchRequest<Book>(sortedBy: byTitle), nil, context),
      try LiveWatcher(
        FetchRequest<Book>(where: try FetchPredicate(format: "title < '7' OR title == nil"), sortedBy: byTitle),
        FetchSortDescriptor("shelf.title"),
        context
      ),
      try LiveWatcher(
        FetchRequest<Book>(
          where: try FetchPredicate(format: "ANY tags.name BEGINSWITH '1' OR readers.@count > 1"),
          sortedBy: [FetchSortDescriptor("shelf.books.@count")] + byTitle
        ),
        nil,
        context
      ),
      try LiveWatcher(
        FetchRequest<Person>(
          where: try FetchPredicate(format: "NOT name CONTAINS '5' AND (mentor == nil OR mentor.name < '6')"),
          sortedBy: byNames
        ),
        FetchSortDescriptor("passport.number", ascending: false),
        context
      ),
      try LiveWatcher(
        FetchRequest<Person>(
          where: try FetchPredicate(format: "SUBQUERY(friends, $f, ANY $f.books.title CONTAINS '2').@count > 0"),
          sortedBy: [FetchSortDescriptor("name")]
        ),
        nil,
        context
      ),
      try LiveWatcher(
        FetchRequest<Person>(sortedBy: [FetchSortDescriptor("name"), FetchSortDescriptor("books.@count")], limit: 7),
        nil,
        context
      ),
    ]
  }
}

private protocol Watcher {
  var eventCount: Int { get }
  func check(_ comment: String) throws
}

/// Live results, their mirror, and the fetch that they are compared with.
private struct LiveWatcher<Object: ManagedObject>: Watcher {
  private let request: FetchRequest<Object>
  private let controller: FetchedResultsController<Object>
  private let mirror: LiveMirror<Object>
  private let keyPaths: [String]

  init(_ request: FetchRequest<Object>, _ section: FetchSortDescriptor?, _ context: ManagedObjectContext) throws {
    var sorted = request
    sorted.sortDescriptors = (section.map { [$0] } ?? []) + request.sortDescriptors
    self.request = sorted
    keyPaths = sorted.sortDescriptors.map(\.keyPath)
    controller = FetchedResultsController(request, in: context, sectionedBy: section.map { .sorted(by: $0) })
    try controller.performFetch()
    mirror = LiveMirror(controller)
  }

  var eventCount: Int { mirror.eventCount }

  func check(_ comment: String) throws {
    mirror.check(controller)
    let found = controller.fetchedObjects.map(Array.init) ?? []
    let expected = try controller.managedObjectContext.fetch(request)
    #expect(found.map(keys) == expected.map(keys), "\(comment)")
    if request.fetchLimit == nil { #expect(Set(found) == Set(expected), "\(comment)") }
    let plain = try controller.managedObjectContext.fetch(Object.self).filter(plainly)
    if request.fetchLimit == nil { #expect(Set(found) == Set(plain), "\(comment)") }
  }

  /// Whether the object is found, as its own accessors tell.
  private func plainly(_ object: Object) -> Bool {
    switch (object, request.predicate?.description) {
    case (_, nil): return true
    case (let book as Book, let text?) where text.contains("title <"): return book.title.map { $0 < "7" } ?? true
    case (let book as Book, _):
      return book.tags.contains { $0.name?.hasPrefix("1") ?? false } || book.readers.count > 1
    case (let person as Person, let text?) where text.contains("mentor"):
      return !person.name.contains("5") && (person.mentor.map { $0.name < "6" } ?? true)
    case (let person as Person, _):
      return person.friends.contains { $0.books.contains { $0.title?.contains("2") ?? false } }
    default: return false
    }
  }

  /// The values by which the object is sorted, as text.
  private func keys(_ object: Object) -> [String] {
    keyPaths.map { path in
      let parts = path.split(separator: ".").map(String.init)
      return Self.text(object, parts[...])
    }
  }

  private static func text(_ object: ManagedObject, _ path: ArraySlice<String>) -> String {
    guard let first = path.first, let value = try? object.value(forKey: first) else { return "nil" }
    if let objects = value as? [ManagedObject] { return "\(objects.count)" }
    if let next = value as? ManagedObject { return text(next, path.dropFirst()) }
    return "\(value)"
  }
}

/// Random changes of a context, and of others that save to the same store.
private struct RandomSession {
  private let stack: TestStack
  private let context: ManagedObjectContext
  private var library: RandomLibrary
  private(set) var lastStep = ""

  init(_ stack: TestStack, _ context: ManagedObjectContext, seed: UInt64) {
    self.stack = stack
    self.context = context
    library = RandomLibrary(context, seed: seed)
  }

  mutating func step() throws {
    let kind = Int.random(in: 0..<24, using: &library.generator)
    lastStep = "step \(kind)"
    switch kind {
    case 0: try library.one(of: Shelf.self)?.title = library.text()
    case 1: try library.one(of: Tag.self)?.name = library.text()
    case 2: try library.one(of: Passport.self)?.number = Int.random(in: 0...3, using: &library.generator)
    case 3: try library.one(of: Book.self)?.title = library.text()
    case 4: try save()
    case 5: context.rollback()
    case 6: context.undo()
    case 7: context.redo()
    case 8, 9: try changeElsewhere(stack.context(), mergesChanges: true)
    case 10: try changeElsewhere(ManagedObjectContext(parent: context), mergesChanges: false)
    case 11: try library.one(of: Book.self).map { context.refresh($0, mergeChanges: true) }
    case 12: context.refreshAllObjects()
    case 13: for _ in 0..<10 { try library.step() }
    default: try library.step()
    }
  }

  /// Saves; where an undone deletion, done again, would be denied by now, all is taken back.
  private func save() throws {
    do {
      try context.save()
    } catch PersistenceError.Code.validationFailed {
      context.rollback()
    }
  }

  /// Lets another context change something, after all here is saved, so that nothing conflicts.
  private mutating func changeElsewhere(_ other: ManagedObjectContext, mergesChanges: Bool) throws {
    try save()
    var saved: [ContextChanges] = []
    let observation = other.observe(.didSave) { saved.append($0) }
    var elsewhere = RandomLibrary(other, seed: library.generator.next())
    for _ in 0..<4 { try elsewhere.step() }
    try elsewhere.one(of: Shelf.self)?.title = elsewhere.text()
    try elsewhere.one(of: Tag.self)?.name = elsewhere.text()
    try other.save()
    _ = observation
    if mergesChanges { for changes in saved { context.mergeChanges(from: changes) } }
  }
}
