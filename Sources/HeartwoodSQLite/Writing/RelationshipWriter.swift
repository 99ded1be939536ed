import GRDB
import HeartwoodModel
import HeartwoodStore

/// Writes the destinations of a to-many relationship of one record.
struct RelationshipWriter {
  private enum Place {
    /// Each row of the destination refers to its owner, in a column of the relationship or of its inverse.
    case rows(ToManyPlacement)
    case join(JoinPlacement)
  }

  /// The distance between the positions of ordered records, so that records can be inserted between them.
  static let gap: Int64 = 1024

  private let place: Place
  /// The placement of the owners, and the property that is written.
  private let owners: EntityPlacement
  private let ordinal: Int
  private let writer: RecordWriter

  /// Returns nil if there is nothing to write.
  init?(_ ordinal: Int, of owners: EntityPlacement, writer: RecordWriter) {
    switch owners.properties[ordinal] {
    case .toMany(let placement):
      guard placement.ownsColumn || placement.orderColumn != nil else { return nil }
      place = .rows(placement)
    case .join(let placement): place = .join(placement)
    default: return nil
    }
    (self.owners, self.ordinal, self.writer) = (owners, ordinal, writer)
  }

  /// Whether the rows of the records refer to their owner in a column of this relationship.
  var ownsColumn: Bool {
    if case .rows(let placement) = place { placement.ownsColumn } else { false }
  }

  /// Releases the records whose keys are in `old` but not in `new`, if their own rows refer to the owner: another owner
  /// may take them in the same save.
  func release(_ old: [Int64], by new: [Int64], ofOwner owner: Int64) throws {
    guard case .rows(let placement) = place, placement.ownsColumn else { return }
    try take(Set(old).subtracting(new).sorted(), from: owner, placement)
  }

  /// Sets the records of the owner to those with the keys `new`, in this order, in place of `old`; the removed ones
  /// must have been released.
  func replace(_ old: [Int64], by new: [Int64], ofOwner owner: Int64) throws {
    let removed = Set(old).subtracting(new)
    let kept = Set(old).intersection(new)
    let added = new.filter { !kept.contains($0) }
    switch place {
    case .rows(let placement):
      // The inverse writes its own column.
      if placement.ownsColumn { try give(added, to: owner, placement) }
      try order(new, of: owner, placement)
    case .join(let placement): try join(owner, removed.sorted(), added, new, placement)
    }
  }

  /// Writes the order. A record that has moved to another owner keeps its position there: its own row refers to its
  /// owner.
  private func order(_ keys: [Int64], of owner: Int64, _ placement: ToManyPlacement) throws {
    guard let orderColumn = placement.orderColumn else { return }
    let text =
      "UPDATE \(SQLiteName.quoted(placement.table)) SET \(SQLiteName.quoted(orderColumn)) = ?"
      + " WHERE Z_PK = ? AND \(SQLiteName.quoted(placement.column)) = ?"
    for (index, key) in keys.enumerated() { try writer.execute(text, [Int64(index + 1) * Self.gap, key, owner]) }
  }

  /// Assigns records to the owner. A record of another owner is not taken, because that owner would lose it without
  /// notice. A record whose owner is gone is available.
  private func give(_ keys: [Int64], to owner: Int64, _ placement: ToManyPlacement) throws {
    let (table, column) = (SQLiteName.quoted(placement.table), SQLiteName.quoted(placement.column))
    let text =
      "UPDATE \(table) SET \(column) = ?1 WHERE Z_PK = ?2 AND NOT EXISTS (SELECT 1 FROM "
      + "\(SQLiteName.quoted(owners.tableName)) AS owner WHERE owner.Z_PK = \(table).\(column) AND owner.Z_PK <> ?1)"
    for key in keys {
      try writer.execute(text, [owner, key])
      if writer.db.changesCount == 0 { try checkIsGone(key, placement) }
    }
  }

  /// Refuses a record that exists and could not be assigned to the owner.
  private func checkIsGone(_ key: Int64, _ placement: ToManyPlacement) throws {
    let query = "SELECT EXISTS (SELECT 1 FROM \(SQLiteName.quoted(placement.table)) WHERE Z_PK = ?)"
    guard try Bool.fetchOne(try writer.db.cachedStatement(sql: query), arguments: [key]) ?? false else { return }
    throw PersistenceError.severalOwners(of: .integer(key), ordinal, of: owners.entity, path: writer.path)
  }

  /// Removes records from the owner. A record that another owner has already taken, in the same save or an earlier one,
  /// stays there.
  private func take(_ keys: [Int64], from owner: Int64, _ placement: ToManyPlacement) throws {
    let column = SQLiteName.quoted(placement.column)
    let text = "UPDATE \(SQLiteName.quoted(placement.table)) SET \(column) = NULL WHERE Z_PK = ? AND \(column) = ?"
    for key in keys { try writer.execute(text, [key, owner]) }
  }

  // MARK: Pairs

  private func join(
    _ owner: Int64,
    _ removed: [Int64],
    _ added: [Int64],
    _ all: [Int64],
    _ placement: JoinPlacement
  ) throws {
    let table = SQLiteName.quoted(placement.table)
    let (own, other) = (SQLiteName.quoted(placement.ownColumn), SQLiteName.quoted(placement.otherColumn))
    for key in removed {
      try writer.execute("DELETE FROM \(table) WHERE \(own) = ? AND \(other) = ?", [owner, key])
      if placement.isReflexive {
        try writer.execute("DELETE FROM \(table) WHERE \(own) = ? AND \(other) = ?", [key, owner])
      }
    }
    let insertion = "INSERT INTO \(table) (\(own), \(other)) SELECT ?1, ?2 WHERE "
    let (isThere, isReversed) = ("(\(own) = ?1 AND \(other) = ?2)", "(\(own) = ?2 AND \(other) = ?1)")
    // The inverse writes the same pairs, and a relationship that is its own inverse has a pair once, or once for each
    // order.
    let hasOneRow = placement.isReflexive && placement.orderColumn == nil
    let isWritten = hasOneRow ? "\(isThere) OR \(isReversed)" : isThere
    let addition = insertion + "NOT EXISTS (SELECT 1 FROM \(table) WHERE \(isWritten))"
    for key in added { try writer.execute(addition, [owner, key]) }
    guard let orderColumn = placement.orderColumn else { return }
    if placement.isReflexive {
      let completion =
        insertion + "EXISTS (SELECT 1 FROM \(table) WHERE \(isReversed))"
        + " AND NOT EXISTS (SELECT 1 FROM \(table) WHERE \(isThere))"
      for key in all { try writer.execute(completion, [owner, key]) }
    }
    let update = "UPDATE \(table) SET \(SQLiteName.quoted(orderColumn)) = ? WHERE \(own) = ? AND \(other) = ?"
    for (index, key) in all.enumerated() { try writer.execute(update, [Int64(index + 1) * Self.gap, owner, key]) }
  }
}
