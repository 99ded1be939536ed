public import HeartwoodFoundation

/// A class that knows which property of its entity a key path stands for, so that `#Predicate` can be used for fetches.
public protocol KeyPathNaming {
  /// The name of the property that is read by `keyPath`, which begins at this class; nil where it is none.
  static func propertyName(of keyPath: AnyKeyPath) -> String?
}

extension FetchPredicate {
  /// What Foundation's `#Predicate` says, in the form that fetches take.
  ///
  /// Comparisons, `&&`, `||`, `!`, arithmetic, optionals, `contains`, `starts(with:)`, `allSatisfy`, `filter`, ranges, `min` and `max`
  /// have such a form, and so have the properties of classes that name their key paths (``KeyPathNaming``).
  ///
  /// - Throws: ``FetchPredicateError`` of the kind `unsupported` where the predicate says something else.
  public init<Object>(_ predicate: Predicate<Object>) throws(FetchPredicateError) {
    var conversion = MacroConversion(subject: predicate.variable.key)
    self = try conversion.predicate(predicate.expression)
  }
}

/// Turns the tree that `#Predicate` makes into ours.
struct MacroConversion {
  enum Node {
    case predicate(FetchPredicate)
    case expression(FetchExpression)
  }

  /// What the parameters of the predicate and of the closures in it stand for.
  private var variables: [PredicateExpressions.VariableID: FetchExpression]
  private var variableCount = 0

  init(subject: PredicateExpressions.VariableID) {
    variables = [subject: .selfObject]
  }

  static func unsupported(_ what: String) -> FetchPredicateError {
    let text = "#Predicate"
    let message = "\(what) has no form in fetches. Write it another way, or as a format string."
    return FetchPredicateError(.unsupported, message, in: text, at: 0..<text.utf8.count)
  }
}

extension MacroConversion {
  mutating func node(_ expression: Any) throws(FetchPredicateError) -> Node {
    guard let convertible = expression as? any MacroConvertible else {
      throw Self.unsupported("\(type(of: expression))")
    }
    return try convertible.convert(&self)
  }

  /// A condition. A value that is a boolean is one, too.
  mutating func predicate(_ expression: Any) throws(FetchPredicateError) -> FetchPredicate {
    switch try node(expression) {
    case .predicate(let predicate): return predicate
    case .expression(.constant(.boolean(let flag))): return .literal(flag)
    case .expression(let value): return .comparison(FetchComparison(value, .equalTo, .constant(.boolean(true))))
    }
  }

  /// A value. A condition is a boolean.
  mutating func expression(_ expression: Any) throws(FetchPredicateError) -> FetchExpression {
    switch try node(expression) {
    case .expression(let value): return value
    case .predicate(let predicate): return Self.boolean(predicate)
    }
  }

  static func boolean(_ predicate: FetchPredicate) -> FetchExpression {
    .conditional(predicate, .constant(.boolean(true)), .constant(.boolean(false)))
  }

  func variable(_ key: PredicateExpressions.VariableID) throws(FetchPredicateError) -> FetchExpression {
    if let value = variables[key] { return value }
    throw Self.unsupported("A variable of another predicate")
  }

  /// Lets a parameter of a closure stand for `value` from now on.
  mutating func bind(_ key: PredicateExpressions.VariableID, to value: FetchExpression) {
    variables[key] = value
  }

  /// The objects of a collection that meet a closure's condition.
  mutating func subquery(
    _ sequence: Any,
    _ key: PredicateExpressions.VariableID,
    _ test: Any,
    negated: Bool = false
  ) throws(FetchPredicateError) -> FetchExpression {
    let collection = try expression(sequence)
    variableCount += 1
    let name = "element\(variableCount)"
    bind(key, to: .variable(name))
    let condition = try predicate(test)
    return .subquery(collection, variable: name, negated ? .not(condition) : condition)
  }
}

/// A node of the tree that `#Predicate` makes which has a form in ours.
protocol MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node
}
