import GRDB
import HeartwoodModel

/// Finds the entities whose records columns refer to, by the values of the columns.
struct KeySurvey {
  /// The table of each entity, by number.
  private let tables: [Int: TableSurvey]
  private let db: Database

  init(_ tables: [TableSurvey], _ db: Database) {
    self.tables = Dictionary(tables.flatMap { table in table.members.map { ($0.number, table) } }) { first, _ in first }
    self.db = db
  }

  /// Returns whether each value of a column is the key of a record of `entities`, which share a table; true for a
  /// column without values.
  func leads(_ column: String, of table: String, to entities: [Int]) throws -> Bool {
    guard let first = entities.first, let destination = tables[first] else { return false }
    let column = SQLiteName.quoted(column)
    let numbers = entities.map(String.init).joined(separator: ", ")
    let sql = """
      SELECT EXISTS (SELECT 1 FROM \(SQLiteName.quoted(table)) AS t WHERE t.\(column) IS NOT NULL AND NOT EXISTS
      (SELECT 1 FROM \(SQLiteName.quoted(destination.name)) AS d WHERE d.Z_PK = t.\(column) AND d.Z_ENT IN (\(numbers))))
      """
    return try Bool.fetchOne(db, sql: sql) == false
  }

  /// Returns the number of records that a column refers to, which must all be of `entity`, and the number of all records
  /// of `entity`.
  func coverage(of column: String, of table: String, by entity: Int) throws -> (found: Int, all: Int) {
    guard let destination = tables[entity] else { return (0, 0) }
    let name = SQLiteName.quoted(destination.name)
    let sql = """
      SELECT (SELECT count(DISTINCT \(SQLiteName.quoted(column))) FROM \(SQLiteName.quoted(table))),
      (SELECT count(*) FROM \(name) WHERE Z_ENT = \(entity))
      """
    guard let row = try Row.fetchOne(db, sql: sql) else { return (0, 0) }
    return (Int.fromDatabaseValue(row[0]) ?? 0, Int.fromDatabaseValue(row[1]) ?? 0)
  }

  /// Returns whether two columns refer from one record to another and back, for all records to which either refers; nil
  /// if neither refers to any.
  func agree(_ one: RecoveredLink, _ other: RecoveredLink) throws -> Bool? {
    func mismatches(_ link: RecoveredLink, _ back: RecoveredLink) -> String {
      let (own, others) = (SQLiteName.quoted(link.column), SQLiteName.quoted(back.column))
      return """
        (SELECT count(*) FROM \(SQLiteName.quoted(link.table)) AS t WHERE t.\(own) IS NOT NULL AND NOT EXISTS
        (SELECT 1 FROM \(SQLiteName.quoted(back.table)) AS d WHERE d.Z_PK = t.\(own) AND d.\(others) = t.Z_PK))
        """
    }
    func count(_ link: RecoveredLink) -> String {
      "(SELECT count(\(SQLiteName.quoted(link.column))) FROM \(SQLiteName.quoted(link.table)))"
    }
    let sql = "SELECT \(mismatches(one, other)), \(mismatches(other, one)), \(count(one)), \(count(other))"
    guard let row = try Row.fetchOne(db, sql: sql) else { return nil }
    let numbers = (0..<4).map { Int.fromDatabaseValue(row[$0]) ?? 0 }
    return numbers[2] + numbers[3] == 0 ? nil : numbers[0] + numbers[1] == 0
  }
}

/// A column that stores a to-one relationship.
struct RecoveredLink {
  let column: String
  /// The name of the column without the leading Z.
  let rest: String
  let table: String
  /// The number of the entity that has the relationship.
  let source: Int
  let destination: Int
  /// Whether the inverse is an ordered to-many relationship.
  let hasOrderedInverse: Bool
}

// MARK: Destinations

/// Distinguishes to-one relationships from numeric attributes.
struct LinkSurvey {
  private let keys: KeySurvey
  /// The entities without subentities: only these can be the destination of a relationship without a column beside it
  /// for the entity.
  private let leaves: [EntityTree.Entity]

  enum Finding {
    case attribute
    case destination(Int)
    /// It may refer to several entities, which cannot be distinguished.
    case ambiguous([String])
  }

