import Foundation
import Heartwood

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What asks the service: with a token, within a time limit, and again if it may be worth it.
public struct RecordServiceClient: Sendable {
  /// How often a request is sent at most.
  public var attempts = 4
  /// How long is waited before the second attempt; before each further one, it is twice as long. A part of it is drawn by lot, so that
  /// clients which were turned away together do not come back together.
  public var firstPause: Duration = .milliseconds(50)
  private let token: String
  private let session: URLSession
  private let waiter: StoreWaiter

  /// Makes a client.
  ///
  /// - Parameters:
  ///   - token: what the service knows the user by.
  ///   - timeLimit: how long is waited for one answer.
  public init(token: String, timeLimit: Duration = .seconds(5), session: URLSession = .shared) {
    self.token = token
    self.session = session
    waiter = StoreWaiter(timeLimit: timeLimit)
  }

  struct Answer: Sendable {
    let status: Int
    let body: Data

    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try JSONDecoder().decode(type, from: body)
    }
  }

  /// Sends a request until it is answered. It may reach the service several times.
  ///
  /// - Parameter expected: the answers that are no errors.
  func send(
    _ method: String,
    _ url: URL,
    body: Data? = nil,
    headers: [String: String] = [:],
    expecting expected: Set<Int>
  ) throws -> Answer {
    var request = URLRequest(url: url)
    request.httpMethod = method
    request.httpBody = body
    request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    var pause = firstPause
    for attempt in 1... {
      do {
        let answer = try once(request)
        if expected.contains(answer.status) { return answer }
        guard Self.mayPass(answer.status), attempt < attempts else { throw Self.error(answer, url) }
      } catch let error as URLError {
        guard attempt < attempts else { throw Self.error(error, url) }
      }
      let nextPause = pause * Double.random(in: 0.5...1)
      try StoreWaiter().wait(for: "The next attempt") { try await Task.sleep(for: nextPause) }
      pause *= 2
    }
    throw CancellationError()
  }

  private func once(_ request: URLRequest) throws -> Answer {
    let (request, session) = (request, session)
    return try waiter.wait(for: "The service") {
      let (body, response) = try await session.data(for: request)
      return Answer(status: (response as? HTTPURLResponse)?.statusCode ?? 0, body: body)
    }
  }

  /// Whether the service may answer otherwise a little later.
  private static func mayPass(_ status: Int) -> Bool { status == 429 || status >= 500 }

  private static func error(_ answer: Answer, _ url: URL) -> PersistenceError {
    let context = PersistenceError.Context(path: StorePlace(url).description)
    let said = String(decoding: answer.body.prefix(200), as: UTF8.self)
    return switch answer.status {
    case 401, 403:
      PersistenceError(
        .storeAccessDenied,
        "The service does not accept the token.",
        recovery: "Give the client another one.",
        context: context
      )
    case 404: PersistenceError(.fileNotFound, "The service has no such store.", context: context)
    case 412:
      PersistenceError(.fileExists, "There is a store already.", recovery: .replaceFile, context: context)
    default:
      PersistenceError(.fileReadFailed, "The service answers with status \(answer.status): \(said)", context: context)
    }
  }

  private static func error(_ error: URLError, _ url: URL) -> PersistenceError {
    PersistenceError(
      .fileReadFailed,
      "The service cannot be reached. What is not saved stays in the context.",
      recovery: "Try again when it runs.",
      context: .init(path: StorePlace(url).description),
      underlyingError: error
    )
  }
}

// MARK: RemoteStore

/// One store of the service.
struct RemoteStore: Sendable {
  let url: URL
  let client: RecordServiceClient

  var name: String { StorePlace(url).description }

  /// What the service tells of the store; nil if there is none.
  func head() throws -> StoreHead? {
    let answer = try client.send("GET", url, expecting: [200, 404])
    return answer.status == 404 ? nil : try answer.decoded(StoreHead.self)
  }

  func existingHead() throws -> StoreHead {
    try client.send("GET", url, expecting: [200]).decoded(StoreHead.self)
  }

  /// Makes the store, unless there is one.
  func make(_ head: StoreHead) throws {
    let body = try JSONEncoder().encode(head)
    _ = try client.send("PUT", url, body: body, headers: ["If-None-Match": "*"], expecting: [201])
  }

  func remove() throws { _ = try client.send("DELETE", url, expecting: [204, 404]) }

  /// Gives another store of the service the name of this one.
  func take(_ other: String, replacing: Bool) throws {
    let headers = replacing ? [:] : ["If-None-Match": "*"]
    _ = try client.send("POST", url.appending(path: "take/\(other)"), headers: headers, expecting: [204])
  }

  /// A page of the records that an entity had when the store had a version; nil if the service does not remember that version any more.
  func page(of entity: String, from start: Int, version: UInt64) throws -> Page? {
    let query = [URLQueryItem(name: "from", value: "\(start)"), URLQueryItem(name: "version", value: "\(version)")]
    return try page(try client.send("GET", records(of: entity).appending(queryItems: query), expecting: [200, 410]))
  }

  /// The records that are called by `references`, likewise.
  func records(_ references: [String], of entity: String, version: UInt64) throws -> Page? {
    let url = records(of: entity).appending(queryItems: [URLQueryItem(name: "version", value: "\(version)")])
    let body = try JSONEncoder().encode(references)
    return try page(try client.send("POST", url, body: body, expecting: [200, 410]))
  }

  private func page(_ answer: RecordServiceClient.Answer) throws -> Page? {
    answer.status == 410 ? nil : try answer.decoded(Page.self)
  }

  private func records(of entity: String) -> URL { url.appending(path: "records/\(entity)") }

  func count(of entity: String) throws -> Int {
    try client.send("GET", url.appending(path: "count/\(entity)"), expecting: [200]).decoded(Int.self)
  }

  /// Makes a save if the store has a version still, and tells whether it has.
  func save(_ message: SaveMessage, over version: UInt64) throws -> Bool {
    let body = try JSONEncoder().encode(message)
    let headers = ["If-Match": "\"\(version)\""]
    return try client.send("POST", url.appending(path: "saves"), body: body, headers: headers, expecting: [200, 412])
      .status == 200
  }
}
