import ArgumentParser
import Dispatch
import Heartwood
import HeartwoodBrowser
import HeartwoodFoundation
import HeartwoodStore

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
    let server = try LoopbackServer(port: port)
    let access = LocalAccess(port: server.port)
    let interrupt = InterruptSignal()
    let browser = StoreBrowser(stores)
    server.run(bodyLimit: StoreBrowser.bodyLimit) { request in
      if let refusal = access.refusal(of: request) { return refusal }
      return await browser.respond(to: request)
    }
    try StandardOutput.write("\(access.address)\n(Ctrl-C ends)\n")
    if !printsOnly { WebBrowser.open(access.address) }
    interrupt.wait()
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