  init(_ keys: KeySurvey, _ entities: [EntityTree.Entity]) {
    self.keys = keys
    let parents = Set(entities.compactMap(\.parent))
    leaves = entities.filter { !parents.contains($0.number) }
  }

  /// Returns the finding for a column of integers.
  ///
  /// - Parameter isBeforeAttribute: whether an attribute follows it, because Core Data puts relationships after all
  ///   attributes.
  func finding(
    _ column: TableSurvey.Column,
    in table: TableSurvey,
    _ content: ColumnContent,
    isBeforeAttribute: Bool
  ) throws -> Finding {
    if let destination = column.destination { return .destination(destination) }
    let isCertain = column.hasOrder
    guard isCertain || column.hasOwnIndex && !isBeforeAttribute && content.zeros == 0 else { return .attribute }
    // If there are no values, a wrong name does not affect reading.
    guard content.count > 0 else { return byName(column) }
    let fitting = try leaves.filter { try keys.leads(column.name, of: table.name, to: [$0.number]) }
    if fitting.count == 1 { return .destination(fitting[0].number) }
    // A key whose record is gone matches no entity, or others by chance.
    let namesake = leaves.first { SQLiteName.key($0.name) == SQLiteName.key(column.rest) }
    if let namesake { return .destination(namesake.number) }
    if fitting.isEmpty { return isCertain ? byName(column) : .attribute }
    if let best = Self.best(fitting, by: { Self.likeness($0.name, column.rest) }) { return .destination(best.number) }
    return try byCoverage(column, in: table, fitting)
  }

  private func byName(_ column: TableSurvey.Column) -> Finding {
    if let best = Self.best(leaves, by: { Self.likeness($0.name, column.rest) }) { return .destination(best.number) }
    if let only = leaves.first, leaves.count == 1 { return .destination(only.number) }
    return .ambiguous(leaves.map(\.name))
  }

  /// Returns the one of several possible destinations of a column of whose records the column refers to the greatest
  /// part, if that is far greater than for the others.
  private func byCoverage(
    _ column: TableSurvey.Column,
    in table: TableSurvey,
    _ entities: [EntityTree.Entity]
  ) throws -> Finding {
    let parts = try entities.map { entity in
      let (found, all) = try keys.coverage(of: column.name, of: table.name, by: entity.number)
      return (entity: entity, part: all == 0 ? 0 : Double(found) / Double(all))
    }.sorted { $0.part > $1.part }
    if parts[0].part >= 0.5, parts[1].part < parts[0].part / 2 { return .destination(parts[0].entity.number) }
    return .ambiguous(entities.map(\.name))
  }

  /// Returns the entity with the greatest score, if that is not 0 and no other has the same.
  private static func best(_ entities: [EntityTree.Entity], by mark: (EntityTree.Entity) -> Int) -> EntityTree.Entity? {
    let marked = entities.map { ($0, mark($0)) }
    guard let greatest = marked.map(\.1).max(), greatest > 0 else { return nil }
    let best = marked.filter { $0.1 == greatest }
    return best.count == 1 ? best[0].0 : nil
  }

  /// The minimum length of a part of a name: shorter ones may be the same by chance.
  private static let shortestPart = 4

  /// Returns how similar the names of an entity and of a relationship are: the same, one at the end of the other
  /// (`CoverImage` and `Image`), a common ending (`hasScene` and `EventScene`), or one at the beginning of the other
  /// (`notes` and `Note`, `onNetwork` and `NetworkFlow`). Of two similarities of the same kind, that with the longer
  /// part is greater.
  private static func likeness(_ entity: String, _ rest: String) -> Int {
    let (entity, name) = (Array(SQLiteName.key(entity).utf8), Array(SQLiteName.key(rest).utf8))
    if entity == name { return 4_000 }
    let ending = zip(entity.reversed(), name.reversed()).prefix { $0 == $1 }.count
    let shorter = min(entity.count, name.count)
    if ending == shorter, ending >= shortestPart - 1 { return 3_000 + ending }
    if ending >= shortestPart { return 2_000 + ending }
    guard shorter >= shortestPart else { return 0 }
    for length in (shortestPart...shorter).reversed()
    where name.suffix(length) == entity.prefix(length) || (length == shorter && name.starts(with: entity)) {
      return 1_000 + length
    }
    return 0
  }
}
