import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Checks the store's own tables: the row that describes the store, the marks and the log of its saves, and its
/// history.
struct LogCheck {
  private let schema: PostgreSQLSchema
  private let connection: PostgreSQLConnection
  private(set) var findings: [String] = []

  init(_ schema: PostgreSQLSchema, _ connection: PostgreSQLConnection) {
    (self.schema, self.connection) = (schema, connection)
  }

  mutating func run() throws {
    try checkStoreRow()
    try checkMarks()
    try checkHistory()
  }

  private mutating func checkStoreRow() throws {
    let table = PostgreSQLSchema.storeTable
    let rows = try connection.run("SELECT count(*) FROM \(schema.qualified(table))").first { try $0.bigint(0) ?? 0 }
    if let rows, rows != 1 {
      findings.append("The table \(table) has \(rows) rows instead of one. Delete those whose id is not 1.")
    }
    let query = "SELECT identifier, metadata, model FROM \(schema.qualified(table)) WHERE id = 1"
    try connection.run(query).forEachRow { row in
      let metadata = try MetadataCoding.metadata(try row.required(1, row.data))
      if try row.uuid(0) != metadata.identifier {
        findings.append(
          "The identifier in the table \(table) differs from that in its metadata, \(metadata.identifier). "
            + "Run: UPDATE \(schema.qualified(table)) SET identifier = '\(metadata.identifier)';"
        )
      }
      checkModel(try row.required(2, row.data), metadata)
    }
  }

  private mutating func checkModel(_ data: Data, _ metadata: StoreMetadata) {
    let recovery = "Save the metadata again with the model: heartwood migrate does so."
    do {
      let hashes = try ManagedObjectModel(encoded: data).entityVersionHashesByName
      let differing = metadata.modelVersionHashes.filter { hashes[$0.key] != $0.value }.keys.sorted()
      if differing.isEmpty { return }
      findings.append(
        "The model in the table \(PostgreSQLSchema.storeTable) has another version than the records of "
          + "\(differing.joined(separator: ", ")). \(recovery)"
      )
    } catch {
      findings.append("The model in the table \(PostgreSQLSchema.storeTable) cannot be read. \(recovery)")
    }
  }

  private mutating func checkMarks() throws {
    let (mark, log) = (PostgreSQLSchema.markTable, PostgreSQLSchema.logTable)
    let (marks, logs) = (schema.qualified(mark), schema.qualified(log))
    let hasFirst = try connection.run("SELECT EXISTS (SELECT 1 FROM \(marks) WHERE slot = 0)").first {
      try $0.boolean(0) ?? false
    }
    if hasFirst != true {
      findings.append(
        "The table \(mark) has no row with the slot 0, so other programs cannot change records. "
          + "Run: INSERT INTO \(marks) (slot, saves, stamp) VALUES (0, 0, 1);"
      )
    }
    let query = """
      SELECT l.slot, max(l.save), m.saves FROM \(logs) AS l LEFT JOIN \(marks) AS m ON m.slot = l.slot \
      GROUP BY l.slot, m.saves HAVING m.saves IS NULL OR max(l.save) > m.saves ORDER BY l.slot
      """
    try connection.run(query).forEachRow { row in
      let (slot, save) = (try row.required(0, row.bigint), try row.required(1, row.bigint))
      let problem = try row.bigint(2).map { "its row in \(mark) counts \($0)" } ?? "\(mark) has no row of it"
      findings.append(
        "The table \(log) has the save \(save) of the slot \(slot), and \(problem), so stores that are open may miss it. "
          + "Run: DELETE FROM \(logs) WHERE slot = \(slot); and open the store anew everywhere."
      )
    }
  }

  private mutating func checkHistory() throws {
    let (history, transaction) = (PostgreSQLSchema.historyTable, PostgreSQLSchema.transactionTable)
    let (change, transactions) = (PostgreSQLSchema.changeTable, schema.qualified(transaction))
    let query = """
      SELECT (SELECT count(*) FROM \(transactions) WHERE number <= coalesce((SELECT max(purged) FROM \
      \(schema.qualified(history))), 0) OR NOT EXISTS (SELECT 1 FROM \(schema.qualified(history)))), \
      (SELECT count(*) FROM \(schema.qualified(change)) AS c WHERE NOT EXISTS (SELECT 1 FROM \(transactions) AS t \
      WHERE t.number = c.transaction_number))
      """
    try connection.run(query).forEachRow { row in
      let (early, stray) = (try row.required(0, row.bigint), try row.required(1, row.bigint))
      if early > 0 {
        findings.append(
          "The table \(transaction) has \(early) rows that \(history) does not include. Delete them, or restore the row "
            + "of \(history)."
        )
      }
      if stray > 0 {
        findings.append(
          "The table \(change) has \(stray) rows of transactions that are not in \(transaction). Delete them."
        )
      }
    }
  }
}
