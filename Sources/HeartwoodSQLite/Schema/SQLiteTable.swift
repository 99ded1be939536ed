/// The types that Core Data gives to columns. SQLite keeps any value in any column; dates are seconds since 2001, decimal numbers are
/// reals.
enum SQLiteColumnType: String, Sendable, Hashable {
  case integer = "INTEGER"
  case float = "FLOAT"
  case timestamp = "TIMESTAMP"
  case decimal = "DECIMAL"
  case text = "VARCHAR"
  case blob = "BLOB"
}

/// A table: of the records of an entity and all that inherit from it, or of a relationship between many and many.
package struct SQLiteTable: Sendable, Hashable {
  package struct Column: Sendable, Hashable {
    package let name: String
    let type: SQLiteColumnType
  }

  package let name: String
  package let columns: [Column]
  /// The columns that are the key together; none where the first column is the key alone.
  package let compoundKey: [String]

  /// The statement that makes the table, as Core Data writes it.
  package var createStatement: String {
    var parts = columns.map { SQLiteName.quoted($0.name) + " " + $0.type.rawValue }
    if compoundKey.isEmpty {
      parts[0] += " PRIMARY KEY"
    } else {
      parts.append("PRIMARY KEY (" + compoundKey.map(SQLiteName.quoted).joined(separator: ", ") + ")")
    }
    return "CREATE TABLE \(SQLiteName.quoted(name)) ( " + parts.joined(separator: ", ") + " )"
  }
}

/// An index of a table.
package struct SQLiteIndex: Sendable, Hashable {
  struct Term: Sendable, Hashable {
    let column: String
    /// Nil for an index that Core Data makes by itself, in whose statement nothing is said of the order.
    let isAscending: Bool?

    fileprivate var text: String {
      let name = SQLiteName.quoted(column)
      return isAscending.map { "\(name) COLLATE BINARY \($0 ? "ASC" : "DESC")" } ?? name
    }
  }

  package let name: String
  package let tableName: String
  let terms: [Term]
  let isUnique: Bool
  /// The numbers of the entities whose rows the index is about; empty where it is about all of the table.
  var entityNumbers: [Int] = []

  /// The condition that the rows of the index meet; nil where it has all.
  var condition: String? {
    if entityNumbers.isEmpty { return nil }
    return "\(SQLiteName.entity) IN (\(entityNumbers.map(String.init).joined(separator: ", ")))"
  }

  /// The statement that makes the index, as Core Data writes it; Core Data has none about some entities alone.
  package var createStatement: String {
    "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(SQLiteName.quoted(name)) ON \(SQLiteName.quoted(tableName)) ("
      + terms.map(\.text).joined(separator: ", ") + ")" + (condition.map { " WHERE \($0)" } ?? "")
  }
}
