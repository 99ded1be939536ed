import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Synchronization
import TestSupport
import Testing

@testable import HeartwoodSQLite

/// Batch updates and deletions that SQLite does itself, held against those of records that have been read.
@Suite struct BatchInStoreTests {
  /// A store, and the statements that were run on it.
  private struct Bench {
    let coordinator: PersistentStoreCoordinator
    let store: PersistentStore
    private let statements: Statements

    private final class Statements: Sendable {
      let texts = Mutex<[String]>([])
    }

    init(_ model: ManagedObjectModel, _ url: URL, readingAll: Bool = false) throws {
      let statements = Statements()
      var options = StoreOptions()
      options[.sqliteStatementObserver] = SQLiteStatementObserver { text in
        statements.texts.withLock { $0.append(text) }
      }
      self.statements = statements
      coordinator = try SQLiteBench.coordinator(model)
      store = try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
      // Batches are done on columns then.
      if readingAll { _ = try store.engine.contents() }
    }

    var context: ManagedObjectContext { ManagedObjectContext(coordinator) }

    /// How many statements have changed rows since this was last asked.
    func takeChanges() -> [String] {
      statements.texts.withLock { texts in
        defer { texts = [] }
        return texts.filter { text in
          ["UPDATE Z", "DELETE FROM Z", "UPDATE \"Z", "DELETE FROM \"Z"].contains { text.hasPrefix($0) }
        }
      }
    }
  }

  private let scratch: ScratchFolder
  private let model: ManagedObjectModel

  init() throws {
    scratch = try ScratchFolder()
    model = try ManagedObjectModel(entities: [
      .entity("List", .attribute("name", .string), .toMany("items", "Item", inverse: "list")),
      EntityDefinition(
        name: "Item",
        properties: [
          .attribute("name", .string, optional: true), .attribute("small", .integer16, optional: true),
          .attribute("large", .integer64, optional: true), .attribute("price", .double, optional: true),
          .attribute("done", .boolean, optional: true), .attribute("code", .integer32, optional: true),
          .attribute(
            AttributeDescription(name: "stars", type: .integer16, rules: AttributeRules(minValue: .integer(1)))
          ),
          .toOne("list", "List", inverse: "items"),
        ],
        uniquenessConstraints: [["code"]]
      ),
      EntityDefinition(name: "BigItem", superentityName: "Item", properties: [.attribute("size", .integer32)]),
    ])
    let context = try Bench(model, url()).context
    let lists = try (0..<5).map { number in
      let list = try context.insert(entityName: "List")
      try list.setValue("list \(number)", forKey: "name")
      return list
    }
    for number in 0..<60 {
      let item = try context.insert(entityName: number.isMultiple(of: 4) ? "BigItem" : "Item")
      try item.setValue("item \(number)", forKey: "name")
      if number % 7 > 0 { try item.setValue(number, forKey: "small") }
      try item.setValue(number * 1_000_000_007, forKey: "large")
      if number % 5 > 0 { try item.setValue(Double(number) / 3, forKey: "price") }
      try item.setValue(number, forKey: "code")
      try item.setValue(3, forKey: "stars")
      if number.isMultiple(of: 4) { try item.setValue(number, forKey: "size") }
      if number % 6 > 0 { try item.setValue(lists[number % 5], forKey: "list") }
    }
    try context.save()
    context.persistentStoreCoordinator.close()
  }

  private func url(_ name: String = "Store.sqlite") -> URL { scratch.url.appending(path: name) }

