import GRDB
import HeartwoodStore

/// Makes connections to a file, set up by the options of a store.
struct SQLiteConnections {
  private static let defaultTimeout: Duration = .seconds(5)

  let location: SQLiteLocation
  let options: StoreOptions

  /// A connection that writes, in the journal mode that was asked for.
  func writer() throws(PersistenceError) -> DatabaseQueue {
    let mode = options[.sqliteJournalMode] ?? .writeAheadLog
    return try queue(.write) { db in try db.execute(sql: "PRAGMA journal_mode = \(mode.rawValue)") }
  }

  /// A connection beside which nobody has the file open, in the journal mode that the file has.
  func onlyWriter() throws(PersistenceError) -> DatabaseQueue {
    try queue(.write) { db in try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT") }
  }

  /// A connection that fills a new file, of the form that Core Data gives to one: 4 KB pages, and a list of free ones.
  func creator() throws(PersistenceError) -> DatabaseQueue {
    try queue(.write) { db in try db.execute(sql: "PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL") }
  }

  /// A connection that writes, in the journal mode that the file has.
  func plainWriter() throws(PersistenceError) -> DatabaseQueue { try queue(.write) }

  /// - Parameter access: `unchanging` for a connection that believes that nobody writes the file.
  func reader(_ access: SQLiteLocation.Access = .read) throws(PersistenceError) -> DatabaseQueue { try queue(access) }

  /// A connection to an empty database in memory, which finds the file by the name ``SQLiteFile/sourceName`` and can only read it.
  func readerAsSource(_ access: SQLiteLocation.Access) throws(PersistenceError) -> DatabaseQueue {
    try queue(.write, isInMemory: true) { db in try location.attach(access, to: db) }
  }

  /// A connection that reads, also where no file can be made beside this one and none is needed.
  func readerOfAnyFolder() throws(PersistenceError) -> DatabaseQueue {
    do {
      return try reader()
    } catch {
      guard try location.canBeReadAsUnchanging(after: error) else { throw error }
      return try reader(.unchanging)
    }
  }

  private func queue(
    _ access: SQLiteLocation.Access,
    isInMemory: Bool = false,
    _ prepare: @escaping @Sendable (Database) throws -> Void = { _ in }
  ) throws(PersistenceError) -> DatabaseQueue {
    var configuration = Configuration()
    configuration.label = "Heartwood.SQLite"
    configuration.readonly = access != .write
    configuration.foreignKeysEnabled = false
    configuration.busyMode = .timeout((options[.sqliteBusyTimeout] ?? Self.defaultTimeout).seconds)
    let settings = try settings
    let observer = options[.sqliteStatementObserver]
    // What prepares a connection is kept as long as that, and with it the location.
    configuration.prepareDatabase { [location] db in
      withExtendedLifetime(location) {}
      try db.execute(sql: settings)
      if let observer {
        db.trace(options: .statement) { event in
          if case .statement(let statement) = event { observer.observe(statement.sql) }
        }
      }
      SQLiteFunctions.add(to: db)
      try prepare(db)
    }
    do {
      return try isInMemory
        ? DatabaseQueue(configuration: configuration)
        : DatabaseQueue(path: location.name(for: access), configuration: configuration)
    } catch {
      throw SQLiteFailure.error(error, path: location.path)
    }
  }

  /// What every connection is told. The schema of a file from elsewhere must not call functions that do more than compute.
  private var settings: String {
    get throws(PersistenceError) {
      try (ownSettings + pragmas).map { "PRAGMA " + $0 }.joined(separator: "; ")
    }
  }

  private var ownSettings: [String] {
    let synchronization = options[.sqliteSynchronization] ?? .full
    var settings = ["trusted_schema = OFF", "synchronous = \(synchronization.rawValue)"]
    #if canImport(Darwin)
      if synchronization == .full { settings += ["fullfsync = ON", "checkpoint_fullfsync = ON"] }
    #endif
    if let size = options[.sqliteCacheSize] { settings.append("cache_size = -\(max(1, size >> 10))") }
    return settings
  }

  /// What the application sets itself.
  private var pragmas: [String] {
    get throws(PersistenceError) {
      let settings = (options[.sqlitePragmas] ?? [:]).sorted { $0.key < $1.key }
      for (name, value) in settings where !Self.isName(name) || !Self.isValue(value) {
        throw PersistenceError(
          .valueUnsupported,
          "The option sqlitePragmas has what is no pragma: \(name) = \(value).",
          context: .init(path: location.path, storeType: .sqlite)
        )
      }
      if settings.contains(where: { $0.key.lowercased() == "encoding" }) {
        throw PersistenceError(
          .valueUnsupported,
          "The option sqlitePragmas sets the encoding of text. Leave it out: Core Data's files have UTF-8.",
          context: .init(path: location.path, storeType: .sqlite)
        )
      }
      return settings.map { "\($0.key) = \($0.value)" }
    }
  }

  private static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.unicodeScalars.allSatisfy { $0.isASCII && ($0.properties.isAlphabetic || $0 == "_") }
  }

  private static func isValue(_ text: String) -> Bool {
    !text.isEmpty
      && text.unicodeScalars.allSatisfy {
        $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0) || "_.-+".unicodeScalars.contains($0))
      }
  }
}

extension Duration {
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
