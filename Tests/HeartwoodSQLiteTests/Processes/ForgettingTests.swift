import Foundation
import Heartwood
import HeartwoodStore
import Synchronization
import Testing

@testable import HeartwoodSQLite

/// A store forgets what it has read after saves of others, and when it takes too much memory. Contexts do not show it: what objects have read they
/// keep, faults are as new as the store, and each record has one object.
@Suite struct ForgettingTests {
  private let bench: SQLiteBench
  private let context: ManagedObjectContext
  private let items: [ManagedObject]

  init() throws {
    bench = try SQLiteBench()
    try bench.makeStore(items: ["a": nil, "b": nil, "c": nil])
    context = try bench.context(options: Self.options)
    items = try bench.items(context)
  }

  private static var options: StoreOptions {
    var options = StoreOptions()
    options[.recordsComparedAtOnce] = 0
    return options
  }

  private var coordinator: PersistentStoreCoordinator { context.persistentStoreCoordinator }

  private func names() throws -> [String?] { try items.map { try $0.value(forKey: "name") as? String } }

  private func named(_ format: String) throws -> FetchRequest<ManagedObject> {
    FetchRequest(entityName: "Item", where: try FetchPredicate(format: format), sortedBy: [FetchSortDescriptor("name")])
  }

  /// Lets another coordinator change the items and save.
  private func others(_ change: (ManagedObjectContext, [ManagedObject]) throws -> Void) throws {
    let other = try bench.context()
    try change(other, try bench.items(other))
    try other.save()
    other.persistentStoreCoordinator.close()
  }

  // MARK: Saves of others

  @Test func whatWasReadStays() throws {
    #expect(try items[0].value(forKey: "name") as? String == "a")
    try others { _, theirs in
      try theirs[0].setValue("A", forKey: "name")
      try theirs[1].setValue("B", forKey: "name")
    }
    let found = try context.fetch(try named("name == 'A' OR name == 'B'"))
    #expect(found == [items[0], items[1]], "each record has one object")
    #expect(try names() == ["a", "B", "c"], "a fault is as new as the store")
    context.refresh(items[0], mergeChanges: false)
    #expect(try names() == ["A", "B", "c"])
  }

  @Test func aChangeOfWhatOthersHaveChangedIsAConflict() throws {
    #expect(try names() == ["a", "b", "c"])
    try others { _, theirs in try theirs[0].setValue("A", forKey: "name") }
    #expect(try context.count(entityName: "Item") == 3)
    // It was read before the others saved.
    try items[0].setValue("ours", forKey: "name")
    try items[1].setValue("B", forKey: "name")
    #expect(bench.code { try context.save() } == .saveConflict)
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    #expect(try bench.contents().keys.sorted() == ["B", "c", "ours"])
  }

  @Test func aChangeThatWasMadeBeforeIsAConflict() throws {
    try items[0].setValue("ours", forKey: "name")
    context.delete(items[2])
    try others { _, theirs in
      try theirs[0].setValue("A", forKey: "name")
      try theirs[2].setValue("C", forKey: "name")
    }
    #expect(try context.count(entityName: "Item") == 2)
    let error = try #require(bench.error { try context.save() })
    #expect(error.code == .saveConflict && error.context.objectIDs.contains(items[0].objectID))
    context.rollback()
    context.refreshAllObjects()
    #expect(try names() == ["A", "b", "C"])
  }

  @Test func whatOthersHaveSavedJustNowIsNoticedByTheSave() throws {
    try items[1].setValue("ours", forKey: "name")
    try others { other, _ in try bench.insert("d", in: other) }
    try context.save()
    #expect(try bench.contents().keys.sorted() == ["a", "c", "d", "ours"])
    #expect(try bench.items(context).count == 4 && !context.hasChanges)
  }

  @Test func changesAreMerged() throws {
    context.automaticallyMergesChangesFromParent = true
    #expect(try names() == ["a", "b", "c"])
    try items[1].setValue(Data([1]), forKey: "data")
    try others { other, theirs in
      try theirs[0].setValue("A", forKey: "name")
      try theirs[1].setValue("B", forKey: "name")
      other.delete(theirs[2])
    }
    #expect(try context.count(entityName: "Item") == 2)
    #expect(try names() == ["A", "B", nil] && items[2].isDeleted)
    try context.save()
    #expect(try bench.contents() == ["A": nil, "B": Data([1])], "what was merged is no conflict")
  }

