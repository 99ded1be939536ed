import ArgumentParser
import Foundation
import Hummingbird
import Logging
import ToDoServer

@main
struct Command: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "todo-server",
    abstract: "Serves to-dos over HTTP, from a store of any type.",
    discussion: """
      STORE is a file (todo.sqlite, todo.csv, todo.heartwood) or a URL (postgresql://ann@db.example/app/todos). Without it, the to-dos are in memory.

      With ADMIN_PASSWORD in the environment, the store can be looked into at /stores, as the user admin.
      """
  )

  @Argument(help: "Where the to-dos are kept.")
  var store: String?

  @Option(help: "The host name to listen on.")
  var host = "127.0.0.1"

  @Option(help: "The port to listen on.")
  var port = 8080

  func run() async throws {
    let logger = Logger(label: "todo-server")
    let place = store.map { $0.contains("://") ? URL(string: $0) ?? URL(filePath: $0) : URL(filePath: $0) }
    let container = try await ToDoServer.open(place, logger: logger)
    let app = Application(
      router: ToDoServer.router(container, adminPassword: ProcessInfo.processInfo.environment["ADMIN_PASSWORD"]),
      configuration: .init(address: .hostname(host, port: port), serverName: "todo-server"),
      services: [StoreService(container)],
      logger: logger
    )
    // Until SIGTERM or SIGINT: then it answers what it has been asked, and closes the store.
    try await app.runService()
  }
}
