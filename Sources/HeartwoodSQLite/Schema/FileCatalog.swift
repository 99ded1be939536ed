import GRDB

/// The tables, columns and triggers that a file has.
struct FileCatalog {
  struct Table {
    let name: String
    /// By ``SQLiteName/key(_:)``.
    let columns: [String: Column]

    /// The column of a name, whatever its case.
    subscript(name: String) -> Column? { columns[SQLiteName.key(name)] }

    /// The columns whose names pass a test, in alphabetical order.
    func columns(where test: (String) -> Bool) -> [Column] {
      columns.values.filter { test($0.name) }.sorted { $0.name < $1.name }
    }
  }

  struct Column {
    let name: String
    /// What the file says of its type, in capitals.
    let type: String
  }

  /// By ``SQLiteName/key(_:)``. The columns of virtual tables are not read: that runs code of the module.
  let tables: [String: Table]
  /// The names of all tables, the virtual ones too.
  let tableNames: [String]
  /// The names and the texts of all triggers.
  let triggers: [(name: String, text: String)]

  init(_ db: Database) throws {
    var tables: [String: Table] = [:]
    var tableNames: [String] = []
    var triggers: [(name: String, text: String)] = []
    let rows = try Row.fetchCursor(db, sql: "SELECT type, name, sql FROM sqlite_master ORDER BY name")
    while let row = try rows.next() {
      guard let name = String.fromDatabaseValue(row[1]) else { continue }
      let text = String.fromDatabaseValue(row[2]) ?? ""
      switch String.fromDatabaseValue(row[0]) {
      case "table":
        tableNames.append(name)
        let isVirtual = SQLiteName.key(text).hasPrefix("CREATE VIRTUAL")
        if !isVirtual { tables[SQLiteName.key(name)] = Table(name: name, columns: try Self.columns(of: name, in: db)) }
      case "trigger": triggers.append((name, text))
      default: break
      }
    }
    (self.tables, self.tableNames, self.triggers) = (tables, tableNames, triggers)
  }

  private static func columns(of table: String, in db: Database) throws -> [String: Column] {
    var columns: [String: Column] = [:]
    for row in try Row.fetchAll(db, sql: "SELECT name, type FROM pragma_table_info(?)", arguments: [table]) {
      guard let name = String.fromDatabaseValue(row[0]) else { continue }
      columns[SQLiteName.key(name)] = Column(
        name: name,
        type: SQLiteName.key(String.fromDatabaseValue(row[1]) ?? "")
      )
    }
    return columns
  }

  /// The table of a name, whatever its case.
  subscript(name: String) -> Table? { tables[SQLiteName.key(name)] }
}
