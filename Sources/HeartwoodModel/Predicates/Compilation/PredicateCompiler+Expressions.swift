extension PredicateCompiler {
  /// A plan and the kind of its value.
  typealias Compiled = (plan: CompiledExpression, kind: ExpressionKind)

  mutating func compile(_ expression: FetchExpression) throws(Fault) -> Compiled {
    if groupScope != nil, let compiled = try compileOfGroup(expression) { return compiled }
    switch expression {
    case .constant(let value): return (.constant(EvaluatedValue(value)), ExpressionKind(EvaluatedValue(value)))
    case .object(let uri): return try compile(uri)
    case .selfObject: return (.subject, .object(entity.ordinal))
    case .variable(let name): return try compile(variable: name)
    case .keyPath(let base, let keys): return try compile(keys[...], from: try compile(0, base))
    case .aggregate(let elements): return try compile(aggregate: elements)
    case .arithmetic(let left, let symbol, let right): return try compile(left, symbol, right)
    case .function(let function, let arguments): return try compile(function, arguments)
    case .subquery(let collection, let variable, let predicate): return try compile(collection, variable, predicate)
    case .element(let collection, let index): return try compile(elementOf: collection, index)
    case .cast(let operand, let type): return try compile(operand, castTo: type)
    case .conditional(let predicate, let first, let second): return try compile(predicate, first, second)
    }
  }

  mutating func compile(_ number: Int, _ expression: FetchExpression) throws(Fault) -> Compiled {
    try child(number) { compiler throws(Fault) in try compiler.compile(expression) }
  }

  private func compile(_ uri: ObjectURI) throws(Fault) -> Compiled {
    guard let entity = model.entity(named: uri.entityName) else {
      throw fault(.typeMismatch, "The model has no entity \(uri.entityName) of which this could be an object.")
    }
    let scope = ObjectIDScope(storeIdentifier: uri.storeIdentifier, entity: entity)
    let id = ManagedObjectID(scope: scope, reference: uri.reference)
    return (.constant(.one(.toOne(id))), .object(entity.ordinal))
  }

  private func compile(variable name: String) throws(Fault) -> Compiled {
    guard let place = variables.lastIndex(where: { $0.name == name }) else {
      let advice = "Give it one with substituting(_:)."
      throw fault(.unboundVariable, "The variable $\(name) has no value.", recovery: advice)
    }
    return (.variable(place), variables[place].kind)
  }

  /// Compiles a list of values.
  ///
  /// - Parameter function: the function that takes the list, whose elements must fit it.
  mutating func compile(aggregate elements: [FetchExpression], of function: FetchFunction? = nil) throws(Fault)
    -> Compiled
  {
    var plans: [CompiledExpression] = []
    var (kind, first) = (ExpressionKind.null, ExpressionKind?.none)
    for (number, element) in elements.enumerated() {
      let compiled = try compile(number, element)
      if let function { try check(compiled.kind, beside: first, of: function, at: number) }
      if compiled.kind != .null { first = first ?? compiled.kind }
      plans.append(compiled.plan)
      kind = number == 0 ? compiled.kind : kind.united(with: compiled.kind)
    }
    let constants = plans.compactMap(\.constant)
    let plan = constants.count == plans.count ? CompiledExpression.constant(.many(constants)) : .aggregate(plans)
    return (plan, .collection(kind))
  }

  private mutating func compile(
    _ collection: FetchExpression,
    _ variable: String,
    _ predicate: FetchPredicate
  ) throws(Fault) -> Compiled {
    let (plan, kind) = try compile(0, collection)
    guard let element = kind.element else {
      throw fault(.collection, "SUBQUERY takes a collection, and this is \(kind.title).", at: 0)
    }
    let place = variables.count
    variables.append((variable, element))
    defer { variables.removeLast() }
    let condition = try child(1) { compiler throws(Fault) in try compiler.compile(predicate) }
    return (.subquery(plan, variable: place, condition), kind)
  }

  private mutating func compile(
    elementOf collection: FetchExpression,
    _ index: FetchExpression.ElementIndex
  ) throws(Fault) -> Compiled {
    let (plan, kind) = try compile(0, collection)
    guard let element = kind.element else {
      throw fault(.collection, "Only a collection has elements, and this is \(kind.title).", at: 0)
    }
    switch index {
    case .first: return (.element(of: plan, .first), element)
    case .last: return (.element(of: plan, .last), element)
    case .size: return (.collection(.count, plan), .number)
    case .at(let place):
      let compiled = try compile(1, place)
      guard compiled.kind.isNumeric else {
        throw fault(.typeMismatch, "The place of an element is a number, and this is \(compiled.kind.title).", at: 1)
      }
      return (.element(of: plan, .at(compiled.plan)), element)
    }
  }

  private mutating func compile(
    _ predicate: FetchPredicate,
    _ first: FetchExpression,
    _ second: FetchExpression
  ) throws(Fault) -> Compiled {
    let condition = try child(0) { compiler throws(Fault) in try compiler.compile(predicate) }
    let (one, other) = (try compile(1, first), try compile(2, second))
    return (.conditional(condition, one.plan, other.plan), one.kind.united(with: other.kind))
  }
}

// MARK: Key paths

extension PredicateCompiler {
  /// Compiles the value at `keys` of `base`.
  private func compile(_ keys: ArraySlice<FetchKey>, from base: Compiled) throws(Fault) -> Compiled {
    var current = base
    var index = keys.startIndex
    while index < keys.endIndex {
      switch keys[index] {
      case .property(let name):
        let part = try part(keys[index...], of: current)
        current = try property(part?.attributeName ?? name, of: current, at: index)
        index += part?.count ?? 1
      case .collection(let symbol):
        // The operator applies to the values at the keys after it, up to the next operator.
        let next = keys[(index + 1)...].firstIndex(where: \.isCollectionOperator) ?? keys.endIndex
        let operand = try compile(keys[(index + 1)..<next], from: current)
        current = try collection(symbol, operand, at: index)
        index = next
      }
    }
    return current
  }

