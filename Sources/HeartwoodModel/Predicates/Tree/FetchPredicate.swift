/// A condition on objects: Core Data's `NSPredicate`.
///
/// Make one from a format string (``init(format:_:)``), from the cases of this type, or with the operators `&&`, `||`
/// and `!`:
///
///     let open = try FetchPredicate(format: "done == NO")
///     let milk = try FetchPredicate(format: "title CONTAINS[cd] %@", "milk")
///     let predicate = open && milk
///
/// A predicate is a value, a tree of comparisons, and independent of stores and entities. A fetch checks whether its
/// entity has the keys, and throws ``FetchPredicateError`` if not.
///
/// The type is not called `Predicate` because Foundation has a type with that name; ``init(_:)`` converts a predicate
/// of that type.
public indirect enum FetchPredicate: Sendable, Hashable {
  /// True or false for every object: `TRUEPREDICATE`, `FALSEPREDICATE`.
  case literal(Bool)
  /// A comparison of two expressions.
  case comparison(FetchComparison)
  /// True if the condition is not met.
  case not(FetchPredicate)
  /// True if all conditions are met, and if there are none.
  case and([FetchPredicate])
  /// True if at least one condition is met. It is false if there are none.
  case or([FetchPredicate])
}

extension FetchPredicate {
  /// The greatest number of levels of a predicate that is read from a format string or an archive. The functions that
  /// read and traverse a predicate recurse once for each level, and a thread may have only 512 KB of stack.
  package static let greatestHeight = 64

  /// Returns a predicate that is true if both conditions are met.
  public static func && (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
    if case .and(let terms) = left { return .and(terms + [right]) }
    return .and([left, right])
  }

  /// Returns a predicate that is true if at least one of the conditions is met.
  public static func || (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
    if case .or(let terms) = left { return .or(terms + [right]) }
    return .or([left, right])
  }

  /// Returns a predicate that is true if the condition is not met.
  public static prefix func ! (predicate: FetchPredicate) -> FetchPredicate {
    .not(predicate)
  }
}

// MARK: Simplifying

extension FetchPredicate {
  /// The predicate that is read back from the text of this one. The text has no form for compounds of one term or none.
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
  /// The expression with its predicates simplified.
  var simplified: FetchExpression { replacing(Self.simplifying) }

  /// Returns the simplified form of an expression that contains a predicate, and nil for others.
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
  /// Returns the predicate with expressions replaced by what `replacement` returns for them. The parts of a replaced
  /// expression are not visited.
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
  /// Returns the expression with its parts replaced by what `replacement` returns for them.
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
  /// Returns the predicate with the values of the variables that `values` names.
  ///
  /// Other variables stay, and so do the variables of subqueries.
  ///
  ///     let template = try FetchPredicate(format: "due < $date")
  ///     let predicate = template.substituting(["date": Date.now])
  public func substituting(_ values: [String: any FetchArgument]) -> FetchPredicate {
    substituting(values.mapValues(\.fetchExpression))
  }

  /// The names of the variables that have no value yet. O(size of the predicate).
  public var variables: Set<String> {
    var names: Set<String> = []
    collectVariables(bound: [], &names)
    return names
  }

  /// Returns the predicate with `SELF` replaced, also if it is implicit before a key.
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
  /// The name of `SELF` among the substituted variables. No variable has an empty name.
  fileprivate static let selfName = ""

  fileprivate func substituting(_ values: [String: FetchExpression]) -> FetchExpression {
    switch self {
    case .constant, .object: return self
    case .selfObject: return values[Self.selfName] ?? self
    case .variable(let name): return values[name] ?? self
    case .keyPath(let base, let keys):
      // The value may itself be a key path, which is then extended.
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

  /// Returns the condition of a subquery with `values` in it. The subquery's variable is renamed if a substituted value
  /// uses its name.
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
  /// Encodes the predicate as its format string. ``and(_:)`` and ``or(_:)`` with one term or none are encoded as their
  /// equivalent.
  ///
  /// - Throws: `EncodingError` if the predicate cannot be read back: it contains the id of an object that has not been
  ///   saved, which has no meaning elsewhere, or it has more than 64 levels.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    let text = description
    // try?: a text that cannot be read back makes this throw.
    guard (try? FetchPredicate(format: text)) == simplified else {
      let problem = "The predicate contains an unsaved object, or cannot be written as text. Save the object first."
      throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: problem))
    }
    try container.encode(text)
  }

  /// Decodes a format string.
  ///
  /// - Throws: ``FetchPredicateError`` if the string is not a predicate, and `DecodingError` if there is no string.
  public init(from decoder: any Decoder) throws {
    try self.init(format: decoder.singleValueContainer().decode(String.self))
  }
}

// MARK: FetchExpression: Codable

extension FetchExpression: Codable {
  /// Encodes the expression as in a format string.
  ///
  /// - Throws: `EncodingError` if the expression cannot be read back: it contains the id of an object that has not been
  ///   saved, which has no meaning elsewhere, or it has more than 64 levels.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    let text = description
    // try?: a text that cannot be read back makes this throw.
    guard (try? FetchExpression(format: text)) == simplified else {
      let problem = "The expression contains an unsaved object, or cannot be written as text. Save the object first."
      throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: problem))
    }
    try container.encode(text)
  }

  /// Decodes an expression in the form of a format string.
  ///
  /// - Throws: ``FetchPredicateError`` if the string is not an expression, and `DecodingError` if there is no string.
  public init(from decoder: any Decoder) throws {
    try self.init(format: decoder.singleValueContainer().decode(String.self))
  }
}

extension FetchPredicate {
  /// The conditions that must all be met, in the order of ``CompiledPredicate/conjuncts``.
  package var conjuncts: [FetchPredicate] {
    switch self {
    case .and(let terms): terms.flatMap(\.conjuncts)
    // A condition is either met or not: neither of two is met exactly if both are not.
    case .not(.or(let terms)): terms.flatMap { FetchPredicate.not($0).conjuncts }
    case .not(.not(let term)): term.conjuncts
    case .literal(true): []
    case .literal, .not, .or, .comparison: [self]
    }
  }
}
