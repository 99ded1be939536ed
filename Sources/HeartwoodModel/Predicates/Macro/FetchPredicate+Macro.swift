public import HeartwoodFoundation

/// A class that returns the names of the properties that its key paths read, so that fetches can use `#Predicate` with
/// it.
public protocol KeyPathNaming {
  /// Returns the name of the property that `keyPath` reads; nil if it reads none. The root of the key path is this
  /// class.
  static func propertyName(of keyPath: AnyKeyPath) -> String?
}

extension FetchPredicate {
  /// Converts a predicate that Foundation's `#Predicate` macro makes.
  ///
  ///     let predicate = try FetchPredicate(#Predicate<ToDo> { !$0.done && $0.title.contains("milk") })
  ///
  /// Comparisons, `&&`, `||`, `!`, arithmetic, optionals, `contains`, `starts(with:)`, `allSatisfy`, `filter`, ranges,
  /// `min` and `max` can be converted, and so can the properties of classes that conform to ``KeyPathNaming``.
  ///
  /// - Throws: ``FetchPredicateError`` of the kind ``FetchPredicateError/Kind/unsupported`` if the predicate contains
  ///   anything else.
  public init<Object>(_ predicate: Predicate<Object>) throws(FetchPredicateError) {
    var conversion = MacroConversion(subject: predicate.variable.key)
    self = try conversion.predicate(predicate.expression)
  }
}

/// Converts the tree that `#Predicate` makes.
struct MacroConversion {
  enum Node {
    case predicate(FetchPredicate)
    case expression(FetchExpression)
  }

  /// The values of the parameters of the predicate and of the closures in it.
  private var variables: [PredicateExpressions.VariableID: FetchExpression]
  private var variableCount = 0

  init(subject: PredicateExpressions.VariableID) {
    variables = [subject: .selfObject]
  }

  static func unsupported(_ what: String) -> FetchPredicateError {
    let text = "#Predicate"
    let message = "\(what) cannot be used in fetches. Write it in another way, or as a format string."
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

  /// Converts a condition, or a boolean value to a condition.
  mutating func predicate(_ expression: Any) throws(FetchPredicateError) -> FetchPredicate {
    switch try node(expression) {
    case .predicate(let predicate): return predicate
    case .expression(.constant(.boolean(let flag))): return .literal(flag)
    case .expression(let value): return .comparison(FetchComparison(value, .equalTo, .constant(.boolean(true))))
    }
  }

  /// Converts a value, or a condition to a boolean value.
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

  /// Sets the value of a parameter of a closure from now on.
  mutating func bind(_ key: PredicateExpressions.VariableID, to value: FetchExpression) {
    variables[key] = value
  }

  /// Converts a closure over a collection to the objects of the collection that meet its condition.
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

/// A node of the tree that `#Predicate` makes which can be converted.
protocol MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node
}
