import GRDB
import GRDBSQLite
import HeartwoodModel
import HeartwoodStore

/// A cursor over the records that a to-many relationship leads to, owner by owner in the order of their keys.
final class RelatedKeys {
  /// What is asked for.
  struct Query {
    let text: String
    let destination: EntityResolver
    /// The table that is read.
    let table: String
    /// Whether it is a table of pairs, and not that of the destination.
    let isOfPairs: Bool
    /// Finds rows whose owner is no number, and which are read with no owner; nil if reading their own records finds them.
    let strays: String?

    /// Nil for what is no to-many relationship.
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

    /// In SQLite's order numbers come before texts and these before bytes, so an index of the column finds them at once.
    private static func strays(_ table: String, _ columns: [String], key: String) -> String {
      let queries = columns.map(SQLiteName.quoted).map { column in
        "SELECT \(key), \(column) FROM \(SQLiteName.quoted(table)) WHERE \(column) >= ''"
      }
      return queries.joined(separator: " UNION ALL ")
    }

    private static func text(_ place: ToManyPlacement, _ destination: EntityResolver) -> String {
      let column = SQLiteName.quoted(place.column)
      let order = place.orderColumn.map { SQLiteName.quoted($0) + ", " } ?? ""
      // Where there is but one entity, the index of the column tells all, and the rows need not be looked at.
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
        // A pair may have a row for each direction; where there is none for this one, nobody has given it a place.
        pairs +=
          " WHERE NOT EXISTS (SELECT 1 FROM \(table) AS back"
          + " WHERE back.\(own) = pair.\(other) AND back.\(other) = pair.\(own))"
        places = "place IS NULL, place"
      }
      let records = SQLiteName.quoted(destination.placement.tableName)
      // Where there is but one entity, whoever reads the record finds out whether it is of that. A record without a number is there all the same.
      let number = destination.singleOrdinal == nil ? "ifnull(Z_ENT, '')" : "0"
      return "SELECT owner, member, (SELECT \(number) FROM \(records) WHERE Z_PK = member) FROM (\(pairs))"
        + " WHERE owner BETWEEN ? AND ? AND member IS NOT NULL ORDER BY owner, \(places), member"
    }
  }

  private let query: Query
  private let statement: Statement
  /// What is appended for one owner; kept for the room that it has.
  private var members: [(reference: ReferenceID, entityOrdinal: Int)] = []
  /// The row that the statement is at and that is no owner's yet.
  private var pending: (owner: Int64, member: Int64, number: Int?)?
  /// What is wrong with that row.
  private var fault: ValueFault?

  init(_ query: Query, _ db: Database) throws {
    self.query = query
    statement = try db.cachedStatement(sql: query.text)
  }

  /// Goes to the first of the owners with keys within `range`.
  func begin(_ range: ClosedRange<Int64>) throws {
    try statement.begin(range)
    try advance()
  }

  /// Lets go of the rows.
  func end() {
    statement.end()
    pending = nil
  }

  /// Appends the records of the relationship of the owner with `key`; the keys that are asked for ascend.
  ///
  /// - Parameter note: is called with what is wrong with rows of the owner; the others are appended.
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
    // A record that is no longer there is left out.
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

  /// Whether owner, member and number are integers; a member of a pair may be gone.
  @inline(__always)
  private func isSound(_ row: SQLiteStatement) -> Bool {
    let number = sqlite3_column_type(row, 2)
    return sqlite3_column_type(row, 0) == SQLITE_INTEGER && sqlite3_column_type(row, 1) == SQLITE_INTEGER
      && (number == SQLITE_INTEGER || number == SQLITE_NULL && query.isOfPairs)
  }
}

extension ValueFault {
  /// What stands where the key of a record should.
  static func key(found type: CInt) -> ValueFault { ValueFault(found: type, insteadOf: "the key of a record") }

  /// What stands where the number of an entity should.
  static func entityNumber(found type: CInt) -> ValueFault {
    ValueFault(found: type, insteadOf: "the number of an entity")
  }
}

extension RelatedKeys.Query {
  /// What is wrong with the row that the statement is at.
  fileprivate func fault(in row: SQLiteStatement) -> ValueFault {
    let forms = (0..<3).map { sqlite3_column_type(row, CInt($0)) }
    if forms[1] != SQLITE_INTEGER { return located(.key(found: forms[1]), member: nil) }
    let fault: ValueFault = forms[0] == SQLITE_INTEGER ? .entityNumber(found: forms[2]) : .key(found: forms[0])
    return located(fault, member: sqlite3_column_int64(row, 1))
  }

  /// What is wrong with a row of the relationship.
  ///
  /// - Parameter member: the key of the record that the row is of, if it is known.
  func located(_ fault: ValueFault, member: Int64?) -> ValueFault {
    fault.at(.init(table: table, key: isOfPairs ? nil : member))
  }
}

// MARK: KeyRun

/// Keys that lie near each other, and are looked for together.
struct KeyRun {
  /// Up to so many rows between two that are wanted are passed over: it takes longer to look for one anew.
  private static let greatestGap: UInt64 = 8

  let range: ClosedRange<Int64>
  /// The keys, ascending; nil means all within the range.
  let keys: [Int64]?

  /// The runs of `keys`, which may be in any order.
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
