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
