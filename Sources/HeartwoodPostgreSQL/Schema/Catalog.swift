/// The tables of a schema as the server's catalog describes them.
struct Catalog: Sendable {
  struct Column: Sendable {
    /// The type as in a definition, such as `timestamp with time zone` or `character varying(40)`; the type below a
    /// domain.
    let type: String
    /// The name of the collation; nil for a type that has none.
    let collation: String?
    let isRequired: Bool
    let hasDefault: Bool
  }

  /// A foreign key of one column, within the schema.
  struct ForeignKey: Sendable {
    let column: String
    let table: String
    /// What a deletion of the other row does: `n` clears the column, `c` deletes the row.
    let deletion: String
    /// Whether all rows have been checked.
    let isValid: Bool
  }

  struct Index: Sendable {
    let name: String
    let columns: [String]
    let isUnique: Bool
    let isPrimary: Bool
    /// False if the index was not completed, so that fetches and constraints do not use it.
    let isValid: Bool
    let isPartial: Bool
  }

  struct Table: Sendable {
    fileprivate(set) var columns: [String: Column] = [:]
    fileprivate(set) var foreignKeys: [ForeignKey] = []
    fileprivate(set) var indexes: [Index] = []
    /// Whether triggers are enabled, by name.
    fileprivate(set) var triggers: [String: Bool] = [:]
  }

  private(set) var tables: [String: Table] = [:]

  /// Reads the catalog of a schema.
  init(schema: String, _ connection: PostgreSQLConnection) throws {
    try readColumns(schema, connection)
    try readForeignKeys(schema, connection)
    try readIndexes(schema, connection)
    try readTriggers(schema, connection)
  }

  /// The tables, views and other relations with rows, called `c`.
  private static let relations =
    "pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname = $1::text"

  private mutating func readColumns(_ schema: String, _ connection: PostgreSQLConnection) throws {
    let query = """
      SELECT c.relname, a.attname, pg_catalog.format_type(CASE y.typtype WHEN 'd' THEN y.typbasetype \
      ELSE a.atttypid END, a.atttypmod), l.collname, a.attnotnull, a.atthasdef OR a.attidentity <> '' FROM \(Self.relations) \
      LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
      LEFT JOIN pg_catalog.pg_type AS y ON y.oid = a.atttypid \
      LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = a.attcollation WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
      """
    try connection.run(query, [.text(schema)]).forEachRow { row in
      let table = try row.required(0, row.text)
      guard let name = try row.text(1) else {
        tables[table] = Table()
        return
      }
      tables[table, default: Table()].columns[name] = Column(
        type: try row.required(2, row.text),
        collation: try row.text(3),
        isRequired: try row.boolean(4) ?? false,
        hasDefault: try row.boolean(5) ?? false
      )
    }
  }

  private mutating func readForeignKeys(_ schema: String, _ connection: PostgreSQLConnection) throws {
    let query = """
      SELECT c.relname, a.attname, t.relname, k.confdeltype::text, k.convalidated FROM \(Self.relations) \
      JOIN pg_catalog.pg_constraint AS k ON k.conrelid = c.oid AND k.contype = 'f' AND cardinality(k.conkey) = 1 \
      JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.conkey[1] \
      JOIN pg_catalog.pg_class AS t ON t.oid = k.confrelid AND t.relnamespace = n.oid
      """
    try connection.run(query, [.text(schema)]).forEachRow { row in
      let key = ForeignKey(
        column: try row.required(1, row.text),
        table: try row.required(2, row.text),
        deletion: try row.required(3, row.text),
        isValid: try row.boolean(4) ?? false
      )
      tables[try row.required(0, row.text), default: Table()].foreignKeys.append(key)
    }
  }

  private mutating func readIndexes(_ schema: String, _ connection: PostgreSQLConnection) throws {
    let query = """
      SELECT c.relname, x.relname, i.indisunique, i.indisprimary, i.indisvalid, i.indpred IS NOT NULL, \
      ARRAY(SELECT a.attname::text FROM unnest(i.indkey) WITH ORDINALITY AS u(number, place) \
      JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = u.number ORDER BY u.place) \
      FROM \(Self.relations) JOIN pg_catalog.pg_index AS i ON i.indrelid = c.oid \
      JOIN pg_catalog.pg_class AS x ON x.oid = i.indexrelid ORDER BY x.relname
      """
    try connection.run(query, [.text(schema)]).forEachRow { row in
      let index = Index(
        name: try row.required(1, row.text),
        columns: try row.elements(6) { String(decoding: $0, as: UTF8.self) },
        isUnique: try row.boolean(2) ?? false,
        isPrimary: try row.boolean(3) ?? false,
        isValid: try row.boolean(4) ?? false,
        isPartial: try row.boolean(5) ?? false
      )
      tables[try row.required(0, row.text), default: Table()].indexes.append(index)
    }
  }

  private mutating func readTriggers(_ schema: String, _ connection: PostgreSQLConnection) throws {
    let query = """
      SELECT c.relname, g.tgname, g.tgenabled <> 'D' FROM \(Self.relations) \
      JOIN pg_catalog.pg_trigger AS g ON g.tgrelid = c.oid AND NOT g.tgisinternal
      """
    try connection.run(query, [.text(schema)]).forEachRow { row in
      let (table, name) = (try row.required(0, row.text), try row.required(1, row.text))
      tables[table, default: Table()].triggers[name] = try row.boolean(2) ?? false
    }
  }
}
