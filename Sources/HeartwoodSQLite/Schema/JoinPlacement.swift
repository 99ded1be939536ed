/// A table with a row for each pair of objects.
package struct JoinPlacement: Sendable, Hashable {
  package let table: String
  /// The column with the key of the object whose relationship it is.
  package let ownColumn: String
  /// The column with the key of an object that the relationship leads to.
  package let otherColumn: String
  /// The column by which the objects of the relationship are ordered, where they are.
  package let orderColumn: String?
  /// The same of the inverse, for the same rows.
  let inverseOrderColumn: String?
  /// Whether the relationship is its own inverse, so that a pair holds in both directions, however many rows there are for it.
  let isReflexive: Bool

  /// The same table as the inverse has it.
  var inverse: JoinPlacement {
    JoinPlacement(
      table: table,
      ownColumn: otherColumn,
      otherColumn: ownColumn,
      orderColumn: inverseOrderColumn,
      inverseOrderColumn: orderColumn,
      isReflexive: isReflexive
    )
  }
}
