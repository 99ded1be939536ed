import Foundation
import Heartwood
import Hummingbird
import HummingbirdTesting
import Logging
import Testing

@testable import ToDoServer

/// The server over stores of several types; that of PostgreSQL is tested if `TODO_SERVER_POSTGRESQL` has the URL of a
/// database for them.
@Suite struct ToDoServerTests {
  struct Place: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// Where a store of the test's own is; nil means in memory.
    let makeURL: @Sendable () -> URL?
  }

  static let places: [Place] = {
    var places = [Place(testDescription: "memory") { nil }]
    for name in ["todos.csv", "todos.heartwood", "todos.sqlite"] {
      places.append(
        Place(testDescription: name) {
          FileManager.default.temporaryDirectory.appending(path: "todo-server-\(UUID())/\(name)")
        }
      )
    }
    if let database = ProcessInfo.processInfo.environment["TODO_SERVER_POSTGRESQL"],
      let parts = URLComponents(string: database)
    {
      places.append(
        Place(testDescription: "PostgreSQL") {
          var parts = parts
          parts.path += "/todos_\(UUID().uuidString.prefix(8).lowercased())"
          return parts.url
        }
      )
    }
    return places
  }()

  private static let logger: Logger = {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    return logger
  }()

  private func withServer(
    _ place: Place,
    adminPassword: String? = nil,
    _ body: @escaping @Sendable (any TestClientProtocol) async throws -> Void
  ) async throws {
    let url = place.makeURL()
    if let url, url.isFileURL {
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    }
    let container = try await ToDoServer.open(url, logger: Self.logger)
    let app = Application(router: ToDoServer.router(container, adminPassword: adminPassword))
    try await app.test(.router) { client in try await body(client) }
    try await container.destroyPersistentStores()
  }

  private func item(_ response: TestResponse) throws -> ToDoItem {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return try decoder.decode(ToDoItem.self, from: Data(buffer: response.body))
  }

  private static func create(_ title: String, _ client: any TestClientProtocol) async throws -> TestResponse {
    try await client.execute(uri: "/todos", method: .post, body: ByteBuffer(string: "{\"title\":\"\(title)\"}"))
  }

  @Test(arguments: places) func toDosAreMadeReadChangedAndDeleted(_ place: Place) async throws {
    try await withServer(place) { client in
      let created = try await Self.create("Bread", client)
      #expect(created.status == .created)
      let item = try item(created)
      let uri = try #require(created.headers[.location])
      #expect(uri == "/todos/\(item.id)")
      #expect(created.headers[.eTag] == "\"1\"")
      let read = try await client.execute(uri: uri, method: .get)
      #expect(try self.item(read).title == "Bread")
      let changed = try await client.execute(
        uri: uri,
        method: .patch,
        headers: [.ifMatch: "\"1\""],
        body: ByteBuffer(string: "{\"isDone\":true}")
      )
      #expect(changed.status == .ok)
      #expect(changed.headers[.eTag] == "\"2\"")
      let open = try await client.execute(uri: "/todos?done=false", method: .get)
      #expect(String(buffer: open.body) == "[]")
      let deleted = try await client.execute(uri: uri, method: .delete, headers: [.ifMatch: "\"2\""])
      #expect(deleted.status == .noContent)
      #expect(try await client.execute(uri: uri, method: .get).status == .notFound)
    }
  }

  @Test(arguments: places) func aChangeOfAnOlderVersionIsRefused(_ place: Place) async throws {
    try await withServer(place) { client in
      let uri = try #require(try await Self.create("Tea", client).headers[.location])
      func patch(_ tag: String?) async throws -> HTTPResponse.Status {
        try await client.execute(
          uri: uri,
          method: .patch,
          headers: tag.map { [.ifMatch: $0] } ?? [:],
          body: ByteBuffer(string: "{\"title\":\"Coffee\"}")
        ).status
      }
      #expect(try await patch(nil) == .preconditionRequired)
      #expect(try await patch("\"1\"") == .ok)
      #expect(try await patch("\"1\"") == .preconditionFailed)
      #expect(try await patch("*") == .ok)
      #expect(try await patch("W/x") == .badRequest)
    }
  }

  @Test(arguments: places) func whatTheModelDoesNotAllowIsUnprocessable(_ place: Place) async throws {
    try await withServer(place) { client in
      let response = try await Self.create("", client)
      #expect(response.status == .unprocessableContent)
      #expect(String(buffer: response.body).contains("title"))
    }
  }

  /// Each client reads the title, which is a number, and writes the next one, until the server takes it.
  @Test(arguments: places) func noUpdateIsLost(_ place: Place) async throws {
    let (clients, steps) = (8, 5)
    try await withServer(place) { client in
      let uri = try #require(try await Self.create("0", client).headers[.location])
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<clients {
          group.addTask {
            for _ in 0..<steps { try await Self.countUp(uri, client) }
          }
        }
        try await group.waitForAll()
      }
      let last = try item(try await client.execute(uri: uri, method: .get))
      #expect(last.title == "\(clients * steps)")
      #expect(last.version == UInt64(1 + clients * steps))
    }
  }

  private static func countUp(_ uri: String, _ client: any TestClientProtocol) async throws {
    for _ in 0..<10_000 {
      let read = try await client.execute(uri: uri, method: .get)
      let tag = try #require(read.headers[.eTag])
      let value = try JSONDecoder().decode([String: JSONText].self, from: Data(buffer: read.body))["title"]?.text ?? ""
      let next = (Int(value) ?? 0) + 1
      let change = try await client.execute(
        uri: uri,
        method: .patch,
        headers: [.ifMatch: tag],
        body: ByteBuffer(string: "{\"title\":\"\(next)\"}")
      )
      if change.status == .ok { return }
      #expect([.preconditionFailed, .serviceUnavailable].contains(change.status))
    }
    Issue.record("A change was never taken.")
  }

  /// A value of any kind, of which only text matters.
  private struct JSONText: Decodable {
    let text: String?

    init(from decoder: any Decoder) throws {
      // try?: what is no text has none.
      text = try? decoder.singleValueContainer().decode(String.self)
    }
  }

  @Test(arguments: places) func pagesAreInTheOrderOfCreation(_ place: Place) async throws {
    try await withServer(place) { client in
      for number in 0..<5 { _ = try await Self.create("\(number)", client) }
      let page = try await client.execute(uri: "/todos?offset=1&limit=2", method: .get)
      #expect(String(buffer: page.body).contains("\"title\":\"1\""))
      #expect(!String(buffer: page.body).contains("\"title\":\"3\""))
      #expect(try await client.execute(uri: "/todos?limit=100000", method: .get).status == .badRequest)
    }
  }

  @Test(arguments: places) func healthLooksAtTheStore(_ place: Place) async throws {
    try await withServer(place) { client in
      let health = try await client.execute(uri: "/health", method: .get)
      #expect(health.status == .ok)
    }
  }

  @Test func aStoreThatIsGoneIsNotHealthy() async throws {
    let container = try await ToDoServer.open(nil, logger: Self.logger)
    let app = Application(router: ToDoServer.router(container))
    try await app.test(.router) { client in
      container.close()
      let health = try await client.execute(uri: "/health", method: .get)
      #expect(health.status == .serviceUnavailable)
    }
  }

  @Test(arguments: places) func theStoreCanBeLookedIntoWithThePassword(_ place: Place) async throws {
    try await withServer(place, adminPassword: "open sesame") { client in
      _ = try await Self.create("Salt", client)
      #expect(try await client.execute(uri: "/stores/api/stores", method: .get).status == .unauthorized)
      let headers: HTTPFields = [.authorization: "Basic \(Data("admin:open sesame".utf8).base64EncodedString())"]
      let page = try await client.execute(uri: "/stores/", method: .get, headers: headers)
      #expect(page.status == .ok)
      #expect(page.headers[.contentSecurityPolicy]?.contains("script-src 'self'") == true)
      let stores = try await client.execute(uri: "/stores/api/stores", method: .get, headers: headers)
      #expect(String(buffer: stores.body).contains("ToDo"))
    }
  }
}
