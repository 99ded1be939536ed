import GRDB
import HeartwoodModel

/// A table of a many-to-many relationship and its inverse.
struct JoinSurvey {
  let table: String
  /// The entity that has the relationship, and its destination.
  let source: Int
  let destination: Int
  /// The names of the relationship and of its inverse, as they are in the file.
  let rest: String
  let inverseRest: String
  let isOrdered: Bool
  let hasOrderedInverse: Bool
  /// Whether the relationship is its own inverse.
  let isReflexive: Bool

  /// Reads the names of a table and its columns; returns nil for another table.
  ///
  /// - Parameter keys: returns whether the values of a column are keys of an entity; called for each way to interpret
  ///   the columns.
  init?(_ table: FileCatalog.Table, _ keys: (_ column: String, _ entity: Int) throws -> Bool) rethrows {
    guard table.name.hasPrefix("Z_"), let own = NumberedName(String(table.name.dropFirst("Z_".count))),
      !own.isBehindUnderscore
    else { return nil }
    let names = table.columns { !SQLiteName.key($0).hasPrefix(SQLiteName.orderPrefix) }.map(\.name)
    guard names.count == 2 else { return nil }
    self.table = table.name
    source = own.number
    if let reflexive = names.first(where: { SQLiteName.key($0) == SQLiteName.reflexive }) {
      let column = names[0] == reflexive ? names[1] : names[0]
      guard let name = Self.numbered(column) else { return nil }
      (destination, rest, inverseRest, isReflexive) = (own.number, name.rest, name.rest, true)
      (isOrdered, hasOrderedInverse) = (Self.hasOrder(beside: column, table), false)
      return
    }
    guard let pair = try Self.pair(names, own, keys) else { return nil }
    (destination, rest, inverseRest, isReflexive) = (pair.other.number, own.rest, pair.own.rest, false)
    isOrdered = Self.hasOrder(beside: pair.otherColumn, table)
    hasOrderedInverse = Self.hasOrder(beside: pair.ownColumn, table)
  }

  private struct Pair {
    let ownColumn: String
    let own: NumberedName
    let otherColumn: String
    let other: NumberedName
  }

  /// Returns the columns, with the one for the owners' keys first: the other one has the name of the table.
  private static func pair(
    _ names: [String],
    _ table: NumberedName,
    _ keys: (String, Int) throws -> Bool
  ) rethrows -> Pair? {
    var found: [Pair] = []
    for (own, other) in [(names[0], names[1]), (names[1], names[0])] {
      guard let ownName = numbered(own), let otherName = numbered(other),
        SQLiteName.isNumbered(otherName.rest, of: table.rest), try keys(own, table.number),
        try keys(other, otherName.number)
      else { continue }
      found.append(Pair(ownColumn: own, own: ownName, otherColumn: other, other: otherName))
    }
    // If both fit, the two relationships have the same name, and the number in the owner's column is that of the table.
    return found.first { $0.own.number == table.number } ?? found.first
  }

  private static func numbered(_ column: String) -> NumberedName? {
    guard column.hasPrefix("Z_") else { return nil }
    return NumberedName(String(column.dropFirst("Z_".count))).flatMap { $0.isBehindUnderscore ? nil : $0 }
  }

  private static func hasOrder(beside column: String, _ table: FileCatalog.Table) -> Bool {
    let name = SQLiteName.joinOrder(column)
    let digits = name.reversed().prefix { ("0"..."9").contains($0) }.count
    return table[name] != nil || digits > 0 && table[String(name.dropLast(digits))] != nil
  }
}
