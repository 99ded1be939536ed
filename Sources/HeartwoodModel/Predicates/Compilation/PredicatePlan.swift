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

// MARK: Data

// What a plan needs of data, which a store may have and not be able to read: whether there are some is known all the same.

extension PlanPredicate {
  /// The properties with data whose values have to be known, and not only whether there is one.
  package var dataRead: Set<PlanProperty> {
    switch self {
    case .literal: []
    case .not(let term): term.dataRead
    case .and(let terms), .or(let terms): terms.reduce(into: []) { $0.formUnion($1.dataRead) }
    case .comparison(let comparison): comparison.dataRead
    }
  }
}

extension PlanComparison {
  fileprivate var dataRead: Set<PlanProperty> {
    let isEquality = comparator == .equalTo || comparator == .notEqualTo
    if isEquality, case .constant(.one(.null)) = right, case .property(let base, _) = left { return base.dataRead }
    if isEquality, case .constant(.one(.null)) = left, case .property(let base, _) = right { return base.dataRead }
    return left.dataRead.union(right.dataRead)
  }
}

extension PlanExpression {
  /// The properties with data whose values have to be known.
  package var dataRead: Set<PlanProperty> {
    switch self {
    case .constant, .subject, .variable: return []
    case .property(let base, let property):
      let isData = property.attributeType == .binary || property.attributeType == .transformable
      return base.dataRead.union(isData ? [property] : [])
    case .aggregate(let operands), .function(_, let operands):
      return operands.reduce(into: []) { $0.formUnion($1.dataRead) }
    case .collection(_, let operand), .cast(let operand, _): return operand.dataRead
    case .arithmetic(let left, _, let right): return left.dataRead.union(right.dataRead)
    case .subquery(let collection, _, let predicate): return collection.dataRead.union(predicate.dataRead)
    case .element(let collection, .at(let place)): return collection.dataRead.union(place.dataRead)
    case .element(let collection, _): return collection.dataRead
    case .conditional(let predicate, let first, let second):
      return predicate.dataRead.union(first.dataRead).union(second.dataRead)
    }
  }
}

// MARK: Destinations

extension PlanPredicate {
  /// The entities to which relationships are followed, by ordinal.
  package var destinationOrdinals: Set<Int> {
    switch self {
    case .literal: []
    case .not(let term): term.destinationOrdinals
    case .and(let terms), .or(let terms): terms.reduce(into: []) { $0.formUnion($1.destinationOrdinals) }
    case .comparison(let comparison):
      comparison.left.destinationOrdinals.union(comparison.right.destinationOrdinals)
    }
  }
}

extension PlanExpression {
  /// The entities to which relationships are followed, by ordinal.
  package var destinationOrdinals: Set<Int> {
    switch self {
    case .constant, .subject, .variable: return []
    case .property(let base, let property):
      return base.destinationOrdinals.union(property.destination.map { [$0] } ?? [])
    case .aggregate(let operands), .function(_, let operands):
      return operands.reduce(into: []) { $0.formUnion($1.destinationOrdinals) }
    case .collection(_, let operand), .cast(let operand, _): return operand.destinationOrdinals
    case .arithmetic(let left, _, let right): return left.destinationOrdinals.union(right.destinationOrdinals)
    case .subquery(let collection, _, let predicate):
      return collection.destinationOrdinals.union(predicate.destinationOrdinals)
    case .element(let collection, .at(let place)):
      return collection.destinationOrdinals.union(place.destinationOrdinals)
    case .element(let collection, _): return collection.destinationOrdinals
    case .conditional(let predicate, let first, let second):
      return predicate.destinationOrdinals.union(first.destinationOrdinals).union(second.destinationOrdinals)
    }
  }
}

// MARK: What is read of a record

/// What a plan reads of the tested object.
private struct OwnReading {
  var properties: Set<PlanProperty> = []
  /// Whether it reads the object itself.
  var readsSelf = false

  func and(_ other: OwnReading) -> OwnReading {
    OwnReading(properties: properties.union(other.properties), readsSelf: readsSelf || other.readsSelf)
  }
}

extension PlanExpression {
  /// The only property of the tested object that the expression reads; nil where it reads none, several, or the object itself.
  package var onlyProperty: PlanProperty? {
    let reading = ownReading
    return reading.properties.count == 1 && !reading.readsSelf ? reading.properties.first : nil
  }

