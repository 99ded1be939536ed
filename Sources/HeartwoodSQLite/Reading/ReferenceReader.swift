import GRDB
import GRDBSQLite
import HeartwoodModel
import HeartwoodStore

/// Reads the key of the destination of a to-one relationship.
///
/// It is a class, because copies of it are made for each row.
final class ReferenceReader: Sendable {
  private let index: CInt
  private let entityIndex: CInt?
  private let destination: EntityResolver

  init(index: CInt, entityIndex: CInt?, destination: EntityResolver) {
    self.index = index
    self.entityIndex = entityIndex
    self.destination = destination
  }

  /// - Throws: ``ValueFault``; nothing was appended then.
  func append(_ statement: SQLiteStatement, to column: ColumnBuilder) throws(ValueFault) {
    let form = sqlite3_column_type(statement, index)
    if form == SQLITE_NULL { return column.appendNull() }
    guard form == SQLITE_INTEGER else { throw .key(found: form) }
    column.append(
      toOne: .integer(sqlite3_column_int64(statement, index)),
      entityOrdinal: try entityOrdinal(statement)
    )
  }

  /// Returns the ordinal of the entity whose number is in the column beside the key, if there is one.
  private func entityOrdinal(_ statement: SQLiteStatement) throws(ValueFault) -> Int {
    guard let entityIndex else { return try destination.ordinal(nil) }
    let form = sqlite3_column_type(statement, entityIndex)
    if form == SQLITE_NULL { return try destination.ordinal(nil) }
    guard form == SQLITE_INTEGER else { throw .entityNumber(found: form) }
    return try destination.ordinal(ofEntity: Int(clamping: sqlite3_column_int64(statement, entityIndex)))
  }
}

/// Finds the entity of a record at the end of a relationship.
struct EntityResolver {
  let placement: EntityPlacement
  /// The ordinals of the destination and its subentities, by number, except for abstract ones.
  private let ordinals: [Int: Int]
  /// The ordinal of the only possible entity; nil if there are several.
  let singleOrdinal: Int?

  init(
    _ relationship: RelationshipDescription,
    of entity: EntityDescription,
    schema: SQLiteSchema,
    path: String
  ) throws(PersistenceError) {
    guard let destination = schema.model.entity(named: relationship.destinationEntityName),
      let placement = schema.placement(of: destination)
    else {
      throw PersistenceError(
        .entityUnknown,
        "The relationship refers to an entity that the store does not keep.",
        context: .init(path: path, storeType: .sqlite, entity: entity.name, property: relationship.name)
      )
    }
    self.placement = placement
    let members = schema.entities.compactMap(\.self).filter {
      $0.entity.isKind(of: destination) && !$0.entity.isAbstract
    }
    ordinals = Dictionary(members.map { ($0.number, $0.entity.ordinal) }) { first, _ in first }
    singleOrdinal = members.count == 1 ? members[0].entity.ordinal : nil
  }

  /// Returns the ordinal of the only possible entity, or else of the entity with `number`. Nil means that the row
  /// contains no number: the entity is then the destination itself.
  func ordinal(_ number: Int?) throws(ValueFault) -> Int {
    if let singleOrdinal { return singleOrdinal }
    if let number { return try ordinal(ofEntity: number) }
    if let ordinal = ordinals[placement.number] { return ordinal }
    throw ValueFault("does not contain the entity of the record to which it refers")
  }

  /// Returns the ordinal of the entity with `number`.
  func ordinal(ofEntity number: Int) throws(ValueFault) -> Int {
    if let ordinal = ordinals[number] { return ordinal }
    throw ValueFault(
      "refers to a record of the entity with the number \(number), which is not \(placement.entity.name)"
    )
  }
}

// MARK: Statement: rows

extension Statement {
  /// Steps to the next row, whose columns are then read from ``sqliteStatement``; returns false if there is none.
  @inline(__always)
  func nextRow() throws -> Bool {
    let code = sqlite3_step(sqliteStatement)
    if code == SQLITE_ROW { return true }
    guard code == SQLITE_DONE else { throw SQLiteFailure.step(code, of: sqliteStatement) }
    return false
  }
}

extension Statement {
  /// Restarts the statement, with the ends of `range` as the arguments.
  func begin(_ range: ClosedRange<Int64>) throws {
    sqlite3_reset(sqliteStatement)
    for (place, end) in [range.lowerBound, range.upperBound].enumerated() {
      let code = sqlite3_bind_int64(sqliteStatement, CInt(place + 1), end)
      guard code == SQLITE_OK else { throw SQLiteFailure.step(code, of: sqliteStatement) }
    }
  }

  /// Resets the statement, and releases the lock that reading its rows holds.
  func end() {
    sqlite3_reset(sqliteStatement)
  }
}
