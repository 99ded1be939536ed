import GRDB
import HeartwoodModel
import HeartwoodStore

/// A table of records, and the possible meanings of its columns by their names and indexes.
struct TableSurvey {
  /// A column for a property.
  struct Column {
    /// The name in the file.
    let name: String
    /// The name without the leading Z.
    let rest: String
    /// The declared type, in upper case.
    let type: String
    /// Whether the column has an index as Core Data creates it for each to-one relationship.
    let hasOwnIndex: Bool
    /// The number of the destination entity of a to-one relationship, if a column beside it contains it (`Z9_OWNER`).
    let destination: Int?
    /// Whether a column contains the positions in an ordered inverse (`Z_FOK_OWNER`).
    let hasOrder: Bool
  }

  /// A column with the key of the owner in a to-many relationship without an inverse, `Z3CHILDREN`.
  struct Owner {
    let name: String
    let entity: Int
    let rest: String
    let isOrdered: Bool
  }

  /// An index that a model declares.
  struct Index {
    let name: String
    let isUnique: Bool
    let columns: [String]
  }

  let name: String
  let root: EntityTree.Entity
  /// The root entity and all its subentities.
  let members: [EntityTree.Entity]
  private(set) var columns: [Column] = []
  private(set) var owners: [Owner] = []
  private(set) var indexes: [Index] = []
  /// Columns that cannot belong to a property of a model.
  private(set) var foreignColumns: [String] = []

  private static let fixed: Set = [SQLiteName.primaryKey, SQLiteName.entity, SQLiteName.version]

  init(_ table: FileCatalog.Table, root: EntityTree.Entity, members: [EntityTree.Entity], _ db: Database) throws {
    (name, self.root, self.members) = (table.name, root, members)
    let rows = try Row.fetchAll(
      db,
      sql: "SELECT name FROM pragma_table_info(?) ORDER BY cid",
      arguments: [table.name]
    )
    let names = rows.compactMap { String.fromDatabaseValue($0[0]) }
    let ownIndexes = try readIndexes(db)
    for name in names where !Self.fixed.contains(SQLiteName.key(name)) {
      guard let column = table[name] else { continue }
      sort(column, in: table, hasOwnIndex: ownIndexes.contains(SQLiteName.key(name)))
    }
  }

  /// Reads the indexes, and returns the columns that have one of their own.
  private mutating func readIndexes(_ db: Database) throws -> Set<String> {
    var own: Set<String> = []
    let sql = "SELECT name, \"unique\" FROM pragma_index_list(?) WHERE origin = 'c'"
    for row in try Row.fetchAll(db, sql: sql, arguments: [name]) {
      guard let index = String.fromDatabaseValue(row[0]) else { continue }
      let columnSQL = "SELECT name FROM pragma_index_info(?) ORDER BY seqno"
      let columns = try Row.fetchAll(db, sql: columnSQL, arguments: [index]).map { String.fromDatabaseValue($0[0]) }
      let names = columns.compactMap(\.self)
      guard names.count == columns.count, let first = names.first else { continue }
      if names.count == 1, SQLiteName.isNumbered(index, of: "\(name)_\(first)_INDEX") {
        own.insert(SQLiteName.key(first))
      } else {
        indexes.append(Index(name: index, isUnique: Int.fromDatabaseValue(row[1]) == 1, columns: names))
      }
    }
    return own
  }

  private mutating func sort(_ column: FileCatalog.Column, in table: FileCatalog.Table, hasOwnIndex: Bool) {
    let key = SQLiteName.key(column.name)
    guard key.hasPrefix("Z"), key.count > 1 else { return foreignColumns.append(column.name) }
    let rest = String(column.name.dropFirst())
    if key.hasPrefix(SQLiteName.orderPrefix), isOrder(String(key.dropFirst(SQLiteName.orderPrefix.count)), table) {
      return
    }
    if let numbered = NumberedName(rest) {
      if numbered.isBehindUnderscore, table["Z" + numbered.rest] != nil { return }
      if !numbered.isBehindUnderscore, column.type == SQLiteColumnType.integer.rawValue {
        let order = table["\(SQLiteName.orderPrefix)\(rest)"]
        owners.append(
          Owner(name: column.name, entity: numbered.number, rest: numbered.rest, isOrdered: order != nil)
        )
        return
      }
    }
    columns.append(
      Column(
        name: column.name,
        rest: rest,
        type: column.type,
        hasOwnIndex: hasOwnIndex,
        destination: Self.destination(rest, table),
        hasOrder: table[SQLiteName.orderPrefix + rest] != nil
      )
    )
  }

  /// Returns whether a column contains positions of the rows for another column.
  private func isOrder(_ rest: String, _ table: FileCatalog.Table) -> Bool { table["Z" + rest] != nil }

  /// Returns the number in the name of the column with the entities of a to-one relationship.
  private static func destination(_ rest: String, _ table: FileCatalog.Table) -> Int? {
    let beside = table.columns { SQLiteName.hasForm($0, prefix: "Z", rest: "_" + rest) }
    return beside.compactMap { column in
      NumberedName(String(column.name.dropFirst())).flatMap { name in
        name.isBehindUnderscore && SQLiteName.key(name.rest) == SQLiteName.key(rest) ? name.number : nil
      }
    }.first
  }
}

