import FlyingFox
import FlyingSocks
import Foundation
import RecordService

/// A small server for stores of records, on loopback. What it keeps is in memory, and stays there when it is stopped and started again.
///
///     let server = RecordServer(token: "secret")
///     let url = try await server.start().appending(path: "todos")
public actor RecordServer {
  /// What becomes of the next requests that save.
  public enum Mishap: Sendable {
    /// The server dies before it makes the save.
    case deathBeforeSave
    /// The server dies when it has made the save, and before it says so.
    case deathAfterSave
    /// It says that it is overloaded.
    case overload
    /// It does not answer for a while.
    case silence(Duration)
  }

  /// How many records are in a page.
  public static let pageSize = 200

  private let token: String
  private var stores: [String: StoredRecords] = [:]
  private var mishaps: [Mishap] = []
  private var server: HTTPServer?
  private var running: Task<Void, any Error>?
  private var port: UInt16 = 0
  /// How many requests have come.
  public private(set) var requestCount = 0

  /// Makes a server that lets in whoever has `token`.
  public init(token: String) {
    self.token = token
  }

  /// Whether it listens.
  public var isRunning: Bool { server != nil }

  /// The names of all stores, sorted.
  public var storeNames: [String] { stores.keys.sorted() }

  /// Lets the next requests that save go wrong.
  public func prepare(_ mishap: Mishap, count: Int = 1) {
    mishaps = Array(repeating: mishap, count: count)
  }
}

// MARK: Running

extension RecordServer {
  /// Begins to listen: on any port at first, and on the same one again later.
  ///
  /// - Returns: the URL under which the stores are.
  @discardableResult
  public func start() async throws -> URL {
    let handler = ClosureHTTPHandler { [weak self] request in
      guard let self else { return HTTPResponse(statusCode: .serviceUnavailable) }
      var answer = try await self.answer(request)
      // The head and the body are written apart. On a connection that stays open the body would wait for the receipt of the head, which takes 40 ms.
      answer.headers[.connection] = "close"
      return answer
    }
    let address = try sockaddr_in.inet(ip4: "127.0.0.1", port: port)
    let server = HTTPServer(address: address, timeout: 60, logger: .disabled, handler: handler)
    let running = Task { try await server.run() }
    try await server.waitUntilListening(timeout: 5)
    if case .ip4(_, let port) = await server.listeningAddress { self.port = port }
    (self.server, self.running) = (server, running)
    var parts = URLComponents()
    (parts.scheme, parts.host, parts.port, parts.path) = ("http", "127.0.0.1", Int(port), "/")
    guard let url = parts.url else { throw URLError(.badURL) }
    return url
  }

  /// Lets go of all connections at once, whatever they are in the middle of.
  public func stop() async {
    running?.cancel()
    await server?.stop(timeout: 0)
    (server, running) = (nil, nil)
  }
}

// MARK: Answers

extension RecordServer {
  private func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
    requestCount += 1
    guard request.headers[.authorization] == "Bearer \(token)" else {
      return HTTPResponse(statusCode: .unauthorized)
    }
    let path = request.path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
    guard let name = path.first else { return HTTPResponse(statusCode: .notFound) }
    let query = Dictionary(request.query.map { ($0.name, $0.value) }) { first, _ in first }
    let rest = path.dropFirst()
    switch (request.method, rest.first, rest.dropFirst().first) {
    case (.GET, nil, _): return try head(name)
    case (.PUT, nil, _): return try make(name, try await request.bodyData)
    case (.DELETE, nil, _): return remove(name)
    case (.POST, "take", let other?): return take(other, as: name, isNew: request.headers[.ifNoneMatch] != nil)
    case (.GET, "count", let entity?): return try count(name, entity)
    case (.GET, "records", let entity?):
      return try page(name, query) { $0.page(of: entity, from: query["from"].flatMap { Int($0) } ?? 0, Self.pageSize) }
    case (.POST, "records", let entity?):
      let references = try JSONDecoder().decode([String].self, from: try await request.bodyData)
      return try page(name, query) { $0.records(references, of: entity) }
    case (.POST, "saves", nil): return try await save(name, request)
    default: return HTTPResponse(statusCode: .notFound)
    }
  }

  private func head(_ name: String) throws -> HTTPResponse {
    guard let store = stores[name] else { return HTTPResponse(statusCode: .notFound) }
    return try json(store.current.head, version: store.current.head.version)
  }

  private func make(_ name: String, _ body: Data) throws -> HTTPResponse {
    guard stores[name] == nil else { return HTTPResponse(statusCode: .preconditionFailed) }
    stores[name] = StoredRecords(try JSONDecoder().decode(StoreHead.self, from: body))
    return HTTPResponse(statusCode: .created)
  }

  private func remove(_ name: String) -> HTTPResponse {
    HTTPResponse(statusCode: stores.removeValue(forKey: name) == nil ? .notFound : .noContent)
  }

  private func take(_ other: String, as name: String, isNew: Bool) -> HTTPResponse {
    if isNew, stores[name] != nil { return HTTPResponse(statusCode: .preconditionFailed) }
    // A request that is repeated finds that it was done.
    guard let store = stores.removeValue(forKey: other) else {
      return HTTPResponse(statusCode: stores[name] == nil ? .notFound : .noContent)
    }
    stores[name] = store
    return HTTPResponse(statusCode: .noContent)
  }

  private func count(_ name: String, _ entity: String) throws -> HTTPResponse {
    guard let store = stores[name] else { return HTTPResponse(statusCode: .notFound) }
    return try json(store.current.count(of: entity))
  }

  private func page(
    _ name: String,
    _ query: [String: String],
    _ body: (RecordsOfVersion) -> Page
  ) throws -> HTTPResponse {
    guard let store = stores[name] else { return HTTPResponse(statusCode: .notFound) }
    guard let records = query["version"].flatMap({ UInt64($0) }).flatMap({ store.version($0) }) else {
      return HTTPResponse(statusCode: .gone)
    }
    return try json(body(records))
  }

  private func save(_ name: String, _ request: HTTPRequest) async throws -> HTTPResponse {
    let message = try JSONDecoder().decode(SaveMessage.self, from: try await request.bodyData)
    let mishap = mishaps.isEmpty ? nil : mishaps.removeFirst()
    switch mishap {
    case .overload: return HTTPResponse(statusCode: .serviceUnavailable)
    case .silence(let duration): try await Task.sleep(for: duration)
    case .deathBeforeSave: try await die()
    case .deathAfterSave, nil: break
    }
    guard stores[name] != nil else { return HTTPResponse(statusCode: .notFound) }
    let isMade = stores[name]?.make(message, ifVersionIs: request.headers[.ifMatch]) ?? false
    if case .deathAfterSave = mishap { try await die() }
    return HTTPResponse(statusCode: isMade ? .ok : .preconditionFailed)
  }

  /// Stops the server, and answers nothing.
  private func die() async throws {
    Task { await stop() }
    try await Task.sleep(for: .seconds(60))
  }

  private func json(_ value: some Encodable, version: UInt64? = nil) throws -> HTTPResponse {
    var headers: HTTPHeaders = [.contentType: "application/json"]
    if let version { headers[.eTag] = "\"\(version)\"" }
    return HTTPResponse(statusCode: .ok, headers: headers, body: try JSONEncoder().encode(value))
  }
}

extension HTTPHeader {
  fileprivate static let ifMatch = HTTPHeader("If-Match")
  fileprivate static let ifNoneMatch = HTTPHeader("If-None-Match")
}
