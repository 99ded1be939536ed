public import HeartwoodFoundation

/// A predicate that has been checked against an entity: keys are ordinals, constants are computed, the types of both
/// sides of each comparison fit, and variables of subqueries are numbers.
///
/// A store translates it to its own language; see ``RecordFetch``. A minor version may add cases, so a `switch` needs a
/// `default`, which declines the predicate.
///
/// A condition is either met or not met. A comparison with nil is true or false, and `NOT` inverts it.
public indirect enum CompiledPredicate: Sendable, Hashable {
  /// Always or never met.
  case literal(Bool)
  /// Met if the condition is not met.
  case not(CompiledPredicate)
  /// Met if all conditions are met, and if there are none.
  case and([CompiledPredicate])
  /// Met if at least one condition is met; never met if there are none.
  case or([CompiledPredicate])
  /// Met if the comparison of two values holds.
  case comparison(CompiledComparison)
}

extension CompiledPredicate {
  /// Compiles a predicate for objects of an entity. O(size of the predicate).
  ///
  /// - Parameter now: the value of `now()`.
  /// - Throws: ``FetchPredicateError`` with the place of the mistake in the predicate as text.
  public init(
    _ predicate: FetchPredicate,
    for entity: EntityDescription,
    in model: ManagedObjectModel,
    now: Date = Date()
  ) throws(FetchPredicateError) {
    self = try PredicateCompiler.compile(predicate, for: entity, in: model, now: now)
  }
}

/// A comparison whose sides fit its operator.
public struct CompiledComparison: Sendable, Hashable {
  /// The left side.
  public let left: CompiledExpression
  /// The operator.
  public let comparator: FetchComparison.Comparator
  /// The right side.
  public let right: CompiledExpression
  /// Whether the comparison applies to the left side as one value, or to all, any or none of its elements.
  public let modifier: FetchComparison.Modifier
  /// What the comparison of strings ignores.
  public let options: FetchComparison.Options
  /// The compiled pattern, if the right side of `LIKE` or `MATCHES` is a constant.
  package let pattern: CompiledPattern?

  package init(
    left: CompiledExpression,
    comparator: FetchComparison.Comparator,
    right: CompiledExpression,
    modifier: FetchComparison.Modifier,
    options: FetchComparison.Options,
    pattern: CompiledPattern?
  ) {
    self.left = left
    self.comparator = comparator
    self.right = right
    self.modifier = modifier
    self.options = options
    self.pattern = pattern
  }
}

extension CompiledComparison {
  /// The same comparison with its sides exchanged; nil if the operator has no counterpart.
  public var mirrored: CompiledComparison? {
    let mirror: FetchComparison.Comparator
    switch comparator {
    case .equalTo, .notEqualTo: mirror = comparator
    case .lessThan: mirror = .greaterThan
    case .lessThanOrEqualTo: mirror = .greaterThanOrEqualTo
    case .greaterThan: mirror = .lessThan
    case .greaterThanOrEqualTo: mirror = .lessThanOrEqualTo
    default: return nil
    }
    return CompiledComparison(
      left: right,
      comparator: mirror,
      right: left,
      modifier: modifier,
      options: options,
      pattern: nil
    )
  }

  /// Returns the comparison with another left side, operator or modifier. A part whose argument is nil stays.
  ///
  ///     // A collection contains a value if any of its members equals the value.
  ///     comparison.replacing(comparator: .equalTo, modifier: .any)
  public func replacing(
    left: CompiledExpression? = nil,
    comparator: FetchComparison.Comparator? = nil,
    modifier: FetchComparison.Modifier? = nil
  ) -> CompiledComparison {
    CompiledComparison(
      left: left ?? self.left,
      comparator: comparator ?? self.comparator,
      right: right,
      modifier: modifier ?? self.modifier,
      options: options,
      pattern: pattern
    )
  }
}

extension CompiledComparison {
  // The pattern is not compared, because it is made of the right side.
  /// Returns whether both compare the same values in the same way.
  public static func == (left: CompiledComparison, right: CompiledComparison) -> Bool {
    left.left == right.left && left.comparator == right.comparator && left.right == right.right
      && left.modifier == right.modifier && left.options == right.options
  }

  /// Hashes what both sides are and how they are compared.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(left)
    hasher.combine(comparator)
    hasher.combine(right)
    hasher.combine(modifier)
    hasher.combine(options)
  }
}

/// An expression that has been checked against an entity. A minor version may add cases.
public indirect enum CompiledExpression: Sendable, Hashable {
  /// A value that does not depend on the tested object.
  case constant(EvaluatedValue)
  /// The tested object.
  case subject
  /// The object that a subquery tests; 0 is that of the outermost subquery. In expressions over groups, it is a key or
  /// an aggregate, in the order of ``CompiledGrouping``.
  case variable(Int)
  /// A property of an object, or of each object in a collection.
  case property(of: CompiledExpression, CompiledProperty)
  /// A list of values.
  case aggregate([CompiledExpression])
  /// A value computed from a collection, such as the number of its elements.
  case collection(CollectionOperator, CompiledExpression)
  /// A number computed from two others.
  case arithmetic(CompiledExpression, FetchExpression.ArithmeticOperator, CompiledExpression)
  /// The result of a function.
  case function(FetchFunction, [CompiledExpression])
  /// The objects of a collection that meet a condition.
  case subquery(CompiledExpression, variable: Int, CompiledPredicate)
  /// An element of a collection.
  case element(of: CompiledExpression, ElementIndex)
  /// A value converted to another type.
  case cast(CompiledExpression, FetchExpression.CastType)
  /// The first value if the condition holds, and otherwise the second.
  case conditional(CompiledPredicate, CompiledExpression, CompiledExpression)

  /// The place of an element in a collection.
  public enum ElementIndex: Sendable, Hashable {
    /// The first element.
    case first
    /// The last element.
    case last
    /// The element at a computed index.
    case at(CompiledExpression)
  }
}

