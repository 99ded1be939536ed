/// What is made of the records of a group: their number, a sum and the like.
package struct AggregatePlan: Sendable {
  /// One of the functions that take a collection.
  package let function: FetchFunction
  /// What is taken of each record.
  package let operand: PlanExpression
  /// Whether values that are the same count once.
  package let isDistinct: Bool

  package init(_ function: FetchFunction, of operand: PlanExpression, isDistinct: Bool = false) {
    self.function = function
    self.operand = operand
    self.isDistinct = isDistinct
  }

  /// Whether it is the number of records, of which each counts.
  package var countsRecords: Bool {
    if case .subject = operand, function == .count { !isDistinct } else { false }
  }
}
