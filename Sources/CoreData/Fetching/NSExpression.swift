public import Foundation
import HeartwoodModel

/// A value in a predicate: a constant, the value at a key path, or a value computed from others.
///
///     let price = NSExpression(forKeyPath: "price")
///     let sum = NSExpression(forFunction: "sum:", arguments: [price])
///
/// Foundation has a class of this name on this system, of which no object can be made. A source that imports both
/// modules writes `CoreData.NSExpression`; the command heartwood-coredata does that for it.
open class NSExpression: NSObject, NSCopying {
  /// The kinds of expressions.
  public enum ExpressionType: UInt, Sendable {
    case constantValue = 0
    case evaluatedObject = 1
    case variable = 2
    case keyPath = 3
    case function = 4
    case subquery = 13
    case aggregate = 14
    case conditional = 20
  }

  final let content: ExpressionContent

  init(_ content: ExpressionContent) { self.content = content }

  convenience init(_ tree: FetchExpression, _ arguments: FormatArguments) { self.init(arguments.content(of: tree)) }

  // MARK: Making expressions

  /// Creates an expression from a format string: `NSExpression(format: "price * %@", factor)`. The format must be
  /// well-formed.
  public convenience init(format expressionFormat: String, _ args: any CVarArg...) {
    self.init(format: expressionFormat, argumentArray: args)
  }

  /// Creates an expression from a format string and its arguments. The format must be well-formed.
  public convenience init(format expressionFormat: String, argumentArray arguments: [Any]) {
    do {
      let arguments = try FormatArguments(arguments)
      self.init(try arguments.expression(expressionFormat), arguments)
    } catch {
      ProgrammerError.stop("Unable to parse the format string \"\(expressionFormat)\": \(error)")
    }
  }

  /// Creates an expression that is always `obj`.
  public convenience init(forConstantValue obj: Any?) { self.init(.constant(unwrappedKeepingNull(obj))) }

  /// Creates an expression that is the value of a variable.
  public convenience init(forVariable string: String) { self.init(.variable(string)) }

  /// Creates an expression that is the value at a key path of the evaluated object, or of a variable: `$x.title`.
  public convenience init(forKeyPath keyPath: String) { self.init(.keyPath(keyPath)) }

