import Foundation
import Heartwood
import HTTPTypes
import HeartwoodBrowser
import Hummingbird

/// The pages of `heartwood browse` in this server.
struct StorePages {
  private let browser: StoreBrowser

  init(container: PersistentContainer) {
    browser = StoreBrowser([BrowsedStore("To-dos", container.persistentStoreCoordinator)])
  }

  private static let greatestBody = 1 << 20

  func add(to group: RouterGroup<BasicRequestContext>) {
    // The pages ask for what is beside them: the address has to end with a slash.
    group.get { request, _ in
      request.uri.path.hasSuffix("/")
        ? try await respond(request, "") : Response.redirect(to: "/stores/", type: .permanent)
    }
    group.get("**") { request, context in
      try await respond(request, context.parameters.getCatchAll().joined(separator: "/"))
    }
    group.post("**") { request, context in
      try await respond(request, context.parameters.getCatchAll().joined(separator: "/"))
    }
  }

  private func respond(_ request: Request, _ path: String) async throws -> Response {
    let body = try await request.body.collect(upTo: Self.greatestBody)
    let answer = await browser.respond(
      to: BrowserRequest(
        method: request.method.rawValue,
        path: path,
        query: request.uri.queryParameters.map { .init(String($0.key), String($0.value)) },
        headers: request.headers.map { .init($0.name.rawName, $0.value) },
        body: Data(buffer: body)
      )
    )
    var headers = HTTPFields()
    for field in answer.headers {
      if let name = HTTPField.Name(field.name) { headers.append(HTTPField(name: name, value: field.value)) }
    }
    return Response(status: .init(code: answer.status), headers: headers, body: Self.body(answer))
  }
}

extension StorePages {
  /// An export comes in pieces, which are made while it is sent.
  private static func body(_ answer: BrowserResponse) -> ResponseBody {
    guard let rest = answer.rest else { return ResponseBody(byteBuffer: ByteBuffer(data: answer.body)) }
    return ResponseBody { writer in
      try await writer.write(ByteBuffer(data: answer.body))
      for try await piece in rest { try await writer.write(ByteBuffer(data: piece)) }
      try await writer.finish(nil)
    }
  }
}

/// Lets in who knows the password, which browsers ask for. Over anything but loopback it takes TLS before the server.
struct PasswordMiddleware: RouterMiddleware {
  private let expected: [UInt8]

  init(_ password: String) {
    expected = Array("Basic \(Data("admin:\(password)".utf8).base64EncodedString())".utf8)
  }

  func handle(
    _ request: Request,
    context: BasicRequestContext,
    next: (Request, BasicRequestContext) async throws -> Response
  ) async throws -> Response {
    let given = Array((request.headers[.authorization] ?? "").utf8)
    // It takes as long for any of that length.
    let isSame = given.count == expected.count && zip(given, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    guard isSame else { throw HTTPError(.unauthorized, headers: [.wwwAuthenticate: "Basic realm=\"stores\""]) }
    return try await next(request, context)
  }
}