  /// Does the same to two copies of the store, in SQL and on records that have been read, and expects the same of both.
  ///
  /// - Returns: the statements that changed rows in SQL.
  @discardableResult
  private func expectSame(
    _ sourceLocation: SourceLocation = #_sourceLocation,
    _ work: (PersistentStoreCoordinator) throws -> BatchResult
  ) throws -> [String] {
    var results: [(result: BatchResult, contents: StoreContents)] = []
    var statements: [String] = []
    for (name, readsAll) in [("SQL.sqlite", false), ("Memory.sqlite", true)] {
      try SQLiteStore.backUp(storeAt: url(), to: url(name), replacing: true)
      let bench = try Bench(model, url(name), readingAll: readsAll)
      _ = bench.takeChanges()
      let result = try work(bench.coordinator)
      if !readsAll {
        #expect(bench.store.recordByteCount == 0, "no record was read", sourceLocation: sourceLocation)
        statements = bench.takeChanges()
      }
      bench.coordinator.close()
      let reopened = try Bench(model, url(name))
      results.append((result, try reopened.store.engine.contents()))
    }
    let (sql, memory) = (results[0], results[1])
    #expect(sql.result.count == memory.result.count, sourceLocation: sourceLocation)
    #expect(Self.texts(sql.result.objectIDs) == Self.texts(memory.result.objectIDs), sourceLocation: sourceLocation)
    #expect(
      Self.texts(sql.result.changes.updatedObjectIDs) == Self.texts(memory.result.changes.updatedObjectIDs),
      sourceLocation: sourceLocation
    )
    let difference = ContentsComparison.firstDifference(sql.contents, memory.contents)
    #expect(difference == nil, "\(difference.map { "\($0)" } ?? "")", sourceLocation: sourceLocation)
    for (left, right) in zip(sql.contents.tables, memory.contents.tables) {
      let (versions, others) = (left.liveRows.map(left.version), right.liveRows.map(right.version))
      #expect(versions == others, "versions of \(left.entity.name)", sourceLocation: sourceLocation)
    }
    return statements
  }

  private static func texts(_ ids: Set<ManagedObjectID>) -> Set<String> {
    Set(ids.map { "\($0.entity.name) \($0.reference.text)" })
  }

  private func update(_ predicate: String?, _ values: [String: any FetchArgument]) throws -> BatchUpdateRequest {
    var request = BatchUpdateRequest(
      entityName: "Item",
      where: try predicate.map { try FetchPredicate(format: $0) },
      propertiesToUpdate: values
    )
    request.resultType = .objectIDs
    return request
  }

  // MARK: Updates

  @Test(arguments: [
    "small > 10", nil, "list.name == 'list 2'", "ANY list.items.small == 8", "name BEGINSWITH 'item 1'", "small == nil",
  ])
  func constantsAreSetInSQL(_ predicate: String?) throws {
    let request = try update(predicate, ["done": true, "name": "it's \u{0} all", "price": 7, "large": Int64.min])
    let statements = try expectSame { try $0.execute(request) }
    #expect(statements.count == 2, "a statement for each entity")
  }

  @Test func nothingIsAValueToo() throws {
    let request = try update("small < 30", ["name": PropertyValue.null, "price": PropertyValue.null])
    #expect(try expectSame { try $0.execute(request) }.count == 2)
  }

  @Test func whatIsComputedIsComputedInSQL() throws {
    let request = try update(
      "small != nil AND price != nil",
      [
        "small": try FetchExpression(format: "small * 2 + 1"), "large": try FetchExpression(format: "large - small"),
        "price": try FetchExpression(format: "price * 1.5 + small"),
      ]
    )
    #expect(try expectSame { try $0.execute(request) }.count == 2)
  }

  /// What SQL has no value for, or another one, is computed in memory, which may refuse it.
  @Test func doubtsAreTheFrameworks() throws {
    let bench = try Bench(model, url())
    _ = bench.takeChanges()
    let missing = try update(nil, ["small": try FetchExpression(format: "small + 1")])
    #expect(try bench.coordinator.execute(missing).count == 60)
    #expect(bench.takeChanges().count > 2, "row by row")
    let large = try update("small > 50", ["small": try FetchExpression(format: "small * 1000")])
    #expect(throws: PersistenceError.self) { try bench.coordinator.execute(large) }
    #expect(bench.takeChanges().isEmpty)
  }

  @Test func aValueThatIsNotAllowedIsRefused() throws {
    let bench = try Bench(model, url())
    let error = #expect(throws: PersistenceError.self) {
      try bench.coordinator.execute(try update(nil, ["stars": 0]))
    }
    #expect(error?.code == .validationFailed)
    let unique = #expect(throws: PersistenceError.self) {
      try bench.coordinator.execute(try update(nil, ["code": 5]))
    }
    #expect(unique?.code == .constraintConflict)
    #expect(try bench.context.count(for: request(where: "stars == 3")) == 60)
  }

  @Test func recordsThatAreKnownAreReadAgain() throws {
    let bench = try Bench(model, url())
    let context = bench.context
    let items = try context.fetch(
      FetchRequest<ManagedObject>(entityName: "Item", where: FetchPredicate(format: "small < 9"))
    )
    let result = try context.execute(try update("small < 5", ["name": "new"]))
    context.mergeChanges(from: result.changes)
    for item in items {
      guard case .integer(let small) = try item.propertyValue(forKey: "small") else { continue }
      #expect(try (item.propertyValue(forKey: "name") == .string("new")) == (small < 5))
    }
    // They can be changed and saved at once.
    try #require(items.first).setValue("newer", forKey: "name")
    try context.save()
    #expect(try bench.context.count(for: request(where: "name == 'newer'")) == 1)
  }

  // MARK: Deletions

  @Test(arguments: ["small > 10", nil, "list.name == 'list 2'", "name BEGINSWITH 'item 1'"])
  func recordsGoInSQL(_ predicate: String?) throws {
    var request = BatchDeleteRequest(entityName: "BigItem", where: try predicate.map { try FetchPredicate(format: $0) })
    request.resultType = .objectIDs
    let statements = try expectSame { try $0.execute(request) }
    #expect(statements.count == 2, "their lists get a next version")
  }

  @Test func listsForgetWhatGoes() throws {
    let bench = try Bench(model, url())
    let context = bench.context
    let lists = try context.fetch(
      FetchRequest<ManagedObject>(entityName: "List", where: FetchPredicate(format: "name == 'list 0'"))
    )
    let list = try #require(lists.first)
    let before = try list.propertyValue(forKey: "items").objectIDs
    let big = before.filter { $0.entity.name == "BigItem" }
    try #require(!big.isEmpty && big.count < before.count)
    var request = BatchDeleteRequest(entityName: "BigItem")
    request.resultType = .objectIDs
    _ = bench.takeChanges()
    let result = try context.execute(request)
    #expect(bench.takeChanges().count == 2)
    context.mergeChanges(from: result.changes)
    #expect(try list.propertyValue(forKey: "items").objectIDs == before.filter { !big.contains($0) })
    for id in big { #expect(throws: PersistenceError.self) { try context.existingObject(with: id) } }
    try list.setValue("changed", forKey: "name")
    try context.save()
  }

  /// What else has to go, or must not lose anything, is found among records that are read.
  @Test func otherDeletionsAreTheFrameworks() throws {
    let bench = try Bench(model, url())
    _ = bench.takeChanges()
    #expect(try bench.coordinator.execute(BatchDeleteRequest(entityName: "List")).count == 5)
    #expect(bench.takeChanges().count > 5)
    #expect(try bench.context.count(for: request(where: "list != nil")) == 0)
  }

  /// A store that can only be read is asked like all others, which matters where records of it would change.
  @Test func whatChangesNothingNeedsNoPermission() throws {
    let coordinator = try SQLiteBench.coordinator(model)
    var options = StoreOptions()
    options[.isReadOnly] = true
    try coordinator.addPersistentStore(type: .sqlite, at: url(), options: options)
    #expect(try coordinator.execute(try update("small > 1000", ["done": true])).count == 0)
    let error = #expect(throws: PersistenceError.self) {
      try coordinator.execute(try update("small > 10", ["done": true]))
    }
    #expect(error?.code == .storeReadOnly)
  }

  // MARK: At random

  @Test(arguments: 0..<6)
  func randomUpdatesAreTheSame(_ run: Int) throws {
    var fixture = try TranslationFixture(seed: .random(in: 0...UInt64.max))
    let source = URL(filePath: fixture.store.path)
    let computed: [String: [String]] = [
      "i16": ["i16 + 1", "full * 3"], "i32": ["full - i16", "full * full"], "i64": ["i64 - 1", "full + 2"],
      "dbl": ["full * 0.5", "dbl + 1", "full"], "full": ["full + 1", "0 - full"],
    ]
    for _ in 0..<12 {
      var values: [String: any FetchArgument] = [:]
      for attribute in fixture.queries.item.attributes where fixture.queries.number(0...3) == 0 {
        if let formats = computed[attribute.name], fixture.queries.number(0...1) == 0 {
          values[attribute.name] = try FetchExpression(format: formats[fixture.queries.number(0...(formats.count - 1))])
        } else {
          values[attribute.name] = fixture.queries.value(of: attribute.type)
        }
      }
      var request = BatchUpdateRequest(
        entityName: "Item",
        where: try fixture.request().predicate,
        propertiesToUpdate: values
      )
      request.resultType = .objectIDs
      var outcomes: [(code: PersistenceError.Code?, ids: Set<String>, contents: StoreContents)] = []
      for (name, readsAll) in [("SQL.sqlite", false), ("Memory.sqlite", true)] {
        try SQLiteStore.backUp(storeAt: source, to: url(name), replacing: true)
        let bench = try Bench(fixture.queries.model, url(name), readingAll: readsAll)
        var outcome: (code: PersistenceError.Code?, ids: Set<String>) = (nil, [])
        do {
          outcome.ids = Self.texts(try bench.coordinator.execute(request).objectIDs)
        } catch let error as PersistenceError {
          outcome.code = error.code
        }
        bench.coordinator.close()
        let contents = try Bench(fixture.queries.model, url(name)).store.engine.contents()
        outcomes.append((outcome.code, outcome.ids, contents))
      }
      #expect(outcomes[0].code == outcomes[1].code, "\(values)")
      #expect(outcomes[0].ids == outcomes[1].ids)
      let difference = ContentsComparison.firstDifference(outcomes[0].contents, outcomes[1].contents)
      #expect(difference == nil, "\(difference.map { "\($0)" } ?? ""): \(values)")
    }
  }

  private func request(where format: String) throws -> FetchRequest<ManagedObject> {
    FetchRequest(entityName: "Item", where: try FetchPredicate(format: format))
  }
}