  /// Creates an expression that is the value at a key path of a managed object, whose name can be learnt.
  public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
    guard let name = KeyRecorder.name(of: keyPath) else {
      ProgrammerError.stop("The key path \(keyPath) reads no property that has a name. Give the name as a string.")
    }
    self.init(.keyPath(name))
  }

  /// Creates an expression that applies a function: `NSExpression(forFunction: "sum:", arguments: [price])`.
  public convenience init(forFunction name: String, arguments parameters: [Any]) {
    self.init(.function(name, parameters.map(Self.expression)))
  }

  /// Creates an expression that sends a message to the value of another, for mapping models, which have `$manager` and
  /// `$source` as variables. Fetches do not understand it.
  public convenience init(forFunction target: NSExpression, selectorName name: String, arguments parameters: [Any]?) {
    self.init(.call(target, name, (parameters ?? []).map(Self.expression)))
  }

  /// Creates an expression that is a collection of the values of others.
  public convenience init(forAggregate subexpressions: [Any]) {
    self.init(.aggregate(subexpressions.map(Self.expression)))
  }

  /// Creates an expression that is the elements of a collection that meet a condition.
  public convenience init(
    forSubquery expression: NSExpression,
    usingIteratorVariable variable: String,
    predicate: NSPredicate
  ) {
    self.init(.subquery(expression, variable: variable, predicate))
  }

  /// Creates an expression that is one of two, depending on a condition.
  public convenience init(
    forConditional predicate: NSPredicate,
    trueExpression: NSExpression,
    falseExpression: NSExpression
  ) {
    self.init(.conditional(predicate, trueExpression, falseExpression))
  }

  /// Returns an expression that is the evaluated object.
  public class func expressionForEvaluatedObject() -> NSExpression { NSExpression(.evaluatedObject) }

  private static func expression(_ value: Any) -> NSExpression {
    value as? NSExpression ?? NSExpression(forConstantValue: value)
  }

  // MARK: Reading expressions

  /// The kind of the expression, which decides which of the following properties it has.
  open var expressionType: ExpressionType {
    switch content {
    case .constant: .constantValue
    case .evaluatedObject: .evaluatedObject
    case .variable: .variable
    case .keyPath: .keyPath
    case .function, .call, .other: .function
    case .aggregate: .aggregate
    case .subquery: .subquery
    case .conditional: .conditional
    }
  }

  /// The value of a constant.
  open var constantValue: Any? {
    guard case .constant(let value) = content else { stop("constant value") }
    return value
  }

  /// The key path.
  open var keyPath: String {
    guard case .keyPath(let path) = content else { stop("key path") }
    return path
  }

  /// The name of the variable, or of the one that stands for the elements in a subquery.
  open var variable: String {
    switch content {
    case .variable(let name), .subquery(_, variable: let name, _): return name
    default: stop("variable")
    }
  }

  /// The name of the function.
  open var function: String {
    switch content {
    case .function(let name, _), .call(_, let name, _): return name
    default: stop("function")
    }
  }

  /// The arguments of the function.
  open var arguments: [NSExpression]? {
    switch content {
    case .function(_, let arguments), .call(_, _, let arguments): return arguments
    default: stop("arguments")
    }
  }

  /// The expression whose value gets the message.
  open var operand: NSExpression {
    guard case .call(let target, _, _) = content else { stop("operand") }
    return target
  }

  /// The expressions of an aggregate, or the collection of a subquery.
  open var collection: Any {
    switch content {
    case .aggregate(let elements): return elements
    case .subquery(let collection, _, _): return collection
    default: stop("collection")
    }
  }

  /// The condition of a subquery or a conditional expression.
  open var predicate: NSPredicate {
    switch content {
    case .subquery(_, _, let predicate), .conditional(let predicate, _, _): return predicate
    default: stop("predicate")
    }
  }

  /// The expression that is used if the condition is met.
  open var `true`: NSExpression {
    guard case .conditional(_, let expression, _) = content else { stop("true expression") }
    return expression
  }

  /// The expression that is used if the condition is not met.
  open var `false`: NSExpression {
    guard case .conditional(_, _, let expression) = content else { stop("false expression") }
    return expression
  }

  private final func stop(_ name: String) -> Never {
    ProgrammerError.stop("The expression \(self) has no \(name). Look at its expressionType first.")
  }

  /// Returns the value of the expression for an object that answers keys.
  open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
    switch content {
    case .constant(let value): return value
    case .evaluatedObject: return object
    case .keyPath(let path) where !path.hasPrefix("$"):
      return KeyValueCoding.value(of: object, path.split(separator: ".").map(String.init))
    default:
      do {
        return try PredicateTree.value(of: try content.tree(), object)
      } catch {
        ProgrammerError.stop("The expression \(self) cannot be evaluated: \(error)")
      }
    }
  }

  // MARK: NSObject

  /// Returns the expression itself, which cannot be changed.
  open override func copy() -> Any { self }

  /// Returns the expression itself, which cannot be changed.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Returns whether the other expression always has the same value.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSExpression else { return false }
    return self === other || content.isEqual(to: other.content)
  }

  /// A number that equal expressions share.
  open override var hash: Int {
    // try?: an expression that no store understands equals itself alone.
    (try? content.tree().hashValue) ?? ObjectIdentifier(self).hashValue
  }

  /// The expression as in a format string.
  open override var description: String { content.spelling }
}

/// Returns the value in nested optionals. `NSNull` stays what it is, and stands for nil in an optional.
private func unwrappedKeepingNull(_ value: Any?) -> Any? {
  guard let value, let optional = value as? any AnyOptional else { return value }
  return optional.wrapped.map { unwrappedKeepingNull($0) } ?? NSNull()
}

// MARK: ExpressionContent

