public import Foundation
import HeartwoodModel

/// A comparison of two expressions.
///
/// Foundation has a class of this name on this system, of which no object can be made; see ``NSExpression``.
open class NSComparisonPredicate: NSPredicate {
  /// How many elements of the left side must meet the comparison, if it is a collection.
  public enum Modifier: UInt, Sendable {
    case direct = 0
    case all = 1
    case any = 2
  }

  /// How the sides are compared.
  public enum Operator: UInt, Sendable {
    case lessThan = 0
    case lessThanOrEqualTo = 1
    case greaterThan = 2
    case greaterThanOrEqualTo = 3
    case equalTo = 4
    case notEqualTo = 5
    case matches = 6
    case like = 7
    case beginsWith = 8
    case endsWith = 9
    case `in` = 10
    case contains = 99
    case between = 100
  }

  /// How strings are compared.
  public struct Options: OptionSet, Sendable {
    /// One bit for each option.
    public let rawValue: UInt

    /// Makes a set of options from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Uppercase and lowercase letters are the same.
    public static let caseInsensitive = Options(rawValue: 1)
    /// Marks on letters are ignored.
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// The strings are compared as they are.
    public static let normalized = Options(rawValue: 4)
  }

  /// The left side.
  public final let leftExpression: NSExpression
  /// The right side.
  public final let rightExpression: NSExpression
  /// How many elements of the left side must meet the comparison, if it is a collection.
  public final let comparisonPredicateModifier: Modifier
  /// How the sides are compared.
  public final let predicateOperatorType: Operator
  /// How strings are compared.
  public final let options: Options

  /// Creates a comparison of two expressions.
  public init(
    leftExpression lhs: NSExpression,
    rightExpression rhs: NSExpression,
    modifier: Modifier,
    type: Operator,
    options: Options = []
  ) {
    leftExpression = lhs
    rightExpression = rhs
    comparisonPredicateModifier = modifier
    predicateOperatorType = type
    self.options = options
    // To Foundation, a block equals no other predicate.
    super.init(block: { _, _ in false })
  }

  final func tree() throws -> FetchPredicate {
    .comparison(
      FetchComparison(
        try leftExpression.content.tree(),
        predicateOperatorType.comparator,
        try rightExpression.content.tree(),
        modifier: comparisonPredicateModifier.modifier,
        options: FetchComparison.Options(rawValue: Int(options.rawValue))
      )
    )
  }

  final func substituting(_ values: [String: Any]) throws -> NSComparisonPredicate {
    NSComparisonPredicate(
      leftExpression: NSExpression(try leftExpression.content.substituting(values)),
      rightExpression: NSExpression(try rightExpression.content.substituting(values)),
      modifier: comparisonPredicateModifier,
      type: predicateOperatorType,
      options: options
    )
  }

  /// The comparison in the form of a format string.
  open override var predicateFormat: String {
    let prefix = comparisonPredicateModifier == .direct ? "" : comparisonPredicateModifier.modifier.rawValue + " "
    let letters = [(Options.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n")]
      .filter { options.contains($0.0) }.map(\.1).joined()
    let suffix = letters.isEmpty ? "" : "[\(letters)]"
    return "\(prefix)\(leftExpression) \(predicateOperatorType.comparator.rawValue)\(suffix) \(rightExpression)"
  }

  /// The comparison in the form of a format string.
  open override var description: String { predicateFormat }

  /// Returns the predicate itself, which cannot be changed.
  open override func copy(with zone: NSZone? = nil) -> Any { self }

  /// Returns whether the other predicate makes the same comparison.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSComparisonPredicate else { return false }
    return predicateOperatorType == other.predicateOperatorType && options == other.options
      && comparisonPredicateModifier == other.comparisonPredicateModifier
      && leftExpression.isEqual(other.leftExpression) && rightExpression.isEqual(other.rightExpression)
  }

  /// A number that equal predicates share.
  open override var hash: Int { leftExpression.hash ^ predicateOperatorType.hashValue }

  /// Returns whether an object that answers keys meets the comparison.
  open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    do {
      let predicate = try bindings.map(substituting) ?? self
      return try PredicateTree.matches(try predicate.tree(), object)
    } catch {
      ProgrammerError.stop("The predicate \(predicateFormat) cannot be evaluated: \(error)")
    }
  }
}

