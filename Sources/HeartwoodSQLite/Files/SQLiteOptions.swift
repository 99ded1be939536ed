public import HeartwoodStore

/// How SQLite keeps a transaction until it is in the file.
public enum SQLiteJournalMode: String, Sendable, Hashable, CaseIterable {
  /// In a file beside it, `-wal`, so that readers and a writer do not wait for each other. The file of the store stays in this mode.
  case writeAheadLog = "WAL"
  /// What is overwritten is kept in a file beside it, `-journal`, as long as the transaction lasts.
  case rollback = "DELETE"
}

/// When SQLite waits until the disk has what was written.
public enum SQLiteSynchronization: String, Sendable, Hashable, CaseIterable {
  /// With each save: a save that has returned is on the disk.
  case full = "FULL"
  /// Before the write-ahead log is carried over: a crash of the machine may undo the last saves, and never harms the file.
  case normal = "NORMAL"
}

extension StoreOptionKey<SQLiteJournalMode> {
  /// How transactions are kept. ``SQLiteJournalMode/writeAheadLog`` by default, as in Core Data: a file that is opened for writing is
  /// brought into that mode.
  public static let sqliteJournalMode = StoreOptionKey("sqliteJournalMode", default: .writeAheadLog)
}

extension StoreOptionKey<SQLiteSynchronization> {
  /// When saves are on the disk. ``SQLiteSynchronization/full`` by default.
  public static let sqliteSynchronization = StoreOptionKey("sqliteSynchronization", default: .full)
}

extension StoreOptionKey<Duration> {
  /// How long a store waits for a file that another process holds. Five seconds by default.
  public static let sqliteBusyTimeout = StoreOptionKey("sqliteBusyTimeout", default: .seconds(5))
}

extension StoreOptionKey<Int?> {
  /// How much of the file SQLite keeps in memory, in bytes. SQLite's own choice by default.
  public static let sqliteCacheSize = StoreOptionKey("sqliteCacheSize")
}

extension StoreOptionKey<[String: String]> {
  /// Further settings of each connection, by the names of SQLite's pragmas, as Core Data's `NSSQLitePragmasOption` has them. Names are of
  /// letters and underscores, values of letters, digits, underscores, points and signs.
  ///
  /// What has an option of its own is better set with that; a pragma that is set here counts, `page_size` for new files. One that changes
  /// the file, as `auto_vacuum` does, is run by connections that write. `encoding` is refused, because text is UTF-8; so are `journal_mode`,
  /// which is ``sqliteJournalMode``, where it says another mode, and `locking_mode` but for `NORMAL`, because a store has two connections.
  public static let sqlitePragmas = StoreOptionKey("sqlitePragmas", default: [:])
}

extension StoreOptionKey<SQLiteStatementObserver?> {
  /// Who is told of each statement, as with Core Data's `-com.apple.CoreData.SQLDebug`. Nobody by default.
  public static let sqliteStatementObserver = StoreOptionKey("sqliteStatementObserver")
}

/// Is told of each statement that SQLite runs, on the thread that runs it.
public struct SQLiteStatementObserver: Sendable {
  let observe: @Sendable (_ statement: String) -> Void

  /// - Parameter observe: gets the statement with `?` in the place of values.
  public init(_ observe: @escaping @Sendable (_ statement: String) -> Void) {
    self.observe = observe
  }
}

extension StoreOptionKey<Bool> {
  /// Whether a store that Core Data mirrors to CloudKit may be changed. Off by default: a save then throws
  /// ``PersistenceError/Code/storeReadOnly``, which says what would become of the change.
  ///
  /// A mirrored store keeps a history. A save notes its changes there, as an extension of the app would, and Core Data sends what it finds in
  /// the history to CloudKit when the app is next opened: the change reaches all devices of the user. The tables of the mirror itself are not
  /// touched. If the store has no history, Core Data does not learn of the change, and a later one from CloudKit may undo it. Close the app
  /// first.
  ///
  ///     var options = StoreOptions()
  ///     options[.sqliteAllowsMirroredChanges] = true
  ///     try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
  public static let sqliteAllowsMirroredChanges = StoreOptionKey("sqliteAllowsMirroredChanges", default: false)

  /// Whether the file is rebuilt when the store is opened for writing, which takes free pages out of it and brings together what belongs
  /// together: Core Data's `NSSQLiteManualVacuumOption`. Off by default. It takes as long as writing the whole file, and as much room
  /// on the disk. ``SQLiteStore/vacuum(at:options:)`` does the same at any other time.
  public static let sqliteManualVacuum = StoreOptionKey("sqliteManualVacuum", default: false)
}
