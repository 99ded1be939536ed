import ArgumentParser
import Dispatch
import FlyingFox
import FlyingSocks
import Heartwood
import HeartwoodBrowser
import HeartwoodFoundation
import HeartwoodStore
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

struct BrowseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "browse",
    abstract: "Shows stores in a web page: their model, their records, and how these are related.",
    discussion: """
      It serves the page on this machine alone, prints its address and opens it, until Ctrl-C. Only the address, which has a random token, gives \
      access. Nothing is changed. To look at a store on another machine, forward the port: ssh -L 8080:127.0.0.1:8080 HOST.

      EXAMPLE
        heartwood browse todo.csv
        heartwood browse notes.sqlite todo.heartwood --port 8080 --no-open
      """
  )

  @Argument(help: "The stores: files, or URLs of stores that are no files.", completion: .file())
  var stores: [String]

  @Option(help: ModelLocator.help, completion: .file())
  var model: String?

  @Option(
    help: "The type of the stores, where the names and the contents of the files do not tell; see heartwood types."
  )
  var type: String?

  @Option(help: "The port to serve at; 0 takes one that is free.")
  var port: UInt16 = 0

  @Flag(name: .customLong("no-open"), help: "Only print the address.")
  var printsOnly = false

  func validate() throws {
    try TypeName.check(type, "--type")
  }

  func run() throws {
    let stores = try stores.map { path in
      let source = StoreSource(path: path, typeName: type, modelPath: model)
      let (context, located) = try source.openContext()
      located.tellNotes()
      return BrowsedStore(PathParts.split(path).name, context.persistentStoreCoordinator) {
        try source.openContext().context.persistentStoreCoordinator
      }
    }
    let server = try BrowserServer(StoreBrowser(stores), port: port)
    let interrupt = InterruptSignal()
    let address = try server.start()
    try StandardOutput.write("\(address)\n(Ctrl-C ends)\n")
    if !printsOnly { WebBrowser.open(address) }
    interrupt.wait()
  }
}

// MARK: BrowserServer

/// Serves a browser of stores on the loopback interface.
struct BrowserServer {
  private let browser: StoreBrowser
  private let port: UInt16
  private let server: HTTPServer

  private static let startLimit: TimeInterval = 5

  init(_ browser: StoreBrowser, port: UInt16) throws {
    self.browser = browser
    self.port = port
    // Without an address it would listen on all interfaces.
    let address: sockaddr_in = try .inet(ip4: "127.0.0.1", port: port)
    server = HTTPServer(address: address, logger: .disabled)
  }

  /// Begins to serve, and returns the address.
  func start() throws -> String {
    let started = Outcome<String>()
    Task { [self] in
      do {
        let running = Task { try await server.run() }
        Task {
          // The server ends by itself only if it cannot listen.
          let result = await running.result
          if case .failure(let error) = result { started.set(.failure(error)) }
        }
        try await server.waitUntilListening(timeout: Self.startLimit)
        let access = LocalAccess(port: try await listeningPort())
        await server.appendRoute("*") { [browser] in await Self.answer($0, browser, access) }
        started.set(.success(access.address))
      } catch {
        started.set(.failure(error))
      }
    }
    do {
      return try started.wait().get()
    } catch {
      throw ToolError(
        "Port \(port) cannot be served: \(error). Another program may have it: choose another with --port."
      )
    }
  }

  private func listeningPort() async throws -> UInt16 {
    if case .ip4(_, let port)? = await server.listeningAddress { return port }
    throw ToolError("The server has no address.")
  }

  private static func answer(_ request: HTTPRequest, _ browser: StoreBrowser, _ access: LocalAccess) async
    -> HTTPResponse
  {
    var question = BrowserRequest(
      method: request.method.rawValue,
      path: request.path,
      query: request.query.map { .init($0.name, $0.value) },
      headers: request.headers.map { .init($0.key.rawValue, $0.value) }
    )
    if let refusal = access.refusal(of: question) { return HTTPResponse(refusal) }
    // The length of what comes in chunks is not known before it is there.
    guard request.headers[.transferEncoding] == nil else { return HTTPResponse(statusCode: .lengthRequired) }
    guard request.headers[.contentLength].map({ Int($0) ?? .max }) ?? 0 <= StoreBrowser.bodyLimit else {
      return HTTPResponse(statusCode: .payloadTooLarge)
    }
    do {
      question.body = try await request.bodyData
    } catch {
      // Whoever asked has gone.
      return HTTPResponse(statusCode: .badRequest)
    }
    return HTTPResponse(await browser.respond(to: question))
  }
}

extension HTTPResponse {
  fileprivate init(_ response: BrowserResponse) {
    var headers = HTTPHeaders()
    for field in response.headers { headers.addValue(field.value, for: HTTPHeader(field.name)) }
    self.init(statusCode: HTTPStatusCode(response.status, phrase: ""), headers: headers, body: response.body)
  }
}

/// What a task comes to, for a thread that waits for it.
private final class Outcome<Value: Sendable>: Sendable {
  private let result = Mutex<Result<Value, any Error>?>(nil)
  private let semaphore = DispatchSemaphore(value: 0)

  /// Only the first call counts.
  func set(_ value: Result<Value, any Error>) {
    let isFirst = result.withLock { result in
      defer { result = result ?? value }
      return result == nil
    }
    if isFirst { semaphore.signal() }
  }

  func wait() -> Result<Value, any Error> {
    semaphore.wait()
    return result.withLock { $0 } ?? .failure(CancellationError())
  }
}

// MARK: InterruptSignal

/// Ctrl-C, or a request to end, which is waited for in place of ending at once.
private struct InterruptSignal {
  private let semaphore = DispatchSemaphore(value: 0)
  private let sources: [any DispatchSourceSignal]

  init() {
    sources = [SIGINT, SIGTERM].map { [semaphore] number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(
        signal: number,
        queue: DispatchQueue(label: "Heartwood.InterruptSignal")
      )
      source.setEventHandler { semaphore.signal() }
      source.resume()
      return source
    }
  }

  func wait() {
    semaphore.wait()
    sources.forEach { $0.cancel() }
  }
}

// MARK: WebBrowser

/// The web browser of the user.
enum WebBrowser {
  /// Opens an address. If there is no desktop or no program for it, nothing happens: the address has been printed.
  static func open(_ address: String) {
    #if os(macOS)
      let program = "open"
    #else
      let program = "xdg-open"
      let hasDesktop = getenv("DISPLAY") != nil || getenv("WAYLAND_DISPLAY") != nil
      guard hasDesktop else { return }
    #endif
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup(address), nil]
    defer { arguments.forEach { free($0) } }
    var process = pid_t()
    posix_spawnp(&process, program, nil, nil, &arguments, environ)
  }
}
