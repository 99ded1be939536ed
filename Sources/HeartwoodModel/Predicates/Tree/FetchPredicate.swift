/// A condition that objects meet or not: what Core Data knows as `NSPredicate`.
///
/// It is a value, a tree of comparisons, and knows nothing of any store or entity: keys are names, and whether an entity has them
/// is checked when a fetch begins. Make one from a format string (``init(format:_:)``), of its cases, or of the operators `&&`,
/// `||` and `!`.
///
/// It is not called `Predicate`, because Foundation has a type of that name.
public indirect enum FetchPredicate: Sendable, Hashable {
  /// True or false for every object: `TRUEPREDICATE`, `FALSEPREDICATE`.
  case literal(Bool)
  /// Two expressions are compared.
  case comparison(FetchComparison)
  /// The condition is not met.
  case not(FetchPredicate)
  /// All conditions are met. It is true where there are none.
  case and([FetchPredicate])
  /// One condition at least is met. It is false where there are none.
  case or([FetchPredicate])
}

extension FetchPredicate {
  /// How many levels a predicate may have that is read, from a format string or an archive. The functions that read and walk one call
  /// themselves for each, and a thread may have no more than 512 KB of stack.
  package static let greatestHeight = 64

  /// Both conditions are met.
  public static func && (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
    if case .and(let terms) = left { return .and(terms + [right]) }
    return .and([left, right])
  }

  /// One condition is met, or both.
  public static func || (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
    if case .or(let terms) = left { return .or(terms + [right]) }
    return .or([left, right])
  }

  /// The condition is not met.
  public static prefix func ! (predicate: FetchPredicate) -> FetchPredicate {
    .not(predicate)
  }
}

// MARK: Simplifying

extension FetchPredicate {
  /// The predicate as it comes back from its text, which has no form for compounds of one term or none.
  var simplified: FetchPredicate {
    switch self {
    case .literal: self
    case .comparison: replacing(FetchExpression.simplifying)
    case .not(let term): .not(term.simplified)
    case .and(let terms) where terms.isEmpty: .literal(true)
    case .or(let terms) where terms.isEmpty: .literal(false)
    case .and(let terms): terms.count == 1 ? terms[0].simplified : .and(terms.map(\.simplified))
    case .or(let terms): terms.count == 1 ? terms[0].simplified : .or(terms.map(\.simplified))
    }
  }
}

extension FetchExpression {
  /// The expression with the predicates in it as they come back from its text.
  var simplified: FetchExpression { replacing(Self.simplifying) }

  /// Gives another expression for one that has a predicate.
  fileprivate static func simplifying(_ expression: FetchExpression) -> FetchExpression? {
    switch expression {
    case .subquery(let collection, let variable, let predicate):
      .subquery(collection.simplified, variable: variable, predicate.simplified)
    case .conditional(let predicate, let first, let second):
      .conditional(predicate.simplified, first.simplified, second.simplified)
    default: nil
    }
  }
}

// MARK: Replacing

extension FetchPredicate {
  /// The predicate with each expression replaced for which `replacement` gives another; its parts are not looked at then.
  package func replacing<Failure: Error>(
    _ replacement: (FetchExpression) throws(Failure) -> FetchExpression?
  ) throws(Failure) -> FetchPredicate {
    switch self {
    case .literal: return self
    case .comparison(var comparison):
      comparison.left = try comparison.left.replacing(replacement)
      comparison.right = try comparison.right.replacing(replacement)
      return .comparison(comparison)
    case .not(let term): return .not(try term.replacing(replacement))
    case .and(let terms): return .and(try Self.replacing(terms, replacement))
    case .or(let terms): return .or(try Self.replacing(terms, replacement))
    }
  }

  private static func replacing<Failure: Error>(
    _ terms: [FetchPredicate],
    _ replacement: (FetchExpression) throws(Failure) -> FetchExpression?
  ) throws(Failure) -> [FetchPredicate] {
    var result: [FetchPredicate] = []
    for term in terms { result.append(try term.replacing(replacement)) }
    return result
  }
}