// MARK: In Heartwood's form

extension NSComparisonPredicate.Modifier {
  fileprivate var modifier: FetchComparison.Modifier {
    switch self {
    case .direct: .direct
    case .all: .all
    case .any: .any
    }
  }

  /// `NONE` has no modifier of its own: it is `ANY`, negated.
  fileprivate init(_ modifier: FetchComparison.Modifier) {
    switch modifier {
    case .direct: self = .direct
    case .all: self = .all
    case .any, .none: self = .any
    }
  }
}

extension NSComparisonPredicate.Operator {
  private static let comparators: [(NSComparisonPredicate.Operator, FetchComparison.Comparator)] = [
    (.lessThan, .lessThan), (.lessThanOrEqualTo, .lessThanOrEqualTo), (.greaterThan, .greaterThan),
    (.greaterThanOrEqualTo, .greaterThanOrEqualTo), (.equalTo, .equalTo), (.notEqualTo, .notEqualTo),
    (.matches, .matches), (.like, .like), (.beginsWith, .beginsWith), (.endsWith, .endsWith), (.in, .in),
    (.contains, .contains), (.between, .between),
  ]

  fileprivate var comparator: FetchComparison.Comparator {
    Self.comparators.first { $0.0 == self }?.1 ?? .equalTo
  }

  fileprivate init(_ comparator: FetchComparison.Comparator) {
    self = Self.comparators.first { $0.1 == comparator }?.0 ?? .equalTo
  }
}

// MARK: NSCompoundPredicate

/// Several predicates of which all, or at least one, or none must be true.
///
/// Foundation's class of this name works as well, but neither prints its terms nor compares them; see ``NSExpression``.
open class NSCompoundPredicate: Foundation.NSCompoundPredicate {
  /// The terms in the form of a format string.
  open override var predicateFormat: String {
    switch compoundPredicateType {
    case .not: "NOT " + Self.spelling(subpredicates, " AND ", "TRUEPREDICATE")
    case .or: Self.spelling(subpredicates, " OR ", "FALSEPREDICATE")
    default: Self.spelling(subpredicates, " AND ", "TRUEPREDICATE")
    }
  }

  private static func spelling(_ terms: [NSPredicate], _ separator: String, _ empty: String) -> String {
    terms.isEmpty ? empty : terms.map(term).joined(separator: separator)
  }

  private static func term(_ predicate: NSPredicate) -> String {
    let text = PredicateTree.spelling(predicate)
    guard let compound = predicate as? Foundation.NSCompoundPredicate else { return text }
    return compound.compoundPredicateType == .not ? text : "(\(text))"
  }

  /// The terms in the form of a format string.
  open override var description: String { predicateFormat }

  /// Returns the predicate itself, which cannot be changed.
  open override func copy(with zone: NSZone? = nil) -> Any { self }

  /// Returns whether the other predicate has equal terms in the same order.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? Foundation.NSCompoundPredicate else { return false }
    return other.compoundPredicateType == compoundPredicateType && other.subpredicates == subpredicates
  }

  /// A number that equal predicates share.
  open override var hash: Int { subpredicates.reduce(subpredicates.count) { $0 ^ $1.hash } }
}

// MARK: FormatArguments

/// The arguments of a format string. Objects among them stand in the parsed tree as variables, since the id of a new
/// object changes when it is saved.
struct FormatArguments {
  private var expressions: [FetchExpression] = []
  private var objects: [String: NSManagedObject] = [:]

  init(_ arguments: [Any]) throws {
    for argument in arguments { expressions.append(try noting(argument)) }
  }

  private mutating func noting(_ argument: Any) throws -> FetchExpression {
    if let object = unwrapped(argument) as? NSManagedObject {
      // No variable of a format has a space in its name.
      let name = "object \(objects.count)"
      objects[name] = object
      return .variable(name)
    }
    guard let elements = unwrapped(argument).flatMap(KeyValueCoding.elements) else {
      return try PredicateTree.argument(argument)
    }
    return .aggregate(try elements.map { try noting($0) })
  }

