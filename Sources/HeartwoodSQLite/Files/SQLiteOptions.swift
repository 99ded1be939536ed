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
  public static let sqliteJournalMode = StoreOptionKey("sqliteJournalMode")
}

extension StoreOptionKey<SQLiteSynchronization> {
  /// When saves are on the disk. ``SQLiteSynchronization/full`` by default.
  public static let sqliteSynchronization = StoreOptionKey("sqliteSynchronization")
}

extension StoreOptionKey<Duration> {
  /// How long a store waits for a file that another process holds. Five seconds by default.
  public static let sqliteBusyTimeout = StoreOptionKey("sqliteBusyTimeout")
}

extension StoreOptionKey<Int> {
  /// How much of the file SQLite keeps in memory, in bytes. SQLite's own choice by default.
  public static let sqliteCacheSize = StoreOptionKey("sqliteCacheSize")
}
