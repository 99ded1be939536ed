import Dispatch
import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore
import HeartwoodTesting
import Synchronization
import Testing

/// Fetches from an SQLite store while a save waits for the disk.
@Suite(.timeLimit(.minutes(5)))
struct ReadingBesideSavesTests {
  /// Stops those who commit a transaction, before the disk is asked for anything.
  private final class Stall: Sendable {
    private let state = Mutex((isOn: false, waitingCount: 0))
    private let end = DispatchSemaphore(value: 0)

    var options: StoreOptions {
      var options = StoreOptions()
      options[.sqliteStatementObserver] = SQLiteStatementObserver { [self] sql in
        // Who reads ends transactions by another statement.
        guard sql == "COMMIT" else { return }
        let waits = state.withLock { state in
          guard state.isOn else { return false }
          state.isOn = false
          state.waitingCount += 1
          return true
        }
        // Half a minute: where somebody waits for the save, the test is to fail.
        if waits, end.wait(timeout: .now() + 30) == .timedOut { state.withLock { $0.waitingCount = -1 } }
      }
      return options
    }

    func begin() { state.withLock { $0.isOn = true } }

    /// Returns whether it has stalled until now.
    func finish() -> Bool {
      let isStalled = state.withLock { $0.waitingCount == 1 }
      state.withLock { $0 = (false, 0) }
      end.signal()
      return isStalled
    }

    func untilStalled() async throws {
      while state.withLock({ $0.waitingCount == 0 }) { try await Task.sleep(for: .milliseconds(1)) }
    }
  }

  /// Another coordinator of the same file, which has read none of its records.
  private struct Bench {
    let stall = Stall()
    let folder: ScratchFolder
    let coordinator: PersistentStoreCoordinator

    init(names: [String]) throws {
      folder = try ScratchFolder()
      let url = folder.url.appending(path: "library.sqlite")
      let first = try TestStack.coordinator()
      let store = try first.addPersistentStore(type: .sqlite, at: url)
      let context = ManagedObjectContext(first)
      let shelf = try context.insert(Shelf.self)
      for name in names { _ = try context.person(name) }
      for title in ["Emma", "Dune"] { _ = try context.book(title, on: shelf) }
      try context.save()
      try first.remove(store)
      coordinator = try TestStack.coordinator()
      try coordinator.addPersistentStore(type: .sqlite, at: url, options: stall.options)
    }

    /// Saves what `change` does in the background; `body` runs while that waits for the disk.
    func saving(
      _ change: @escaping @Sendable (ManagedObjectContext) throws -> Void,
      _ body: @MainActor () throws -> Void
    ) async throws {
      let background = BackgroundContext(coordinator)
      try await background.perform { context in
        try change(context)
        context.processPendingChanges()
        try context.obtainPermanentIDs(for: context.insertedObjects)
      }
      stall.begin()
      async let saved: Void = background.perform { context in try context.save() }
      try await stall.untilStalled()
      let result = await Self.result(body)
      #expect(stall.finish(), "the fetches have waited for the save")
      try await saved
      try result.get()
    }

    @MainActor
    private static func result(_ body: @MainActor () throws -> Void) -> Result<Void, any Error> {
      Result { try body() }
    }
  }

  @MainActor
  private func names(_ context: ManagedObjectContext) throws -> [String] {
    try context.fetch(FetchRequest<Person>(sortedBy: [Person.nameKey.ascending])).map(\.name)
  }

