import HeartwoodModel

/// Compares the tables of a store with those that its model makes.
///
/// Columns, tables and indexes that others have added are no faults, nor are missing indexes that only make fetches
/// faster.
struct StructureCheck {
  private let schema: PostgreSQLSchema
  private let catalog: Catalog
  private let dialect: PostgreSQLDialect
  private(set) var findings: [String] = []
  /// The tables that have all their columns, so that their rows can be examined.
  private(set) var soundTables: Set<String> = []

  init(_ schema: PostgreSQLSchema, _ catalog: Catalog, _ dialect: PostgreSQLDialect) {
    (self.schema, self.catalog, self.dialect) = (schema, catalog, dialect)
    for table in schema.tables { check(table) }
    for join in schema.joins { check(join) }
    for (name, columns) in PostgreSQLSchema.ownColumns.sorted(by: { $0.key < $1.key }) { check(name, columns) }
    checkTriggers()
  }

  // MARK: Columns

  private typealias ExpectedColumn = (name: String, definition: String)

  private static let recordColumns: [ExpectedColumn] = [
    ("id", PostgreSQLType.uuid.definition), ("version", PostgreSQLType.bigint.definition),
    ("entity", PostgreSQLType.text.definition),
  ]

  /// Checks that a table has its columns; returns nil if it is missing.
  @discardableResult
  private mutating func check(_ name: String, _ columns: [ExpectedColumn]) -> Catalog.Table? {
    guard let table = catalog.tables[name] else {
      findings.append("The table \(name) is missing. \(Self.restore)")
      return nil
    }
    let count = findings.count
    for column in columns { check(column, of: name, table) }
    if findings.count == count { soundTables.insert(name) }
    return table
  }

  private mutating func check(_ column: ExpectedColumn, of name: String, _ table: Catalog.Table) {
    guard let found = table.columns[column.name] else {
      findings.append("The table \(name) has no column \(column.name). \(Self.restore)")
      return
    }
    let type = PostgreSQLType.allCases.first { [$0.definition, $0.rawValue].contains(column.definition) }
    guard let type, found.type == type.catalogName else {
      let expected = type?.catalogName ?? column.definition
      findings.append(
        "The column \(column.name) of the table \(name) has the type \(found.type) instead of \(expected). "
          + alteration(name, column, "TYPE \(column.definition)")
      )
      return
    }
    if dialect.collatesColumns, type == .text, column.definition == type.definition, found.collation != "C" {
      findings.append(
        "The column \(column.name) of the table \(name) has the collation \(found.collation ?? "") instead of C, "
          + "so it is sorted and compared otherwise. " + alteration(name, column, "TYPE \(column.definition)")
      )
    }
  }

  private static let restore = "Restore it from a backup."

  private func alteration(_ table: String, _ column: ExpectedColumn, _ change: String) -> String {
    advice("ALTER TABLE \(schema.qualified(table)) ALTER COLUMN \(PostgreSQLName.quoted(column.name)) \(change)")
  }

  private func advice(_ statement: String) -> String { "Run: \(statement);" }

  /// Reports columns of others without which no record can be inserted.
  private mutating func checkOthers(_ name: String, _ known: [ExpectedColumn], _ table: Catalog.Table) {
    let known = Set(known.map(\.name))
    for (column, found) in table.columns.sorted(by: { $0.key < $1.key })
    where !known.contains(column) && found.isRequired && !found.hasDefault {
      findings.append(
        "The column \(column) of the table \(name), which is not of the model, is NOT NULL and has no default, "
          + "so no record can be inserted. " + alteration(name, (column, ""), "DROP NOT NULL")
      )
    }
  }

  // MARK: Keys

