import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Reads and writes the history in a store's tables.
struct HistoryTables {
  private let schema: PostgreSQLSchema
  private var history: String { schema.qualified(PostgreSQLSchema.historyTable) }
  private var transactions: String { schema.qualified(PostgreSQLSchema.transactionTable) }
  private var changes: String { schema.qualified(PostgreSQLSchema.changeTable) }

  init(_ schema: PostgreSQLSchema) {
    self.schema = schema
  }

  /// Returns the range of the transactions; nil if no history is kept.
  func extent(_ connection: PostgreSQLConnection) throws -> HistoryExtent? {
    try connection.run("SELECT \(extentColumns)").first { row in
      Self.extent(try row.bigint(0), try row.bigint(1))
    } ?? nil
  }

  /// The columns from which ``extent(_:_:)`` makes the range.
  var extentColumns: String {
    "(SELECT max(purged) FROM \(history)), (SELECT max(number) FROM \(transactions))"
  }

  /// - Parameters:
  ///   - purged: the number of the last transaction that was deleted; nil if no history is kept.
  ///   - last: the number of the last transaction; nil if there is none.
  static func extent(_ purged: Int64?, _ last: Int64?) -> HistoryExtent? {
    purged.map { HistoryExtent(purgedNumber: $0, lastNumber: max($0, last ?? $0)) }
  }

  /// Begins a history, or continues an existing one after a number.
  func begin(after number: Int64, _ connection: PostgreSQLConnection) throws {
    if let extent = try extent(connection), extent.lastNumber >= number { return }
    // If a history already has transactions, none of them counts as deleted.
    try connection.run(
      """
      INSERT INTO \(history) AS h (id, purged) VALUES (1, $1) ON CONFLICT (id) DO UPDATE \
      SET purged = greatest(h.purged, excluded.purged) WHERE NOT EXISTS (SELECT 1 FROM \(transactions))
      """,
      [.bigint(number)]
    )
    try continueNumbers(behind: number, connection)
  }

  /// Makes the next transaction number one that no transaction has or had.
  func continueNumbers(behind number: Int64 = 0, _ connection: PostgreSQLConnection) throws {
    try connection.runOnce(
      """
      SELECT setval(\(schema.transactionSequence), greatest($1, (SELECT max(purged) FROM \(history)), \
      (SELECT max(number) FROM \(transactions))) + 1, false)
      """,
      [.bigint(number)]
    )
  }

  /// Deletes the transactions up to and including the one with a number.
  func delete(through number: Int64, _ connection: PostgreSQLConnection) throws {
    try connection.run("DELETE FROM \(changes) WHERE transaction_number <= $1", [.bigint(number)])
    try connection.run("DELETE FROM \(transactions) WHERE number <= $1", [.bigint(number)])
    try connection.run("UPDATE \(history) SET purged = greatest(purged, $1)", [.bigint(number)])
  }
}

// MARK: Writing

extension HistoryTables {
  /// Writes a transaction, and returns its number.
  ///
  /// Only the client that has locked the row of the history numbers transactions, until its save is committed. So if a
  /// transaction is visible, none with a lower number becomes visible later, and a token covers everything saved up to
  /// it.
  func write(
    _ transaction: RecordedTransaction,
    place: String,
    _ connection: PostgreSQLConnection
  ) throws -> Int64 {
    try connection.queue("SELECT id FROM \(history) WHERE id = 1 FOR UPDATE", [])
    let number = try connection.run(
      """
      INSERT INTO \(transactions) (saved_at, saved_at_exact, author, context_name, bundle_id, process_id) \
      VALUES ($1, $2, $3, $4, $5, $6) RETURNING number
      """,
      [
        PostgreSQLParameter(.timestamptz, Timestamp(transaction.date).microseconds.bigEndianBytes),
        .double(transaction.date.timeIntervalSinceReferenceDate), .text(transaction.author),
        .text(transaction.contextName), .text(transaction.bundleID), .text(transaction.processID),
      ]
    ).first { row in try row.required(0, row.bigint) }
    guard let number else { throw FieldFault("gave a transaction no number") }
    let statement =
      "INSERT INTO \(changes) (transaction_number, place, kind, entity, properties, ids, preserved_values) "
      + "VALUES ($1, $2, $3, $4, $5, $6, $7)"
    for (index, change) in transaction.changes.enumerated() {
      try connection.queue(
        statement,
        [
          .bigint(number), .integer(Int32(clamping: index)),
          .text(change.kind.name), .text(change.entityName), .texts(change.propertyNames),
          .uuids(try keys(change, place)), try preserved(change, place),
        ]
      )
    }
    return number
  }

  private func keys(_ change: RecordedChanges, _ place: String) throws(PersistenceError) -> [UUID] {
    var keys: [UUID] = []
    keys.reserveCapacity(change.references.count)
    for reference in change.references {
      guard case .uuid(let key) = reference else {
        throw PersistenceError(
          .valueUnsupported,
          "The references of a PostgreSQL store are UUIDs, and \(reference.text) in a history is not one.",
          recovery: "Convert the store without its history: set tracksPersistentHistory to false.",
          context: .init(path: place, storeType: .postgreSQL, entity: change.entityName)
        )
      }
      keys.append(key)
    }
    return keys
  }

