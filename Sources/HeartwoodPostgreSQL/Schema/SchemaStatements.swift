import HeartwoodModel

extension PostgreSQLSchema {
  /// Returns the statements that create the tables, in order.
  ///
  /// Foreign keys are added last, so that tables may refer to each other. If a record is deleted by other means,
  /// references to it are removed; the delete rules of the model apply only to programs that use it.
  ///
  /// - Parameter notesOthers: whether to create triggers that detect changes by other means.
  func creation(notesOthers: Bool, in dialect: PostgreSQLDialect) -> [String] {
    tableCreation(in: dialect) + constraintCreation + (notesOthers ? triggerCreation : [])
  }

  /// The statements that create the tables without keys and indexes, so that many rows are written faster.
  func tableCreation(in dialect: PostgreSQLDialect) -> [String] {
    let statements = [
      """
      CREATE TABLE \(qualified(Self.storeTable)) (id smallint PRIMARY KEY, identifier uuid NOT NULL, format integer NOT NULL, \
      metadata bytea NOT NULL, model bytea NOT NULL, owns_schema boolean NOT NULL)
      """,
      """
      CREATE TABLE \(qualified(Self.markTable)) (slot bigint PRIMARY KEY, saves bigint NOT NULL, stamp bigint NOT NULL, \
      saved_at timestamptz NOT NULL DEFAULT now()) WITH (fillfactor = 50)
      """,
      """
      CREATE TABLE \(qualified(Self.logTable)) (slot bigint, save bigint, place integer, \
      record_table \(PostgreSQLType.text.rawValue) NOT NULL, ids uuid[], PRIMARY KEY (slot, save, place))
      """,
    ]
    return statements + historyCreation + tables.map { creation($0, in: dialect) } + joins.map(creation)
  }

  /// The statements that create keys and indexes.
  var constraintCreation: [String] { tables.flatMap(constraints) + joins.flatMap(constraints) }

  private func creation(_ table: RecordTable, in dialect: PostgreSQLDialect) -> String {
    let entity = table.defaultEntity.map { " DEFAULT \(PostgreSQLName.literal($0))" } ?? ""
    var columns = [
      "id uuid PRIMARY KEY DEFAULT gen_random_uuid()", "version bigint NOT NULL DEFAULT 1",
      "entity \(dialect.definition(PostgreSQLType.text.definition)) NOT NULL\(entity)",
    ]
    columns += table.columns.map { "\(PostgreSQLName.quoted($0.name)) \(dialect.definition($0.definition))" }
    return "CREATE TABLE \(qualified(table.name)) (\(columns.joined(separator: ", ")))"
  }

  private func creation(_ join: JoinTable) -> String {
    let columns =
      join.columns.map { "\(PostgreSQLName.quoted($0.name)) uuid NOT NULL" }
      + join.positionColumns.map { "\(PostgreSQLName.quoted($0)) bigint" }
    let key = join.columns.map { PostgreSQLName.quoted($0.name) }.joined(separator: ", ")
    return
      "CREATE TABLE \(qualified(join.name)) (\(columns.joined(separator: ", ")), PRIMARY KEY (\(key)))"
  }

  private func constraints(_ table: RecordTable) -> [String] {
    let name = qualified(table.name)
    var statements: [String] = []
    for reference in table.references {
      let column = PostgreSQLName.quoted(reference.column)
      statements.append("CREATE INDEX ON \(name) (\(column))")
      statements.append(foreignKey(reference, of: table))
    }
    for unique in table.uniqueColumns { statements.append(uniqueIndex(unique, of: table)) }
    for index in table.indexes {
      let columns = index.map { column, isAscending in
        PostgreSQLName.quoted(column) + (isAscending ? " NULLS FIRST" : " DESC NULLS LAST")
      }
      statements.append("CREATE INDEX ON \(name) (\(columns.joined(separator: ", ")))")
    }
    return statements
  }

  private func constraints(_ join: JoinTable) -> [String] {
    let name = qualified(join.name)
    var statements = join.columns.map { foreignKey((column: $0.name, table: $0.table), of: join) }
    if let other = join.columns.last {
      statements.append("CREATE INDEX ON \(name) (\(PostgreSQLName.quoted(other.name)))")
    }
    return statements
  }

  /// Returns the statement that makes a column refer to rows of a table, and clears it if the row is deleted.
  func foreignKey(_ reference: (column: String, table: String), of table: RecordTable) -> String {
    foreignKey(reference, of: table.name) + " ON DELETE SET NULL"
  }

  /// Returns the statement that makes a column of pairs refer to rows of a table, and deletes the pair with the row.
  func foreignKey(_ reference: (column: String, table: String), of join: JoinTable) -> String {
    foreignKey(reference, of: join.name) + " ON DELETE CASCADE"
  }

  private func foreignKey(_ reference: (column: String, table: String), of table: String) -> String {
    "ALTER TABLE \(qualified(table)) ADD FOREIGN KEY (\(PostgreSQLName.quoted(reference.column))) "
      + "REFERENCES \(qualified(reference.table))"
  }

  /// Returns the statement that creates the index of a uniqueness constraint.
  func uniqueIndex(_ unique: (columns: [String], entities: [String]?), of table: RecordTable) -> String {
    let columns = unique.columns.map(PostgreSQLName.quoted).joined(separator: ", ")
    let entities = unique.entities.map { names in
      " WHERE entity IN (\(names.map(PostgreSQLName.literal).joined(separator: ", ")))"
    }
    return "CREATE UNIQUE INDEX ON \(qualified(table.name)) (\(columns))\(entities ?? "")"
  }

  /// The columns of the store's own tables, by table.
  static let ownColumns: [String: [(name: String, definition: String)]] = {
    let (uuid, bigint, boolean) = (PostgreSQLType.uuid.rawValue, PostgreSQLType.bigint.rawValue, "boolean")
    let (text, bytea) = (PostgreSQLType.text.rawValue, PostgreSQLType.bytea.rawValue)
    return [
      storeTable: [
        ("id", "smallint"), ("identifier", uuid), ("format", "integer"), ("metadata", bytea), ("model", bytea),
        ("owns_schema", boolean),
      ],
      markTable: [("slot", bigint), ("saves", bigint), ("stamp", bigint), ("saved_at", "timestamptz")],
      logTable: [("slot", bigint), ("save", bigint), ("place", "integer"), ("record_table", text)],
      historyTable: [("id", "smallint"), ("purged", bigint)],
      transactionTable: [("number", bigint), ("saved_at", "timestamptz"), ("saved_at_exact", "double precision")],
      changeTable: [("transaction_number", bigint), ("place", "integer"), ("kind", text), ("entity", text)],
    ]
  }()
}
