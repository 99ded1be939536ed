public import HeartwoodModel
import HeartwoodStore

// Aggregates of an attribute, in the type of the attribute. `fetchValue(_:of:where:)` is for expressions, key paths as
// text and entities without a class; `fetchRows` is for groups.

extension ManagedObjectContext {
  /// Returns the least value of an attribute in the objects of the entity of `objectClass` that meet a condition, or in
  /// all its objects if there is none; nil if no object has a value.
  ///
  ///     let first = try context.minimum(of: ToDo.dueKey, in: ToDo.self, where: ToDo.doneKey == false)
  ///
  /// No object is created.
  ///
  /// - Throws: the errors of ``fetchRows(_:)``.
  public func minimum<Object: ManagedObject, Value: OrderedAttributeValue>(
    of key: AttributeKey<Value>,
    in objectClass: Object.Type,
    where predicate: FetchPredicate? = nil
  ) throws -> Value.Extreme? {
    try extreme(.minimum(of: key.name, as: "minimum"), objectClass, predicate)
  }

  /// Returns the greatest value of an attribute; see ``minimum(of:in:where:)``.
  public func maximum<Object: ManagedObject, Value: OrderedAttributeValue>(
    of key: AttributeKey<Value>,
    in objectClass: Object.Type,
    where predicate: FetchPredicate? = nil
  ) throws -> Value.Extreme? {
    try extreme(.maximum(of: key.name, as: "maximum"), objectClass, predicate)
  }

  /// Returns the sum of an attribute in the objects of the entity of `objectClass` that meet a condition, or in all its
  /// objects if there is none; 0 if there are no values. No object is created.
  ///
  /// - Throws: the errors of ``fetchRows(_:)``; ``PersistenceError/Code/valueUnsupported`` if a sum of integers
  ///   overflows.
  public func sum<Object: ManagedObject, Value: NumericAttributeValue>(
    of key: AttributeKey<Value>,
    in objectClass: Object.Type,
    where predicate: FetchPredicate? = nil
  ) throws -> Value.Sum {
    try number(.sum(of: key.name, as: "sum"), objectClass, predicate) ?? .absentValue
  }

  /// Returns the average of an attribute in the objects of the entity of `objectClass` that meet a condition, or in all
  /// its objects if there is none; nil if no object has a number. No object is created.
  ///
  /// - Throws: the errors of ``fetchRows(_:)``.
  public func average<Object: ManagedObject, Value: NumericAttributeValue>(
    of key: AttributeKey<Value>,
    in objectClass: Object.Type,
    where predicate: FetchPredicate? = nil
  ) throws -> Value.Average? {
    try number(.average(of: key.name, as: "average"), objectClass, predicate)
  }

  private func extreme<Object: ManagedObject, Result: AttributeValue>(
    _ property: ExpressionDescription,
    _ objectClass: Object.Type,
    _ predicate: FetchPredicate?
  ) throws -> Result? {
    Result(propertyValue: try fetchValue(property, of: objectClass, where: predicate))
  }

  private func number<Object: ManagedObject, Result: AttributeValue>(
    _ property: ExpressionDescription,
    _ objectClass: Object.Type,
    _ predicate: FetchPredicate?
  ) throws -> Result? {
    let value = try fetchValue(property, of: objectClass, where: predicate)
    if value.isNull { return nil }
    // The widest type of each kind: a sum of no values is an integer, whatever is summed.
    for type in [AttributeType.integer64, .decimal, .double] where Result.fits(type) {
      if let number = value.converted(to: type).flatMap({ Result(propertyValue: $0) }) { return number }
    }
    throw PersistenceError(
      .valueUnsupported,
      "The \(property.name) is too great for an integer.",
      recovery: "Ask for it with fetchValue, which gives a double then.",
      context: .init(entity: objectClass.entityName)
    )
  }
}

// MARK: By key path

extension ManagedObjectContext {
  /// Returns the least value of an attribute: `try context.minimum(of: \ToDo.due)`; see ``minimum(of:in:where:)``.
  ///
  /// - Precondition: ``ManagedObject/propertyName(forKeyPath:)`` returns a name for the key path. The same applies to
  ///   the other functions in this extension.
  public func minimum<Object: ManagedObject, Value: OrderedAttributeValue>(
    of keyPath: KeyPath<Object, Value>,
    where predicate: FetchPredicate? = nil
  ) throws -> Value.Extreme? {
    try minimum(of: Object.key(keyPath), in: Object.self, where: predicate)
  }

  /// Returns the greatest value of an attribute; see ``minimum(of:where:)``.
  public func maximum<Object: ManagedObject, Value: OrderedAttributeValue>(
    of keyPath: KeyPath<Object, Value>,
    where predicate: FetchPredicate? = nil
  ) throws -> Value.Extreme? {
    try maximum(of: Object.key(keyPath), in: Object.self, where: predicate)
  }

  /// Returns the sum of an attribute; see ``sum(of:in:where:)``.
  public func sum<Object: ManagedObject, Value: NumericAttributeValue>(
    of keyPath: KeyPath<Object, Value>,
    where predicate: FetchPredicate? = nil
  ) throws -> Value.Sum {
    try sum(of: Object.key(keyPath), in: Object.self, where: predicate)
  }

  /// Returns the average of an attribute; see ``average(of:in:where:)``.
  public func average<Object: ManagedObject, Value: NumericAttributeValue>(
    of keyPath: KeyPath<Object, Value>,
    where predicate: FetchPredicate? = nil
  ) throws -> Value.Average? {
    try average(of: Object.key(keyPath), in: Object.self, where: predicate)
  }
}

extension ManagedObject {
  /// Returns the key of the attribute that `keyPath` reads.
  static func key<Object: ManagedObject, Value>(_ keyPath: KeyPath<Object, Value>) -> AttributeKey<Value> {
    AttributeKey(requiredName(of: keyPath))
  }
}
