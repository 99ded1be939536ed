public import HeartwoodFoundation
import HeartwoodStore

/// A request to a ``StoreBrowser``, for a part of its page or for data that the page shows.
///
/// A server makes one from each HTTP request, and sends the ``BrowserResponse`` back:
///
///     let response = await browser.respond(
///       to: BrowserRequest(method: "GET", path: "api/stores", query: [], headers: [], body: Data())
///     )
public struct BrowserRequest: Sendable {
  /// A header field. The case of its name does not matter.
  public struct Field: Sendable, Hashable {
    /// The name, such as `Content-Type`.
    public var name: String
    /// The value, without the blanks around it.
    public var value: String

    /// Makes a header field.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// `GET` or `POST`.
  public var method: String
  /// The path below the place where the browser is mounted, with or without a slash before it.
  public var path: String
  /// The names and values of the query, without percent encoding.
  public var query: [Field]
  /// The header fields. A field that was sent twice is listed twice.
  public var headers: [Field]
  /// The content of the request; empty if it has none.
  public var body: Data

  /// Makes a request.
  public init(method: String, path: String, query: [Field] = [], headers: [Field] = [], body: Data = Data()) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
  }

  /// Returns the value of the header field called `name`, or nil if there is no such field or more than one.
  func header(_ name: String) -> String? {
    let values = headers.filter { $0.name.lowercased() == name.lowercased() }
    return values.count == 1 ? values.first?.value : nil
  }

  /// Returns the value called `name` of the query, or nil if there is none.
  func queryValue(_ name: String) -> String? { query.first { $0.name == name }?.value }
}

// MARK: BrowserResponse

/// The response of a ``StoreBrowser``, which a server sends to the web browser.
public struct BrowserResponse: Sendable {
  /// The HTTP status: 200, 400 and so on.
  public var status: Int
  /// The header fields, including the ones that keep the page from loading anything from other servers.
  public var headers: [BrowserRequest.Field]
  /// The content, or its beginning if there is a ``rest``.
  public var body: Data
  /// The rest of a long content, such as an export, which follows ``body``; nil if there is none.
  public var rest: Rest?

  /// Makes a response.
  public init(status: Int, headers: [BrowserRequest.Field], body: Data, rest: Rest? = nil) {
    self.status = status
    self.headers = headers
    self.body = body
    self.rest = rest
  }
}

extension BrowserResponse {
  /// The rest of a long content, in pieces that are made while it is sent, so that no more than two of them are in memory.
  ///
  /// A server sends each piece before it asks for the next one. Its length is not known before the end: with HTTP/1.1,
  /// send it in chunks.
  ///
  ///     try await writer.write(response.body)
  ///     if let rest = response.rest {
  ///       for try await piece in rest { try await writer.write(piece) }
  ///     }
  public struct Rest: AsyncSequence, Sendable {
    private let piece: @Sendable (_ number: Int) throws -> Data?

    /// - Parameter piece: returns a piece of the content; nil after the last one.
    init(_ piece: @escaping @Sendable (_ number: Int) throws -> Data?) {
      self.piece = piece
    }

    /// Returns an iterator that begins with the first piece.
    public func makeAsyncIterator() -> Iterator { Iterator(piece: piece) }

    /// Makes one piece after the other, the next one while the server sends a piece.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let piece: @Sendable (_ number: Int) throws -> Data?
      private var number = 0
      private var upcoming: Task<Data?, any Error>?

      fileprivate init(piece: @escaping @Sendable (_ number: Int) throws -> Data?) {
        self.piece = piece
      }

      /// Returns the next piece, or nil after the last one.
      ///
      /// - Throws: `CancellationError` if the task is cancelled.
      public mutating func next() async throws -> Data? {
        try Task.checkCancellation()
        let current = upcoming ?? begin()
        let made = try await current.value
        upcoming = made == nil ? nil : begin()
        return made
      }

      private mutating func begin() -> Task<Data?, any Error> {
        let (piece, number) = (piece, number)
        self.number += 1
        return Task { try await WaitingWork.run { try piece(number) } }
      }
    }
  }
}

extension BrowserResponse {
  /// The content security policy: the page runs only its own scripts, loads nothing from other servers, and cannot be
  /// framed.
  private static let policy = """
    default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; frame-ancestors 'none'; \
    base-uri 'none'; form-action 'none'
    """

  init(_ status: Int = 200, type: String, _ body: Data, rest: Rest? = nil) {
    self.init(
      status: status,
      headers: [
        .init("Content-Type", type), .init("Cache-Control", "no-store"), .init("X-Content-Type-Options", "nosniff"),
        .init("Referrer-Policy", "no-referrer"), .init("Cross-Origin-Resource-Policy", "same-origin"),
        .init("Content-Security-Policy", Self.policy),
      ],
      body: body,
      rest: rest
    )
  }
}
