public import HeartwoodModel
import HeartwoodStore

// One value of many records, in the type that its attribute says. `fetchValue(_:of:where:)` is for expressions, key paths as text and
// entities without a class; `fetchRows` for groups.

extension ManagedObjectContext {
  /// The least value that an attribute has in objects of the entity of `objectClass`, those that meet a condition if there is one; nil
  /// where none has a value.
  ///
  ///     let first = try context.minimum(of: ToDo.dueKey, in: ToDo.self, where: ToDo.doneKey == false)
  ///
  /// No object is made.
  ///
  /// - Throws: as ``fetchRows(_:)``.
  public func minimum<Object: ManagedObject, Value: OrderedAttributeValue>(
    of key: AttributeKey<Value>,
    in objectClass: Object.Type,
    where predicate: FetchPredicate? = nil
  ) throws -> Value.Extreme? {
    try extreme(.minimum(of: key.name, as: "minimum"), objectClass, predicate)
  }

  /// The greatest value that an attribute has; see ``minimum(of:in:where:)``.
  public func maximum<Object: ManagedObject, Value: OrderedAttributeValue>(
    of key: AttributeKey<Value>,
    in objectClass: Object.Type,
    where predicate: FetchPredicate? = nil
  ) throws -> Value.Extreme? {
    try extreme(.maximum(of: key.name, as: "maximum"), objectClass, predicate)
  }

  /// The sum of the numbers that an attribute has in objects of the entity of `objectClass`, those that meet a condition if there is one;
  /// 0 where there are none. No object is made.
  ///
  /// - Throws: as ``fetchRows(_:)``; ``PersistenceError/Code/valueUnsupported`` where a sum of integers is too great for one.
  public func sum<Object: ManagedObject, Value: NumericAttributeValue>(
    of key: AttributeKey<Value>,
    in objectClass: Object.Type,
    where predicate: FetchPredicate? = nil
  ) throws -> Value.Sum {
    try number(.sum(of: key.name, as: "sum"), objectClass, predicate) ?? .absentValue
  }

  /// The average of the numbers that an attribute has in objects of the entity of `objectClass`, those that meet a condition if there is
  /// one; nil where none has a number. No object is made.
  ///
  /// - Throws: as ``fetchRows(_:)``.
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
    // The widest type of each kind: a sum of no values is an integer, whatever it is a sum of.
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
  /// The least value of an attribute: `try context.minimum(of: \ToDo.due)`; see ``minimum(of:in:where:)``.
  ///
  /// The key path must be of a property, by what ``ManagedObject/propertyName(forKeyPath:)`` says: the process stops otherwise. So must
  /// those of the functions beside this one.
  public func minimum<Object: ManagedObject, Value: OrderedAttributeValue>(
    of keyPath: KeyPath<Object, Value>,
    where predicate: FetchPredicate? = nil
  ) throws -> Value.Extreme? {
    try minimum(of: Object.key(keyPath), in: Object.self, where: predicate)
  }

  /// The greatest value of an attribute; see ``minimum(of:where:)``.
  public func maximum<Object: ManagedObject, Value: OrderedAttributeValue>(
    of keyPath: KeyPath<Object, Value>,
    where predicate: FetchPredicate? = nil
  ) throws -> Value.Extreme? {
    try maximum(of: Object.key(keyPath), in: Object.self, where: predicate)
  }

  /// The sum of an attribute's numbers; see ``sum(of:in:where:)``.
  public func sum<Object: ManagedObject, Value: NumericAttributeValue>(
    of keyPath: KeyPath<Object, Value>,
    where predicate: FetchPredicate? = nil
  ) throws -> Value.Sum {
    try sum(of: Object.key(keyPath), in: Object.self, where: predicate)
  }

  /// The average of an attribute's numbers; see ``average(of:in:where:)``.
  public func average<Object: ManagedObject, Value: NumericAttributeValue>(
    of keyPath: KeyPath<Object, Value>,
    where predicate: FetchPredicate? = nil
  ) throws -> Value.Average? {
    try average(of: Object.key(keyPath), in: Object.self, where: predicate)
  }
}

extension ManagedObject {
  /// The key of the attribute that `keyPath` reads.
  static func key<Object: ManagedObject, Value>(_ keyPath: KeyPath<Object, Value>) -> AttributeKey<Value> {
    AttributeKey(requiredName(of: keyPath))
  }
}
