/// A column in the table of the destination that holds the key of the owner.
package struct ToManyPlacement: Sendable, Hashable {
  /// The table of the destination.
  let table: String
  let column: String
  /// The column beside it that holds the number of the owner's entity, as ``ToOnePlacement/entityColumn`` of the inverse.
  let entityColumn: String?
  /// The column by which the objects are ordered.
  let orderColumn: String?
  /// Whether the column belongs to this relationship, which has no inverse, and to no property of the destination. An object of the
  /// destination can then be in the relationship of one owner only.
  let ownsColumn: Bool
}