  @Test func listenersLearnThatAnythingMayHaveChanged() async throws {
    var notices = coordinator.didSaveChanges.makeAsyncIterator()
    #expect(try names() == ["a", "b", "c"])
    try others { _, theirs in try theirs[0].setValue("A", forKey: "name") }
    try coordinator.checkForRemoteChanges()
    let changes = try #require(await notices.next())
    #expect(changes.isRemote && changes.isEmpty)
    context.mergeChanges(from: changes)
    #expect(try names() == ["A", "b", "c"])
  }

  @Test func whatIsDeletedByOthersIsGone() throws {
    _ = try items[0].value(forKey: "name")
    try others { other, theirs in
      other.delete(theirs[0])
      other.delete(theirs[1])
    }
    #expect(try context.fetch(try named("name != nil")) == [items[2]])
    #expect(items[0].isDeleted)
    #expect(try items[1].value(forKey: "name") == nil && items[1].isDeleted)
  }

  @Test func liveResultsKeepUp() throws {
    context.automaticallyMergesChangesFromParent = true
    let results = FetchedResultsController(try named("name < 'x'"), in: context)
    try results.performFetch()
    var updated: Set<ManagedObjectID> = []
    let observer = Observer { updated.formUnion($0) }
    results.delegate = observer
    #expect(results.fetchedObjects?.count == 3)
    _ = try names()
    try others { other, theirs in
      try theirs[0].setValue("aa", forKey: "name")
      try theirs[1].setValue("y", forKey: "name")
      try bench.insert("d", in: other)
    }
    #expect(try context.count(entityName: "Item") == 4)
    #expect(try results.fetchedObjects?.map { try $0.value(forKey: "name") as? String } == ["aa", "c", "d"])
    #expect(results.fetchedObjects?.first === items[0] && updated.contains(items[0].objectID))
    withExtendedLifetime(observer) {}
  }

  @Test func batchesOfResultsStayWhatTheyAre() throws {
    let batch = try context.fetchBatch(try named("name != nil"))
    try others { other, theirs in
      try theirs[1].setValue("B", forKey: "name")
      try bench.insert("0", in: other)
    }
    #expect(try context.count(entityName: "Item") == 4)
    #expect(batch.map(\.objectID) == items.map(\.objectID))
    #expect(try batch.map { try $0.value(forKey: "name") as? String } == ["a", "B", "c"])
  }

  @Test func aPinnedContextStaysWhereItIs() throws {
    try context.setQueryGeneration(from: .current)
    try others { _, theirs in try theirs[0].setValue("A", forKey: "name") }
    #expect(try context.fetch(try named("name == 'A'")).isEmpty)
    #expect(try names() == ["a", "b", "c"])
    try items[1].setValue("B", forKey: "name")
    try context.save()
    context.refreshAllObjects()
    #expect(try names() == ["A", "B", "c"])
  }

  @Test func relationshipsLeadToTheSameObjects() throws {
    let part = try context.insert(entityName: "Part")
    try part.setValue(items[0], forKey: "item")
    try context.save()
    try others { _, theirs in try theirs[0].setValue("A", forKey: "name") }
    #expect(try context.count(entityName: "Item") == 3)
    #expect(try part.value(forKey: "item") as? ManagedObject === items[0])
    context.refresh(part, mergeChanges: false)
    try others { _, theirs in try theirs[1].setValue("B", forKey: "name") }
    #expect(try context.count(entityName: "Item") == 3)
    #expect(try part.value(forKey: "item") as? ManagedObject === items[0])
  }

  @Test func childrenSeeWhatTheirParentsSee() throws {
    let child = ManagedObjectContext(parent: context)
    let theirs = try bench.items(child)
    #expect(try theirs[0].value(forKey: "name") as? String == "a")
    try others { _, others in
      try others[0].setValue("A", forKey: "name")
      try others[1].setValue("B", forKey: "name")
    }
    #expect(try child.count(entityName: "Item") == 3)
    #expect(try theirs.map { try $0.value(forKey: "name") as? String } == ["a", "B", "c"])
    try theirs[2].setValue("ours", forKey: "name")
    try child.save()
    try context.save()
    #expect(try bench.contents().keys.sorted() == ["A", "B", "ours"])
  }

  @Test func manySavesOfTwoInTurn() throws {
    let contexts = [context, try bench.context(options: Self.options)]
    for round in 0..<100 {
      for (index, context) in contexts.enumerated() {
        let items = try bench.items(context)
        #expect(items.count == 3 + 2 * round + index)
        let count = Int64(items[0].objectID.description.count)
        try items[round % items.count].setValue(Data([UInt8(truncatingIfNeeded: count)]), forKey: "data")
        try bench.insert("new \(index) \(round)", in: context)
        try context.save()
      }
    }
    #expect(try bench.contents().count == 203)
  }

