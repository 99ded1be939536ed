/// A value in a predicate: a constant, the value at a key path, or a value computed from others.
///
///     let total = try FetchExpression(format: "items.@sum.price * 2")
///     let name = FetchExpression.key("list", "name")
///     let limit = FetchExpression.value(.integer(100))
///
/// An expression is independent of stores and entities; a fetch checks whether its entity has the keys. The type is not
/// called `Expression` because Foundation has a type with that name.
public indirect enum FetchExpression: Sendable, Hashable {
  /// A value, or `nil`. Use ``value(_:)``, which makes an ``object(_:)`` of a saved object.
  case constant(PropertyValue)
  /// A saved object.
  case object(ObjectURI)
  /// The tested object: `SELF`.
  case selfObject
  /// A variable whose value is substituted later, or the object that a subquery tests: `$name`.
  case variable(String)
  /// The value at a key path from an object, or from each object of a collection.
  case keyPath(of: FetchExpression, [FetchKey])
  /// A list of values: `{1, 2, 3}`.
  case aggregate([FetchExpression])
  /// An operator applied to two numbers.
  case arithmetic(FetchExpression, ArithmeticOperator, FetchExpression)
  /// A function applied to its arguments.
  case function(FetchFunction, [FetchExpression])
  /// The objects of a collection that meet a condition, in which a variable stands for each object: `SUBQUERY(items,
  /// $x, …)`.
  case subquery(FetchExpression, variable: String, FetchPredicate)
  /// One element of a collection, or the number of its elements: `items[0]`, `items[FIRST]`, `items[SIZE]`.
  case element(of: FetchExpression, ElementIndex)
  /// A value converted to another type: `CAST(due, "Double")`.
  case cast(FetchExpression, CastType)
  /// One of two values, depending on a condition: `TERNARY(done == YES, 1, 2)`.
  case conditional(FetchPredicate, FetchExpression, FetchExpression)
}

extension FetchExpression {
  /// Returns the constant `value`. A saved object becomes an ``object(_:)`` and a to-many value an ``aggregate(_:)``,
  /// so that equal values make equal expressions.
  public static func value(_ value: PropertyValue) -> FetchExpression {
    switch value {
    case .toOne(let id):
      guard let store = id.storeIdentifier else { return .constant(value) }
      return .object(ObjectURI(storeIdentifier: store, entityName: id.entity.name, reference: id.reference))
    case .toMany(let ids): return .aggregate(ids.map { .value(.toOne($0)) })
    default: return .constant(value)
    }
  }

  /// Returns the key path `names` from the tested object: `.key("list", "name")`. The names must be properties, not
  /// collection operators.
  public static func key(_ names: String...) -> FetchExpression {
    .keyPath(of: .selfObject, names.map(FetchKey.property))
  }

  /// Returns the value at `key` of this expression. If it is a key path, the key is added to it.
  func appending(_ key: FetchKey) -> FetchExpression {
    if case .keyPath(let base, let keys) = self { return .keyPath(of: base, keys + [key]) }
    return .keyPath(of: self, [key])
  }
}

extension FetchExpression {
  /// An operator between two numbers. The raw value is its spelling in format strings.
  public enum ArithmeticOperator: String, Sendable, Hashable, CaseIterable {
    /// The sum. For a date and a number, the date that many seconds later.
    case add = "+"
    /// The difference. For two dates, the seconds between them.
    case subtract = "-"
    /// The product.
    case multiply = "*"
    /// The quotient. For two integers, it has no fraction.
    case divide = "/"
    /// The left number raised to the power of the right one.
    case power = "**"
  }

  /// An element of a collection.
  public enum ElementIndex: Sendable, Hashable {
    /// The first element; `nil` if the collection is empty.
    case first
    /// The last element; `nil` if the collection is empty.
    case last
    /// The number of elements.
    case size
    /// The element at this index, counted from 0; `nil` if there is none.
    case at(FetchExpression)
  }

  /// The type to which a value is converted. The raw value is its spelling in format strings.
  public enum CastType: String, Sendable, Hashable, CaseIterable {
    case integer = "Integer"
    case decimal = "Decimal"
    case double = "Double"
    case float = "Float"
    case string = "String"
    case boolean = "Boolean"
    case date = "Date"
    case binary = "Data"
    case uuid = "UUID"
    case uri = "URL"
  }
}

/// One part of a key path.
public enum FetchKey: Sendable, Hashable {
  /// The name of a property.
  case property(String)
  /// A collection operator. It applies to the values at the keys after it: `items.@sum.price`; `@count` has none.
  case collection(CollectionOperator)
}

/// An operator in a key path that computes a value from a collection. The raw value is its spelling in format strings.
public enum CollectionOperator: String, Sendable, Hashable, CaseIterable {
  /// The number of values, including `nil`.
  case count = "@count"
  /// The sum of the numbers; 0 if there are none.
  case sum = "@sum"
  /// The least value. `nil` and NaN are ignored.
  case min = "@min"
  /// The greatest value. `nil` and NaN are ignored.
  case max = "@max"
  /// The average of the numbers, in which equal values count each time. `nil` is ignored.
  case average = "@avg"
  /// All values, in their order.
  case union = "@unionOfObjects"
  /// The values without repetitions: each is kept at its first place.
  case distinctUnion = "@distinctUnionOfObjects"
}

// MARK: Functions