/// A property that an expression reads.
public struct CompiledProperty: Sendable, Hashable {
  /// The ordinal of the property in the entity at this point of the path, and in its subentities.
  public let ordinal: Int
  /// The type of an attribute; nil for relationships.
  public let attributeType: AttributeType?
  /// Whether it is a to-many relationship.
  public let isToMany: Bool
  /// The ordinal of a relationship's destination entity; nil for attributes.
  public let destination: Int?
}

extension CompiledPredicate {
  /// The conditions that must all be met; empty if the predicate is always met. O(size of the predicate).
  public var conjuncts: [CompiledPredicate] {
    switch self {
    case .literal(true): []
    case .and(let terms): terms.flatMap(\.conjuncts)
    // A condition is either met or not: neither of two is met exactly if both are not.
    case .not(.or(let terms)): terms.flatMap { CompiledPredicate.not($0).conjuncts }
    case .not(.not(let term)): term.conjuncts
    case .literal, .not, .or, .comparison: [self]
    }
  }
}

extension CompiledExpression {
  /// The value of a constant; nil for other expressions.
  public var constant: EvaluatedValue? {
    if case .constant(let value) = self { value } else { nil }
  }

  /// The property, if the expression is a property of the tested object itself; otherwise nil.
  public var ownProperty: CompiledProperty? {
    if case .property(of: .subject, let property) = self { property } else { nil }
  }
}

// MARK: Data

// The binary and transformable values that a plan needs. A store may be unable to read them, but always knows whether
// there are any.

extension CompiledPredicate {
  /// The binary and transformable properties whose values are needed, and not only whether they have one.
  package var dataRead: Set<CompiledProperty> {
    switch self {
    case .literal: []
    case .not(let term): term.dataRead
    case .and(let terms), .or(let terms): terms.reduce(into: []) { $0.formUnion($1.dataRead) }
    case .comparison(let comparison): comparison.dataRead
    }
  }
}

extension CompiledComparison {
  fileprivate var dataRead: Set<CompiledProperty> {
    let isEquality = comparator == .equalTo || comparator == .notEqualTo
    if isEquality, case .constant(.one(.null)) = right, case .property(let base, _) = left { return base.dataRead }
    if isEquality, case .constant(.one(.null)) = left, case .property(let base, _) = right { return base.dataRead }
    return left.dataRead.union(right.dataRead)
  }
}

extension CompiledExpression {
  /// The binary and transformable properties whose values are needed.
  package var dataRead: Set<CompiledProperty> {
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

extension CompiledPredicate {
  /// The ordinals of the destination entities of all relationships in the plan.
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

extension CompiledExpression {
  /// The ordinals of the destination entities of all relationships in the plan.
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

/// The parts of the tested object that a plan reads.
private struct OwnReading {
  var properties: Set<CompiledProperty> = []
  /// Whether it reads the object itself.
  var readsSelf = false

  func and(_ other: OwnReading) -> OwnReading {
    OwnReading(properties: properties.union(other.properties), readsSelf: readsSelf || other.readsSelf)
  }
}

extension CompiledExpression {
  /// The only property of the tested object that the expression reads; nil if it reads none, several, or the object
  /// itself.
  package var onlyProperty: CompiledProperty? {
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

  private static func ownReading(_ operands: [CompiledExpression]) -> OwnReading {
    operands.reduce(OwnReading()) { $0.and($1.ownReading) }
  }
}

extension CompiledPredicate {
  /// The properties of the tested object that the predicate reads; nil if it reads the object itself.
  var ownProperties: Set<CompiledProperty>? {
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

/// Collects the properties that a plan reads, and the relationships by which it reaches them.
package struct DependencySurvey {
  /// The ordinals of the properties that are read, by the path of relationships from the tested object.
  package private(set) var reads: [[CompiledProperty]: Set<Int>] = [:]
  /// Whether the plan reads properties of objects that it reaches in an unknown way.
  package private(set) var isOpaque = false
  /// The paths to the objects of the variables of subqueries.
  private var variables: [Set<[CompiledProperty]>] = []

  /// Surveys a predicate, and expressions such as those of sort descriptors.
  package init(_ predicate: CompiledPredicate? = nil, _ expressions: [CompiledExpression] = []) {
    if let predicate { read(predicate) }
    for expression in expressions { _ = read(expression) }
  }

  /// The paths of relationships at whose ends a property is read.
  package var paths: [[CompiledProperty]] { reads.keys.filter { !$0.isEmpty } }

  private mutating func read(_ predicate: CompiledPredicate) {
    switch predicate {
    case .literal: break
    case .not(let term): read(term)
    case .and(let terms), .or(let terms): for term in terms { read(term) }
    case .comparison(let comparison):
      _ = read(comparison.left)
      _ = read(comparison.right)
    }
  }

  /// Returns the paths to the objects that the expression returns.
  private mutating func read(_ expression: CompiledExpression) -> Set<[CompiledProperty]> {
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

  private mutating func read(_ property: CompiledProperty, of base: CompiledExpression) -> Set<[CompiledProperty]> {
    let places = read(base)
    if places.isEmpty { isOpaque = true }
    for place in places { reads[place, default: []].insert(property.ordinal) }
    return property.destination == nil ? [] : Set(places.map { $0 + [property] })
  }
}
