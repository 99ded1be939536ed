import HeartwoodFoundation

/// Who may ask a server on the loopback interface: whoever knows the token, from a page of that server.
///
/// Every page that any browser of the machine shows can send requests to `127.0.0.1`. So a request counts only if it names this server as its
/// host, which a page of another host cannot make it do by a name that leads here, and, if it asks for more than the parts of the page, has the
/// token. The token stands in the fragment of the address, which browsers send to nobody, and comes in a header, which no form and no link of
/// another page can set. There is no cookie, since cookies of `127.0.0.1` go to every port.
///
///     let access = LocalAccess(port: 49321)
///     if let refusal = access.refusal(of: request) { return refusal }
public struct LocalAccess: Sendable {
  /// The port that the server listens at.
  public let port: UInt16
  /// What requests for data have to know: 128 random bits.
  public let token: String

  /// - Parameter token: nil makes a new one.
  public init(port: UInt16, token: String? = nil) {
    self.port = port
    self.token = token ?? Self.makeToken()
  }

  /// The address to open in a web browser. It has the token.
  public var address: String { "http://127.0.0.1:\(port)/#t=\(token)" }

  /// The answer to a request that is not to be served; nil for one that is. O(1), the same time for every wrong token.
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

  /// Compares all bytes, so that the time tells nothing of how many are right.
  private func isToken(_ authorization: String) -> Bool {
    let (given, wanted) = (Array(authorization.utf8), Array("Bearer \(token)".utf8))
    guard given.count == wanted.count else { return false }
    return zip(given, wanted).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  private static func makeToken() -> String {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    return Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
      "=",
      with: ""
    )
  }
}
