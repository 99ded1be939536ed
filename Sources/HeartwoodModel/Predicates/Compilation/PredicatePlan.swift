/// A predicate that has been checked against an entity: keys are ordinals, constants are computed, variables have places.
package indirect enum PlanPredicate: Sendable, Hashable {
  case literal(Bool)
  case not(PlanPredicate)
  case and([PlanPredicate])
  case or([PlanPredicate])
  case comparison(PlanComparison)
}

/// A comparison whose sides fit its operator.
package struct PlanComparison: Sendable, Hashable {
  package let left: PlanExpression
  package let comparator: FetchComparison.Comparator
  package let right: PlanExpression
  package let modifier: FetchComparison.Modifier
  package let options: FetchComparison.Options
  /// What a constant right side of `LIKE` or `MATCHES` says.
  package let pattern: PlanPattern?

  package init(
    left: PlanExpression,
    comparator: FetchComparison.Comparator,
    right: PlanExpression,
    modifier: FetchComparison.Modifier,
    options: FetchComparison.Options,
    pattern: PlanPattern?
  ) {
    self.left = left
    self.comparator = comparator
    self.right = right
    self.modifier = modifier
    self.options = options
    self.pattern = pattern
  }
}

extension PlanComparison {
  /// The same comparison with its sides exchanged, where there is one.
  package var mirrored: PlanComparison? {
    let mirror: FetchComparison.Comparator
    switch comparator {
    case .equalTo, .notEqualTo: mirror = comparator
    case .lessThan: mirror = .greaterThan
    case .lessThanOrEqualTo: mirror = .greaterThanOrEqualTo
    case .greaterThan: mirror = .lessThan
    case .greaterThanOrEqualTo: mirror = .lessThanOrEqualTo
    default: return nil
    }
    return PlanComparison(
      left: right,
      comparator: mirror,
      right: left,
      modifier: modifier,
      options: options,
      pattern: nil
    )
  }

  /// The same comparison with its right side, of something else or made otherwise: what is nil stays.
  package func replacing(
    left: PlanExpression? = nil,
    comparator: FetchComparison.Comparator? = nil,
    modifier: FetchComparison.Modifier? = nil
  ) -> PlanComparison {
    PlanComparison(
      left: left ?? self.left,
      comparator: comparator ?? self.comparator,
      right: right,
      modifier: modifier ?? self.modifier,
      options: options,
      pattern: pattern
    )
  }
}

extension PlanComparison {
  // The pattern is made of the right side.
  package static func == (left: PlanComparison, right: PlanComparison) -> Bool {
    left.left == right.left && left.comparator == right.comparator && left.right == right.right
      && left.modifier == right.modifier && left.options == right.options
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(left)
    hasher.combine(comparator)
    hasher.combine(right)
    hasher.combine(modifier)
    hasher.combine(options)
  }
}

/// An expression that has been checked against an entity.
package indirect enum PlanExpression: Sendable, Hashable {
  case constant(PlanValue)
  /// The object that is tested.
  case subject
  /// The object that a subquery tests; 0 is the outermost one's.
  case variable(Int)
  /// A property of an object, or of each object of a collection.
  case property(of: PlanExpression, PlanProperty)
  case aggregate([PlanExpression])
  /// A value made of a collection.
  case collection(CollectionOperator, PlanExpression)
  case arithmetic(PlanExpression, FetchExpression.ArithmeticOperator, PlanExpression)
  case function(FetchFunction, [PlanExpression])
  case subquery(PlanExpression, variable: Int, PlanPredicate)
  case element(of: PlanExpression, ElementIndex)
  case cast(PlanExpression, FetchExpression.CastType)
  case conditional(PlanPredicate, PlanExpression, PlanExpression)

  package enum ElementIndex: Sendable, Hashable {
    case first, last
    case at(PlanExpression)
  }
}

/// A property as a plan names it.
package struct PlanProperty: Sendable, Hashable {
  /// The ordinal in the entity that the path has reached, and in its subentities.
  package let ordinal: Int
  /// The type of an attribute; nil for relationships.
  package let attributeType: AttributeType?
  package let isToMany: Bool
  /// The ordinal of the entity that a relationship leads to.
  package let destination: Int?
}

extension PlanPredicate {
  /// The conditions that all have to hold; none where it holds always.
  package var conjuncts: [PlanPredicate] {
    switch self {
    case .literal(true): []
    case .and(let terms): terms.flatMap(\.conjuncts)
    // A condition holds or does not: neither of two holds where both do not.
    case .not(.or(let terms)): terms.flatMap { PlanPredicate.not($0).conjuncts }
    case .not(.not(let term)): term.conjuncts
    case .literal, .not, .or, .comparison: [self]
    }
  }
}

extension PlanExpression {
  /// The constant value, where it is one.
  package var constant: PlanValue? {
    if case .constant(let value) = self { value } else { nil }
  }

  /// The property of the tested object itself that this is, or nil.
  package var ownProperty: PlanProperty? {
    if case .property(of: .subject, let property) = self { property } else { nil }
  }
}
