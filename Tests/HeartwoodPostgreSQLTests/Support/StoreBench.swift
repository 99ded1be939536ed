import Foundation
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import Synchronization
import Testing

@testable import HeartwoodPostgreSQL

/// A store of lists, items and tags in a schema of its own, opened by several contexts, with a connection of another client beside it.
struct StoreBench {
  let schema = TestServer.newSchema()
  let model: ManagedObjectModel
  let server: TestServer

  init(_ model: ManagedObjectModel? = nil, on server: TestServer? = nil) throws {
    self.server = try server ?? TestServer.shared.get()
    self.model = try model ?? Self.lists()
  }

  static func lists() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      EntityDefinition(
        name: "List",
        properties: [
          .attribute("name", .string), .toMany("items", "Item", inverse: "list", ordered: true),
          .toOne("favourite", "Item", inverse: "favouriteOf"),
        ]
      ),
      EntityDefinition(
        name: "Item",
        properties: [
          .attribute("title", .string, optional: true), .attribute("code", .string, optional: true),
          .attribute("due", .date, optional: true), .attribute("count", .integer64, optional: true),
          .toOne("list", "List", inverse: "items"),
          .toOne("favouriteOf", "List", inverse: "favourite"),
          .toMany("tags", "Tag", inverse: "items"),
        ],
        uniquenessConstraints: [["code"]]
      ),
      EntityDefinition(
        name: "Tag",
        properties: [.attribute("name", .string), .toMany("items", "Item", inverse: "tags")]
      ),
    ])
  }

  var url: URL {
    get throws { try #require(URL(string: server.url(schema: schema))) }
  }

  func context(_ options: StoreOptions = StoreOptions()) throws -> ManagedObjectContext {
    let registry = StoreRegistry()
    try registry.register(PostgreSQLFormat())
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, registry: registry)
    try coordinator.addPersistentStore(type: .postgreSQL, at: try url, options: StatementCheck.checking(options))
    return ManagedObjectContext(coordinator)
  }

  @discardableResult
  func insert(_ entity: String, _ values: [String: Any], in context: ManagedObjectContext) throws
    -> ManagedObject
  {
    let object = try context.insert(entityName: entity)
    for (name, value) in values { try object.setValue(value, forKey: name) }
    return object
  }

  func titles(_ context: ManagedObjectContext, where format: String? = nil) throws -> [String] {
    let request = FetchRequest<ManagedObject>(
      entityName: "Item",
      where: try format.map { try FetchPredicate(format: $0) },
      sortedBy: [FetchSortDescriptor("title")]
    )
    return try context.fetch(request).compactMap { try $0.value(forKey: "title") as? String }
  }

  /// Calls `body` with the engine of the store, opened once more.
  func withEngine<Result>(_ body: (any StoreEngine) throws -> Result) throws -> Result {
    let context = try context()
    let store = try #require(context.persistentStoreCoordinator.persistentStores.first)
    return try withExtendedLifetime(context) { try body(store.engine) }
  }

  /// A connection of another client, whose tables are those of the store.
  func otherClient() throws -> PostgreSQLConnection {
    let connection = try PostgreSQLConnection(
      try server.location(schema: "public"),
      options: StoreOptions()
    )
    try connection.execute("RESET heartwood.saving; SET search_path = \(schema)")
    return connection
  }

  func error(_ body: () throws -> Void) -> PersistenceError? {
    do {
      try body()
      return nil
    } catch {
      return error as? PersistenceError
    }
  }
}

/// The statements that a store has sent, and how often it has waited for the server.
final class StatementLog: Sendable {
  private let statements = Mutex<[String]>([])
  private let trips = Mutex(0)

  var options: StoreOptions {
    var options = StoreOptions()
    options[.postgresStatementObserver] = PostgreSQLStatementObserver { [self] text in
      statements.withLock { $0.append(text) }
    } roundTrip: { [self] in
      trips.withLock { $0 += 1 }
    }
    return options
  }

  func clear() {
    statements.withLock { $0 = [] }
    trips.withLock { $0 = 0 }
  }

  var all: [String] { statements.withLock { $0 } }

  var roundTrips: Int { trips.withLock { $0 } }

  /// Those that begin with a word.
  func beginning(with word: String) -> [String] {
    statements.withLock { $0.filter { $0.hasPrefix(word) } }
  }

  var count: Int { statements.withLock { $0.count } }
}

/// Does something once, before the first statement with a beginning is sent.
final class Interruption: Sendable {
  private let beginning: String
  private let body: @Sendable () throws -> Void
  private let state: Mutex<(isArmed: Bool, isDone: Bool)>

  /// - Parameter isArmed: whether statements count before ``arm()`` is called.
  init(_ beginning: String, isArmed: Bool = false, _ body: @escaping @Sendable () throws -> Void) {
    self.beginning = beginning
    self.body = body
    state = Mutex((isArmed, false))
  }

  func arm() { state.withLock { $0.isArmed = true } }

  var isDone: Bool { state.withLock { $0.isDone } }

  var options: StoreOptions {
    var options = StoreOptions()
    options[.postgresStatementObserver] = PostgreSQLStatementObserver { [self] text in
      guard text.contains(beginning) else { return }
      let isDue = state.withLock { state in
        guard state.isArmed, !state.isDone else { return false }
        state.isDone = true
        return true
      }
      guard isDue else { return }
      do { try body() } catch { Issue.record(error) }
    }
    return options
  }
}

/// Errors of several threads.
final class FailureLog: Sendable {
  private let errors = Mutex<[String]>([])

  var all: [String] { errors.withLock { $0 } }

  func catching(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      errors.withLock { $0.append("\(error)") }
    }
  }
}
