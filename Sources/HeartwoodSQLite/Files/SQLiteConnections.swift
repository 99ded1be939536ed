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

  /// A connection that fills a new file, of the form that Core Data gives to one: 4 KB pages, and a list of free ones.
  func creator() throws(PersistenceError) -> DatabaseQueue {
    try queue(.write) { db in try db.execute(sql: "PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL") }
  }

  func reader() throws(PersistenceError) -> DatabaseQueue { try queue(.read) }

  /// A connection that believes that nobody writes the file.
  func unchangingReader() throws(PersistenceError) -> DatabaseQueue { try queue(.unchanging) }

  /// A connection that reads, also where no file can be made beside this one and none is needed.
  func readerOfAnyFolder() throws(PersistenceError) -> DatabaseQueue {
    do {
      return try reader()
    } catch {
      guard SQLiteLocation.readsURIs, try location.isAtRest(), let failure = error.underlyingError as? DatabaseError,
        failure.resultCode == .SQLITE_CANTOPEN || failure.resultCode == .SQLITE_READONLY
      else { throw error }
      return try unchangingReader()
    }
  }

  private func queue(
    _ access: SQLiteLocation.Access,
    _ prepare: @escaping @Sendable (Database) throws -> Void = { _ in }
  ) throws(PersistenceError) -> DatabaseQueue {
    var configuration = Configuration()
    configuration.label = "Heartwood.SQLite"
    configuration.readonly = access != .write
    configuration.foreignKeysEnabled = false
    configuration.busyMode = .timeout((options[.sqliteBusyTimeout] ?? Self.defaultTimeout).seconds)
    let settings = settings
    configuration.prepareDatabase { db in
      try db.execute(sql: settings)
      SQLiteFunctions.add(to: db)
      try prepare(db)
    }
    do {
      return try DatabaseQueue(path: location.name(for: access), configuration: configuration)
    } catch {
      throw SQLiteFailure.error(error, path: location.path)
    }
  }

  /// What every connection is told. The schema of a file from elsewhere must not call functions that do more than compute.
  private var settings: String {
    let synchronization = options[.sqliteSynchronization] ?? .full
    var settings = ["trusted_schema = OFF", "synchronous = \(synchronization.rawValue)"]
    #if canImport(Darwin)
      if synchronization == .full { settings += ["fullfsync = ON", "checkpoint_fullfsync = ON"] }
    #endif
    if let size = options[.sqliteCacheSize] { settings.append("cache_size = -\(max(1, size >> 10))") }
    return settings.map { "PRAGMA " + $0 }.joined(separator: "; ")
  }
}

extension Duration {
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
