import HeartwoodFoundation

/// Protects a server on the loopback interface: it serves data only to requests with a token, from the server's own
/// page.
///
/// Any web page in a browser on this machine can send requests to `127.0.0.1`. So a request is served only if its
/// `Host` names this server, which a page cannot fake with a name of its own that resolves to `127.0.0.1`, and if it
/// has the token, unless it asks for a static part of the page. The token is in the fragment of the address, which
/// browsers do not send, and the page sends it in a header, which no form or link of another page can set. There is no
/// cookie, because cookies for `127.0.0.1` are sent to every port.
///
///     let access = LocalAccess(port: 49321)
///     if let refusal = access.refusal(of: request) { return refusal }
public struct LocalAccess: Sendable {
  /// The port at which the server listens.
  public let port: UInt16
  /// The token that requests for data must have: 128 random bits.
  public let token: String

  /// - Parameter token: the token; nil makes a new random one.
  public init(port: UInt16, token: String? = nil) {
    self.port = port
    self.token = token ?? Self.makeToken()
  }

  /// The address to open in a web browser, with the token.
  public var address: String { "http://127.0.0.1:\(port)/#t=\(token)" }

  /// Returns the response that refuses a request, or nil if the request may be served. O(1), and the same time for
  /// every wrong token.
  public func refusal(of request: BrowserRequest) -> BrowserResponse? {
    guard let host = request.header("Host"), ["127.0.0.1:\(port)", "localhost:\(port)"].contains(host) else {
      return .refusal(
        421,
        "The request names another host than this server: open the address that heartwood browse has printed."
      )
    }
    if let site = request.header("Sec-Fetch-Site"), site != "same-origin", site != "none" {
      return .refusal(403, "The request comes from a page of another server.")
    }
    if let origin = request.header("Origin"),
      !["http://127.0.0.1:\(port)", "http://localhost:\(port)"].contains(origin)
    {
      return .refusal(403, "The request comes from a page of another server.")
    }
    guard StoreBrowser.needsToken(request.path) else { return nil }
    guard let authorization = request.header("Authorization"), isToken(authorization) else {
      return .refusal(
        401,
        "The token is missing or of an earlier run: open the address that heartwood browse has printed."
      )
    }
    return nil
  }

  /// Compares all bytes, so that the time does not reveal how many are right.
  private func isToken(_ authorization: String) -> Bool {
    let (given, wanted) = (Array(authorization.utf8), Array("Bearer \(token)".utf8))
    guard given.count == wanted.count else { return false }
    return zip(given, wanted).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  static func makeToken() -> String {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    return Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
      "=",
      with: ""
    )
  }
}
