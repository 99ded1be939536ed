import HeartwoodModel
import HeartwoodStore

/// The rows of one table in a query: those of the entity that is fetched, of a subquery, or at the end of relationships.
final class QueryScope {
  /// What the table is called in the query.
  let alias: String
  let placement: EntityPlacement
  /// The tables at the end of to-one relationships, by the ordinal of the relationship.
  private var destinations: [Int: QueryScope] = [:]
  /// The joins that lead to them, in order.
  private(set) var joins: [String] = []

  init(_ placement: EntityPlacement, alias: String) {
    self.placement = placement
    self.alias = alias
  }

  /// The key of the row.
  var key: String { "\(alias).Z_PK" }

  func column(_ name: String) -> String { "\(alias).\(SQLiteName.quoted(name))" }

  /// The table and what is joined to it, as it stands behind `FROM`.
  var source: String {
    (["\(SQLiteName.quoted(placement.tableName)) AS \(alias)"] + allJoins).joined(separator: " ")
  }

  /// What is joined to the table, by itself and by what is joined.
  var allJoins: [String] {
    destinations.isEmpty ? joins : joins + destinations.sorted { $0.key < $1.key }.flatMap { $0.value.allJoins }
  }

  /// The table at the end of a to-one relationship, joined where it has not been yet.
  func destination(_ ordinal: Int, _ placement: EntityPlacement, column: String, alias: () -> String) -> QueryScope {
    if let known = destinations[ordinal] { return known }
    let scope = QueryScope(placement, alias: alias())
    destinations[ordinal] = scope
    joins.append(
      "LEFT JOIN \(SQLiteName.quoted(placement.tableName)) AS \(scope.alias) ON \(scope.key) = \(self.column(column))"
    )
    return scope
  }
}
