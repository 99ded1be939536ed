public import Foundation
public import Heartwood
import HeartwoodBrowser
import HeartwoodPostgreSQL
import HeartwoodSQLite
public import Hummingbird
public import Logging
public import ServiceLifecycle

/// A server of to-dos over a store of any type.
public enum ToDoServer {
  /// The kinds of stores that there are: those of files, SQLite, and PostgreSQL.
  public static func registry() throws -> StoreRegistry {
    let registry = try StoreRegistry([BinaryStore.self, CSVStore.self, SQLiteStore.self, InMemoryStore.self])
    try registry.register(PostgreSQLFormat())
    return registry
  }

  /// Opens the store, or makes it; nil means one in memory.
  ///
  ///     todo.sqlite                             a file; its extension names the type
  ///     postgresql://ann@db.example/app/todos   a schema of a database
  public static func open(_ store: URL?, logger: Logger) async throws -> PersistentContainer {
    try await PersistentContainer.open(
      "ToDo",
      at: store.map { PersistentStoreDescription(url: $0) } ?? .inMemory,
      managedObjectModel: try ToDo.model(),
      objectClasses: [ToDo.self],
      registry: try registry(),
      logger: logger
    )
  }

  /// The routes: `/todos`, `/health`, and with a password `/stores`, which show what is in the store.
  public static func router(
    _ container: PersistentContainer,
    adminPassword: String? = nil
  ) -> Router<BasicRequestContext> {
    let router = Router(context: BasicRequestContext.self)
    router.add(middleware: LogRequestsMiddleware(.debug))
    router.add(middleware: StoreErrors())
    ToDoRoutes(container: container).add(to: router.group("todos"))
    router.get("health") { _, context in await health(container, context.logger) }
    if let adminPassword {
      StorePages(container: container).add(
        to: router.group("stores").add(middleware: PasswordMiddleware(adminPassword))
      )
    }
    return router
  }

  /// Looks at the store: a server that runs and cannot read is not healthy.
  private static func health(_ container: PersistentContainer, _ logger: Logger) async -> HTTPResponse.Status {
    do {
      _ = try await container.performBackgroundTask { try $0.fetch(FetchRequest<ToDo>(limit: 1)).count }
      return .ok
    } catch {
      logger.error("The store cannot be read.", metadata: ["error": "\(error)"])
      return .serviceUnavailable
    }
  }
}

/// Closes the store when the server has answered its last request: services stop in the opposite order of that in which they were started.
public struct StoreService: Service {
  private let container: PersistentContainer

  /// Closes `container` at the end.
  public init(_ container: PersistentContainer) {
    self.container = container
  }

  /// Waits for the end.
  public func run() async throws {
    try await gracefulShutdown()
    container.close()
  }
}
