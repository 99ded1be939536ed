import GRDB
import GRDBSQLite
import HeartwoodModel
import HeartwoodStore

/// A cursor over the destinations of a to-many relationship, owner by owner in the order of their keys.
final class RelatedKeys {
  /// The query for the destinations.
  struct Query {
    let text: String
    let destination: EntityResolver
    /// The table that is read.
    let table: String
    /// Whether it is a table of pairs, and not that of the destination.
    let isOfPairs: Bool
    /// Finds rows whose owner is not a number, and which are therefore read with no owner; nil if reading their own
    /// records finds them.
    let strays: String?

    /// Returns nil if the property is not a to-many relationship.
    init?(_ property: PropertyPlacement?, _ owner: EntityPlacement, _ destination: EntityResolver) {
      self.destination = destination
      switch property {
      case .toMany(let place):
        text = Self.text(place, destination)
        (table, isOfPairs) = (place.table, false)
        strays = place.ownsColumn ? Self.strays(place.table, [place.column], key: "Z_PK") : nil
      case .join(let place):
        text = Self.text(place, destination)
        (table, isOfPairs) = (place.table, true)
        strays = Self.strays(
          place.table,
          [place.ownColumn] + (place.isReflexive ? [place.otherColumn] : []),
          key: "NULL"
        )
      default: return nil
      }
    }

    /// In SQLite's order numbers come before texts, and texts before blobs, so an index of the column finds such rows
    /// at once.
    private static func strays(_ table: String, _ columns: [String], key: String) -> String {
      let queries = columns.map(SQLiteName.quoted).map { column in
        "SELECT \(key), \(column) FROM \(SQLiteName.quoted(table)) WHERE \(column) >= ''"
      }
      return queries.joined(separator: " UNION ALL ")
    }

    private static func text(_ place: ToManyPlacement, _ destination: EntityResolver) -> String {
      let column = SQLiteName.quoted(place.column)
      let order = place.orderColumn.map { SQLiteName.quoted($0) + ", " } ?? ""
      // If only one entity is possible, the index of the column is sufficient, and the rows need not be read.
      let number = destination.singleOrdinal == nil ? "Z_ENT" : "0"
      return "SELECT \(column), Z_PK, \(number) FROM \(SQLiteName.quoted(place.table)) WHERE \(column) BETWEEN ? AND ?"
        + " ORDER BY \(column), \(order)Z_PK"
    }

    private static func text(_ place: JoinPlacement, _ destination: EntityResolver) -> String {
      let (table, own, other) = (
        SQLiteName.quoted(place.table), SQLiteName.quoted(place.ownColumn), SQLiteName.quoted(place.otherColumn)
      )
      let order = place.orderColumn.map(SQLiteName.quoted) ?? "NULL"
      var pairs = "SELECT \(own) AS owner, \(other) AS member, \(order) AS place FROM \(table)"
      if place.isReflexive {
        pairs += " UNION SELECT \(other), \(own), NULL FROM \(table) AS pair"
      }
      var places = "place"
      if place.isReflexive, place.orderColumn != nil {
        // A pair may have a row for each direction; if there is none for this one, it has no position yet.
        pairs +=
          " WHERE NOT EXISTS (SELECT 1 FROM \(table) AS back"
          + " WHERE back.\(own) = pair.\(other) AND back.\(other) = pair.\(own))"
        places = "place IS NULL, place"
      }
      let records = SQLiteName.quoted(destination.placement.tableName)
      // If only one entity is possible, reading the record itself checks that. A record without a number exists all the
      // same.
      let number = destination.singleOrdinal == nil ? "ifnull(Z_ENT, '')" : "0"
      return "SELECT owner, member, (SELECT \(number) FROM \(records) WHERE Z_PK = member) FROM (\(pairs))"
        + " WHERE owner BETWEEN ? AND ? AND member IS NOT NULL ORDER BY owner, \(places), member"
    }
  }

  private let query: Query
  private let statement: Statement
  /// The members of one owner; kept to reuse its memory.
  private var members: [(reference: ReferenceID, entityOrdinal: Int)] = []
  /// The current row of the statement, if it was not assigned to an owner yet.
  private var pending: (owner: Int64, member: Int64, number: Int?)?
  /// The fault of that row.
  private var fault: ValueFault?