// MARK: NumberedName

/// A name that begins with the number of an entity: `9_OWNER`, `3CHILDREN`.
struct NumberedName {
  let number: Int
  let rest: String
  let isBehindUnderscore: Bool

  init?(_ text: String) {
    let digits = text.prefix { ("0"..."9").contains($0) }
    guard let number = Int(digits), digits.count < text.count else { return nil }
    let tail = text.dropFirst(digits.count)
    self.number = number
    isBehindUnderscore = tail.first == "_" && tail.count > 1
    rest = String(isBehindUnderscore ? tail.dropFirst() : tail)
  }
}

// MARK: ColumnContent

/// The values in a column, counted by their form, and the entities of their rows.
struct ColumnContent {
  /// The number of integers; the other counts are for other forms.
  private(set) var integers = 0
  private(set) var reals = 0
  /// The number of reals without a fraction.
  private(set) var wholeReals = 0
  private(set) var texts = 0
  private(set) var blobs = 0
  /// The number of integers that are 0 or 1.
  private(set) var flags = 0
  private(set) var zeros = 0
  /// The number of blobs of 16 bytes.
  private(set) var sixteens = 0
  /// The number of blobs that begin as the data of an attribute with external storage does, for data in the row and in
  /// a file.
  private(set) var inlineMarks = 0
  private(set) var fileMarks = 0
  /// The entities of rows with a value.
  private(set) var entities: Set<Int> = []

  var count: Int { integers + reals + texts + blobs }

  private static let sums = [
    "typeof(C) = 'integer'", "typeof(C) = 'real'", "typeof(C) = 'real' AND C = round(C)", "typeof(C) = 'text'",
    "typeof(C) = 'blob'", "typeof(C) = 'integer' AND C IN (0, 1)", "typeof(C) = 'integer' AND C = 0",
    "typeof(C) = 'blob' AND length(C) = 16", "typeof(C) = 'blob' AND substr(C, 1, 1) = x'01'",
    "typeof(C) = 'blob' AND substr(C, 1, 1) = x'02' AND length(C) BETWEEN 37 AND 38",
  ]

  init(of column: String, in table: String, _ db: Database) throws {
    let (column, table) = (SQLiteName.quoted(column), SQLiteName.quoted(table))
    let sums = Self.sums.map { "sum(\($0.replacing("C", with: "c.v")))" }.joined(separator: ", ")
    let sql =
      "SELECT e, \(sums) FROM (SELECT Z_ENT AS e, \(column) AS v FROM \(table) WHERE \(column) IS NOT NULL) AS c GROUP BY e"
    for row in try Row.fetchAll(db, sql: sql) {
      if let entity = Int.fromDatabaseValue(row[0]) { entities.insert(entity) }
      let counts = (1...Self.sums.count).map { Int.fromDatabaseValue(row[$0]) ?? 0 }
      integers += counts[0]
      reals += counts[1]
      wholeReals += counts[2]
      texts += counts[3]
      blobs += counts[4]
      flags += counts[5]
      zeros += counts[6]
      sixteens += counts[7]
      inlineMarks += counts[8]
      fileMarks += counts[9]
    }
  }
}

extension ColumnContent {
  /// The minimum number of rows of data whose first byte alone shows that they are marked: fewer could be so by chance.
  private static let tellingCount = 4

  /// Returns the type with which all values can be read, and whether data may be in files beside the store. The
  /// declared type of the column is used only as far as the values match it.
  ///
  /// - Parameter isNamedAsFlag: whether the name of the column is typical of boolean attributes.
  func attributeType(declared: String, isNamedAsFlag: Bool) -> (type: AttributeType, isExternal: Bool) {
    let numbers = integers + reals
    switch SQLiteColumnType(rawValue: declared) {
    case .timestamp where numbers == count: return (.date, false)
    case .float where numbers == count: return (.double, false)
    case .decimal where blobs == 0: return (.decimal, false)
    case .text where texts == count: return (.string, false)
    case .integer where integers + wholeReals == count:
      return (isNamedAsFlag && count > 0 && flags == count ? .boolean : .integer64, false)
    case .blob where blobs == count: return dataType
    default: return (typeOfValues, blobs == count && dataType.isExternal)
    }
  }

  private var typeOfValues: AttributeType {
    if blobs == count { return dataType.type }
    if texts == count { return .string }
    return integers + wholeReals == count ? .integer64 : .double
  }

  private var dataType: (type: AttributeType, isExternal: Bool) {
    if blobs > 0, sixteens == blobs { return (.uuid, false) }
    let areMarked = blobs > 0 && inlineMarks + fileMarks == blobs
    return (.binary, areMarked && (fileMarks > 0 || inlineMarks >= Self.tellingCount))
  }

  /// Whether all data begins as marked data does, but there is too little of it to be sure.
  var mayBeMarked: Bool { blobs > 0 && inlineMarks == blobs && inlineMarks < Self.tellingCount }

  /// Whether no single type can read all values.
  var isMixed: Bool { [integers + reals, texts, blobs].count { $0 > 0 } > 1 }
}