  fileprivate var ownReading: OwnReading {
    switch self {
    case .constant, .variable: return OwnReading()
    case .subject: return OwnReading(readsSelf: true)
    case .property(of: .subject, let property): return OwnReading(properties: [property])
    case .property(let base, _): return base.ownReading
    case .aggregate(let operands), .function(_, let operands): return Self.ownReading(operands)
    case .collection(_, let operand), .cast(let operand, _): return operand.ownReading
    case .arithmetic(let left, _, let right): return left.ownReading.and(right.ownReading)
    case .subquery(let collection, _, let predicate): return collection.ownReading.and(predicate.ownReading)
    case .element(let collection, .at(let place)): return collection.ownReading.and(place.ownReading)
    case .element(let collection, _): return collection.ownReading
    case .conditional(let predicate, let first, let second):
      return predicate.ownReading.and(first.ownReading).and(second.ownReading)
    }
  }

  private static func ownReading(_ operands: [PlanExpression]) -> OwnReading {
    operands.reduce(OwnReading()) { $0.and($1.ownReading) }
  }
}

extension PlanPredicate {
  /// The properties of the tested object that the predicate reads; nil where it reads the object itself.
  var ownProperties: Set<PlanProperty>? {
    let reading = ownReading
    return reading.readsSelf ? nil : reading.properties
  }

  fileprivate var ownReading: OwnReading {
    switch self {
    case .literal: OwnReading()
    case .not(let term): term.ownReading
    case .and(let terms), .or(let terms): terms.reduce(OwnReading()) { $0.and($1.ownReading) }
    case .comparison(let comparison): comparison.left.ownReading.and(comparison.right.ownReading)
    }
  }
}

// MARK: DependencySurvey

/// Goes through a plan and notes which properties are read where.
package struct DependencySurvey {
  /// The ordinals of what is read, by the relationships that lead there from the tested object.
  package private(set) var reads: [[PlanProperty]: Set<Int>] = [:]
  /// Whether properties of objects are read of which it is not known how they were reached.
  package private(set) var isOpaque = false
  /// Where the objects are for which the variables of subqueries stand.
  private var variables: [Set<[PlanProperty]>] = []

  /// A survey of a predicate and of expressions, such as what is sorted by.
  package init(_ predicate: PlanPredicate? = nil, _ expressions: [PlanExpression] = []) {
    if let predicate { read(predicate) }
    for expression in expressions { _ = read(expression) }
  }

  /// The ways over relationships at whose ends something is read.
  package var paths: [[PlanProperty]] { reads.keys.filter { !$0.isEmpty } }

  private mutating func read(_ predicate: PlanPredicate) {
    switch predicate {
    case .literal: break
    case .not(let term): read(term)
    case .and(let terms), .or(let terms): for term in terms { read(term) }
    case .comparison(let comparison):
      _ = read(comparison.left)
      _ = read(comparison.right)
    }
  }

  /// Returns where the objects are that the expression gives.
  private mutating func read(_ expression: PlanExpression) -> Set<[PlanProperty]> {
    switch expression {
    case .constant: return []
    case .subject: return [[]]
    case .variable(let place): return variables.indices.contains(place) ? variables[place] : []
    case .property(let base, let property): return read(property, of: base)
    case .aggregate(let operands): return operands.reduce(into: []) { $0.formUnion(read($1)) }
    case .collection(_, let operand): return read(operand)
    case .arithmetic(let left, _, let right):
      _ = read(left)
      _ = read(right)
      return []
    case .function(_, let operands):
      for operand in operands { _ = read(operand) }
      return []
    case .cast(let operand, _): return read(operand)
    case .subquery(let collection, let variable, let predicate):
      let places = read(collection)
      let outer = variables
      variables = Array(variables.prefix(variable)) + [places]
      read(predicate)
      variables = outer
      return places
    case .element(let collection, let index):
      if case .at(let place) = index { _ = read(place) }
      return read(collection)
    case .conditional(let predicate, let first, let second):
      read(predicate)
      return read(first).union(read(second))
    }
  }

  private mutating func read(_ property: PlanProperty, of base: PlanExpression) -> Set<[PlanProperty]> {
    let places = read(base)
    if places.isEmpty { isOpaque = true }
    for place in places { reads[place, default: []].insert(property.ordinal) }
    return property.destination == nil ? [] : Set(places.map { $0 + [property] })
  }
}
