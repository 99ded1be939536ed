@testable import HeartwoodSQLite

extension SQLiteSchema {
  /// The entity of a number in the column `Z_ENT`.
  func placement(ofNumber number: Int) -> EntityPlacement? {
    entities.lazy.compactMap(\.self).first { $0.number == number }
  }
}