  init(_ query: Query, _ db: Database) throws {
    self.query = query
    statement = try db.cachedStatement(sql: query.text)
  }

  /// Starts at the first of the owners with keys within `range`.
  func begin(_ range: ClosedRange<Int64>) throws {
    try statement.begin(range)
    try advance()
  }

  /// Resets the statement.
  func end() {
    statement.end()
    pending = nil
  }

  /// Appends the destinations of the owner with `key`; the keys of successive calls must ascend.
  ///
  /// - Parameter note: called with the faults of rows of the owner; the other rows are appended.
  func append(ofOwner key: Int64, to column: ColumnBuilder, _ note: (ValueFault) throws -> Void) throws {
    while let row = pending, row.owner < key { try advance() }
    members.removeAll(keepingCapacity: true)
    while let row = pending, row.owner == key {
      if let fault { try note(fault) } else { try appendMember(row.member, row.number, note) }
      try advance()
    }
    column.append(toMany: members)
  }

  private func appendMember(_ key: Int64, _ number: Int?, _ note: (ValueFault) throws -> Void) throws {
    // A record that no longer exists is left out.
    guard let number else { return }
    do throws(ValueFault) {
      members.append((.integer(key), try query.destination.ordinal(number)))
    } catch {
      try note(query.located(error, member: key))
    }
  }

  private func advance() throws {
    guard try statement.nextRow() else {
      pending = nil
      return
    }
    let row = statement.sqliteStatement
    let isOfNone = sqlite3_column_type(row, 2) == SQLITE_NULL
    pending = (
      sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
      isOfNone ? nil : Int(clamping: sqlite3_column_int64(row, 2))
    )
    fault = isSound(row) ? nil : query.fault(in: row)
  }

  /// Returns whether owner, member and number are integers; the member of a pair may be gone.
  @inline(__always)
  private func isSound(_ row: SQLiteStatement) -> Bool {
    let number = sqlite3_column_type(row, 2)
    return sqlite3_column_type(row, 0) == SQLITE_INTEGER && sqlite3_column_type(row, 1) == SQLITE_INTEGER
      && (number == SQLITE_INTEGER || number == SQLITE_NULL && query.isOfPairs)
  }
}

extension ValueFault {
  /// Returns the fault of a value that is not the key of a record.
  static func key(found type: CInt) -> ValueFault { ValueFault(found: type, insteadOf: "the key of a record") }

  /// Returns the fault of a value that is not the number of an entity.
  static func entityNumber(found type: CInt) -> ValueFault {
    ValueFault(found: type, insteadOf: "the number of an entity")
  }
}

extension RelatedKeys.Query {
  /// Returns the fault of the current row of the statement.
  fileprivate func fault(in row: SQLiteStatement) -> ValueFault {
    let forms = (0..<3).map { sqlite3_column_type(row, CInt($0)) }
    if forms[1] != SQLITE_INTEGER { return located(.key(found: forms[1]), member: nil) }
    let fault: ValueFault = forms[0] == SQLITE_INTEGER ? .entityNumber(found: forms[2]) : .key(found: forms[0])
    return located(fault, member: sqlite3_column_int64(row, 1))
  }

  /// Returns a fault with the row of the relationship that has it.
  ///
  /// - Parameter member: the key of the record in the row, if it is known.
  func located(_ fault: ValueFault, member: Int64?) -> ValueFault {
    fault.at(.init(table: table, key: isOfPairs ? nil : member))
  }
}

// MARK: KeyRun

/// Keys that are close to each other, and are searched for together.
struct KeyRun {
  /// The maximum number of rows between two keys that are skipped: a new search takes longer.
  private static let greatestGap: UInt64 = 8

  let range: ClosedRange<Int64>
  /// The keys, in ascending order; nil means all within the range.
  let keys: [Int64]?

  /// Returns the runs of `keys`, which may be in any order.
  static func runs(of keys: [Int64]) -> [KeyRun] {
    var runs: [KeyRun] = []
    var run: [Int64] = []
    func end() {
      if let first = run.first, let last = run.last { runs.append(KeyRun(range: first...last, keys: run)) }
      run = []
    }
    for key in keys.sorted() {
      if let last = run.last, UInt64(bitPattern: key &- last) > greatestGap { end() }
      if run.last != key { run.append(key) }
    }
    end()
    return runs
  }
}
