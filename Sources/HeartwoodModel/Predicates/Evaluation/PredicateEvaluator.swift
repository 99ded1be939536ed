import HeartwoodFoundation

/// The source of the values on which a plan is evaluated: rows of tables, or objects with their changes.
package protocol PredicateSource {
  /// An object, in the source's own form.
  associatedtype Subject
  /// Returns the value of the property with `ordinal`.
  func value(_ ordinal: Int, of subject: Subject) -> PropertyValue
  /// Returns the id of the object, if it has one.
  func objectID(of subject: Subject) -> ManagedObjectID?
  /// Returns the object with `id`, or nil if it no longer exists.
  func subject(_ id: ManagedObjectID) -> Subject?
}

/// Evaluates plans object by object on boxed values, which is the simple way for everything that has no faster one.
package struct PredicateEvaluator<Source: PredicateSource> {
  private let source: Source
  /// The objects of the variables of subqueries.
  private var variables: [EvaluatedValue] = []

  package init(_ source: Source) {
    self.source = source
  }

  /// Evaluates plans over groups.
  ///
  /// - Parameter variables: the values of the variables of plans over groups.
  fileprivate init(_ source: Source, variables: [EvaluatedValue]) {
    self.source = source
    self.variables = variables
  }

  /// Returns whether `subject` meets the condition.
  package func matches(_ plan: CompiledPredicate, _ subject: Source.Subject) -> Bool {
    switch plan {
    case .literal(let flag): flag
    case .not(let term): !matches(term, subject)
    case .and(let terms): terms.allSatisfy { matches($0, subject) }
    case .or(let terms): terms.contains { matches($0, subject) }
    case .comparison(let comparison): matches(comparison, subject)
    }
  }

  /// Returns the value of the expression for `subject`.
  package func value(_ plan: CompiledExpression, _ subject: Source.Subject) -> EvaluatedValue {
    switch plan {
    case .constant(let value): return value
    case .subject: return source.objectID(of: subject).map { .one(.toOne($0)) } ?? .null
    case .variable(let place): return variables[place]
    case .property(of: .subject, let property): return EvaluatedValue(source.value(property.ordinal, of: subject))
    case .property(let base, let property): return self.property(property, of: value(base, subject))
    case .aggregate(let elements): return .many(elements.map { value($0, subject) })
    case .collection(let symbol, let operand): return collection(symbol, value(operand, subject))
    case .arithmetic(let left, let symbol, let right):
      return .one(Computation.arithmetic(value(left, subject).scalar, symbol, value(right, subject).scalar))
    case .function(let function, let arguments):
      return .one(Computation.apply(function, arguments.map { value($0, subject) }))
    case .subquery(let collection, let variable, let predicate):
      return subquery(value(collection, subject), variable, predicate, subject)
    case .element(let collection, let index): return element(value(collection, subject).elements, index, subject)
    case .cast(let operand, let type): return .one(Computation.cast(value(operand, subject).scalar, to: type))
    case .conditional(let predicate, let first, let second):
      return value(matches(predicate, subject) ? first : second, subject)
    }
  }

  private func matches(_ plan: CompiledComparison, _ subject: Source.Subject) -> Bool {
    let comparison = ScalarComparison(plan.options)
    let (left, right) = (value(plan.left, subject), value(plan.right, subject))
    func holds(_ left: EvaluatedValue) -> Bool { comparison.holds(left, plan.comparator, right, pattern: plan.pattern) }
    switch plan.modifier {
    case .direct: return holds(left)
    case .any: return left.elements.contains(where: holds)
    case .all: return left.elements.allSatisfy(holds)
    case .none: return !left.elements.contains(where: holds)
    }
  }
}

// MARK: Collections

extension PredicateEvaluator {
  /// Returns a property of an object, or of each object in a collection, with all values in one collection.
  private func property(_ property: CompiledProperty, of base: EvaluatedValue) -> EvaluatedValue {
    switch base {
    case .one(.toOne(let id)):
      guard let subject = source.subject(id) else { return property.isToMany ? .many([]) : .null }
      return EvaluatedValue(source.value(property.ordinal, of: subject))
    case .one: return property.isToMany ? .many([]) : .null
    case .many(let elements):
      let values = elements.map { self.property(property, of: $0) }
      return .many(property.isToMany ? values.flatMap(\.elements) : values)
    }
  }

  private func collection(_ symbol: CollectionOperator, _ operand: EvaluatedValue) -> EvaluatedValue {
    let elements = operand.elements
    switch symbol {
    case .union: return .many(elements)
    case .distinctUnion:
      var seen: Set<EvaluatedValue> = []
      return .many(elements.filter { seen.insert($0).inserted })
    default: return .one(Statistics.apply(symbol, elements.map(\.scalar)))
    }
  }

