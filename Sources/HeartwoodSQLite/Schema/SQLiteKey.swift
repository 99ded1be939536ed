import HeartwoodModel
import HeartwoodStore

/// What a record is called in a file: the number in `Z_PK`.
enum SQLiteKey {
  /// - Throws: ``PersistenceError/Code/capabilityMissing`` for a reference that is no number.
  static func key(_ reference: ReferenceID, path: String, entity: String? = nil) throws(PersistenceError) -> Int64 {
    if case .integer(let key) = reference { return key }
    throw PersistenceError(
      .capabilityMissing,
      "SQLite calls records by numbers.",
      context: .init(path: path, storeType: .sqlite, entity: entity)
    )
  }
}
