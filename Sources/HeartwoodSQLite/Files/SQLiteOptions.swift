public import HeartwoodStore

/// How SQLite keeps a transaction until it is written to the file.
public enum SQLiteJournalMode: String, Sendable, Hashable, CaseIterable {
  /// Changes are appended to a file beside the store, `-wal`, so that readers and a writer do not wait for each other.
  /// The file of the store stays in this mode.
  case writeAheadLog = "WAL"
  /// Overwritten pages are kept in a file beside the store, `-journal`, as long as the transaction lasts.
  case rollback = "DELETE"
}

/// When SQLite waits for the disk.
public enum SQLiteSynchronization: String, Sendable, Hashable, CaseIterable {
  /// With each save: when a save has returned, its changes are on the disk.
  case full = "FULL"
  /// Before the write-ahead log is copied to the file: if the machine crashes, the last saves may be lost, but the file
  /// is never damaged.
  case normal = "NORMAL"
}

extension StoreOptionKey<SQLiteJournalMode> {
  /// How transactions are kept. ``SQLiteJournalMode/writeAheadLog`` by default, as in Core Data: a file that is opened
  /// for writing is switched to that mode.
  public static let sqliteJournalMode = StoreOptionKey("sqliteJournalMode", default: .writeAheadLog)
}

extension StoreOptionKey<SQLiteSynchronization> {
  /// When SQLite waits for the disk. ``SQLiteSynchronization/full`` by default.
  public static let sqliteSynchronization = StoreOptionKey("sqliteSynchronization", default: .full)
}

extension StoreOptionKey<Duration> {
  /// The time that a store waits for a file that another process has locked. Five seconds by default.
  public static let sqliteBusyTimeout = StoreOptionKey("sqliteBusyTimeout", default: .seconds(5))
}

extension StoreOptionKey<Int?> {
  /// The size of the page cache of SQLite in bytes. SQLite's default if it is not set.
  public static let sqliteCacheSize = StoreOptionKey("sqliteCacheSize")
}

extension StoreOptionKey<[String: String]> {
  /// Additional settings of each connection, by the names of SQLite's pragmas, as in Core Data's
  /// `NSSQLitePragmasOption`. Names consist of letters and underscores, values of letters, digits, underscores, points
  /// and signs.
  ///
  /// Prefer the dedicated option for a setting that has one; a pragma that is set here takes precedence, and
  /// `page_size` applies to new files. A pragma that changes the file, such as `auto_vacuum`, is run only by
  /// connections that write. `encoding` is refused, because text is UTF-8. `journal_mode` is refused if it differs from
  /// ``sqliteJournalMode``, and `locking_mode` if it is not `NORMAL`, because a store has two connections.
  public static let sqlitePragmas = StoreOptionKey("sqlitePragmas", default: [:])
}

extension StoreOptionKey<SQLiteStatementObserver?> {
  /// An observer that is called with each statement, as with Core Data's `-com.apple.CoreData.SQLDebug`. None by
  /// default.
  public static let sqliteStatementObserver = StoreOptionKey("sqliteStatementObserver")
}

/// Observes each statement that SQLite runs, on the thread that runs it.
public struct SQLiteStatementObserver: Sendable {
  let observe: @Sendable (_ statement: String) -> Void

  /// - Parameter observe: receives the statement, with `?` in place of the values.
  public init(_ observe: @escaping @Sendable (_ statement: String) -> Void) {
    self.observe = observe
  }
}

extension StoreOptionKey<Bool> {
  /// Whether a store that Core Data mirrors to CloudKit may be changed. Off by default: a save then throws
  /// ``PersistenceError/Code/storeReadOnly``, which says what would happen to the change.
  ///
  /// A mirrored store keeps a history. A save records its changes there, as an extension of the app would, and Core
  /// Data sends the changes in the history to CloudKit when the app is next opened: the change reaches all devices of
  /// the user. The tables of the mirror itself are not changed. If the store has no history, Core Data does not detect
  /// the change, and a later one from CloudKit may undo it. Close the app first.
  ///
  ///     var options = StoreOptions()
  ///     options[.sqliteAllowsMirroredChanges] = true
  ///     try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
  public static let sqliteAllowsMirroredChanges = StoreOptionKey("sqliteAllowsMirroredChanges", default: false)

  /// Whether the file is rebuilt when the store is opened for writing, which removes free pages and stores related data
  /// together: Core Data's `NSSQLiteManualVacuumOption`. Off by default. It takes as long as writing the whole file,
  /// and as much disk space. ``SQLiteStore/vacuum(at:options:)`` does the same at any other time.
  public static let sqliteManualVacuum = StoreOptionKey("sqliteManualVacuum", default: false)
}
