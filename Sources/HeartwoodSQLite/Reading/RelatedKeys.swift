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

    /// Nil for what is no to-many relationship.
    init?(_ property: PropertyPlacement?, _ owner: EntityPlacement, _ destination: EntityResolver) {
      self.destination = destination
      switch property {
      case .toMany(let place): text = Self.text(place, destination)
      case .join(let place): text = Self.text(place, destination)
      default: return nil
      }
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
      return "SELECT owner, member, (SELECT Z_ENT FROM \(records) WHERE Z_PK = member) FROM (\(pairs))"
        + " WHERE owner BETWEEN ? AND ? AND member IS NOT NULL ORDER BY owner, \(places), member"
    }
  }

  private let destination: EntityResolver
  private let statement: Statement
  /// What is appended for one owner; kept for the room that it has.
  private var members: [(reference: ReferenceID, entityOrdinal: Int)] = []
  /// The row that the statement is at and that is no owner's yet.
  private var pending: (owner: Int64, member: Int64, number: Int?)?

  init(_ query: Query, _ db: Database) throws {
    destination = query.destination
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
  func append(ofOwner key: Int64, to column: ColumnBuilder) throws {
    while let row = pending, row.owner < key { try advance() }
    members.removeAll(keepingCapacity: true)
    while let row = pending, row.owner == key {
      // A record that is no longer there is left out.
      if let number = row.number { members.append((.integer(row.member), try destination.ordinal(number))) }
      try advance()
    }
    column.append(toMany: members)
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
  }
}
