/// An attribute of an entity whose values have rules, made ready to check many values.
package struct RuledAttribute: Sendable {
  /// The place among the entity's properties.
  package let ordinal: Int
  package let name: String
  package let type: AttributeType
  package let rules: AttributeRules
  /// The pattern of the rules, compiled once for the model.
  package let pattern: TextPattern?
  /// The predicates of the rules, compiled once for the model.
  package let conditions: [ValueCondition]

  /// The property at `ordinal` where it is a stored attribute with rules. The rules have been validated.
  init?(_ property: PropertyDescription, ordinal: Int) {
    guard let attribute = property.attribute, !attribute.isTransient, !attribute.rules.isEmpty else { return nil }
    self.ordinal = ordinal
    self.name = attribute.name
    self.type = attribute.type
    self.rules = attribute.rules
    // try?: a model with a pattern that is none is refused before.
    self.pattern = attribute.rules.pattern.flatMap { try? TextPattern($0) }
    self.conditions = attribute.rules.predicates.compactMap { try? ValueCondition($0, type: attribute.type) }
  }
}
