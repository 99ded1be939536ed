import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Synchronization
import Testing

@testable import HeartwoodSQLite

/// How many statements it takes to read what is asked for.
@Suite struct StatementCountTests {
  /// Counts the statements that read records.
  private final class Counter: Sendable {
    private let statements = Mutex<[String]>([])

    var observer: SQLiteStatementObserver {
      SQLiteStatementObserver { statement in self.statements.withLock { $0.append(statement) } }
    }

    var count: Int { statements.withLock { $0.count { $0.hasPrefix("SELECT") } } }
  }

  private let scratch: ScratchFolder
  private let model: ManagedObjectModel
  private static let listCount = 60

  init() throws {
    scratch = try ScratchFolder()
    model = try ManagedObjectModel(entities: [
      .entity("List", .attribute("name", .string), .toMany("items", "Item", inverse: "list")),
      .entity("Item", .attribute("name", .string), .toOne("list", "List", inverse: "items")),
      .entity("Word", .attribute("name", .string)),
    ])
    let context = try context(Counter())
    for number in 0..<Self.listCount {
      let list = try context.insert(entityName: "List")
      try list.setValue("\(number)", forKey: "name")
      for place in 0..<3 {
        let item = try context.insert(entityName: "Item")
        try item.setValue("\(number).\(place)", forKey: "name")
        try item.setValue(list, forKey: "list")
      }
    }
    try context.save()
  }

  private func context(_ counter: Counter) throws -> ManagedObjectContext {
    let registry = StoreRegistry()
    try registry.register(SQLiteStore.self)
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, registry: registry)
    var options = StoreOptions()
    options[.sqliteStatementObserver] = counter.observer
    let url = scratch.url.appending(path: "Lists.sqlite")
    try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
    return ManagedObjectContext(coordinator)
  }

  /// The lists that a predicate finds, so that not all of the table is read.
  private func lists(_ context: ManagedObjectContext, prefetching: [String]) throws -> [ManagedObject] {
    var request = FetchRequest<ManagedObject>(entityName: "List", where: try FetchPredicate(format: "name >= '2'"))
    request.relationshipKeyPathsForPrefetching = prefetching
    return try context.fetch(request)
  }

  private func names(_ lists: [ManagedObject]) throws -> Int {
    try lists.reduce(0) { count, list in
      let items = try #require(try list.value(forKey: "items") as? [ManagedObject])
      return try count + items.count { (try $0.value(forKey: "name") as? String)?.isEmpty == false }
    }
  }

  @Test func whatIsPrefetchedNeedsNoFurtherStatement() throws {
    let counter = Counter()
    let context = try context(counter)
    let lists = try lists(context, prefetching: ["items"])
    #expect(lists.count > 40)
    let before = counter.count
    #expect(try names(lists) == lists.count * 3)
    #expect(counter.count == before, "no statement for an object")
  }

  @Test func aPrefetchTakesAFewStatements() throws {
    let counter = Counter()
    let context = try context(counter)
    let before = counter.count
    _ = try lists(context, prefetching: ["items"])
    // The keys, the rows of each run of them with what leads there, and the same of the items.
    #expect(counter.count - before < 40)
  }

  @Test func faultsAreFilledInBatches() throws {
    let counter = Counter()
    let context = try context(counter)
    let lists = try lists(context, prefetching: [])
    let before = counter.count
    #expect(try names(lists) == lists.count * 3)
    #expect(counter.count - before < lists.count, "less than one for each list")
    let items = try context.fetch(FetchRequest<ManagedObject>(entityName: "Item"))
    #expect(items.count == Self.listCount * 3)
  }

  @Test func whatAFetchFindsIsAllThatIsRead() throws {
    let counter = Counter()
    let context = try context(counter)
    let request = FetchRequest<ManagedObject>(entityName: "List", where: try FetchPredicate(format: "name == '7'"))
    #expect(try context.fetch(request).count == 1)
    let (table, isWhole) = try context.persistentStoreCoordinator.persistentStores[0].engine.knownTable(
      of: model.entities[0]
    )
    #expect(table.count == 1 && !isWhole)
    #expect(try context.count(for: request) == 1)
  }

  @Test func batchesReadNoMoreThanTheyChange() throws {
    let context = try context(Counter())
    let coordinator = context.persistentStoreCoordinator
    let words = (0..<100).map { ["name": PropertyValue.string("\($0)")] }
    #expect(try coordinator.execute(BatchInsertRequest(entityName: "Word", rows: words)).count == 100)
    let word = try #require(model.entity(named: "Word"))
    let engine = coordinator.persistentStores[0].engine
    let update = BatchUpdateRequest(
      entityName: "Word",
      where: try FetchPredicate(format: "name BEGINSWITH '1'"),
      propertiesToUpdate: ["name": "one"]
    )
    let otherContext = try self.context(Counter())
    #expect(try otherContext.persistentStoreCoordinator.execute(update).count == 11)
    let read = try otherContext.persistentStoreCoordinator.persistentStores[0].engine.knownTable(of: word)
    #expect(read.table.count == 11 && !read.isWhole)
    let names = FetchRequest<ManagedObject>(entityName: "Word", where: try FetchPredicate(format: "name == 'one'"))
    #expect(try context.count(for: names) == 11, "the other store sees it")
    let delete = BatchDeleteRequest(entityName: "Word", where: try FetchPredicate(format: "name == 'one'"))
    #expect(try coordinator.execute(delete).count == 11)
    #expect(try !engine.knownTable(of: word).isWhole)
    #expect(try otherContext.count(entityName: "Word") == 89)
  }
}
