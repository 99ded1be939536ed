import HeartwoodModel

extension PostgreSQLSchema {
  /// Returns the statements that create the tables, in order.
  ///
  /// Foreign keys are added last, so that tables may refer to each other. If a record is deleted by other means,
  /// references to it are removed; the delete rules of the model apply only to programs that use it.
  ///
  /// - Parameter notesOthers: whether to create triggers that detect changes by other means.
  func creation(notesOthers: Bool) -> [String] {
    tableCreation + constraintCreation + (notesOthers ? triggerCreation : [])
  }

  /// The statements that create the tables without keys and indexes, so that many rows are written faster.
  var tableCreation: [String] {
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
    return statements + historyCreation + tables.map(creation) + joins.map(creation)
  }

  /// The statements that create keys and indexes.
  var constraintCreation: [String] { tables.flatMap(constraints) + joins.flatMap(constraints) }

  private func creation(_ table: RecordTable) -> String {
    let entity = table.defaultEntity.map { " DEFAULT \(PostgreSQLName.literal($0))" } ?? ""
    var columns = [
      "id uuid PRIMARY KEY DEFAULT gen_random_uuid()", "version bigint NOT NULL DEFAULT 1",
      "entity \(PostgreSQLType.text.definition) NOT NULL\(entity)",
    ]
    columns += table.columns.map { "\(PostgreSQLName.quoted($0.name)) \($0.definition)" }
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
      statements.append(
        "ALTER TABLE \(name) ADD FOREIGN KEY (\(column)) REFERENCES \(qualified(reference.table)) ON DELETE SET NULL"
      )
    }
    for unique in table.uniqueColumns {
      let columns = unique.columns.map(PostgreSQLName.quoted).joined(separator: ", ")
      let entities = unique.entities.map { names in
        " WHERE entity IN (\(names.map(PostgreSQLName.literal).joined(separator: ", ")))"
      }
      statements.append("CREATE UNIQUE INDEX ON \(name) (\(columns))\(entities ?? "")")
    }
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
    var statements = join.columns.map { column in
      "ALTER TABLE \(name) ADD FOREIGN KEY (\(PostgreSQLName.quoted(column.name))) "
        + "REFERENCES \(qualified(column.table)) ON DELETE CASCADE"
    }
    if let other = join.columns.last {
      statements.append("CREATE INDEX ON \(name) (\(PostgreSQLName.quoted(other.name)))")
    }
    return statements
  }
}
