import HeartwoodFoundation
import HeartwoodModel
import HeartwoodRecordText
import HeartwoodStore

/// Shows stores in a web browser. It answers the requests of a page that lists stores, draws their models and shows
/// their records.
///
/// It opens no socket. `heartwood browse` serves it on the loopback interface, with a ``LocalAccess``. An application
/// can mount it in its own server, at any path, behind its own authentication:
///
///     let browser = StoreBrowser([BrowsedStore("ToDo", coordinator)])
///     router.get("/admin/stores/**") { request, _ in
///       let response = await browser.respond(to: BrowserRequest(method: "GET", path: …))
///       …
///     }
///
/// No request changes a store, unless the store was made with `allowsEditing`. Then a request to change something is a
/// `POST` from the browser's own page: its `Origin` is that of the server, and it has a token that only the page knows.
/// Values are sent as JSON and inserted into the page as text, so hostile text in a store is harmless.
public final class StoreBrowser: Sendable {
  private let stores: [BrowsedStore]
  private let limits: BrowserLimits

  /// - Parameters:
  ///   - stores: the stores to show, in the order in which the page lists them.
  ///   - limits: what one request may take.
  public init(_ stores: [BrowsedStore], limits: BrowserLimits = BrowserLimits()) {
    self.stores = stores
    self.limits = limits
  }

  /// Returns whether a request for `path` asks for data of the stores, and not for a static part of the page.
  public static func needsToken(_ path: String) -> Bool { parts(of: path).first == "api" }

  /// Answers a request, and reads the stores if it asks for data. The time depends on the request.
  ///
  /// A mistake in a predicate is answered with status 400 and an object with `error` and the place of the mistake; a
  /// missing store, record or path is answered with 404, and a query that was ended by one of the ``BrowserLimits`` with
  /// 503 or 413. If the task is cancelled, because the client has gone, the query ends too.
  public func respond(to request: BrowserRequest) async -> BrowserResponse {
    let path = Self.parts(of: request.path)
    guard path.first == "api" else { return Self.asset(request, path.joined(separator: "/")) }
    do {
      return try await answer(request, Array(path.dropFirst()))
    } catch {
      return .error(error)
    }
  }

  private static func parts(of path: String) -> [String] {
    path.split(separator: "/").map(String.init)
  }

  private static func asset(_ request: BrowserRequest, _ name: String) -> BrowserResponse {
    guard let asset = BrowserAsset.all[name.isEmpty ? "index.html" : name] else {
      return .refusal(404, "There is no such page.")
    }
    guard request.method == "GET" else { return .refusal(405, "A page can only be read.") }
    return BrowserResponse(type: asset.type, Data(asset.text.utf8))
  }

  private func answer(_ request: BrowserRequest, _ path: [String]) async throws -> BrowserResponse {
    switch (path.first, path.count) {
    case ("differences", 1): return .json(try await differences(request))
    case ("stores", 1):
      try request.check(method: "GET")
      return .json(.array(try await overviews()))
    case ("stores", 3): return try await answer(request, path[2], try store(path[1]))
    case ("stores", 4) where path[2] == "edits": return try await store(path[1]).edit(request, path[3])
    default: throw BrowserError.notFound
    }
  }

  private func answer(_ request: BrowserRequest, _ name: String, _ store: BrowsedStore) async throws -> BrowserResponse
  {
    let work = RequestWork(limits)
    return try await withTaskCancellationHandler {
      try await store.answer(request, name, work)
    } onCancel: {
      work.cancel()
    }
  }

  private func overviews() async throws -> [JSONValue] {
    var overviews: [JSONValue] = []
    for store in stores { overviews.append(try await store.overview()) }
    return overviews
  }

  private static let differenceLimit = 500

  /// Returns the differences of two stores: the number of differences of each kind, and the first of them.
  private func differences(_ request: BrowserRequest) async throws -> JSONValue {
    try request.check(method: "GET")
    let (first, second) = (
      try store(request.required("first")), try store(request.required("second"))
    )
    let one = try await first.contents()
    let other = try await second.contents()
    let matching: ContentsDifferences.Matching = request.queryValue("match") == "value" ? .values(of: []) : .reference
    return try await WaitingWork.run {
      var counts: [String: Int] = [:]
      var shown: [JSONValue] = []
      try ContentsDifferences(one, other, matching: matching).forEach { difference in
        counts[DifferenceJSON.kind(difference), default: 0] += 1
        if shown.count < Self.differenceLimit { shown.append(DifferenceJSON.value(difference)) }
      }
      return .object([("counts", .sorted(counts.mapValues { .integer($0) })), ("differences", .array(shown))])
    }
  }

