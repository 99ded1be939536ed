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