extension FetchExpression {
  /// Returns whether the expression contains a call of `function`.
  package func applies(_ function: FetchFunction) -> Bool {
    switch self {
    case .constant, .object, .selfObject, .variable: return false
    case .keyPath(let base, _), .cast(let base, _): return base.applies(function)
    case .aggregate(let operands): return operands.contains { $0.applies(function) }
    case .function(let applied, let operands): return applied == function || operands.contains { $0.applies(function) }
    case .arithmetic(let left, _, let right): return left.applies(function) || right.applies(function)
    case .subquery(let collection, _, let predicate):
      return collection.applies(function) || predicate.applies(function)
    case .element(let collection, .at(let place)): return collection.applies(function) || place.applies(function)
    case .element(let collection, _): return collection.applies(function)
    case .conditional(let predicate, let first, let second):
      return predicate.applies(function) || first.applies(function) || second.applies(function)
    }
  }
}

extension FetchPredicate {
  /// Returns whether the predicate contains a call of `function`.
  func applies(_ function: FetchFunction) -> Bool {
    switch self {
    case .literal: false
    case .comparison(let comparison): comparison.left.applies(function) || comparison.right.applies(function)
    case .not(let term): term.applies(function)
    case .and(let terms), .or(let terms): terms.contains { $0.applies(function) }
    }
  }
}

// MARK: Operators

extension FetchExpression {
  /// Returns the operator whose function form is `name`; nil if there is none, or if the arguments do not fit.
  package static func operation(named name: String, _ arguments: [FetchExpression]) -> FetchExpression? {
    operators[name].flatMap { $0(arguments) }
  }

  /// The functions that are other spellings of operators. They return nil if the arguments do not fit.
  private static let operators: [String: @Sendable ([FetchExpression]) -> FetchExpression?] = [
    "add:to:": { binary($0, .add) },
    "from:subtract:": { binary($0, .subtract) },
    "multiply:by:": { binary($0, .multiply) },
    "divide:by:": { binary($0, .divide) },
    "raise:toPower:": { binary($0, .power) },
    "objectFrom:withIndex:": { $0.count == 2 ? .element(of: $0[0], .at($0[1])) : nil },
    "castObject:toType:": { arguments in
      guard arguments.count == 2, case .constant(.string(let name)) = arguments[1] else { return nil }
      return FetchExpression.CastType(spelling: name).map { .cast(arguments[0], $0) }
    },
    "noindex:": { $0.count == 1 ? $0[0] : nil },
  ]

  private static func binary(
    _ arguments: [FetchExpression],
    _ symbol: FetchExpression.ArithmeticOperator
  ) -> FetchExpression? {
    arguments.count == 2 ? .arithmetic(arguments[0], symbol, arguments[1]) : nil
  }
}

// MARK: FetchFunction

/// A function in predicates. The raw value is its name with a colon for each argument, as in `NSExpression`.
public enum FetchFunction: String, Sendable, Hashable, CaseIterable {
  /// The time at which the fetch began.
  case now
  /// The sum of the numbers in a collection; 0 if there are none.
  case sum = "sum:"
  /// The number of values in a collection, including `nil`.
  case count = "count:"
  /// The values of a collection without repetitions: each is kept at its first place.
  case distinct = "distinct:"
  /// The least value of a collection. `nil` and NaN are ignored.
  case min = "min:"
  /// The greatest value of a collection. `nil` and NaN are ignored.
  case max = "max:"
  /// The average of the numbers in a collection. `nil` is ignored.
  case average = "average:"
  /// The median of a collection. If the number of values is even, it is the average of the two in the middle.
  case median = "median:"
  /// The most frequent number. If several are equally frequent, it is the least of them.
  case mode = "mode:"
  /// The standard deviation of the numbers as a whole population.
  case standardDeviation = "stddev:"
  /// The remainder of a division, with the sign of the dividend; `nil` for a division by zero.
  case modulus = "modulus:by:"
  /// The number with the other sign.
  case negate = "negate:"
  /// The square root, a double.
  case squareRoot = "sqrt:"
  /// The logarithm to base 10, a double.
  case logarithm = "log:"
  /// The logarithm to base e, a double.
  case naturalLogarithm = "ln:"
  /// The power of e, as a double.
  case exponential = "exp:"
  /// The greatest whole number that is not above the number.
  case floor = "floor:"
  /// The least whole number that is not below the number.
  case ceiling = "ceiling:"
  /// The number without its fraction.
  case truncate = "trunc:"
  /// The number without its sign.
  case absolute = "abs:"
  /// The bits that are set in both integers.
  case bitwiseAnd = "bitwiseAnd:with:"
  /// The bits that are set in one of two integers, or in both.
  case bitwiseOr = "bitwiseOr:with:"
  /// The bits that are set in exactly one of two integers.
  case bitwiseXor = "bitwiseXor:with:"
  /// An integer with its bits shifted to the left. Bits beyond the 64 are lost.
  case leftShift = "leftshift:by:"
  /// An integer with its bits shifted to the right. The sign is kept.
  case rightShift = "rightshift:by:"
  /// An integer with every bit inverted.
  case onesComplement = "onesComplement:"
  /// A string in lowercase.
  case lowercase = "lowercase:"
  /// A string in uppercase.
  case uppercase = "uppercase:"
  /// A string without case and marks, as `[cd]` compares it.
  case canonical = "canonical:"
  /// The length of a string in UTF-16 code units, as in Core Data.
  case length = "length:"
}

extension FetchFunction {
  /// The number of arguments.
  public var argumentCount: Int { rawValue.utf8.count { $0 == UInt8(ascii: ":") } }

  /// Finds the function with this name in a format string: with or without its colons, in any case. Returns nil if
  /// there is none.
  init?(name: String) {
    guard let function = Self.byName[name.lowercased()] else { return nil }
    self = function
  }

  private static let byName: [String: FetchFunction] = {
    var names: [String: FetchFunction] = [:]
    for function in allCases where function != .negate {
      let name = function.rawValue.lowercased()
      names[name] = function
      if function.argumentCount == 1 { names[String(name.dropLast())] = function }
    }
    return names
  }()
}