  @MainActor
  @Test func aFetchSeesWhatWasThereBefore() async throws {
    let bench = try Bench(names: ["Ann", "Bob", "Cid"])
    let view = ViewContext(bench.coordinator)
    try await bench.saving { context in
      let people = try context.fetch(FetchRequest<Person>(where: Person.nameKey == "Ann"))
      people[0].name = "Anna"
      for name in ["Dan", "Eve"] { _ = try context.person(name) }
    } _: { @MainActor () throws -> Void in
      // Ann is known, the others have never been read.
      #expect(try names(view.context) == ["Ann", "Bob", "Cid"])
      #expect(try view.context.count(entityName: "Person") == 3)
      #expect(try view.context.fetch(FetchRequest<Person>(where: Person.nameKey == "Dan")).isEmpty)
    }
    #expect(try view.context.count(entityName: "Person") == 5)
    view.context.refreshAllObjects()
    #expect(try names(view.context) == ["Anna", "Bob", "Cid", "Dan", "Eve"])
    // All are who they were.
    for person in try view.context.fetch(Person.self) { person.name += "!" }
    try view.context.save()
    let reader = ManagedObjectContext(bench.coordinator)
    #expect(try reader.fetch(Person.self).map(\.name).sorted() == ["Anna!", "Bob!", "Cid!", "Dan!", "Eve!"])
  }

  /// What is read meanwhile has only one end of a relationship whose other end is being saved.
  @MainActor
  @Test func relationshipsHaveBothEndsAfterwards() async throws {
    let bench = try Bench(names: ["Ann"])
    let view = ViewContext(bench.coordinator)
    var held: [ManagedObject] = []
    try await bench.saving { context in
      let shelf = try context.insert(Shelf.self)
      shelf.title = "New"
      for book in try context.fetch(FetchRequest<Book>(where: Book.titleKey == "Emma")) { book.shelf = shelf }
      _ = try context.book("New", on: shelf)
    } _: { @MainActor () throws -> Void in
      let shelves = try view.context.fetch(Shelf.self)
      #expect(shelves.map { $0.books.map(\.title).count } == [2])
      held = shelves + (try view.context.fetch(Book.self))
    }
    let reader = ManagedObjectContext(bench.coordinator)
    let shelves = try reader.fetch(Shelf.self).sorted { $0.title < $1.title }
    #expect(shelves.map(\.title) == ["New", "Shelf"] && shelves.map(\.books.count) == [2, 1])
    for shelf in shelves { #expect(shelf.books.allSatisfy { $0.shelf === shelf }) }
    #expect(held.count == 3)
  }

  @MainActor
  @Test func whatWasReadMeanwhileCanBeChangedAfterwards() async throws {
    let bench = try Bench(names: ["Ann", "Bob"])
    let view = ViewContext(bench.coordinator)
    try await bench.saving { context in
      _ = try context.person("Dan")
    } _: { @MainActor () throws -> Void in
      #expect(try names(view.context) == ["Ann", "Bob"])
    }
    #expect(try names(view.context) == ["Ann", "Bob", "Dan"])
    let bob = try #require(try view.context.fetch(FetchRequest<Person>(where: Person.nameKey == "Bob")).first)
    view.context.delete(bob)
    try view.context.save()
    #expect(try names(view.context) == ["Ann", "Dan"])
  }

  /// Fetches and saves at random: each fetch finds all of a save or nothing of it.
  @Test func fetchesSeeSavesEntirely() async throws {
    let bench = try Bench(names: [])
    let coordinator = bench.coordinator
    let end = ContinuousClock.now + .seconds(1)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<2 {
        let background = BackgroundContext(coordinator)
        group.addTask {
          var round = 0
          while ContinuousClock.now < end {
            round += 1
            let number = round
            try await background.perform { context in
              for half in ["a", "b"] { _ = try context.person("\(writer) \(number) \(half)") }
              try context.save()
            }
          }
        }
      }
      for _ in 0..<2 {
        let background = BackgroundContext(coordinator)
        group.addTask {
          while ContinuousClock.now < end {
            let names = try await background.perform { context in try context.fetch(Person.self).map(\.name) }
            #expect(names.count % 2 == 0 && Set(names).count == names.count)
          }
        }
      }
      try await group.waitForAll()
    }
    let reader = ManagedObjectContext(try TestStack.coordinator())
    let url = bench.folder.url.appending(path: "library.sqlite")
    let counted = try ManagedObjectContext(coordinator).fetch(Person.self).map(\.name).sorted()
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    try reader.persistentStoreCoordinator.addPersistentStore(type: .sqlite, at: url)
    #expect(try reader.fetch(Person.self).map(\.name).sorted() == counted)
  }
}
