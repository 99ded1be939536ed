import Heartwood
import HeartwoodSQLite

extension StoreRegistry {
  /// The stores that ship with Heartwood, and the SQLite store.
  static let tool: StoreRegistry = {
    do {
      return try StoreRegistry(StoreRegistry.shippedStoreClasses + [SQLiteStore.self])
    } catch {
      preconditionFailure("The types of the stores that ship differ: \(error)")
    }
  }()
}
