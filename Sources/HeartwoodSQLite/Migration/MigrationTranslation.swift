import GRDB
import HeartwoodModel
import HeartwoodStore

/// The statements that transfer the records of a file to a new file with another model.
struct MigrationTranslation {
  let old: SQLiteSchema
  let new: SQLiteSchema
  let entities: [EntityTranslation]
  let joins: [JoinTranslation]
  let narrowings: [NarrowingTranslation]
  let orders: Set<OrderTranslation>
}

/// A part of a statement, with the values of its arguments.
struct SQLFragment {
  let text: String
  var arguments: [(any DatabaseValueConvertible)?] = []

  init(_ text: String, _ arguments: [(any DatabaseValueConvertible)?] = []) {
    self.text = text
    self.arguments = arguments
  }
}

/// The translation of the rows of one entity.
struct EntityTranslation {
  /// A change to rows that is counted, or a change that is not possible.
  struct Tally {
    let kind: MigrationReport.Finding.Kind
    /// The ordinal of the new property.
    let ordinal: Int
    /// A condition that is true for the rows that are counted.
    let condition: String
  }

  let plan: EntityMigration
  let source: EntityPlacement
  let destination: EntityPlacement
  /// The columns of the new table, and their values, as expressions of a row of the old table.
  var columns: [(name: String, value: SQLFragment)] = []
  var tallies: [Tally] = []
  /// Conditions that are true for rows with values that no store of the old model should contain: reading them would
  /// fail, or change them.
  var anomalies: [String] = []

  /// A condition that is true for the rows of the entity.
  var condition: String { "Z_ENT = \(source.number)" }

  private var rows: String {
    "FROM \(SQLFragment.old(source.tableName)) WHERE Z_PK BETWEEN ? AND ? AND \(condition)"
  }

  /// All columns of the new table that get a value.
  var cells: [(name: String, value: SQLFragment)] {
    let fixed: [(name: String, value: String)] = [
      (SQLiteName.primaryKey, "Z_PK"), (SQLiteName.entity, "\(destination.number)"),
      (SQLiteName.version, "max(1, ifnull(Z_OPT, 1))"),
    ]
    return fixed.map { (name: $0.name, value: SQLFragment($0.value)) } + columns
  }

  /// A statement that inserts the rows of a range of keys.
  var insertion: SQLFragment {
    let cells = cells
    let names = cells.map { SQLiteName.quoted($0.name) }.joined(separator: ", ")
    return SQLFragment(
      "INSERT INTO \(SQLFragment.new(destination.tableName)) (\(names)) "
        + "SELECT \(cells.map(\.value.text).joined(separator: ", ")) \(rows) ORDER BY Z_PK",
      cells.flatMap(\.value.arguments)
    )
  }

  /// A statement that counts the rows of a range of keys, those with anomalies, and those of each tally.
  var survey: String {
    let odd = anomalies.isEmpty ? "0" : anomalies.map { "(\($0))" }.joined(separator: " OR ")
    let counts = ([odd] + tallies.map(\.condition)).map { "count(CASE WHEN \($0) THEN 1 END)" }
    return "SELECT \((["count(*)"] + counts).joined(separator: ", ")) \(rows)"
  }
}

/// The pairs of a many-to-many relationship.
struct JoinTranslation {
  /// A query for `owner` and `member`, and their positions in the order of the other one, `place` and `inversePlace`.
  let pairs: String
  let place: JoinPlacement
  let ownerTable: String
  let memberTable: String

  /// The columns of the table, and their values, as expressions of a pair.
  var cells: [(name: String, value: String)] {
    let cells: [(String?, String)] = [
      (place.ownColumn, "owner"), (place.otherColumn, "member"), (place.orderColumn, "place"),
      (place.inverseOrderColumn, "inversePlace"),
    ]
    return cells.compactMap { name, value in name.map { (name: $0, value: value) } }
  }

  /// The pairs of which both records exist.
  var rows: String {
    "(\(pairs)) WHERE EXISTS (SELECT 1 FROM \(SQLFragment.new(ownerTable)) WHERE Z_PK = owner) "
      + "AND EXISTS (SELECT 1 FROM \(SQLFragment.new(memberTable)) WHERE Z_PK = member)"
  }

  var insertion: String {
    let cells = cells
    let names = cells.map { SQLiteName.quoted($0.name) }.joined(separator: ", ")
    return "INSERT INTO \(SQLFragment.new(place.table)) (\(names)) "
      + "SELECT \(cells.map(\.value).joined(separator: ", ")) FROM \(rows)"
  }
}

/// A to-many relationship that becomes to-one.
struct NarrowingTranslation {
  /// A query for `owner` and `member`.
  let pairs: String
  let column: String
  let destination: EntityPlacement
  let memberTable: String

  private var rows: String {
    "(\(pairs)) WHERE EXISTS (SELECT 1 FROM \(SQLFragment.new(memberTable)) WHERE Z_PK = member)"
  }

  /// A statement that finds whether a row would refer to several records.
  var survey: String {
    let owners = "SELECT Z_PK FROM \(SQLFragment.new(destination.tableName)) WHERE Z_ENT = \(destination.number)"
    return "SELECT EXISTS (SELECT 1 FROM \(rows) AND owner IN (\(owners)) GROUP BY owner HAVING count(*) > 1)"
  }

  /// Returns an expression for the one record of the row with a key, among the records whose keys `members` selects.
  func member(of key: String, among members: String) -> String {
    "(SELECT member FROM (\(pairs)) WHERE owner = \(key) AND member IN (\(members)))"
  }

  /// A statement that sets the one record of each row.
  var update: String {
    "UPDATE \(SQLFragment.new(destination.tableName)) SET \(SQLiteName.quoted(column)) = pair.member "
      + "FROM (SELECT owner, member FROM \(rows)) AS pair WHERE Z_PK = pair.owner AND Z_ENT = \(destination.number)"
  }
}

/// A relationship that becomes ordered: by the keys.
struct OrderTranslation: Hashable {
  let table: String
  /// The column with the keys of the owners.
  let column: String
  let orderColumn: String

  var update: String {
    let (table, column) = (SQLFragment.new(table), SQLiteName.quoted(column))
    return "UPDATE \(table) SET \(SQLiteName.quoted(orderColumn)) = numbered.place FROM "
      + "(SELECT Z_PK AS key, \(SQLFragment.place(among: column, by: "Z_PK")) AS place FROM \(table) "
      + "WHERE \(column) IS NOT NULL) AS numbered WHERE Z_PK = numbered.key"
  }
}

extension SQLFragment {
  /// Returns a table of the file from which the records are read.
  static func old(_ table: String) -> String { "\(SQLiteFile.sourceName).\(SQLiteName.quoted(table))" }

  /// Returns a table of the new file, or the view that shows what it would contain.
  static func new(_ table: String) -> String { SQLiteName.quoted(table) }

  /// Returns an expression for the position in an order, numbered as saves do.
  static func place(among owner: String, by order: String) -> String {
    "\(RelationshipWriter.gap) * row_number() OVER (PARTITION BY \(owner) ORDER BY \(order))"
  }
}
