extension FetchPredicate {
  /// The predicate with the variables that `values` names replaced by them. Others stay, and so do those of subqueries.
  public func substituting(_ values: [String: any FetchArgument]) -> FetchPredicate {
    substituting(values.mapValues(\.fetchExpression))
  }

  /// The names of the variables that have no value yet.
  public var variables: Set<String> {
    var names: Set<String> = []
    collectVariables(bound: [], &names)
    return names
  }

  /// The predicate with `SELF` replaced, also where it stands unseen before a key.
  func replacingSelf(with expression: FetchExpression) -> FetchPredicate {
    substituting([FetchExpression.selfName: expression])
  }

  func substituting(_ values: [String: FetchExpression]) -> FetchPredicate {
    if values.isEmpty { return self }
    switch self {
    case .literal: return self
    case .comparison(var comparison):
      comparison.left = comparison.left.substituting(values)
      comparison.right = comparison.right.substituting(values)
      return .comparison(comparison)
    case .not(let term): return .not(term.substituting(values))
    case .and(let terms): return .and(terms.map { $0.substituting(values) })
    case .or(let terms): return .or(terms.map { $0.substituting(values) })
    }
  }

  fileprivate func collectVariables(bound: Set<String>, _ names: inout Set<String>) {
    switch self {
    case .literal: break
    case .comparison(let comparison):
      comparison.left.collectVariables(bound: bound, &names)
      comparison.right.collectVariables(bound: bound, &names)
    case .not(let term): term.collectVariables(bound: bound, &names)
    case .and(let terms), .or(let terms): for term in terms { term.collectVariables(bound: bound, &names) }
    }
  }
}

extension FetchExpression {
  /// What `SELF` is called where variables are replaced. No variable has an empty name.
  fileprivate static let selfName = ""

  fileprivate func substituting(_ values: [String: FetchExpression]) -> FetchExpression {
    switch self {
    case .constant, .object: return self
    case .selfObject: return values[Self.selfName] ?? self
    case .variable(let name): return values[name] ?? self
    case .keyPath(let base, let keys):
      // What a key path is put behind may be one itself, which then goes on.
      return keys.reduce(base.substituting(values)) { $0.appending($1) }
    case .aggregate(let elements): return .aggregate(elements.map { $0.substituting(values) })
    case .arithmetic(let left, let symbol, let right):
      return .arithmetic(left.substituting(values), symbol, right.substituting(values))
    case .function(let function, let arguments):
      return .function(function, arguments.map { $0.substituting(values) })
    case .subquery(let collection, let variable, let predicate):
      let (variable, predicate) = Self.substituting(values, in: predicate, testing: variable)
      return .subquery(collection.substituting(values), variable: variable, predicate)
    case .element(let collection, let index):
      return .element(of: collection.substituting(values), index.substituting(values))
    case .cast(let operand, let type): return .cast(operand.substituting(values), type)
    case .conditional(let predicate, let first, let second):
      return .conditional(predicate.substituting(values), first.substituting(values), second.substituting(values))
    }
  }

  /// The condition of a subquery with `values` in it. The variable gets another name where one of them has its name from outside.
  private static func substituting(
    _ values: [String: FetchExpression],
    in predicate: FetchPredicate,
    testing variable: String
  ) -> (variable: String, predicate: FetchPredicate) {
    var outer = values.filter { $0.key != variable }
    let own = predicate.variables
    var incoming: Set<String> = []
    for (name, value) in outer where name == selfName || own.contains(name) {
      value.collectVariables(bound: [], &incoming)
    }
    guard incoming.contains(variable) else { return (variable, predicate.substituting(outer)) }
    var renamed = variable
    while own.contains(renamed) || incoming.contains(renamed) { renamed += "_" }
    outer[variable] = .variable(renamed)
    return (renamed, predicate.substituting(outer))
  }

  fileprivate func collectVariables(bound: Set<String>, _ names: inout Set<String>) {
    switch self {
    case .constant, .object, .selfObject: break
    case .variable(let name): if !bound.contains(name) { names.insert(name) }
    case .keyPath(let operand, _), .cast(let operand, _): operand.collectVariables(bound: bound, &names)
    case .aggregate(let operands), .function(_, let operands):
      for operand in operands { operand.collectVariables(bound: bound, &names) }
    case .arithmetic(let left, _, let right):
      left.collectVariables(bound: bound, &names)
      right.collectVariables(bound: bound, &names)
    case .subquery(let collection, let variable, let predicate):
      collection.collectVariables(bound: bound, &names)
      predicate.collectVariables(bound: bound.union([variable]), &names)
    case .element(let collection, let index):
      collection.collectVariables(bound: bound, &names)
      if case .at(let place) = index { place.collectVariables(bound: bound, &names) }
    case .conditional(let predicate, let first, let second):
      predicate.collectVariables(bound: bound, &names)
      first.collectVariables(bound: bound, &names)
      second.collectVariables(bound: bound, &names)
    }
  }
}

extension FetchExpression.ElementIndex {
  fileprivate func substituting(_ values: [String: FetchExpression]) -> FetchExpression.ElementIndex {
    if case .at(let place) = self { return .at(place.substituting(values)) }
    return self
  }
}