  private func subquery(
    _ collection: EvaluatedValue,
    _ variable: Int,
    _ predicate: CompiledPredicate,
    _ subject: Source.Subject
  ) -> EvaluatedValue {
    var inner = self
    inner.variables = Array(variables.prefix(variable)) + [.null]
    return .many(
      collection.elements.filter { element in
        inner.variables[variable] = element
        return inner.matches(predicate, subject)
      }
    )
  }

  private func element(
    _ elements: [EvaluatedValue],
    _ index: CompiledExpression.ElementIndex,
    _ subject: Source.Subject
  ) -> EvaluatedValue {
    switch index {
    case .first: return elements.first ?? .null
    case .last: return elements.last ?? .null
    case .at(let place):
      let number = NumericValue(value(place, subject).scalar)?.exactInteger
      guard let number = number.flatMap({ Int(exactly: $0) }), elements.indices.contains(number) else { return .null }
      return elements[number]
    }
  }
}

// MARK: Groups

/// The values of a group: its keys, and then its aggregates. Plans over a group read nothing else.
package struct GroupValues {
  private let evaluator: PredicateEvaluator<NoRecords>

  init(_ values: [PropertyValue]) {
    evaluator = PredicateEvaluator(NoRecords(), variables: values.map(EvaluatedValue.one))
  }

  package func matches(_ plan: CompiledPredicate) -> Bool { evaluator.matches(plan, ()) }

  func value(_ plan: CompiledExpression) -> PropertyValue { evaluator.value(plan, ()).scalar }
}

/// A source without records.
private struct NoRecords: PredicateSource {
  func value(_ ordinal: Int, of subject: Void) -> PropertyValue { .null }
  func objectID(of subject: Void) -> ManagedObjectID? { nil }
  func subject(_ id: ManagedObjectID) -> Void? { nil }
}

// MARK: ScalarComparison

/// How two values are compared in a predicate. Every other implementation must give the same results.
package struct ScalarComparison: Sendable {
  let folding: TextFolding
  /// Whether strings are ordered as people do.
  let isLocaleSensitive: Bool

  package init(_ options: FetchComparison.Options) {
    folding = TextFolding(options)
    isLocaleSensitive = options.contains(.localeSensitive)
  }

  /// Returns whether both are null, the same number of any type, the same text after folding, or otherwise equal.
  func areEqual(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    switch (left, right) {
    case (.string(let a), .string(let b)):
      return folding.isNone ? a.utf8.elementsEqual(b.utf8) : folding.folded(a) == folding.folded(b)
    case (.string, _), (_, .string): return false
    default:
      guard let a = NumericValue(left), let b = NumericValue(right) else { return left == right }
      return NumericValue.compare(a, b) == 0 || (a.isNaN && b.isNaN)
    }
  }

  /// Returns a negative number if `left` is less, a positive one if it is greater, and 0 if neither is. Returns nil if
  /// they have no order: null, NaN, or values of two kinds.
  func order(_ left: PropertyValue, _ right: PropertyValue) -> Int? {
    switch (left, right) {
    case (.string(let a), .string(let b)):
      if isLocaleSensitive { return TextOrder.compare(a, b) }
      return TextOrder.compare(folding.folded(a), folding.folded(b))
    case (.date(let a), .date(let b)):
      let (first, second) = (a.timeIntervalSinceReferenceDate, b.timeIntervalSinceReferenceDate)
      return NumericValue.compare(.double(first), .double(second))
    case (.uuid(let a), .uuid(let b)): return TextOrder.compare(Array(a.uuidString.utf8), Array(b.uuidString.utf8))
    default:
      guard let a = NumericValue(left), let b = NumericValue(right) else { return nil }
      return NumericValue.compare(a, b)
    }
  }
}

// MARK: Comparators

extension ScalarComparison {
  /// Returns whether `comparator` holds between two values, one of which may be a collection.
  package func holds(
    _ left: EvaluatedValue,
    _ comparator: FetchComparison.Comparator,
    _ right: EvaluatedValue,
    pattern: CompiledPattern?
  ) -> Bool {
    switch (comparator, left, right) {
    case (.between, _, .many(let bounds)):
      guard bounds.count == 2 else { return false }
      return holds(left.scalar, .greaterThanOrEqualTo, bounds[0].scalar, nil)
        && holds(left.scalar, .lessThanOrEqualTo, bounds[1].scalar, nil)
    case (.in, _, .many(let elements)): return elements.contains { areEqual($0.scalar, left.scalar) }
    case (.contains, .many(let elements), _): return elements.contains { areEqual($0.scalar, right.scalar) }
    default: return holds(left.scalar, comparator, right.scalar, pattern)
    }
  }