  private func preserved(_ change: RecordedChanges, _ place: String) throws -> PostgreSQLParameter {
    var values = PostgreSQLParameter.ArrayBuilder(.bytea)
    do {
      for value in change.preservedValues.joined() {
        try values.append { try PreservedValue.append(value, to: &$0) }
      }
    } catch let refusal as AttributeField.Refusal {
      throw PersistenceError(
        .valueUnsupported,
        refusal.problem,
        recovery: refusal.recovery,
        context: .init(path: place, storeType: .postgreSQL, entity: change.entityName)
      )
    }
    return values.parameter
  }
}

// MARK: Reading

extension HistoryTables {
  /// Returns the transactions after the one with a number, in order, and at most `limit`.
  func transactions(
    after number: Int64,
    limit: Int = .max,
    _ connection: PostgreSQLConnection
  ) throws -> [RecordedTransaction] {
    var found: [RecordedTransaction] = []
    let query = """
      SELECT t.number, t.saved_at_exact, t.author, t.context_name, t.bundle_id, t.process_id, \
      c.kind, c.entity, c.properties, c.ids, c.preserved_values FROM \
      (SELECT * FROM \(transactions) WHERE number > $1 ORDER BY number LIMIT $2) AS t LEFT JOIN \(changes) AS c \
      ON c.transaction_number = t.number ORDER BY t.number, c.place
      """
    try connection.run(query, [.bigint(number), .bigint(Int64(limit))]).forEachRow { row in
      let number = try row.required(0, row.bigint)
      do {
        if found.last?.number != number { found.append(try Self.head(number, row)) }
        if let change = try Self.change(row) { found[found.count - 1].changes.append(change) }
      } catch let fault as FieldFault {
        throw PersistenceError(
          .fileMalformed,
          "The history cannot be read: a column of the transaction \(number) or of its rows in the table "
            + "\(PostgreSQLSchema.changeTable) \(fault.text).",
          recovery:
            "Delete the history up to that transaction, or convert the store with tracksPersistentHistory set to false.",
          context: .init(storeType: .postgreSQL)
        )
      }
    }
    return found
  }

  private static func head(_ number: Int64, _ row: PostgreSQLRow) throws -> RecordedTransaction {
    RecordedTransaction(
      number: number,
      date: Date(timeIntervalSinceReferenceDate: try row.required(1, row.double)),
      author: try row.text(2),
      contextName: try row.text(3),
      bundleID: try row.text(4),
      processID: try row.text(5),
      changes: []
    )
  }

  /// Returns nil for a transaction without changes.
  private static func change(_ row: PostgreSQLRow) throws -> RecordedChanges? {
    guard let name = try row.text(6) else { return nil }
    guard let kind = PersistentHistoryChange.ChangeType(name: name) else {
      throw FieldFault("holds the kind of a change that is not known, \(name)")
    }
    let properties = try row.elements(8) { String(decoding: $0, as: UTF8.self) }
    let references = try row.elements(9) { ReferenceID.uuid(try BinaryField.uuid($0)) }
    return RecordedChanges(
      kind,
      entityName: try row.required(7, row.text),
      propertyNames: properties,
      references: references,
      preservedValues: try preserved(row, properties.count, references.count)
    )
  }

  /// Returns the values of each record, which are stored one after the other.
  private static func preserved(
    _ row: PostgreSQLRow,
    _ propertyCount: Int,
    _ recordCount: Int
  ) throws -> [[PropertyValue]] {
    let values = try row[10].map { try ArrayField.elements($0) } ?? []
    if values.isEmpty { return [] }
    let (expected, overflow) = propertyCount.multipliedReportingOverflow(by: recordCount)
    guard !overflow, values.count == expected else {
      throw FieldFault("holds \(values.count) values of \(recordCount) records")
    }
    return try stride(from: 0, to: values.count, by: propertyCount).map { start in
      try values[start..<start + propertyCount].map { try PreservedValue.value($0) }
    }
  }

  func count(after number: Int64, _ connection: PostgreSQLConnection) throws -> Int {
    let query = "SELECT count(*) FROM \(transactions) WHERE number > $1"
    let count = try connection.run(query, [.bigint(number)]).first { row in try row.required(0, row.bigint) }
    return Int(clamping: count ?? 0)
  }

  /// Returns the number of the last transaction before the first one that was saved at `date` or later; nil if there is
  /// none that late, or none before it.
  func lastNumber(before date: Date, _ connection: PostgreSQLConnection) throws -> (first: Int64?, before: Int64?) {
    let query = """
      SELECT f.number, (SELECT max(t.number) FROM \(transactions) AS t WHERE t.number < f.number) \
      FROM (SELECT min(number) AS number FROM \(transactions) WHERE saved_at_exact >= $1) AS f
      """
    let found = try connection.run(query, [.double(date.timeIntervalSinceReferenceDate)]).first { row in
      (first: try row.bigint(0), before: try row.bigint(1))
    }
    return found ?? (nil, nil)
  }
}

extension PostgreSQLRow {
  fileprivate func double(_ index: Int) throws -> Double? { try self[index].map { try BinaryField.double($0) } }
}

extension PersistentHistoryChange.ChangeType {
  /// The name in the table.
  fileprivate var name: String {
    switch self {
    case .insert: "insert"
    case .update: "update"
    case .delete: "delete"
    }
  }

  fileprivate init?(name: String) {
    guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = kind
  }
}