  private func property(_ name: String, of base: Compiled, at index: Int) throws(Fault) -> Compiled {
    guard case .object(let ordinal) = base.kind.element ?? base.kind else {
      return try quality(name, of: base, at: index)
    }
    let entity = model.entities[ordinal]
    guard let place = entity.ordinal(ofProperty: name) else { throw unknownKey(name, entity, at: index) }
    let trait = entity.traits[place]
    if trait.isTransient {
      let message = "\(entity.name).\(name) is transient: no store keeps its values, so nothing can be found by them."
      throw fault(.unsupported, message, at: 1 + index)
    }
    let destination = entity.relationshipTargets[place]?.entityOrdinal
    let property = CompiledProperty(
      ordinal: place,
      attributeType: trait.attributeType,
      isToMany: trait.isToMany,
      destination: destination
    )
    let kind = trait.attributeType.map { ExpressionKind($0) } ?? destination.map { ExpressionKind.object($0) } ?? .any
    let isCollection = trait.isToMany || base.kind.element != nil
    return (.property(of: base.plan, property), isCollection ? .collection(kind) : kind)
  }

  /// Compiles a key of a value that is not an object: strings have a length.
  private func quality(_ name: String, of base: Compiled, at index: Int) throws(Fault) -> Compiled {
    if base.kind == .string, name == "length" { return (.function(.length, [base.plan]), .number) }
    let message = "\(quoted(name)) is looked for in \(base.kind.title), which has no such property."
    throw fault(.unknownKey, message, at: 1 + index)
  }

  private func unknownKey(_ name: String, _ entity: EntityDescription, at index: Int) -> Fault {
    let isSelf = name.lowercased() == "self"
    let advice =
      isSelf
      ? "For the object itself write SELF in the format string, not as a key."
      : NameSuggestion.advice(for: name, among: entity.properties.map(\.name))
    return fault(.unknownKey, "\(entity.name) has no property \(quoted(name)). \(advice)", at: 1 + index)
  }

  private func quoted(_ name: String) -> String { "“\(name.count > 100 ? name.prefix(100) + "…" : name)”" }

  private func collection(_ symbol: CollectionOperator, _ operand: Compiled, at index: Int) throws(Fault) -> Compiled {
    guard let element = operand.kind.element else {
      let message = "\(symbol.rawValue) takes a collection, and this is \(operand.kind.title)."
      throw fault(.collection, message, at: 1 + index)
    }
    let kind: ExpressionKind?
    switch symbol {
    case .count: kind = .number
    case .union, .distinctUnion: kind = operand.kind
    case .min, .max: kind = element.isOrdered ? element : nil
    case .sum, .average: kind = element.isNumeric ? .number : nil
    }
    if let kind { return (.collection(symbol, operand.plan), kind) }
    let message = "\(symbol.rawValue) cannot be made of a collection whose elements are \(element.title)."
    throw fault(.typeMismatch, message, at: 1 + index)
  }
}

extension FetchKey {
  fileprivate var isCollectionOperator: Bool {
    if case .collection = self { true } else { false }
  }
}

// MARK: Computation

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

  /// Returns the kind of the result: numbers make a number, a date and a number of seconds a date, and two dates the
  /// seconds between them.
  private func result(
    _ left: ExpressionKind,
    _ symbol: FetchExpression.ArithmeticOperator,
    _ right: ExpressionKind
  ) throws(Fault) -> ExpressionKind {
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
    var plans: [CompiledExpression] = []
    var kinds: [ExpressionKind] = []
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

  /// Checks that the elements have one kind. Otherwise the collection has any kind, and a function would ignore the
  /// values that it cannot take.
  func check(_ element: ExpressionKind, beside first: ExpressionKind?, of function: FetchFunction, at place: Int)
    throws(Fault)
  {
    let isOfOneKind = !function.isExtreme || first?.goesWith(element) ?? true
    if function.takes(element), isOfOneKind { return }
    let needed = function.isExtreme ? "values of one kind that have an order" : "numbers"
    throw fault(.typeMismatch, "\(function.rawValue) takes \(needed), and this is \(element.title).", at: place)
  }

  private func check(_ kind: ExpressionKind, _ function: FetchFunction, _ number: Int) throws(Fault) {
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
      return (.constant(.one(Computation.cast(value.scalar, to: type))), ExpressionKind(type))
    }
    return (.cast(compiled.plan, type), ExpressionKind(type))
  }
}

extension FetchFunction {
  /// Whether this is the least or the greatest of some values.
  var isExtreme: Bool { self == .min || self == .max }

  /// Returns whether the operator takes values of `kind`.
  func takes(_ kind: ExpressionKind) -> Bool {
    switch self {
    case .count, .distinct: true
    case .min, .max: kind.isOrdered
    default: kind.isNumeric
    }
  }

  /// Whether the function takes a string instead of numbers.
  public var takesString: Bool {
    switch self {
    case .lowercase, .uppercase, .canonical, .length: true
    default: false
    }
  }

  fileprivate func resultKind(_ arguments: [ExpressionKind]) -> ExpressionKind {
    switch self {
    case .lowercase, .uppercase, .canonical: .string
    case .now: .date
    case .distinct: arguments.first ?? .any
    case .min, .max: arguments.first?.element ?? .any
    default: .number
    }
  }
}
