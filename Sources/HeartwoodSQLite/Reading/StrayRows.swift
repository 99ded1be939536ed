import GRDB
import HeartwoodModel
import HeartwoodStore

/// Rows in the table of an entity that are of no entity which the file knows: with another number, with none, or with what is no number.
///
/// Nobody can tell what they are, so that reading them is an error. Rows of other entities are passed over: those that share the table, and
/// those that a migration has left there.
struct StrayRows: Sendable {
  /// Holds for the rows of the entity and for stray ones.
  let condition: String
  /// The same if the table is the entity's alone. In a table of several, an index finds the rows of one of them, and ``query`` those that are stray.
  let wholeCondition: String
  /// Finds the keys of stray rows that ``wholeCondition`` passes over, but for numbers with a fraction; nil if it passes over none.
  let query: String?
  /// Finds the keys of all such rows, and looks at each row of the table.
  let thoroughQuery: String?

  /// What is wrong with such a row.
  let fault = ValueFault("has no number (Z_ENT) of an entity that the file knows and that can have records")

  init(_ placement: EntityPlacement, _ schema: SQLiteSchema) {
    let numbers = schema.knownNumbers.sorted()
    let isStray = Self.isStray("Z_ENT", numbers)
    let isOfEntity = "Z_ENT = \(placement.number)"
    condition = "(\(isOfEntity) OR \(isStray))"
    if schema.isAlone(placement) {
      (wholeCondition, query, thoroughQuery) = (condition, nil, nil)
    } else {
      wholeCondition = isOfEntity
      let keys = "SELECT Z_PK FROM \(SQLiteName.quoted(placement.tableName)) WHERE "
      (query, thoroughQuery) = (keys + Self.isOutside(numbers), keys + isStray)
    }
  }

  /// Holds for a stray row.
  static func isStray(_ column: String, _ numbers: [Int]) -> String {
    "\(column) IS NULL OR \(column) NOT IN (\(numbers.map(String.init).joined(separator: ", ")))"
  }

  /// Holds for a row whose number is not in the range of those that the file knows, in a form that an index can be searched by.
  private static func isOutside(_ numbers: [Int]) -> String {
    guard let least = numbers.first, let greatest = numbers.last else { return "1" }
    let ends = ["Z_ENT IS NULL", "Z_ENT < \(least)", "Z_ENT > \(greatest)"]
    let gaps = zip(numbers, numbers.dropFirst()).filter { $1 > $0 + 1 }.map { "Z_ENT > \($0) AND Z_ENT < \($1)" }
    return (ends + gaps.map { "(\($0))" }).joined(separator: " OR ")
  }
}
