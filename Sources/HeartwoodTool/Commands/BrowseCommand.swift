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
      access. To look at a store on another machine, forward the port: ssh -L 8080:127.0.0.1:8080 HOST.

      Nothing is changed without --write. With it, the page changes, adds, deletes and relates records under the rules of the model, with undo and \
      redo. Nothing is written before Save, and what is not saved at Ctrl-C is lost. Before the first save of a file, a copy is made beside it, \
      STORE.backup, or STORE.2.backup if there is one; heartwood edit STORE --restore STORE.backup puts it back. A database has no such copy. If \
      others have saved the same records meanwhile, the page shows both values and asks which one to keep. A file that Core Data mirrors to \
      CloudKit is not changed: use heartwood edit --allow-mirrored.

      With --to-model, the page shows what heartwood migrate --dry-run would: what becomes of each entity's records, what is lost, and what has \
      to be resolved first. It migrates nothing.

      A query ends when it takes longer than --time-limit, or when its page is closed. An export is made while it is sent, and is refused if it \
      would have more records than --export-limit.

      EXAMPLE
        heartwood browse todo.csv
        heartwood browse todo.csv --write
        heartwood browse todo.sqlite --to-model ToDo.xcdatamodeld
        heartwood browse notes.sqlite todo.heartwood --port 8080 --no-open
      """
  )

  @Argument(help: "The stores: files, or URLs of stores that are not files.", completion: .file())
  var stores: [String]

  @Option(help: ModelLocator.help, completion: .file())
  var model: String?

  @Option(
    help: "Show what a migration to this model, or to the current version of a bundle, would do to the records.",
    completion: .file()
  )
  var toModel: String?

  @Option(
    help: "The type of the stores, if the names and the contents of the files do not show it; see heartwood types."
  )
  var type: String?

  @Flag(help: "Change records in the page. A copy of a file is made before the first save.")
  var write = false

  @Option(help: "The port to serve at; 0 takes one that is free.")
  var port: UInt16 = 0

  @Option(help: ArgumentHelp("How long a query of the page may take.", valueName: "seconds"))
  var timeLimit = 30

  @Option(help: ArgumentHelp("How many records an export of the page may have.", valueName: "records"))
  var exportLimit = 10_000_000

  @Flag(name: .customLong("no-open"), help: "Only print the address.")
  var printsOnly = false

  func validate() throws {
    try TypeName.check(type, "--type")
    guard timeLimit > 0 else { throw ValidationError("--time-limit is a number of seconds above 0.") }
    guard exportLimit > 0 else { throw ValidationError("--export-limit is a number of records above 0.") }
  }

  private var limits: BrowserLimits {
    var limits = BrowserLimits()
    (limits.time, limits.exportedRecordCount) = (.seconds(timeLimit), exportLimit)
    return limits
  }

  func run() throws {
    let stores = try stores.map(open)
    let server = try LoopbackServer(port: port)
    let access = LocalAccess(port: server.port)
    let interrupt = InterruptSignal()
    let browser = StoreBrowser(stores, limits: limits)
    server.run(bodyLimit: StoreBrowser.bodyLimit) { request in
      if let refusal = access.refusal(of: request) { return refusal }
      return await browser.respond(to: request)
    }
    try StandardOutput.write("\(access.address)\n(Ctrl-C ends)\n")
    if !printsOnly { WebBrowser.open(access.address) }
    interrupt.wait()
  }

  private func open(_ path: String) throws -> BrowsedStore {
    let source = StoreSource(path: path, typeName: type, modelPath: model)
    let (context, located) = try source.openContext()
    located.tellNotes()
    let coordinator = context.persistentStoreCoordinator
    let title = PathParts.split(path).name
    guard write else {
      return BrowsedStore(
        title,
        coordinator,
        reopen: { try source.openContext().context.persistentStoreCoordinator },
        migration: try migration(of: path)
      )
    }
    guard !located.isInferred else {
      throw ToolError(
        at: path,
        "The file holds no model, and is not changed by one that was made of its records. Give its own with --model."
      )
    }
    let options = try Self.writingOptions(coordinator)
    coordinator.close()
    let open: @Sendable () throws -> PersistentStoreCoordinator = {
      try source.openContext(options: options).context.persistentStoreCoordinator
    }
    return BrowsedStore(
      title,
      try open(),
      allowsEditing: true,
      reopen: open,
      migration: try migration(of: path)
    )
  }

  /// Returns what makes the migration of a store for a dry run; nil without --to-model.
  private func migration(of path: String) throws -> (@Sendable () throws -> StoreMigration?)? {
    guard let toModel else { return nil }
    let arguments = ["--to-model", toModel, "--dry-run", "--quiet"]
    let types = type.map { ["--from", $0] } ?? []
    let models = model.map { ["--from-model", $0] } ?? []
    // The model is read for each dry run, so that the page follows its changes.
    return {
      let command = try MigrateCommand.parse(arguments + types + models + ["--", path])
      return try StoreMigrationRun(command, ProgressBar(phases: [], isShown: false)).migration()
    }
  }

  /// A store that keeps a history of ours goes on with it.
  private static func writingOptions(_ coordinator: PersistentStoreCoordinator) throws -> StoreOptions {
    var options = StoreOptions()
    options[.tracksPersistentHistory] = try coordinator.persistentStores.contains { try $0.engine.history() != nil }
    return options
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