  private mutating func check(_ table: RecordTable) {
    let columns = Self.recordColumns + table.columns
    guard let found = check(table.name, columns) else { return }
    checkOthers(table.name, columns, found)
    checkKey(["id"], of: table.name, found)
    for reference in table.references {
      check(reference, of: table.name, found, deletion: "n", schema.foreignKey(reference, of: table))
    }
    for unique in table.uniqueColumns {
      let isThere = found.indexes.contains { index in
        index.isUnique && index.isValid && index.columns == unique.columns
          && index.isPartial == (unique.entities != nil)
      }
      if isThere { continue }
      findings.append(
        "The table \(table.name) lacks the unique index of the columns \(unique.columns.joined(separator: ", ")), "
          + "so equal values can be saved. " + advice(schema.uniqueIndex(unique, of: table))
      )
    }
    checkIndexes(of: table.name, found)
  }

  private mutating func check(_ join: JoinTable) {
    let columns =
      join.columns.map { ($0.name, PostgreSQLType.uuid.definition) }
      + join.positionColumns.map { ($0, PostgreSQLType.bigint.definition) }
    guard let found = check(join.name, columns) else { return }
    checkOthers(join.name, columns, found)
    checkKey(join.columns.map(\.name), of: join.name, found)
    for column in join.columns {
      let reference = (column: column.name, table: column.table)
      check(reference, of: join.name, found, deletion: "c", schema.foreignKey(reference, of: join))
    }
    checkIndexes(of: join.name, found)
  }

  private mutating func checkKey(_ columns: [String], of name: String, _ table: Catalog.Table) {
    let isThere = table.indexes.contains { index in
      index.isPrimary && index.columns.sorted() == columns.sorted()
    }
    if isThere { return }
    let names = columns.map(PostgreSQLName.quoted).joined(separator: ", ")
    findings.append(
      "The table \(name) has no primary key of \(columns.joined(separator: ", ")), so a record can have several rows. "
        + advice("ALTER TABLE \(schema.qualified(name)) ADD PRIMARY KEY (\(names))")
    )
  }

  private mutating func check(
    _ reference: (column: String, table: String),
    of name: String,
    _ table: Catalog.Table,
    deletion: String,
    _ statement: String
  ) {
    let keys = table.foreignKeys.filter { $0.column == reference.column && $0.table == reference.table }
    if keys.contains(where: { $0.isValid && $0.deletion == deletion }) { return }
    let problem =
      switch keys.first {
      case nil: "has no foreign key to the table \(reference.table), so it may refer to rows that are not there"
      case let key? where !key.isValid: "has a foreign key whose rows were not checked"
      default: "has a foreign key that does something else if a row is deleted"
      }
    let recovery = keys.isEmpty ? advice(statement) : "Drop it, and run: \(statement);"
    findings.append("The column \(reference.column) of the table \(name) \(problem). \(recovery)")
  }

  private mutating func checkIndexes(of name: String, _ table: Catalog.Table) {
    for index in table.indexes where !index.isValid {
      findings.append(
        "The index \(index.name) of the table \(name) is not complete, and is not used. "
          + advice("REINDEX INDEX \(schema.qualified(index.name))")
      )
    }
  }

  // MARK: Triggers

  /// A store may have no triggers at all (``StoreOptions/postgresNotesOtherClients``), but not some of them.
  private mutating func checkTriggers() {
    let expected = schema.triggers
    let found = expected.filter { catalog.tables[$0.table]?.triggers[$0.name] != nil }
    if found.isEmpty { return }
    for (table, name, statement) in expected {
      guard let triggers = catalog.tables[table]?.triggers else { continue }
      let problem: (text: String, statement: String)? =
        switch triggers[name] {
        case nil: ("lacks", statement)
        case false?: ("has disabled", "ALTER TABLE \(schema.qualified(table)) ENABLE TRIGGER \(name)")
        case true?: nil
        }
      guard let problem else { continue }
      findings.append(
        "The table \(table) \(problem.text) the trigger \(name), so changes by other programs are not noticed. "
          + advice(problem.statement)
      )
    }
  }
}