extension FetchExpression {
  /// The expression with each part replaced for which `replacement` gives another.
  package func replacing<Failure: Error>(
    _ replacement: (FetchExpression) throws(Failure) -> FetchExpression?
  ) throws(Failure) -> FetchExpression {
    if let other = try replacement(self) { return other }
    switch self {
    case .constant, .object, .selfObject, .variable: return self
    case .keyPath(let base, let keys): return .keyPath(of: try base.replacing(replacement), keys)
    case .aggregate(let elements): return .aggregate(try Self.replacing(elements, replacement))
    case .arithmetic(let left, let symbol, let right):
      return .arithmetic(try left.replacing(replacement), symbol, try right.replacing(replacement))
    case .function(let function, let arguments): return .function(function, try Self.replacing(arguments, replacement))
    case .subquery(let collection, let variable, let predicate):
      return .subquery(
        try collection.replacing(replacement),
        variable: variable,
        try predicate.replacing(replacement)
      )
    case .element(let collection, .at(let place)):
      return .element(of: try collection.replacing(replacement), .at(try place.replacing(replacement)))
    case .element(let collection, let index): return .element(of: try collection.replacing(replacement), index)
    case .cast(let operand, let type): return .cast(try operand.replacing(replacement), type)
    case .conditional(let predicate, let first, let second):
      return .conditional(
        try predicate.replacing(replacement),
        try first.replacing(replacement),
        try second.replacing(replacement)
      )
    }
  }

  private static func replacing<Failure: Error>(
    _ expressions: [FetchExpression],
    _ replacement: (FetchExpression) throws(Failure) -> FetchExpression?
  ) throws(Failure) -> [FetchExpression] {
    var result: [FetchExpression] = []
    for expression in expressions { result.append(try expression.replacing(replacement)) }
    return result
  }
}

extension EvaluatedValue {
  /// The value as a constant of a predicate.
  package var expression: FetchExpression {
    switch self {
    case .one(let value): .value(value)
    case .many(let elements): .aggregate(elements.map(\.expression))
    }
  }
}

// MARK: Substitution

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

// MARK: Codable

extension FetchPredicate: Codable {
  /// Writes the predicate as its format string, ``and(_:)`` and ``or(_:)`` of one term or none as what they mean.
  ///
  /// - Throws: `EncodingError` where it names an object that has not been saved: such an id means nothing elsewhere.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    let text = description
    // try?: what does not come back is thrown.
    guard (try? FetchPredicate(format: text)) == simplified else {
      let problem = "The predicate names an unsaved object, or has no form as text. Save the object first."
      throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: problem))
    }
    try container.encode(text)
  }

  /// Reads a format string.
  ///
  /// - Throws: ``FetchPredicateError`` where it is none.
  public init(from decoder: any Decoder) throws {
    try self.init(format: decoder.singleValueContainer().decode(String.self))
  }
}

// MARK: FetchExpression: Codable

extension FetchExpression: Codable {
  /// Writes the expression as it stands in a format string.
  ///
  /// - Throws: `EncodingError` where it names an object that has not been saved: such an id means nothing elsewhere.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    let text = description
    // try?: what does not come back is thrown.
    guard (try? FetchExpression(format: text)) == simplified else {
      let problem = "The expression names an unsaved object, or has no form as text. Save the object first."
      throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: problem))
    }
    try container.encode(text)
  }

  /// Reads an expression as it stands in a format string.
  ///
  /// - Throws: ``FetchPredicateError`` where it is none.
  public init(from decoder: any Decoder) throws {
    try self.init(format: decoder.singleValueContainer().decode(String.self))
  }
}

extension FetchPredicate {
  /// The conditions that all have to hold, in the order of ``CompiledPredicate/conjuncts``.
  package var conjuncts: [FetchPredicate] {
    switch self {
    case .and(let terms): terms.flatMap(\.conjuncts)
    // A condition holds or does not: neither of two holds if both do not.
    case .not(.or(let terms)): terms.flatMap { FetchPredicate.not($0).conjuncts }
    case .not(.not(let term)): term.conjuncts
    case .literal(true): []
    case .literal, .not, .or, .comparison: [self]
    }
  }
}
