public import HeartwoodModel

// Conditions in Swift: `ToDo.doneKey == true && ToDo.memoKey.contains("milk")`. The compiler checks that the types fit.

extension PropertyKey {
  /// The property as an operand of a predicate.
  public final var expression: FetchExpression { .key(name) }

  /// A sort descriptor with the least values first.
  public final var ascending: FetchSortDescriptor { FetchSortDescriptor(name) }

  /// A sort descriptor with the greatest values first.
  public final var descending: FetchSortDescriptor { FetchSortDescriptor(name, ascending: false) }

  fileprivate final func compared(
    _ comparator: FetchComparison.Comparator,
    _ right: FetchExpression,
    options: FetchComparison.Options = []
  ) -> FetchPredicate {
    .comparison(FetchComparison(expression, comparator, right, options: options))
  }
}

extension AttributeKey {
  /// Returns the condition that the attribute equals a value.
  public static func == (key: AttributeKey, value: Value) -> FetchPredicate {
    key.compared(.equalTo, .constant(value.propertyValue))
  }

  /// Returns the condition that the attribute has another value, or none.
  public static func != (key: AttributeKey, value: Value) -> FetchPredicate {
    key.compared(.notEqualTo, .constant(value.propertyValue))
  }

  /// Returns the condition that the attribute is less than a value. An attribute without a value does not meet it.
  public static func < (key: AttributeKey, value: Value) -> FetchPredicate {
    key.compared(.lessThan, .constant(value.propertyValue))
  }

  /// Returns the condition that the attribute is less than or equal to a value.
  public static func <= (key: AttributeKey, value: Value) -> FetchPredicate {
    key.compared(.lessThanOrEqualTo, .constant(value.propertyValue))
  }

  /// Returns the condition that the attribute is greater than a value. An attribute without a value does not meet it.
  public static func > (key: AttributeKey, value: Value) -> FetchPredicate {
    key.compared(.greaterThan, .constant(value.propertyValue))
  }

  /// Returns the condition that the attribute is greater than or equal to a value.
  public static func >= (key: AttributeKey, value: Value) -> FetchPredicate {
    key.compared(.greaterThanOrEqualTo, .constant(value.propertyValue))
  }

  /// Returns the condition that the attribute has one of some values.
  public func isIn(_ values: some Sequence<Value>) -> FetchPredicate {
    compared(.in, .aggregate(values.map { .constant($0.propertyValue) }))
  }

  /// Returns the condition that the attribute is between two values, inclusive.
  public func isBetween(_ lower: Value, _ upper: Value) -> FetchPredicate {
    compared(.between, .aggregate([.constant(lower.propertyValue), .constant(upper.propertyValue)]))
  }
}

/// A Swift type of string attributes.
public protocol TextAttributeValue: AttributeValue {}
extension String: TextAttributeValue {}
extension Optional: TextAttributeValue where Wrapped == String {}

extension AttributeKey where Value: TextAttributeValue {
  /// Returns the condition that the string contains `text`.
  public func contains(_ text: String, options: FetchComparison.Options = []) -> FetchPredicate {
    compared(.contains, .constant(.string(text)), options: options)
  }

  /// Returns the condition that the string begins with `text`.
  public func beginsWith(_ text: String, options: FetchComparison.Options = []) -> FetchPredicate {
    compared(.beginsWith, .constant(.string(text)), options: options)
  }

  /// Returns the condition that the string ends with `text`.
  public func endsWith(_ text: String, options: FetchComparison.Options = []) -> FetchPredicate {
    compared(.endsWith, .constant(.string(text)), options: options)
  }

  /// Returns the condition that the string equals `text` under the options.
  public func equals(_ text: String, options: FetchComparison.Options) -> FetchPredicate {
    compared(.equalTo, .constant(.string(text)), options: options)
  }

  /// Returns the condition that the string matches `pattern`, in which `*` stands for any characters and `?` for one.
  public func isLike(_ pattern: String, options: FetchComparison.Options = []) -> FetchPredicate {
    compared(.like, .constant(.string(pattern)), options: options)
  }

  /// Returns the condition that the whole string matches a regular expression.
  public func matches(_ pattern: String, options: FetchComparison.Options = []) -> FetchPredicate {
    compared(.matches, .constant(.string(pattern)), options: options)
  }
}

extension ToOneKey {
  /// Returns the condition that the destination of the relationship is `object`, or that it has none if `object` is
  /// nil.
  public static func == (key: ToOneKey, object: Destination?) -> FetchPredicate {
    key.compared(.equalTo, object.fetchExpression)
  }

  /// Returns the condition that the destination of the relationship is not `object`.
  public static func != (key: ToOneKey, object: Destination?) -> FetchPredicate {
    key.compared(.notEqualTo, object.fetchExpression)
  }
}

extension ToManyKey {
  /// Returns the condition that `object` is a destination of the relationship.
  public func contains(_ object: Destination) -> FetchPredicate {
    compared(.contains, object.fetchExpression)
  }

  /// The number of destinations of the relationship, as an operand of a predicate.
  public var count: FetchExpression { .keyPath(of: .selfObject, [.property(name), .collection(.count)]) }

  /// The condition that the relationship has no destinations.
  public var isEmpty: FetchPredicate { .comparison(FetchComparison(count, .equalTo, .constant(.integer(0)))) }
}

// MARK: FetchSortDescriptor: key path

extension FetchSortDescriptor {
  /// Creates a descriptor that sorts by the attribute that `keyPath` reads, such as `\ToDo.due`.
  ///
  /// - Precondition: ``ManagedObject/propertyName(forKeyPath:)`` returns a name for the key path.
  public init<Object: ManagedObject>(
    _ keyPath: KeyPath<Object, some AttributeValue>,
    ascending isAscending: Bool = true,
    comparison: Comparison = .value
  ) {
    self.init(Object.requiredName(of: keyPath), ascending: isAscending, comparison: comparison)
  }

  /// Creates a descriptor that sorts by an attribute of the destination of a to-one relationship, such as
  /// `\ToDo.list, \List.name`.
  ///
  /// - Precondition: ``ManagedObject/propertyName(forKeyPath:)`` returns names for both key paths.
  public init<Object: ManagedObject, Destination: ManagedObject>(
    _ relationship: KeyPath<Object, Destination?>,
    _ keyPath: KeyPath<Destination, some AttributeValue>,
    ascending isAscending: Bool = true,
    comparison: Comparison = .value
  ) {
    let names = [Object.requiredName(of: relationship), Destination.requiredName(of: keyPath)]
    self.init(names.joined(separator: "."), ascending: isAscending, comparison: comparison)
  }
}

extension ManagedObject {
  /// Returns the name of the property that `keyPath` reads. The process stops if it reads none.
  static func requiredName(of keyPath: AnyKeyPath) -> String {
    guard let name = propertyName(forKeyPath: keyPath) else {
      ProgrammerError.stop(
        "\(self) has no property for \(keyPath). Name it in propertyName(forKeyPath:), or begin the key path at the class that declares it."
      )
    }
    return name
  }
}

// MARK: ManagedObject: fetch argument

extension ManagedObject: FetchArgument {
  /// The object as a constant, by its id.
  public final var fetchExpression: FetchExpression { .value(.toOne(objectID)) }
}
