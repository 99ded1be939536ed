/// A column with the key of the one object that a relationship leads to.
package struct ToOnePlacement: Sendable, Hashable {
  package let column: String
  /// The column with the number of that object's entity: only where the destination has subentities.
  let entityColumn: String?
  /// The column with the place of the row among those of the inverse, where that is ordered. The numbers have gaps.
  let orderColumn: String?
}
