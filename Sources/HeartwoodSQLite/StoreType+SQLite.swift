public import HeartwoodStore

extension StoreType {
  /// Core Data's own SQLite files.
  public static let sqlite: StoreType = "SQLite"
}