/// What an expression consists of.
indirect enum ExpressionContent {
  case constant(Any?)
  case evaluatedObject
  case variable(String)
  case keyPath(String)
  case function(String, [NSExpression])
  /// A message to the value of an expression, in mapping models.
  case call(NSExpression, String, [NSExpression])
  case aggregate([NSExpression])
  case subquery(NSExpression, variable: String, NSPredicate)
  case conditional(NSPredicate, NSExpression, NSExpression)
  /// What a format string says that Core Data's API has no other form for.
  case other(FetchExpression)

  /// Returns the expression in the form of stores.
  ///
  /// - Throws: a `CocoaError` if no store understands it.
  func tree() throws -> FetchExpression {
    switch self {
    case .constant(let value): return try PredicateTree.argument(value ?? NSNull())
    case .evaluatedObject: return .selfObject
    case .variable(let name): return .variable(name)
    case .keyPath(let path): return Self.keyPath(path)
    case .function(let name, let arguments): return try Self.function(name, arguments.map { try $0.content.tree() })
    case .call(_, let name, _):
      throw CocoaError.make(.persistentStoreOperation, "The message \(name) is for mapping models. No fetch sends it.")
    case .aggregate(let elements): return .aggregate(try elements.map { try $0.content.tree() })
    case .subquery(let collection, let variable, let predicate):
      return .subquery(try collection.content.tree(), variable: variable, try PredicateTree.predicate(predicate))
    case .conditional(let predicate, let first, let second):
      return .conditional(
        try PredicateTree.predicate(predicate),
        try first.content.tree(),
        try second.content.tree()
      )
    case .other(let tree): return tree
    }
  }

  private static func keyPath(_ path: String) -> FetchExpression {
    if path.lowercased() == "self" { return .selfObject }
    guard path.hasPrefix("$"), case .keyPath(_, var keys) = FetchExpression(keyPath: path) else {
      return FetchExpression(keyPath: path)
    }
    keys.removeFirst()
    let variable = FetchExpression.variable(String(path.dropFirst().prefix { $0 != "." }))
    return keys.isEmpty ? variable : .keyPath(of: variable, keys)
  }

  private static func function(_ name: String, _ arguments: [FetchExpression]) throws -> FetchExpression {
    if let operation = FetchExpression.operation(named: name, arguments) { return operation }
    if let function = FetchFunction(rawValue: name), function.argumentCount == arguments.count {
      return .function(function, arguments)
    }
    throw CocoaError.make(
      .persistentStoreOperation,
      "There is no function called \(name) of \(arguments.count) arguments for fetches."
    )
  }

  func isEqual(to other: ExpressionContent) -> Bool {
    // try?: an expression that no store understands equals itself alone.
    guard let left = try? tree(), let right = try? other.tree() else { return false }
    return left == right
  }

  /// Returns the expression with values in place of its variables.
  func substituting(_ values: [String: Any]) throws -> ExpressionContent {
    func replaced(_ expression: NSExpression) throws -> NSExpression {
      NSExpression(try expression.content.substituting(values))
    }
    switch self {
    case .constant, .evaluatedObject: return self
    case .variable(let name): return values[name].map { .constant($0) } ?? self
    case .keyPath(let path):
      guard path.hasPrefix("$") else { return self }
      return .other(try PredicateTree.substituting(try tree(), values))
    case .function(let name, let arguments): return .function(name, try arguments.map(replaced))
    case .call(let target, let name, let arguments):
      return .call(try replaced(target), name, try arguments.map(replaced))
    case .aggregate(let elements): return .aggregate(try elements.map(replaced))
    case .subquery(let collection, let variable, let predicate):
      let outer = values.filter { $0.key != variable }
      return .subquery(
        try replaced(collection),
        variable: variable,
        try PredicateTree.substituting(predicate, outer)
      )
    case .conditional(let predicate, let first, let second):
      return .conditional(
        try PredicateTree.substituting(predicate, values),
        try replaced(first),
        try replaced(second)
      )
    case .other(let tree): return .other(try PredicateTree.substituting(tree, values))
    }
  }

  var spelling: String {
    switch self {
    case .constant(let value) where value is NSNull: "<null>"
    // try?: what no store understands is shown as it is.
    case .constant(let value): (try? tree().description) ?? value.map { "\($0)" } ?? "nil"
    case .function(let name, let arguments): (try? tree().description) ?? "\(name)(\(Self.list(arguments)))"
    case .call(let target, let name, let arguments): "FUNCTION(\(Self.list([target, Self.text(name)] + arguments)))"
    case .aggregate(let elements): "{\(Self.list(elements))}"
    case .subquery(let collection, let variable, let predicate):
      "SUBQUERY(\(collection), $\(variable), \(PredicateTree.spelling(predicate)))"
    case .conditional(let predicate, let first, let second):
      "TERNARY(\(PredicateTree.spelling(predicate)), \(first), \(second))"
    case .keyPath(let path): (try? tree().description) ?? path
    case .evaluatedObject: "SELF"
    case .variable(let name): "$" + name
    case .other(let tree): tree.description
    }
  }

  private static func text(_ name: String) -> NSExpression { NSExpression(.constant(name)) }

  private static func list(_ expressions: [NSExpression]) -> String {
    expressions.map(\.description).joined(separator: ", ")
  }
}
