import GRDB
import HeartwoodModel
import HeartwoodStore

/// Writes what a to-many relationship of one record leads to.
struct RelationshipWriter {
  private enum Place {
    /// Rows of the destination say whom they belong to, in a column of the relationship or of its inverse.
    case rows(ToManyPlacement)
    case join(JoinPlacement)
  }

  /// How far apart the places of ordered records are, so that others find room between them.
  static let gap: Int64 = 1024

  private let place: Place
  /// Where the owners are, and which of their properties it is.
  private let owners: EntityPlacement
  private let ordinal: Int
  private let writer: RecordWriter

  /// Nil where there is nothing to write.
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

  /// Whether the rows of the records say whose they are in a column of this relationship.
  var ownsColumn: Bool {
    if case .rows(let placement) = place { placement.ownsColumn } else { false }
  }

  /// Lets go of the records that are among the keys `old` and not among `new`, where their own rows say whose they are: another owner may
  /// take them in the same save.
  func release(_ old: [Int64], by new: [Int64], ofOwner owner: Int64) throws {
    guard case .rows(let placement) = place, placement.ownsColumn else { return }
    try take(Set(old).subtracting(new).sorted(), from: owner, placement)
  }

  /// Lets the owner lead to the records with the keys `new`, in this order, where it led to `old`; it has released the others.
  func replace(_ old: [Int64], by new: [Int64], ofOwner owner: Int64) throws {
    let removed = Set(old).subtracting(new)
    let kept = Set(old).intersection(new)
    let added = new.filter { !kept.contains($0) }
    switch place {
    case .rows(let placement):
      // The inverse writes its column itself.
      if placement.ownsColumn { try give(added, to: owner, placement) }
      try order(new, of: owner, placement)
    case .join(let placement): try join(owner, removed.sorted(), added, new, placement)
    }
  }

  /// A record that has gone to another owner since keeps its place there: its own row says whom it belongs to.
  private func order(_ keys: [Int64], of owner: Int64, _ placement: ToManyPlacement) throws {
    guard let orderColumn = placement.orderColumn else { return }
    let text =
      "UPDATE \(SQLiteName.quoted(placement.table)) SET \(SQLiteName.quoted(orderColumn)) = ?"
      + " WHERE Z_PK = ? AND \(SQLiteName.quoted(placement.column)) = ?"
    for (index, key) in keys.enumerated() { try writer.execute(text, [Int64(index + 1) * Self.gap, key, owner]) }
  }

  /// A record that another owner has is not taken from that: it would lose the record in silence. What an owner had that is gone is free.
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

  /// Refuses a record that is there and was not given to an owner.
  private func checkIsGone(_ key: Int64, _ placement: ToManyPlacement) throws {
    let query = "SELECT EXISTS (SELECT 1 FROM \(SQLiteName.quoted(placement.table)) WHERE Z_PK = ?)"
    guard try Bool.fetchOne(try writer.db.cachedStatement(sql: query), arguments: [key]) ?? false else { return }
    throw PersistenceError.severalOwners(of: .integer(key), ordinal, of: owners.entity, path: writer.path)
  }

  /// What another owner has taken already, in the same save or an earlier one, stays there.
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
    // The inverse writes the same pairs, and a relationship that is its own inverse has a pair once, or once for each order.
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
