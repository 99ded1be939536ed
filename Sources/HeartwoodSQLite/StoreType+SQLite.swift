public import HeartwoodStore

#if !canImport(GRDB)
  #error("HeartwoodSQLite needs GRDB: add \"SQLite\" to the traits of your dependency on Heartwood.")
#endif

extension StoreType {
  /// Core Data's own SQLite files.
  public static let sqlite: StoreType = "SQLite"
}
