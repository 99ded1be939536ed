import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodStore
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

    var count: Int { count(of: "SELECT") }

    func count(of beginning: String) -> Int { statements.withLock { $0.count { $0.hasPrefix(beginning) } } }
  }

  private let bench: SQLiteBench
  private static let listCount = 60

  init() throws {
    bench = try SQLiteBench(
      ManagedObjectModel(entities: [
        .entity("List", .attribute("name", .string), .toMany("items", "Item", inverse: "list")),
        .entity("Item", .attribute("name", .string), .toOne("list", "List", inverse: "items")),
        .entity("Word", .attribute("name", .string)),
      ])
    )
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
    var options = StoreOptions()
    options[.sqliteStatementObserver] = counter.observer
    return try bench.context(options: options)
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

  /// SQLite reads a whole index for the number of rows, which tells whether all are to be read.
  @Test func rowsAreCountedOnceAsLongAsNothingIsSaved() throws {
    let counter = Counter()
    let writer = try context(Counter())
    for number in 0..<1_500 { try writer.insert(entityName: "Item").setValue("many \(number)", forKey: "name") }
    try writer.save()
    let context = try context(counter)
    let counting = "SELECT count(*) FROM ZITEM"
    func page(_ number: Int) throws {
      #expect(
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Item", offset: 300 * number, limit: 300)).count
          == 300
      )
    }
    for number in 0..<3 { try page(number) }
    #expect(counter.count(of: counting) == 1)
    try writer.insert(entityName: "Item").setValue("one more", forKey: "name")
    try writer.save()
    try page(3)
    #expect(counter.count(of: counting) == 2)
  }

  @Test func whatAFetchFindsIsAllThatIsRead() throws {
    let counter = Counter()
    let context = try context(counter)
    let request = FetchRequest<ManagedObject>(entityName: "List", where: try FetchPredicate(format: "name == '7'"))
    #expect(try context.fetch(request).count == 1)
    let (table, isWhole) = try context.persistentStoreCoordinator.persistentStores[0].engine.knownTable(
      of: bench.model.entities[0]
    )
    #expect(table.count == 1 && !isWhole)
    #expect(try context.count(for: request) == 1)
  }

  /// Order by language is none that SQL compares by.
  @Test(arguments: [
    "name == '7' AND name >=[l] '0'", "name >=[l] '0' AND NOT (name != '7' OR name <[l] '0')",
    "name == '7' AND ANY items.name >=[l] '7.2'", "SUBQUERY(items, $i, $i.name >=[l] '0').@count == 3 AND name == '7'",
  ])
  func whatIsNotSQLIsTestedOnWhatIsFound(_ format: String) throws {
    let counter = Counter()
    let context = try context(counter)
    let request = FetchRequest<ManagedObject>(entityName: "List", where: try FetchPredicate(format: format))
    let before = counter.count
    #expect(try context.count(for: request) == 1)
    #expect(try context.fetch(request).count == 1)
    #expect(counter.count - before < 20)
    #expect(try knownCount("List", context) == 1)
    #expect(try knownCount("Item", context) == (format.contains("items") ? 3 : 0))
    let plan = try context.queryPlan(for: request).description
    #expect(plan.contains("SELECT t0.Z_PK FROM ") && plan.contains("then test in memory: "), "\(plan)")
    #expect(!plan.contains("all \(Self.listCount) records"))
  }

  @Test func anOrderThatIsNotSQLReadsOnlyWhatItSorts() throws {
    let context = try context(Counter())
    var request = FetchRequest<ManagedObject>(
      entityName: "Item",
      where: try FetchPredicate(format: "list.name BEGINSWITH '5'"),
      sortedBy: [
        FetchSortDescriptor("list.items.@distinctUnionOfObjects.name.@count"),
        FetchSortDescriptor("name", ascending: false),
      ]
    )
    (request.fetchOffset, request.fetchLimit) = (1, 3)
    let items = try context.fetch(request)
    #expect(try items.map { try $0.value(forKey: "name") as? String } == ["59.1", "59.0", "58.2"])
    #expect(try knownCount("Item", context) == 33 && knownCount("List", context) == 11)
  }

  @Test func childContextsReadNoMoreThanTheyFind() throws {
    let counter = Counter()
    let parent = try context(counter)
    func request(_ entity: String, _ format: String) throws -> FetchRequest<ManagedObject> {
      FetchRequest(entityName: entity, where: try FetchPredicate(format: format))
    }
    let list = try #require(try parent.fetch(request("List", "name == '7'")).first)
    try list.setValue("seven", forKey: "name")
    let new = try parent.insert(entityName: "Item")
    try new.setValue("new", forKey: "name")
    try new.setValue(list, forKey: "list")
    let child = ManagedObjectContext(parent: parent)
    let before = counter.count
    #expect(try child.fetch(request("List", "name == '7'")).isEmpty)
    #expect(try child.fetch(request("List", "name == 'seven' OR name == '8'")).count == 2)
    #expect(try child.count(for: request("Item", "list.name == 'seven'")) == 4)
    #expect(try child.count(entityName: "Item") == Self.listCount * 3 + 1)
    let ofEight = try child.fetch(request("Item", "list.name == '8'"))
    var first = try request("Item", "list.name IN {'seven', '9'}")
    first.sortDescriptors = [FetchSortDescriptor("list.name", ascending: false), FetchSortDescriptor("name")]
    (first.fetchOffset, first.fetchLimit) = (2, 3)
    #expect(try child.fetch(first).map { try $0.value(forKey: "name") as? String } == ["7.2", "new", "9.0"])
    #expect(counter.count - before < 40)
    #expect(try knownCount("List", parent) == 3 && knownCount("Item", parent) <= 9)
    // What the child changes goes up, though the parent's records were put together anew meanwhile.
    let seven = try #require(try child.fetch(request("List", "name == 'seven'")).first)
    try seven.setValue("7 of the child", forKey: "name")
    for item in ofEight { try item.setValue(seven, forKey: "list") }
    #expect(try child.fetch(request("Item", "name BEGINSWITH '11.'")).count == 3)
    try child.save()
    #expect(try parent.count(for: request("Item", "list.name == '7 of the child'")) == 7)
    try parent.save()
    #expect(try child.count(for: request("Item", "list.name == '7 of the child'")) == 7)
    #expect(try child.fetch(request("Item", "list.name == '8'")).isEmpty)
    #expect(try knownCount("List", parent) < 10 && knownCount("Item", parent) < 20)
  }

  private func knownCount(_ entity: String, _ context: ManagedObjectContext) throws -> Int {
    let store = context.persistentStoreCoordinator.persistentStores[0]
    let (table, isWhole) = try store.engine.knownTable(of: try #require(bench.model.entity(named: entity)))
    #expect(!isWhole, "\(entity)")
    return table.count
  }

  @Test func batchesOverRelationshipsReadNoMoreThanTheyChange() throws {
    let counter = Counter()
    let context = try context(counter)
    let coordinator = context.persistentStoreCoordinator
    var update = BatchUpdateRequest(
      entityName: "Item",
      where: try FetchPredicate(format: "list.name == '7'"),
      propertiesToUpdate: ["name": "seven"]
    )
    let before = counter.count
    #expect(try coordinator.execute(update).count == 3)
    #expect(try knownCount("Item", context) == 0 && knownCount("List", context) == 0, "it is SQL")
    update.propertiesToUpdate = ["name": try FetchExpression(format: "uppercase(name)")]
    #expect(try coordinator.execute(update).count == 3)
    #expect(counter.count - before < 20)
    #expect(try knownCount("Item", context) == 3 && knownCount("List", context) == 0)
    let delete = BatchDeleteRequest(entityName: "List", where: try FetchPredicate(format: "ANY items.name == '9.1'"))
    let beforeDeletion = counter.count
    #expect(try coordinator.execute(delete).count == 1)
    #expect(counter.count - beforeDeletion < 20)
    #expect(try knownCount("Item", context) == 6 && knownCount("List", context) == 0)
    let lost = FetchRequest<ManagedObject>(entityName: "Item", where: try FetchPredicate(format: "list == NULL"))
    let ids = try context.fetchObjectIDs(lost)
    #expect(ids.count == 3, "what led to the list leads nowhere")
    #expect(try coordinator.execute(BatchDeleteRequest(objectIDs: ids)).count == 3)
    #expect(try context.count(entityName: "Item") == Self.listCount * 3 - 3)
    #expect(try knownCount("Item", context) == 3)
  }

  @Test func countingBesideChangesReadsNoRecord() throws {
    let context = try context(Counter())
    func items(_ format: String) throws -> FetchRequest<ManagedObject> {
      FetchRequest(entityName: "Item", where: try FetchPredicate(format: format))
    }
    try context.fetch(items("name == '3.1'")).first?.setValue("changed", forKey: "name")
    if let item = try context.fetch(items("name == '4.1'")).first { context.delete(item) }
    try context.insert(entityName: "Item").setValue("new", forKey: "name")
    context.processPendingChanges()
    let known = try knownCount("Item", context)
    #expect(try context.count(for: items("name != '5.1'")) == Self.listCount * 3 - 1)
    #expect(try context.count(for: items("list.name == '3' AND name != 'changed'")) == 2)
    #expect(try context.count(for: items("name IN {'changed', '3.1', '4.1', 'new'}")) == 2)
    #expect(try context.count(entityName: "Item") == Self.listCount * 3)
    #expect(try knownCount("Item", context) == known)
  }

  @Test func groupsReadNoRecord() throws {
    let counter = Counter()
    let context = try context(counter)
    var request = FetchRequest<ManagedObject>(entityName: "Item", where: try FetchPredicate(format: "name != '3.1'"))
    request.propertiesToGroupBy = ["list.name"]
    request.propertiesToFetch = ["list.name", .count(), .maximum(of: "name", as: "last")]
    request.havingPredicate = try FetchPredicate(format: "@count < 3")
    let rows = try context.fetchRows(request)
    #expect(rows.map(\.values) == [[.string("3"), .integer(2), .string("3.2")]])
    let before = counter.count
    #expect(try context.fetchRows(request) == rows)
    #expect(counter.count == before + 1)
    #expect(try knownCount("Item", context) == 0 && knownCount("List", context) == 0)
  }

  @Test func groupsThatSQLDoesNotMakeAreOfWhatItFinds() throws {
    let context = try context(Counter())
    let predicate = try FetchPredicate(format: "list.name IN {'9', '17'}")
    var request = FetchRequest<ManagedObject>(entityName: "Item", where: predicate)
    request.propertiesToGroupBy = ["list.name"]
    request.propertiesToFetch = ["list.name", try ExpressionDescription(format: "max(uppercase(name)) AS last")]
    #expect(try context.queryPlan(for: request).description.contains("SELECT t0.Z_PK FROM "))
    let rows = try context.fetchRows(request)
    #expect(rows.map(\.values) == [[.string("9"), .string("9.2")], [.string("17"), .string("17.2")]])
    #expect(try knownCount("Item", context) == 6 && knownCount("List", context) == 2)
  }

  private func insert(_ code: String, _ name: String, _ number: Int, _ context: ManagedObjectContext) throws {
    let place = try context.insert(entityName: "Place")
    try place.setValue(code, forKey: "code")
    try place.setValue(name, forKey: "name")
    try place.setValue(number, forKey: "number")
  }

  @Test func whatMustBeUniqueIsLookedUp() throws {
    let bench = try SQLiteBench(
      ManagedObjectModel(entities: [
        .entity(
          "Place",
          unique: [["code"], ["name", "number"]],
          .attribute("code", .string, optional: true),
          .attribute("name", .string, optional: true),
          .attribute("number", .integer32)
        )
      ])
    )
    let first = try bench.context()
    for number in 0..<500 { try insert("c\(number)", "n\(number / 2)", number % 2, first) }
    try first.save()
    first.persistentStoreCoordinator.close()
    let context = try bench.context()
    let place = try #require(bench.model.entity(named: "Place"))
    let engine = context.persistentStoreCoordinator.persistentStores[0].engine
    try insert("new", "new", 0, context)
    try context.save()
    #expect(try !engine.knownTable(of: place).isWhole && engine.knownTable(of: place).table.count <= 1)
    func conflicts() throws -> Int {
      defer { context.rollback() }
      do {
        try context.save()
        return 0
      } catch let error as PersistenceError where error.code == .constraintConflict {
        return error.context.constraintConflicts.count
      }
    }
    try insert("c77", "other", 0, context)
    #expect(try conflicts() == 1, "another has the code")
    try insert("fresh", "n100", 1, context)
    #expect(try conflicts() == 1, "another has both values")
    try insert("fresh", "n100", 2, context)
    #expect(try conflicts() == 0)
    try insert("twin", "twin", 0, context)
    try insert("twin", "twin", 1, context)
    #expect(try conflicts() == 1, "both are new")
    #expect(try !engine.knownTable(of: place).isWhole)
    #expect(try engine.knownTable(of: place).table.count < 10)
    // A value goes from one record to another in one save.
    let request = FetchRequest<ManagedObject>(entityName: "Place", where: try FetchPredicate(format: "code == 'c9'"))
    let old = try #require(try context.fetch(request).first)
    try old.setValue("c9 before", forKey: "code")
    try insert("c9", "taken over", 0, context)
    #expect(try conflicts() == 0)
  }

  @Test func batchesReadNoMoreThanTheyChange() throws {
    let context = try context(Counter())
    let coordinator = context.persistentStoreCoordinator
    let words = (0..<100).map { ["name": PropertyValue.string("\($0)")] }
    #expect(try coordinator.execute(BatchInsertRequest(entityName: "Word", rows: words)).count == 100)
    let word = try #require(bench.model.entity(named: "Word"))
    let engine = coordinator.persistentStores[0].engine
    let update = BatchUpdateRequest(
      entityName: "Word",
      where: try FetchPredicate(format: "name BEGINSWITH '1'"),
      propertiesToUpdate: ["name": "one"]
    )
    let otherContext = try self.context(Counter())
    #expect(try otherContext.persistentStoreCoordinator.execute(update).count == 11)
    let read = try otherContext.persistentStoreCoordinator.persistentStores[0].engine.knownTable(of: word)
    #expect(read.table.count == 0 && !read.isWhole)
    let names = FetchRequest<ManagedObject>(entityName: "Word", where: try FetchPredicate(format: "name == 'one'"))
    #expect(try context.count(for: names) == 11, "the other store sees it")
    let delete = BatchDeleteRequest(entityName: "Word", where: try FetchPredicate(format: "name == 'one'"))
    #expect(try coordinator.execute(delete).count == 11)
    #expect(try !engine.knownTable(of: word).isWhole)
    #expect(try otherContext.count(entityName: "Word") == 89)
  }
}