  private func store(_ number: String) throws -> BrowsedStore {
    guard let number = Int(number), stores.indices.contains(number) else { throw BrowserError.notFound }
    return stores[number]
  }

  /// The greatest length of the content of a request.
  package static let bodyLimit = 1 << 20
}

// MARK: What is asked

extension BrowserRequest {
  func check(method: String) throws {
    guard self.method == method else { throw BrowserError.method(method) }
  }

  /// Returns the value called `name` of the query, or throws if it is missing.
  func required(_ name: String) throws -> String {
    guard let value = queryValue(name) else { throw BrowserError.malformed("“\(name)” is missing in the address.") }
    return value
  }

  /// Decodes the query from the content of the request.
  func question<Question: Decodable>() throws -> Question {
    try check(method: "POST")
    guard header("Content-Type")?.hasPrefix("application/json") == true else {
      throw BrowserError.malformed("The content has to be of the type application/json.")
    }
    guard body.count <= StoreBrowser.bodyLimit else { throw BrowserError.tooLong }
    do {
      return try JSONDecoder().decode(Question.self, from: body)
    } catch {
      throw BrowserError.malformed("The content is no question that is known: \(error)")
    }
  }
}

// MARK: BrowserError

/// The reason why a request cannot be answered.
enum BrowserError: Error {
  case notFound
  /// The path only allows this method.
  case method(String)
  case malformed(String)
  case tooLong
  case forbidden(String)
  /// The record is deleted, which is not saved yet.
  case deleted
  /// The query has taken longer than it may.
  case tooLate(Duration)
  /// The client has gone.
  case abandoned
  /// The export would have more records than it may.
  case tooMany(Int, limit: Int)

  var status: Int {
    switch self {
    case .notFound, .deleted: 404
    case .method: 405
    case .malformed: 400
    case .tooLong, .tooMany: 413
    case .tooLate, .abandoned: 503
    case .forbidden: 403
    }
  }

  var message: String {
    switch self {
    case .notFound: "There is no such page."
    case .method(let method): "It is asked for by \(method)."
    case .malformed(let message), .forbidden(let message): message
    case .tooLong: "The content is longer than 1 MiB. Use heartwood edit or an import for it."
    case .tooLate(let limit):
      "The query was ended after \(limit.components.seconds) seconds, which is the limit. Narrow the condition, or start "
        + "heartwood browse with a higher --time-limit; in a server of your own, with a higher BrowserLimits.time."
    case .abandoned: "The query was ended, because its page no longer waits for it."
    case .tooMany(let count, let limit):
      "\(count) records were found, and an export may have \(limit). Narrow the condition, or start heartwood browse "
        + "with a higher --export-limit; in a server of your own, with a higher BrowserLimits.exportedRecordCount."
    case .deleted: "The record is deleted, which is not saved yet. Undo the deletion to change it."
    }
  }
}

extension BrowserResponse {
  static func json(_ value: JSONValue, status: Int = 200) -> BrowserResponse {
    BrowserResponse(status, type: "application/json; charset=utf-8", Data(value.text.utf8))
  }

  static func refusal(_ status: Int, _ message: String) -> BrowserResponse {
    json(.object([("error", .string(message))]), status: status)
  }

  private static let notFound: [PersistenceError.Code] = [
    .entityUnknown, .propertyUnknown, .objectNotFound, .historyNotTracked, .capabilityMissing,
  ]

  private static func status(of error: PersistenceError) -> Int {
    switch error.code {
    case .storeReadOnly: 403
    case .valueTypeMismatch, .valueUnsupported: 400
    case .saveConflict, .fileChangedOnDisk: 409
    case .mappingModelMissing, .mappingModelUnusable, .migrationModelMissing: 422
    default: notFound.contains(error.code) ? 404 : 500
    }
  }

  /// Returns the response for an error; for a predicate, with the place of the mistake, which the page marks.
  static func error(_ error: any Error) -> BrowserResponse {
    switch error {
    case let error as BrowserError: return refusal(error.status, error.message)
    case let error as FetchPredicateError:
      return json(
        .object([
          ("error", .string(error.message)), ("text", .string(error.text)),
          ("from", .integer(error.place.lowerBound)), ("to", .integer(error.place.upperBound)),
        ]),
        status: 400
      )
    case let error as PersistenceError where error.code == .validationFailed || error.code == .constraintConflict:
      return json(EditFault.refusal(error), status: 422)
    case let error as PersistenceError: return refusal(status(of: error), error.description)
    default: return refusal(500, "\(error)")
    }
  }
}
