/// Where the values come from that a plan is evaluated on: rows of tables, or objects with their changes.
package protocol PredicateSource {
  /// An object, as the source knows it.
  associatedtype Subject
  /// The value of the property with `ordinal`.
  func value(_ ordinal: Int, of subject: Subject) -> PropertyValue
  /// The id of the object, where there is one.
  func objectID(of subject: Subject) -> ManagedObjectID?
  /// The object of `id`, or nil where there is none any more.
  func subject(_ id: ManagedObjectID) -> Subject?
}

/// Evaluates plans object by object, with values in boxes: it is the plain way, for what has no faster one.
package struct PredicateEvaluator<Source: PredicateSource> {
  private let source: Source
  /// The objects that the variables of subqueries stand for.
  private var variables: [PlanValue] = []

  package init(_ source: Source) {
    self.source = source
  }

  /// - Parameter variables: what the variables of plans over groups stand for.
  fileprivate init(_ source: Source, variables: [PlanValue]) {
    self.source = source
    self.variables = variables
  }

  /// Whether `subject` meets the condition.
  package func matches(_ plan: PlanPredicate, _ subject: Source.Subject) -> Bool {
    switch plan {
    case .literal(let flag): flag
    case .not(let term): !matches(term, subject)
    case .and(let terms): terms.allSatisfy { matches($0, subject) }
    case .or(let terms): terms.contains { matches($0, subject) }
    case .comparison(let comparison): matches(comparison, subject)
    }
  }

  /// The value that the expression has for `subject`.
  package func value(_ plan: PlanExpression, _ subject: Source.Subject) -> PlanValue {
    switch plan {
    case .constant(let value): return value
    case .subject: return source.objectID(of: subject).map { .one(.toOne($0)) } ?? .null
    case .variable(let place): return variables[place]
    case .property(of: .subject, let property): return PlanValue(source.value(property.ordinal, of: subject))
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

  private func matches(_ plan: PlanComparison, _ subject: Source.Subject) -> Bool {
    let comparison = ScalarComparison(plan.options)
    let (left, right) = (value(plan.left, subject), value(plan.right, subject))
    func holds(_ left: PlanValue) -> Bool { comparison.holds(left, plan.comparator, right, pattern: plan.pattern) }
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
  /// A property of an object, or of each object of a collection: then all values one after the other.
  private func property(_ property: PlanProperty, of base: PlanValue) -> PlanValue {
    switch base {
    case .one(.toOne(let id)):
      guard let subject = source.subject(id) else { return property.isToMany ? .many([]) : .null }
      return PlanValue(source.value(property.ordinal, of: subject))
    case .one: return property.isToMany ? .many([]) : .null
    case .many(let elements):
      let values = elements.map { self.property(property, of: $0) }
      return .many(property.isToMany ? values.flatMap(\.elements) : values)
    }
  }

  private func collection(_ symbol: CollectionOperator, _ operand: PlanValue) -> PlanValue {
    let elements = operand.elements
    switch symbol {
    case .union: return .many(elements)
    case .distinctUnion:
      var seen: Set<PlanValue> = []
      return .many(elements.filter { seen.insert($0).inserted })
    default: return .one(Statistics.apply(symbol, elements.map(\.scalar)))
    }
  }

  private func subquery(
    _ collection: PlanValue,
    _ variable: Int,
    _ predicate: PlanPredicate,
    _ subject: Source.Subject
  ) -> PlanValue {
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
    _ elements: [PlanValue],
    _ index: PlanExpression.ElementIndex,
    _ subject: Source.Subject
  ) -> PlanValue {
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

/// The values of a group: those that its records are grouped by, then the aggregates. Plans over a group read nothing else.
package struct GroupValues {
  private let evaluator: PredicateEvaluator<NoRecords>

  init(_ values: [PropertyValue]) {
    evaluator = PredicateEvaluator(NoRecords(), variables: values.map(PlanValue.one))
  }

  package func matches(_ plan: PlanPredicate) -> Bool { evaluator.matches(plan, ()) }

  func value(_ plan: PlanExpression) -> PropertyValue { evaluator.value(plan, ()).scalar }
}

/// A source without records.
private struct NoRecords: PredicateSource {
  func value(_ ordinal: Int, of subject: Void) -> PropertyValue { .null }
  func objectID(of subject: Void) -> ManagedObjectID? { nil }
  func subject(_ id: ManagedObjectID) -> Void? { nil }
}