  @Test func noChangeIsLostWhileOthersForgetAndSave() throws {
    let (threadCount, roundCount) = (3, 20)
    for thread in 0..<threadCount {
      for number in 0..<20 { try bench.insert("thread \(thread), \(number)", Data([0]), in: context) }
    }
    try context.save()
    let (coordinator, bench) = (coordinator, bench)
    let failures = Mutex<[any Error]>([])
    DispatchQueue.concurrentPerform(iterations: threadCount + 2) { thread in
      do {
        switch thread {
        case threadCount:
          for _ in 0..<500 { coordinator.persistentStores[0].engine.forgetRecords(evenHeld: true) }
        case threadCount + 1:
          let other = try bench.context()
          for round in 0..<roundCount {
            try bench.insert("other \(round)", in: other)
            try other.save()
          }
        default: try Self.count(ManagedObjectContext(coordinator), thread, roundCount)
        }
      } catch {
        failures.withLock { $0.append(error) }
      }
    }
    #expect(failures.withLock { $0.map { "\($0)" } }.isEmpty)
    let counts = try bench.contents().filter { $0.key.hasPrefix("thread") }.values.map { $0?.first }
    #expect(counts.count == 60 && counts.allSatisfy { $0 == UInt8(roundCount) })
  }

  /// Counts in the items of a thread, some of which are held all the time.
  private static func count(_ context: ManagedObjectContext, _ thread: Int, _ roundCount: Int) throws {
    let request = FetchRequest<ManagedObject>(
      entityName: "Item",
      where: try FetchPredicate(format: "name BEGINSWITH 'thread \(thread)'"),
      sortedBy: [FetchSortDescriptor("name")]
    )
    let held = try context.fetch(request).prefix(7)
    for _ in 0..<roundCount {
      for item in try context.fetch(request) {
        let count = try item.value(forKey: "data") as? Data
        try item.setValue(Data([(count?.first ?? 0) + 1]), forKey: "data")
      }
      try context.save()
    }
    try withExtendedLifetime(held) {
      guard try Array(held) == Array(context.fetch(request).prefix(7)) else { throw CancellationError() }
    }
  }

  // MARK: Memory

  private func manyItems(_ count: Int) throws -> ManagedObjectContext {
    for number in 0..<count { try bench.insert("item \(10_000 + number)", in: context) }
    try context.save()
    var options = StoreOptions()
    options[.recordCacheSize] = 32 * 1024
    return try bench.context(options: options)
  }

  @Test func aWalkInPagesTakesLittleMemory() throws {
    let walker = try manyItems(4_000)
    let engine = walker.persistentStoreCoordinator.persistentStores[0].engine
    let held = try walker.fetch(
      FetchRequest<ManagedObject>(entityName: "Item", sortedBy: [FetchSortDescriptor("name")], limit: 4)
    )
    var greatest = 0
    var names: [String] = []
    for page in 0..<41 {
      let request = FetchRequest<ManagedObject>(
        entityName: "Item",
        sortedBy: [FetchSortDescriptor("name")],
        offset: page * 100,
        limit: 100
      )
      names += try walker.fetch(request).compactMap { try $0.value(forKey: "name") as? String }
      greatest = max(greatest, engine.tableByteCount)
    }
    #expect(names.count == 4_003 && names == names.sorted())
    #expect(greatest < 96 * 1024, "\(greatest) bytes")
    #expect(try held.map { try $0.value(forKey: "name") as? String } == ["a", "b", "c", "item 10000"])
    #expect(try walker.fetch(try named("name == 'b'")) == [held[1]])
  }

  @Test func whatIsHeldIsNotForgotten() throws {
    let holder = try manyItems(4_000)
    let engine = holder.persistentStoreCoordinator.persistentStores[0].engine
    let all = try bench.items(holder)
    let size = engine.tableByteCount
    #expect(size > 64 * 1024)
    for _ in 0..<3 { #expect(try holder.count(entityName: "Item") == all.count) }
    #expect(engine.tableByteCount == size)
    #expect(Set(try all.compactMap { try $0.value(forKey: "name") as? String }).count == 4_003)
  }
}

/// Notes which objects look different.
private final class Observer: FetchedResultsControllerDelegate {
  private let note: (Set<ManagedObjectID>) -> Void

  init(_ note: @escaping (Set<ManagedObjectID>) -> Void) { self.note = note }

  func controller(
    _ controller: FetchedResultsController<ManagedObject>,
    didChangeContent changes: FetchedResultsChanges<ManagedObject>
  ) {
    var ids: Set<ManagedObjectID> = []
    for change in changes.objects {
      switch change {
      case .update(let object, _, _), .move(let object, _, _): ids.insert(object.objectID)
      default: break
      }
    }
    note(ids)
  }
}
