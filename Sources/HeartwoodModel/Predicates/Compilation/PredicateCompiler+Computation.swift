extension PredicateCompiler {
  mutating func compile(
    _ left: FetchExpression,
    _ symbol: FetchExpression.ArithmeticOperator,
    _ right: FetchExpression
  ) throws(Fault) -> Compiled {
    let (one, other) = (try compile(0, left), try compile(1, right))
    let kind = try result(one.kind, symbol, other.kind)
    if let a = one.plan.constant, let b = other.plan.constant {
      return (.constant(.one(Computation.arithmetic(a.scalar, symbol, b.scalar))), kind)
    }
    return (.arithmetic(one.plan, symbol, other.plan), kind)
  }

  /// Numbers make numbers; a date and a number of seconds make a date, and two dates the seconds between them.
  private func result(
    _ left: PlanKind,
    _ symbol: FetchExpression.ArithmeticOperator,
    _ right: PlanKind
  ) throws(Fault) -> PlanKind {
    if left.isNumeric, right.isNumeric { return .number }
    if left == .date, symbol == .subtract, right == .date { return .number }
    if left == .date, symbol == .subtract || symbol == .add, right.isNumeric { return .date }
    let wrong = left.isNumeric || left == .date ? (side: 1, kind: right) : (side: 0, kind: left)
    throw fault(.typeMismatch, "\(symbol.rawValue) takes numbers, and this is \(wrong.kind.title).", at: wrong.side)
  }

  mutating func compile(_ function: FetchFunction, _ arguments: [FetchExpression]) throws(Fault) -> Compiled {
    guard arguments.count == function.argumentCount else {
      let message = "\(function.rawValue) takes \(function.argumentCount) arguments, not \(arguments.count)."
      throw fault(.typeMismatch, message)
    }
    if function == .now { return (.constant(.one(.date(now))), .date) }
    var plans: [PlanExpression] = []
    var kinds: [PlanKind] = []
    for (number, argument) in arguments.enumerated() {
      let compiled = try compile(number, argument, of: function)
      try check(compiled.kind, function, number)
      plans.append(compiled.plan)
      kinds.append(compiled.kind)
    }
    let kind = function.resultKind(kinds)
    if function == .distinct { return (.collection(.distinctUnion, plans[0]), kind) }
    let constants = plans.compactMap(\.constant)
    if constants.count == plans.count { return (.constant(.one(Computation.apply(function, constants))), kind) }
    return (.function(function, plans), kind)
  }

  private mutating func compile(
    _ number: Int,
    _ argument: FetchExpression,
    of function: FetchFunction
  ) throws(Fault) -> Compiled {
    guard case .aggregate(let elements) = argument, groupScope?.value(of: argument) == nil else {
      return try compile(number, argument)
    }
    return try child(number) { compiler throws(Fault) in try compiler.compile(aggregate: elements, of: function) }
  }

  /// Values of several kinds are a collection of any kind, and a function would leave out those that it cannot take.
  func check(_ element: PlanKind, beside first: PlanKind?, of function: FetchFunction, at place: Int) throws(Fault) {
    let isOfOneKind = !function.isExtreme || first?.goesWith(element) ?? true
    if function.takes(element), isOfOneKind { return }
    let needed = function.isExtreme ? "values of one kind that have an order" : "numbers"
    throw fault(.typeMismatch, "\(function.rawValue) takes \(needed), and this is \(element.title).", at: place)
  }

  private func check(_ kind: PlanKind, _ function: FetchFunction, _ number: Int) throws(Fault) {
    let isRight: Bool
    switch function {
    case .lowercase, .uppercase, .canonical, .length: isRight = kind.isString
    case _ where function.takesCollection: isRight = kind.element.map(function.takes) ?? false
    default: isRight = kind.isNumeric
    }
    if isRight { return }
    let expected = function.takesCollection ? "a collection of numbers" : function.takesString ? "a string" : "a number"
    throw fault(.typeMismatch, "\(function.rawValue) takes \(expected), and this is \(kind.title).", at: number)
  }

  mutating func compile(_ operand: FetchExpression, castTo type: FetchExpression.CastType) throws(Fault) -> Compiled {
    let compiled = try compile(0, operand)
    if compiled.kind.element != nil {
      throw fault(.collection, "A collection cannot be cast, only one value.", at: 0)
    }
    if let value = compiled.plan.constant {
      return (.constant(.one(Computation.cast(value.scalar, to: type))), PlanKind(type))
    }
    return (.cast(compiled.plan, type), PlanKind(type))
  }
}

extension FetchFunction {
  /// Whether it is the least or the greatest of some values.
  var isExtreme: Bool { self == .min || self == .max }

  /// Whether something can be made of values of `kind`.
  func takes(_ kind: PlanKind) -> Bool {
    switch self {
    case .count, .distinct: true
    case .min, .max: kind.isOrdered
    default: kind.isNumeric
    }
  }

  /// Whether it takes a string and not numbers.
  package var takesString: Bool {
    switch self {
    case .lowercase, .uppercase, .canonical, .length: true
    default: false
    }
  }

  fileprivate func resultKind(_ arguments: [PlanKind]) -> PlanKind {
    switch self {
    case .lowercase, .uppercase, .canonical: .string
    case .now: .date
    case .distinct: arguments.first ?? .any
    case .min, .max: arguments.first?.element ?? .any
    default: .number
    }
  }
}
