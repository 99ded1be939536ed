import GRDB
import HeartwoodModel

/// Writes what a to-many relationship of one record leads to.
struct RelationshipWriter {
  private enum Place {
    /// Rows of the destination say whom they belong to, in a column of the relationship or of its inverse.
    case rows(ToManyMapping)
    case join(JoinMapping)
  }

  /// How far apart the places of ordered records are, so that others find room between them.
  static let gap: Int64 = 1024

  private let place: Place
  private let writer: RecordWriter

  /// Nil where there is nothing to write.
  init?(_ property: PropertyMapping?, writer: RecordWriter) {
    switch property {
    case .toMany(let mapping):
      guard mapping.ownsColumn || mapping.orderColumn != nil else { return nil }
      place = .rows(mapping)
    case .join(let mapping): place = .join(mapping)
    default: return nil
    }
    self.writer = writer
  }

  /// Lets the owner lead to the records with the keys `new`, in this order, where it led to `old`.
  func replace(_ old: [Int64], by new: [Int64], ofOwner owner: Int64) throws {
    let removed = Set(old).subtracting(new)
    let kept = Set(old).intersection(new)
    let added = new.filter { !kept.contains($0) }
    switch place {
    case .rows(let mapping):
      // The inverse writes its column itself.
      if mapping.ownsColumn {
        try take(removed.sorted(), from: owner, mapping)
        try give(added, to: owner, mapping)
      }
      try order(new, of: owner, mapping)
    case .join(let mapping): try join(owner, removed.sorted(), added, new, mapping)
    }
  }

  /// A record that has gone to another owner since keeps its place there: its own row says whom it belongs to.
  private func order(_ keys: [Int64], of owner: Int64, _ mapping: ToManyMapping) throws {
    guard let orderColumn = mapping.orderColumn else { return }
    let text =
      "UPDATE \(SQLiteName.quoted(mapping.table)) SET \(SQLiteName.quoted(orderColumn)) = ?"
      + " WHERE Z_PK = ? AND \(SQLiteName.quoted(mapping.column)) = ?"
    for (index, key) in keys.enumerated() { try writer.execute(text, [Int64(index + 1) * Self.gap, key, owner]) }
  }

  private func give(_ keys: [Int64], to owner: Int64, _ mapping: ToManyMapping) throws {
    let text = "UPDATE \(SQLiteName.quoted(mapping.table)) SET \(SQLiteName.quoted(mapping.column)) = ? WHERE Z_PK = ?"
    for key in keys { try writer.execute(text, [owner, key]) }
  }

  /// What another owner has taken already, in the same save or an earlier one, stays there.
  private func take(_ keys: [Int64], from owner: Int64, _ mapping: ToManyMapping) throws {
    let column = SQLiteName.quoted(mapping.column)
    let text = "UPDATE \(SQLiteName.quoted(mapping.table)) SET \(column) = NULL WHERE Z_PK = ? AND \(column) = ?"
    for key in keys { try writer.execute(text, [key, owner]) }
  }

  // MARK: Pairs

  private func join(
    _ owner: Int64,
    _ removed: [Int64],
    _ added: [Int64],
    _ all: [Int64],
    _ mapping: JoinMapping
  ) throws {
    let table = SQLiteName.quoted(mapping.table)
    let (own, other) = (SQLiteName.quoted(mapping.ownColumn), SQLiteName.quoted(mapping.otherColumn))
    for key in removed {
      try writer.execute("DELETE FROM \(table) WHERE \(own) = ? AND \(other) = ?", [owner, key])
      if mapping.isReflexive {
        try writer.execute("DELETE FROM \(table) WHERE \(own) = ? AND \(other) = ?", [key, owner])
      }
    }
    let insertion = "INSERT INTO \(table) (\(own), \(other)) SELECT ?1, ?2 WHERE "
    let (isThere, isReversed) = ("(\(own) = ?1 AND \(other) = ?2)", "(\(own) = ?2 AND \(other) = ?1)")
    // The inverse writes the same pairs, and a relationship that is its own inverse has a pair once, or once for each order.
    let hasOneRow = mapping.isReflexive && mapping.orderColumn == nil
    let isWritten = hasOneRow ? "\(isThere) OR \(isReversed)" : isThere
    let addition = insertion + "NOT EXISTS (SELECT 1 FROM \(table) WHERE \(isWritten))"
    for key in added { try writer.execute(addition, [owner, key]) }
    guard let orderColumn = mapping.orderColumn else { return }
    if mapping.isReflexive {
      let completion =
        insertion + "EXISTS (SELECT 1 FROM \(table) WHERE \(isReversed))"
        + " AND NOT EXISTS (SELECT 1 FROM \(table) WHERE \(isThere))"
      for key in all { try writer.execute(completion, [owner, key]) }
    }
    let update = "UPDATE \(table) SET \(SQLiteName.quoted(orderColumn)) = ? WHERE \(own) = ? AND \(other) = ?"
    for (index, key) in all.enumerated() { try writer.execute(update, [Int64(index + 1) * Self.gap, owner, key]) }
  }
}
