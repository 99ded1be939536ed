#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A ``ValidationPredicate`` made ready to check many values of one type.
package struct ValueCondition: Sendable {
  /// What is wrong with a value that does not meet the condition.
  package let warning: String
  private let predicate: FetchPredicate
  private let plan: PlanPredicate
  private let model: ManagedObjectModel
  private let entity: EntityDescription
  /// Whether what the condition says depends on when it is asked.
  private let isTimeDependent: Bool

  private static let valueName = "value"

  /// - Throws: ``FetchPredicateError`` where the predicate does not suit values of `type`.
  init(_ condition: ValidationPredicate, type: AttributeType) throws(FetchPredicateError) {
    // The value is seen as the one attribute of an object.
    guard
      // try?: it is a model that has no faults.
      let model = try? ManagedObjectModel(entities: [.entity("Value", .attribute(Self.valueName, type, optional: true))]
      )
    else { preconditionFailure("A model of one attribute has no faults.") }
    self.model = model
    entity = model.entities[0]
    warning = condition.warning
    predicate = condition.predicate.replacingSelf(with: .key(Self.valueName))
    plan = try PredicateCompiler.compile(predicate, for: entity, in: model)
    isTimeDependent = "\(predicate)".contains("now()")
  }

  /// Whether `value`, which fits the type, meets the condition.
  package func holds(for value: PropertyValue) -> Bool {
    // try?: it was compiled before, with another time.
    let current = isTimeDependent ? try? PredicateCompiler.compile(predicate, for: entity, in: model) : nil
    return PredicateEvaluator(LoneValue(entity: entity)).matches(current ?? plan, value)
  }

  /// A value that is the only attribute of an object without relationships.
  private struct LoneValue: PredicateSource {
    let entity: EntityDescription

    func value(_ ordinal: Int, of subject: PropertyValue) -> PropertyValue { subject }

    func objectID(of subject: PropertyValue) -> ManagedObjectID? { nil }

    func subject(_ id: ManagedObjectID) -> PropertyValue? { nil }
  }
}
