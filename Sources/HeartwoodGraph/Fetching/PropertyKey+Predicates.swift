public import HeartwoodModel

// Conditions in Swift: `ToDo.doneKey == true && ToDo.memoKey.contains("milk")`. The compiler sees to it that the types fit.

extension PropertyKey {
  /// The property as part of a predicate.
  public final var expression: FetchExpression { .key(name) }

  /// Small values first.
  public final var ascending: FetchSortDescriptor { FetchSortDescriptor(name) }

  /// Great values first.
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
  /// The attribute has this value.
  public static func == (key: AttributeKey, value: Value) -> FetchPredicate {
    key.compared(.equalTo, .constant(value.propertyValue))
  }

  /// The attribute has another value, or none.
  public static func != (key: AttributeKey, value: Value) -> FetchPredicate {
    key.compared(.notEqualTo, .constant(value.propertyValue))
  }

  /// The attribute is less; `nil` never is.
  public static func < (key: AttributeKey, value: Value) -> FetchPredicate {
    key.compared(.lessThan, .constant(value.propertyValue))
  }

  /// The attribute is less or the same.
  public static func <= (key: AttributeKey, value: Value) -> FetchPredicate {
    key.compared(.lessThanOrEqualTo, .constant(value.propertyValue))
  }

  /// The attribute is greater; `nil` never is.
  public static func > (key: AttributeKey, value: Value) -> FetchPredicate {
    key.compared(.greaterThan, .constant(value.propertyValue))
  }

  /// The attribute is greater or the same.
  public static func >= (key: AttributeKey, value: Value) -> FetchPredicate {
    key.compared(.greaterThanOrEqualTo, .constant(value.propertyValue))
  }

  /// The attribute has one of these values.
  public func isIn(_ values: some Sequence<Value>) -> FetchPredicate {
    compared(.in, .aggregate(values.map { .constant($0.propertyValue) }))
  }

  /// The attribute is not less than one value, and not greater than the other.
  public func isBetween(_ lower: Value, _ upper: Value) -> FetchPredicate {
    compared(.between, .aggregate([.constant(lower.propertyValue), .constant(upper.propertyValue)]))
  }
}

/// A Swift type of attributes that are strings.
public protocol TextAttributeValue: AttributeValue {}
extension String: TextAttributeValue {}
extension Optional: TextAttributeValue where Wrapped == String {}

extension AttributeKey where Value: TextAttributeValue {
  /// `text` is in the string.
  public func contains(_ text: String, options: FetchComparison.Options = []) -> FetchPredicate {
    compared(.contains, .constant(.string(text)), options: options)
  }

  /// The string begins with `text`.
  public func beginsWith(_ text: String, options: FetchComparison.Options = []) -> FetchPredicate {
    compared(.beginsWith, .constant(.string(text)), options: options)
  }

  /// The string ends with `text`.
  public func endsWith(_ text: String, options: FetchComparison.Options = []) -> FetchPredicate {
    compared(.endsWith, .constant(.string(text)), options: options)
  }

  /// The string equals `text` under the options.
  public func equals(_ text: String, options: FetchComparison.Options) -> FetchPredicate {
    compared(.equalTo, .constant(.string(text)), options: options)
  }

  /// The string is as `pattern` says, in which `*` stands for any characters and `?` for one.
  public func isLike(_ pattern: String, options: FetchComparison.Options = []) -> FetchPredicate {
    compared(.like, .constant(.string(pattern)), options: options)
  }

  /// All of the string matches a regular expression.
  public func matches(_ pattern: String, options: FetchComparison.Options = []) -> FetchPredicate {
    compared(.matches, .constant(.string(pattern)), options: options)
  }
}

extension ToOneKey {
  /// The relationship leads to `object`, or nowhere where that is nil.
  public static func == (key: ToOneKey, object: Destination?) -> FetchPredicate {
    key.compared(.equalTo, object.fetchExpression)
  }

  /// The relationship does not lead to `object`.
  public static func != (key: ToOneKey, object: Destination?) -> FetchPredicate {
    key.compared(.notEqualTo, object.fetchExpression)
  }
}

extension ToManyKey {
  /// The relationship leads to `object`.
  public func contains(_ object: Destination) -> FetchPredicate {
    compared(.contains, object.fetchExpression)
  }

  /// How many objects the relationship leads to.
  public var count: FetchExpression { .keyPath(of: .selfObject, [.property(name), .collection(.count)]) }

  /// The relationship leads nowhere.
  public var isEmpty: FetchPredicate { .comparison(FetchComparison(count, .equalTo, .constant(.integer(0)))) }
}

// MARK: FetchSortDescriptor: key path

extension FetchSortDescriptor {
  /// Sorts by the attribute that `keyPath` reads, such as `\ToDo.due`.
  ///
  /// It must be a property of the entity, by what ``ManagedObject/propertyName(forKeyPath:)`` says: the process stops otherwise.
  public init<Object: ManagedObject>(
    _ keyPath: KeyPath<Object, some AttributeValue>,
    ascending isAscending: Bool = true,
    comparison: Comparison = .value
  ) {
    self.init(Object.requiredName(of: keyPath), ascending: isAscending, comparison: comparison)
  }

  /// Sorts by an attribute of the object that a to-one relationship leads to, such as `\ToDo.list, \List.name`.
  ///
  /// Both must be properties of their entities, by what ``ManagedObject/propertyName(forKeyPath:)`` says: the process stops otherwise.
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
  /// The name of the property that `keyPath` reads. The process stops where it reads none.
  static func requiredName(of keyPath: AnyKeyPath) -> String {
    guard let name = propertyName(forKeyPath: keyPath) else {
      Misuse.stop(
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
