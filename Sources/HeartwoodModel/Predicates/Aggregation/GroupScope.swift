/// What is known of a group of records while expressions over it are compiled.
///
/// A compiled expression reads the group's values as variables: first those that the records are grouped by, then the aggregates.
struct GroupScope {
  /// What the records are grouped by.
  private(set) var keys: [(expression: FetchExpression, plan: PlanExpression, kind: PlanKind)] = []
  /// The aggregates that have been asked for, each once.
  private(set) var aggregates: [(expression: FetchExpression, plan: AggregatePlan, kind: PlanKind)] = []
  /// The columns that can be named by variables.
  var columns: [String: FetchExpression] = [:]

  mutating func addKey(_ expression: FetchExpression, _ compiled: PredicateCompiler.Compiled) {
    keys.append((expression, compiled.plan, compiled.kind))
  }

  /// The value that `expression` has for the group, where it is known already.
  func value(of expression: FetchExpression) -> PredicateCompiler.Compiled? {
    if let place = keys.firstIndex(where: { $0.expression == expression }) {
      return (.variable(place), keys[place].kind)
    }
    guard let place = aggregates.firstIndex(where: { $0.expression == expression }) else { return nil }
    return (.variable(keys.count + place), aggregates[place].kind)
  }

  /// Asks for an aggregate. All keys have to be known.
  mutating func add(_ expression: FetchExpression, _ plan: AggregatePlan, _ kind: PlanKind)
    -> PredicateCompiler.Compiled
  {
    aggregates.append((expression, plan, kind))
    return (.variable(keys.count + aggregates.count - 1), kind)
  }
}

/// An aggregate as it is written: a function, what it is taken of, and whether only different values count.
struct AggregateForm {
  let function: FetchFunction
  let operand: FetchExpression
  let isDistinct: Bool

  /// Nil where `expression` has no such form. Whether it is one depends on the operand, which may be a collection of its own.
  init?(_ expression: FetchExpression) {
    switch expression {
    case .function(let function, let arguments) where function.takesCollection && function != .distinct:
      guard let argument = arguments.first, arguments.count == 1 else { return nil }
      self.init(function, of: argument)
    case .keyPath(of: .selfObject, let keys): self.init(keys)
    default: return nil
    }
  }

  private init(_ function: FetchFunction, of argument: FetchExpression) {
    switch argument {
    case .function(.distinct, let arguments) where arguments.count == 1:
      self.init(function, arguments[0], isDistinct: true)
    case .keyPath(of: .selfObject, let keys) where keys.first == .collection(.distinctUnion) && keys.count > 1:
      self.init(function, .keyPath(of: .selfObject, Array(keys.dropFirst())), isDistinct: true)
    default: self.init(function, argument, isDistinct: false)
    }
  }

  private init(_ function: FetchFunction, _ operand: FetchExpression, isDistinct: Bool) {
    self.function = function
    self.operand = operand
    self.isDistinct = isDistinct
  }

  /// `@sum.price`, and `@distinctUnionOfObjects.name.@count`.
  private init?(_ keys: [FetchKey]) {
    guard case .collection(let symbol) = keys.first else { return nil }
    let rest = Array(keys.dropFirst())
    if let function = symbol.aggregate {
      self.init(function, of: rest.isEmpty ? .selfObject : .keyPath(of: .selfObject, rest))
      return
    }
    guard case .collection(let last) = rest.last, let function = last.aggregate, rest.count > 1 else { return nil }
    self.init(function, .keyPath(of: .selfObject, rest.dropLast()), isDistinct: symbol == .distinctUnion)
  }
}

extension CollectionOperator {
  /// The function that makes the same of a collection; nil where the result is a collection.
  package var aggregate: FetchFunction? {
    switch self {
    case .count: .count
    case .sum: .sum
    case .min: .min
    case .max: .max
    case .average: .average
    case .union, .distinctUnion: nil
    }
  }
}