  private init() {}

  /// Returns the predicate of a model.
  static func predicate(of tree: FetchPredicate) -> NSPredicate { FormatArguments().predicate(tree) }

  /// Returns the expression of a model.
  static func expression(of tree: FetchExpression) -> NSExpression { FormatArguments().wrapped(tree) }

  func predicate(_ format: String) throws -> NSPredicate {
    predicate(try FetchPredicate(format: format, arguments: expressions))
  }

  func expression(_ format: String) throws -> FetchExpression {
    // A format of an expression alone is the left side of a comparison.
    guard
      case .comparison(let comparison) = try FetchPredicate(format: "(\(format)) == nil", arguments: expressions)
    else { throw CocoaError.make(.persistentStoreOperation, "This is a predicate. An expression is needed.") }
    return comparison.left
  }

  private func predicate(_ tree: FetchPredicate) -> NSPredicate {
    switch tree {
    case .literal(let flag): NSPredicate(value: flag)
    case .not(let term): NSCompoundPredicate(type: .not, subpredicates: [predicate(term)])
    case .and(let terms): NSCompoundPredicate(type: .and, subpredicates: terms.map(predicate))
    case .or(let terms): NSCompoundPredicate(type: .or, subpredicates: terms.map(predicate))
    case .comparison(let comparison): predicate(comparison)
    }
  }

  private func predicate(_ comparison: FetchComparison) -> NSPredicate {
    let predicate = NSComparisonPredicate(
      leftExpression: NSExpression(comparison.left, self),
      rightExpression: NSExpression(comparison.right, self),
      modifier: NSComparisonPredicate.Modifier(comparison.modifier),
      type: NSComparisonPredicate.Operator(comparison.comparator),
      options: NSComparisonPredicate.Options(rawValue: UInt(comparison.options.rawValue))
    )
    return comparison.modifier == .none ? NSCompoundPredicate(type: .not, subpredicates: [predicate]) : predicate
  }

  /// Returns the content of an expression of a parsed format.
  func content(of tree: FetchExpression) -> ExpressionContent {
    switch tree {
    case .constant(let value): .constant(StoredValue.object(value, .undefined))
    case .selfObject: .evaluatedObject
    case .variable(let name): objects[name].map { .constant($0) } ?? .variable(name)
    case .keyPath(of: .selfObject, let keys): .keyPath(Self.path(keys))
    case .keyPath(of: .variable(let name), let keys) where objects[name] == nil: .keyPath("$\(name).\(Self.path(keys))")
    case .function(let function, let arguments): .function(function.rawValue, arguments.map(wrapped))
    case .arithmetic(let left, let symbol, let right): .function(symbol.function, [wrapped(left), wrapped(right)])
    case .aggregate(let elements): .aggregate(elements.map(wrapped))
    case .element(of: let collection, .at(let place)):
      .function("objectFrom:withIndex:", [wrapped(collection), wrapped(place)])
    case .subquery(let collection, let variable, let condition):
      .subquery(wrapped(collection), variable: variable, predicate(condition))
    case .conditional(let condition, let first, let second):
      .conditional(predicate(condition), wrapped(first), wrapped(second))
    case .object, .keyPath, .element, .cast: .other(resolved(tree))
    }
  }

  private func wrapped(_ tree: FetchExpression) -> NSExpression { NSExpression(tree, self) }

  private func resolved(_ tree: FetchExpression) -> FetchExpression {
    tree.replacing { part in
      guard case .variable(let name) = part, let object = objects[name] else { return nil }
      // try?: an object that is in no context has no value, which the fetch reports.
      return try? PredicateTree.argument(object)
    }
  }

  private static func path(_ keys: [FetchKey]) -> String { keys.map(\.spelling).joined(separator: ".") }
}

extension FetchExpression.ArithmeticOperator {
  fileprivate var function: String {
    switch self {
    case .add: "add:to:"
    case .subtract: "from:subtract:"
    case .multiply: "multiply:by:"
    case .divide: "divide:by:"
    case .power: "raise:toPower:"
    }
  }
}
