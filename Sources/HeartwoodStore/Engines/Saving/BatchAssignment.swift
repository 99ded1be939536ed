package import HeartwoodModel

/// The new value of an attribute of many records.
package struct BatchAssignment: Sendable {
  package let ordinal: Int
  package let type: AttributeType
  package let expression: PlanExpression

  package init(ordinal: Int, type: AttributeType, expression: PlanExpression) {
    self.ordinal = ordinal
    self.type = type
    self.expression = expression
  }
}

/// Faults of many records, of which the first are kept.
package struct BatchFaults: Sendable {
  private static let mostKept = 100
  private(set) var faults: [ValidationFault] = []

  package init() {}

  package mutating func append(_ more: [ValidationFault]) {
    faults += more.prefix(max(0, Self.mostKept - faults.count))
  }

  package func check() throws(PersistenceError) {
    if !faults.isEmpty { throw .validationFailed(faults) }
  }
}
