import HeartwoodModel
public import HeartwoodStore

// The getters of objects cannot throw: what cannot be read is left out, and noted in `ManagedObjectContext.readFailures`. These throw it.

extension ManagedObject {
  /// The value of an attribute, as the subscript gives it; an error if the record cannot be read.
  ///
  ///     let name = try item.read(Item.nameKey)
  ///
  /// - Throws: a ``PersistenceError`` with the ids of the records in its context, and the cause as its underlying error.
  public final func read<Value: AttributeValue>(_ key: AttributeKey<Value>) throws(PersistenceError) -> Value {
    try reading { self[key] }
  }

  /// The value of a transformable attribute, as the subscript gives it; an error if the record cannot be read, or the transformer refuses the
  /// bytes.
  ///
  /// - Throws: a ``PersistenceError`` with the id of the object in its context, and the cause as its underlying error.
  public final func read<Value>(_ key: TransformedKey<Value>) throws(PersistenceError) -> Value? {
    try reading { self[key] }
  }

  /// Notes that nothing can be made of the bytes of an attribute.
  final func noteUnreadableValue(_ key: PropertyKey, _ error: any Error) {
    let failure = PersistenceError(
      .valueTypeMismatch,
      "Nothing can be made of the bytes of the attribute. Read them by propertyValue(forKey:), or correct what decodes them.",
      context: .init(entity: entity.name, property: key.name, objectIDs: [objectID]),
      underlyingError: error
    )
    managedObjectContext?.noteReadFailure(failure)
  }

  /// The object that a to-one relationship leads to; nil if there is none, and an error if its record cannot be read.
  ///
  ///     let list = try item.read(Item.listKey)
  ///
  /// - Throws: a ``PersistenceError`` with the ids of the records in its context, and the cause as its underlying error.
  public final func read<Destination: ManagedObject>(
    _ key: ToOneKey<Destination>
  ) throws(PersistenceError) -> Destination? {
    try reading { self[key] }
  }

  /// All objects that a to-many relationship leads to; an error if the record of one cannot be read.
  ///
  ///     for item in try list.read(List.itemsKey) { … }
  ///
  /// - Throws: a ``PersistenceError`` with the ids of the records in its context, and the cause as its underlying error.
  public final func read<Destination: ManagedObject>(
    _ key: ToManyKey<Destination>
  ) throws(PersistenceError) -> [Destination] {
    try reading { self[key] }
  }
}

extension RelatedSet {
  /// All objects; an error if the record of one cannot be read, which ``objects`` leaves out.
  ///
  /// - Throws: a ``PersistenceError`` with the ids of the records in its context, and the cause as its underlying error.
  public func read() throws(PersistenceError) -> Set<Destination> {
    guard let owner else { return objects }
    return try owner.reading { objects }
  }
}

extension RelatedList {
  /// All objects in their order; an error if the record of one cannot be read, which ``objects`` leaves out.
  ///
  /// - Throws: a ``PersistenceError`` with the ids of the records in its context, and the cause as its underlying error.
  public func read() throws(PersistenceError) -> [Destination] {
    guard let owner else { return objects }
    return try owner.reading { objects }
  }
}
