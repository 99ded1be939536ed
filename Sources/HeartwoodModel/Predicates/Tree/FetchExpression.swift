/// A value that a predicate compares: a constant, what a key path leads to, or what is computed from others.
///
/// It is not called `Expression`, because Foundation has a type of that name.
public indirect enum FetchExpression: Sendable, Hashable {
  /// A value, or `nil`. For saved objects there is ``object(_:)``: see ``value(_:)``.
  case constant(PropertyValue)
  /// A saved object.
  case object(ObjectURI)
  /// The object that is tested: `SELF`.
  case selfObject
  /// What is to be put in later, or the object that a subquery tests: `$name`.
  case variable(String)
  /// What a key path leads to from an object, or from each of a collection.
  case keyPath(of: FetchExpression, [FetchKey])
  /// Several values: `{1, 2, 3}`.
  case aggregate([FetchExpression])
  /// Two numbers and an operator.
  case arithmetic(FetchExpression, ArithmeticOperator, FetchExpression)
  /// What a function makes of its arguments.
  case function(FetchFunction, [FetchExpression])
  /// The objects of a collection that meet a condition, in which a variable stands for the object: `SUBQUERY(items, $x, …)`.
  case subquery(FetchExpression, variable: String, FetchPredicate)
  /// One element of a collection, or their number: `items[0]`, `items[FIRST]`, `items[SIZE]`.
  case element(of: FetchExpression, ElementIndex)
  /// A value as one of another type: `CAST(due, "Double")`.
  case cast(FetchExpression, CastType)
  /// One of two values, by a condition: `TERNARY(done == YES, 1, 2)`.
  case conditional(FetchPredicate, FetchExpression, FetchExpression)
}

extension FetchExpression {
  /// The constant `value`. A saved object becomes ``object(_:)`` and several objects an ``aggregate(_:)``, so that equal values
  /// are equal expressions.
  public static func value(_ value: PropertyValue) -> FetchExpression {
    switch value {
    case .toOne(let id):
      guard let store = id.storeIdentifier else { return .constant(value) }
      return .object(ObjectURI(storeIdentifier: store, entityName: id.entity.name, reference: id.reference))
    case .toMany(let ids): return .aggregate(ids.map { .value(.toOne($0)) })
    default: return .constant(value)
    }
  }

  /// The key path `names` from the object that is tested. The names are keys, none a collection operator.
  public static func key(_ names: String...) -> FetchExpression {
    .keyPath(of: .selfObject, names.map(FetchKey.property))
  }

  /// What `key` leads to from here. A key path grows by it.
  func appending(_ key: FetchKey) -> FetchExpression {
    if case .keyPath(let base, let keys) = self { return .keyPath(of: base, keys + [key]) }
    return .keyPath(of: self, [key])
  }
}

extension FetchExpression {
  /// An operator between two numbers. The raw value is how it is written.
  public enum ArithmeticOperator: String, Sendable, Hashable, CaseIterable {
    /// The sum; of a date and a number, the date so many seconds later.
    case add = "+"
    /// The difference; of two dates, the seconds between them.
    case subtract = "-"
    /// The product.
    case multiply = "*"
    /// Between two integers, the quotient without its fraction.
    case divide = "/"
    /// The left number to the power of the right one.
    case power = "**"
  }

  /// Which element of a collection is meant.
  public enum ElementIndex: Sendable, Hashable {
    /// The first; `nil` where there is none.
    case first
    /// The last; `nil` where there is none.
    case last
    /// Not an element, but how many there are.
    case size
    /// The element at this place, counted from 0; `nil` where there is none.
    case at(FetchExpression)
  }

  /// The type that a value is turned into. The raw value is how it is written.
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
  /// A value made of the whole collection: `@count`, and the others of what follows them: `items.@sum.price`.
  case collection(CollectionOperator)
}

/// An operator in a key path that makes something of a collection. The raw value is how it is written.
public enum CollectionOperator: String, Sendable, Hashable, CaseIterable {
  /// How many values there are, `nil` among them.
  case count = "@count"
  /// The sum of the numbers; 0 where there are none.
  case sum = "@sum"
  /// The least value. `nil` and NaN are left out.
  case min = "@min"
  /// The greatest value. `nil` and NaN are left out.
  case max = "@max"
  /// The average. No value is left out for being the same as another; those that are `nil` are.
  case average = "@avg"
  /// All values, in their order.
  case union = "@unionOfObjects"
  /// The values without those that are equal to an earlier one.
  case distinctUnion = "@distinctUnionOfObjects"
}

// MARK: Functions

extension FetchExpression {
  /// Whether `function` is applied anywhere in the expression.
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
  /// Whether `function` is applied anywhere in the predicate.
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
  /// The operator that is written as the function called `name`; nil where there is none, or where the arguments do not fit.
  package static func operation(named name: String, _ arguments: [FetchExpression]) -> FetchExpression? {
    operators[name].flatMap { $0(arguments) }
  }

  /// Functions that are operators by another name; nil where the arguments do not fit.
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

/// A function of predicates. The raw value is its name, with a colon for each argument, as `NSExpression` has it.
public enum FetchFunction: String, Sendable, Hashable, CaseIterable {
  /// The time at which the fetch began.
  case now
  /// The sum of the numbers of a collection; 0 where there are none.
  case sum = "sum:"
  /// How many values a collection has, `nil` among them.
  case count = "count:"
  /// The values of a collection without those that are equal to an earlier one.
  case distinct = "distinct:"
  /// The least value of a collection. `nil` and NaN are left out.
  case min = "min:"
  /// The greatest value of a collection. `nil` and NaN are left out.
  case max = "max:"
  /// The average of the numbers of a collection. `nil` is left out.
  case average = "average:"
  /// The number in the middle of a collection, in order; the average of the two there where their number is even.
  case median = "median:"
  /// The most frequent number; of several, the least.
  case mode = "mode:"
  /// The standard deviation of all of a population.
  case standardDeviation = "stddev:"
  /// The remainder of a division, with the sign of the number that is divided; `nil` for a division by zero.
  case modulus = "modulus:by:"
  /// The number with the other sign.
  case negate = "negate:"
  /// The square root, a double.
  case squareRoot = "sqrt:"
  /// The logarithm to base 10, a double.
  case logarithm = "log:"
  /// The logarithm to base e, a double.
  case naturalLogarithm = "ln:"
  /// The power of e, a double.
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
  /// An integer whose bits are moved toward the greatest one. What leaves the 64 bits is lost.
  case leftShift = "leftshift:by:"
  /// An integer whose bits are moved toward the least one. The sign stays.
  case rightShift = "rightshift:by:"
  /// An integer with every bit turned.
  case onesComplement = "onesComplement:"
  /// A string in small letters.
  case lowercase = "lowercase:"
  /// A string in capitals.
  case uppercase = "uppercase:"
  /// A string without case and marks, as `[cd]` compares it.
  case canonical = "canonical:"
  /// The length of a string in UTF-16 code units, as in Core Data.
  case length = "length:"
}

extension FetchFunction {
  /// How many arguments it takes.
  public var argumentCount: Int { rawValue.utf8.count { $0 == UInt8(ascii: ":") } }

  /// The function called `name` in a format string: with or without its colons, in any case.
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
