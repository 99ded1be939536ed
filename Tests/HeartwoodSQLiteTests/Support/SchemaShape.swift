import GRDB

@testable import HeartwoodSQLite

/// Tables, columns and indexes, by names and types, to compare.
struct SchemaShape {
  /// The columns of each table, in order, each with its type.
  var tables: [String: [String]] = [:]
  /// The table and the columns of each index that was made by a statement of its own, and whether it is unique.
  var indexes: [String: String] = [:]
  /// The same of those that a constraint in a table has made.
  var constraints: Set<String> = []

  /// All indexes, whatever they are called.
  var indexContents: Set<String> { Set(indexes.values).union(constraints) }

  /// What a database has, but for what Core Data keeps for history and CloudKit.
  init(_ db: Database) throws {
    let names = try String.fetchAll(
      db,
      sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z%' ORDER BY name"
    )
    for name in names {
      let columns = try Row.fetchAll(db, sql: "SELECT name, type, pk FROM pragma_table_info(?)", arguments: [name])
      tables[name] = columns.map { row in
        let (name, type, key): (String, String, Int) = (row[0], row[1], row[2])
        return name + " " + type + (key > 0 ? " key \(key)" : "")
      }
      for row in try Row.fetchAll(
        db,
        sql: "SELECT name, \"unique\", origin FROM pragma_index_list(?)",
        arguments: [name]
      ) {
        let (index, isUnique, origin): (String, Bool, String) = (row[0], row[1], row[2])
        let columns = try String.fetchAll(db, sql: "SELECT name FROM pragma_index_info(?)", arguments: [index])
        switch origin {
        case "c": indexes[index] = Self.index(name, columns, isUnique)
        case "u": constraints.insert(Self.index(name, columns, isUnique))
        default: break
        }
      }
    }
  }

  private static func index(_ table: String, _ columns: [String], _ isUnique: Bool) -> String {
    "\(isUnique ? "unique " : "")\(table)(\(columns.joined(separator: ", ")))"
  }

  /// What this has and `other` has not, and the reverse, a line each.
  func differences(from other: SchemaShape) -> [String] {
    var lines: [String] = []
    for name in Set(tables.keys).union(other.tables.keys).sorted() where tables[name] != other.tables[name] {
      lines.append("table \(name): \(Self.difference(tables[name], other.tables[name]))")
    }
    for name in Set(indexes.keys).union(other.indexes.keys).sorted() where indexes[name] != other.indexes[name] {
      lines.append("index \(name): \(indexes[name] ?? "none"), not \(other.indexes[name] ?? "none")")
    }
    return lines
  }

  private static func difference(_ own: [String]?, _ other: [String]?) -> String {
    guard let own, let other else { return own == nil ? "missing" : "extra" }
    let (missing, extra) = (other.filter { !own.contains($0) }, own.filter { !other.contains($0) })
    if missing.isEmpty && extra.isEmpty { return "other order" }
    return "lacks \(missing), has \(extra)"
  }
}
