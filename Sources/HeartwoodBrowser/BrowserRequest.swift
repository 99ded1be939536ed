public import HeartwoodFoundation

/// A request for a page, or for what a page shows, as a ``StoreBrowser`` answers it.
///
/// A server makes one of each HTTP request and sends back the ``BrowserResponse``:
///
///     let response = await browser.respond(
///       to: BrowserRequest(method: "GET", path: "api/stores", query: [], headers: [], body: Data())
///     )
public struct BrowserRequest: Sendable {
  /// A header field. Its name is compared without regard to case.
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
  /// The names and values behind the question mark, without percent encoding.
  public var query: [Field]
  /// The header fields. One that comes twice is there twice.
  public var headers: [Field]
  /// The content; empty if there is none.
  public var body: Data

  /// Makes a request.
  public init(method: String, path: String, query: [Field] = [], headers: [Field] = [], body: Data = Data()) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
  }

  /// The value of the header field called `name`; nil if there is none, or more than one.
  func header(_ name: String) -> String? {
    let values = headers.filter { $0.name.lowercased() == name.lowercased() }
    return values.count == 1 ? values.first?.value : nil
  }

  /// The value called `name` behind the question mark; nil if there is none.
  func queryValue(_ name: String) -> String? { query.first { $0.name == name }?.value }
}

// MARK: BrowserResponse

/// What a ``StoreBrowser`` answers.
public struct BrowserResponse: Sendable {
  /// The HTTP status: 200, 400 and so on.
  public var status: Int
  /// The header fields, among them those that keep a page from loading anything from elsewhere.
  public var headers: [BrowserRequest.Field]
  /// The content.
  public var body: Data

  /// Makes a response.
  public init(status: Int, headers: [BrowserRequest.Field], body: Data) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

extension BrowserResponse {
  /// What the page must not do, whatever a store holds: no script but its own, nothing from elsewhere, no frame around it.
  private static let policy = """
    default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; frame-ancestors 'none'; \
    base-uri 'none'; form-action 'none'
    """

  init(_ status: Int = 200, type: String, _ body: Data) {
    self.init(
      status: status,
      headers: [
        .init("Content-Type", type), .init("Cache-Control", "no-store"), .init("X-Content-Type-Options", "nosniff"),
        .init("Referrer-Policy", "no-referrer"), .init("Cross-Origin-Resource-Policy", "same-origin"),
        .init("Content-Security-Policy", Self.policy),
      ],
      body: body
    )
  }
}