  private func holds(
    _ left: PropertyValue,
    _ comparator: FetchComparison.Comparator,
    _ right: PropertyValue,
    _ pattern: CompiledPattern?
  ) -> Bool {
    switch comparator {
    case .equalTo: return areEqual(left, right)
    case .notEqualTo: return !areEqual(left, right)
    case .lessThan: return order(left, right).map { $0 < 0 } ?? false
    case .lessThanOrEqualTo: return order(left, right).map { $0 <= 0 } ?? false
    case .greaterThan: return order(left, right).map { $0 > 0 } ?? false
    case .greaterThanOrEqualTo: return order(left, right).map { $0 >= 0 } ?? false
    case .between: return false
    case .in: return holds(right, .contains, left, nil)
    case .contains, .beginsWith, .endsWith, .like, .matches:
      guard case .string(let text) = left, case .string(let part) = right else { return false }
      return holds(text, comparator, part, pattern)
    }
  }

  private func holds(
    _ text: String,
    _ comparator: FetchComparison.Comparator,
    _ part: String,
    _ pattern: CompiledPattern?
  ) -> Bool {
    switch comparator {
    case .like, .matches:
      return (pattern ?? CompiledPattern(part, comparator, folding: folding))?.matches(text) ?? false
    case .beginsWith: return folding.folded(text).starts(with: folding.folded(part))
    case .endsWith: return folding.folded(text).reversed().starts(with: folding.folded(part).reversed())
    default: return ByteSearcher(folding.folded(part)).isFound(in: folding.folded(text))
    }
  }
}

// MARK: CompiledPattern

/// The right side of `LIKE` or `MATCHES`, prepared to match many strings.
///
///     let pattern = CompiledPattern("*son", .like, folding: .none)
///     let found = names.filter { pattern?.matches($0) ?? false }
public struct CompiledPattern: Sendable {
  private enum Form: Sendable {
    case wildcards(WildcardPattern)
    case expression(TextPattern, TextFolding)
  }

  private let form: Form

  /// The pattern of a `LIKE`; nil for a regular expression.
  package var wildcards: WildcardPattern? {
    if case .wildcards(let pattern) = form { pattern } else { nil }
  }

  /// Compiles the pattern `text`. Returns nil if it is not a regular expression: it then matches nothing.
  ///
  /// - Parameters:
  ///   - comparator: `.like` for a pattern with wildcards; any other means a regular expression.
  ///   - folding: what is ignored in the pattern and in the strings.
  public init?(_ text: String, _ comparator: FetchComparison.Comparator, folding: TextFolding) {
    if comparator == .like {
      form = .wildcards(WildcardPattern(text, folding: folding))
      return
    }
    let marks = TextFolding(ignoresCase: false, ignoresMarks: folding.ignoresMarks)
    let plain = String(decoding: marks.folded(text), as: UTF8.self)
    // try?: nil means that the text is not a pattern, and matches nothing.
    guard let pattern = try? TextPattern(plain, ignoresCase: folding.ignoresCase) else { return nil }
    form = .expression(pattern, marks)
  }

  /// Returns whether the whole of `text` matches.
  public func matches(_ text: String) -> Bool {
    switch form {
    case .wildcards(let pattern): return pattern.matches(text)
    case .expression(let pattern, let folding):
      return pattern.matches(folding.isNone ? text : String(decoding: folding.folded(text), as: UTF8.self))
    }
  }
}

// MARK: EvaluatedValue

/// A value in a predicate: one value, or the values of a collection. Objects are ``PropertyValue/toOne(_:)``.
public enum EvaluatedValue: Sendable, Hashable {
  /// A single value, which may be null.
  case one(PropertyValue)
  /// A collection.
  case many([EvaluatedValue])

  /// Makes a collection of objects of a to-many relationship, and a single value of any other value.
  init(_ value: PropertyValue) {
    if case .toMany(let ids) = value { self = .many(ids.map { .one(.toOne($0)) }) } else { self = .one(value) }
  }

  /// A single null.
  public static let null = EvaluatedValue.one(.null)

  /// The single value; null for a collection.
  public var scalar: PropertyValue {
    if case .one(let value) = self { value } else { .null }
  }

  /// The elements of a collection. A single value is its only element, and null has none.
  public var elements: [EvaluatedValue] {
    switch self {
    case .one(.null): []
    case .one: [self]
    case .many(let elements): elements
    }
  }
}
