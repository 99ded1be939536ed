import Foundation
import Heartwood
import HeartwoodStore
import Testing

@testable import HeartwoodSQLite

/// What other processes and other coordinators save is told, and merged into contexts that merge by themselves.
@Suite(.serialized) struct RemoteChangeTests {
  private let bench: SQLiteBench
  private let context: ManagedObjectContext
  private let items: [ManagedObject]

  init() throws {
    bench = try SQLiteBench()
    try bench.makeStore(items: ["a": nil, "b": nil, "c": nil])
    context = try bench.context()
    context.automaticallyMergesChangesFromParent = true
    items = try bench.items(context)
  }

  private var coordinator: PersistentStoreCoordinator { context.persistentStoreCoordinator }

  private func names() throws -> [String?] { try items.map { try $0.value(forKey: "name") as? String } }

  private func request(_ format: String) throws -> FetchRequest<ManagedObject> {
    FetchRequest(
      entityName: "Item",
      where: try FetchPredicate(format: format),
      sortedBy: [FetchSortDescriptor("name")]
    )
  }

  @Test func whatAnotherCoordinatorSavesIsToldAndMerged() async throws {
    #expect(try names() == ["a", "b", "c"])
    // Only where all records of an entity are known is it known which are new.
    _ = try coordinator.persistentStores[0].engine.contents()
    var notices = coordinator.didSaveChanges.makeAsyncIterator()
    let other = try bench.context()
    let theirs = try bench.items(other)
    try theirs[0].setValue("A", forKey: "name")
    other.delete(theirs[1])
    let new = try bench.insert("d", in: other)
    try other.save()
    #expect(try names() == ["a", "b", "c"], "nobody has looked")
    try coordinator.checkForRemoteChanges()
    let changes = try #require(await notices.next())
    #expect(changes.isRemote && changes.contextName == nil && changes.transactionAuthor == nil)
    #expect(changes.updatedObjectIDs == [items[0].objectID] && changes.deletedObjectIDs == [items[1].objectID])
    #expect(changes.insertedObjectIDs == [new.objectID], "it is none of those that had been read")
    #expect(try context.count(entityName: "Item") == 3)
    #expect(try items[0].value(forKey: "name") as? String == "A", "the context has merged it")
    #expect(items[1].isDeleted && !items[2].isDeleted)
    try items[2].setValue("C", forKey: "name")
    try context.save()
    let own = try #require(await notices.next())
    #expect(!own.isRemote && own.updatedObjectIDs == [items[2].objectID])
  }

  @Test func whatAnotherProcessSavesIsMergedByTheNextFetch() async throws {
    var notices = coordinator.didSaveChanges.makeAsyncIterator()
    #expect(try names() == ["a", "b", "c"])
    try Worker("rename", bench.url().path, "a", "renamed").finish()
    try Worker("delete", bench.url().path, "c").finish()
    #expect(try context.fetch(try request("name == 'renamed'")).map(\.objectID) == [items[0].objectID])
    #expect(try items[0].value(forKey: "name") as? String == "renamed" && items[2].isDeleted)
    let changes = try #require(await notices.next())
    #expect(changes.isRemote && changes.updatedObjectIDs == [items[0].objectID])
    #expect(changes.deletedObjectIDs == [items[2].objectID])
  }

  @Test func ownChangesStayOnTop() throws {
    try items[0].setValue("ours", forKey: "name")
    try items[1].setValue(Data([1]), forKey: "data")
    try Worker("rename", bench.url().path, "a", "theirs").finish()
    try Worker("rename", bench.url().path, "b", "B").finish()
    #expect(try context.count(entityName: "Item") == 3)
    #expect(try names() == ["ours", "B", "c"])
    try context.save()
    #expect(try bench.contents() == ["ours": nil, "B": Data([1]), "c": nil], "what was merged is no conflict")
  }

  @Test func whoDoesNotMergeKeepsWhatIsRead() throws {
    context.automaticallyMergesChangesFromParent = false
    #expect(try names() == ["a", "b", "c"])
    try Worker("rename", bench.url().path, "a", "renamed").finish()
    try coordinator.checkForRemoteChanges()
    #expect(try context.count(for: try request("name == 'renamed'")) == 1)
    #expect(try names() == ["a", "b", "c"])
  }

  /// Which records another process has inserted is not known where not all had been read, so that results ask again.
  @Test func liveResultsOfWhatIsReadInPartKeepUp() throws {
    let context = try bench.context()
    context.automaticallyMergesChangesFromParent = true
    let results = FetchedResultsController(try request("name BEGINSWITH 'b'"), in: context)
    try results.performFetch()
    #expect(results.fetchedObjects?.count == 1)
    try Worker("insert", bench.url().path, "bb", "2").finish()
    try Worker("insert", bench.url().path, "x", "1").finish()
    #expect(try context.count(entityName: "Item") == 6)
    #expect(try results.fetchedObjects?.map { try $0.value(forKey: "name") as? String } == ["b", "bb 0", "bb 1"])
    try Worker("rename", bench.url().path, "b", "y").finish()
    #expect(try context.count(entityName: "Item") == 6)
    #expect(try results.fetchedObjects?.map { try $0.value(forKey: "name") as? String } == ["bb 0", "bb 1"])
  }

  /// Where others save whenever it begins to read, a store takes what it finds in the end: of which moment that is, nobody can tell.
  @Test func whatWasReadAmongSavesOfOthersIsReadAnew() throws {
    let setup = StoreSetup(
      model: bench.model,
      configurationName: nil,
      entities: bench.model.entities,
      path: bench.url().path,
      options: StoreOptions()
    )
    let store = try SQLiteStore(setup)
    _ = try store.connect()
    defer { store.disconnect() }
    let marks = [try markAmongSaves(store), try markAmongSaves(store)]
    #expect(marks[0] != marks[1])
    #expect(!marks.contains(try store.dataVersion()))
  }

  /// The mark of what a store reads, before which others save as often as it begins anew.
  private func markAmongSaves(_ store: SQLiteStore) throws -> UInt64 {
    var attempt = 0
    return try store.reading {
      attempt += 1
      if attempt < SQLiteStore.greatestAttempts {
        try bench.insert(UUID().uuidString, in: context)
        try context.save()
        throw CancellationError()
      }
      return try store.dataVersion()
    }
  }

  @Test func aClosedCoordinatorDoesNotLook() throws {
    coordinator.close()
    #expect(bench.code { try coordinator.checkForRemoteChanges() } == .coordinatorClosed)
  }
}
