public import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// The first object that a request asks for; nil where there is none. At most one object is made.
  ///
  /// - Throws: as ``fetch(_:)-(FetchRequest<Object>)``.
  public func fetchFirst<Object>(_ request: FetchRequest<Object>) throws -> Object? {
    try fetch(request.limited(to: 1)).first
  }

  /// The first object of the entity of `objectClass` that meets a condition; nil where there is none.
  ///
  ///     let milk = try context.fetchFirst(ToDo.self, where: ToDo.memoKey == "Milk")
  ///     let next = try context.fetchFirst(ToDo.self, sortedBy: ToDo.dueKey.ascending)
  ///
  /// - Throws: as ``fetch(_:)-(FetchRequest<Object>)``.
  public func fetchFirst<Object: ManagedObject>(
    _ objectClass: Object.Type,
    where predicate: FetchPredicate? = nil,
    sortedBy sortDescriptors: FetchSortDescriptor...
  ) throws -> Object? {
    try fetchFirst(FetchRequest(where: predicate, sortedBy: sortDescriptors))
  }

  /// Whether a request asks for any object. No object is made.
  ///
  /// - Throws: as ``fetch(_:)-(FetchRequest<Object>)``.
  public func hasAny<Object>(for request: FetchRequest<Object>) throws -> Bool {
    try count(for: request.limited(to: 1)) > 0
  }

  /// Whether there is an object of the entity of `objectClass`, one that meets a condition if there is one.
  ///
  /// - Throws: as ``fetch(_:)-(FetchRequest<Object>)``.
  public func hasAny<Object: ManagedObject>(
    _ objectClass: Object.Type,
    where predicate: FetchPredicate? = nil
  ) throws -> Bool {
    try hasAny(for: FetchRequest<Object>(where: predicate))
  }
}

extension FetchRequest {
  /// The same request, for no more than `count` objects.
  fileprivate func limited(to count: Int) -> FetchRequest {
    var request = self
    request.fetchLimit = min(fetchLimit ?? count, count)
    return request
  }
}

// MARK: Or a new one

extension ManagedObjectContext {
  /// The first object whose attribute has a value, or a new one that is given it.
  ///
  ///     let list = try context.fetchFirstOrInsert(ToDoList.self, where: ToDoList.nameKey, equals: "Shopping")
  ///
  /// It looks at what the stores have now, and at this context. Two contexts that do it at the same time both insert; a uniqueness
  /// constraint of the model lets the second save know.
  ///
  /// - Throws: as ``fetch(_:)-(FetchRequest<Object>)`` and ``insert(_:)``. Nothing is inserted then.
  public func fetchFirstOrInsert<Object: ManagedObject, Value: AttributeValue>(
    _ objectClass: Object.Type,
    where key: AttributeKey<Value>,
    equals value: Value
  ) throws -> Object {
    let entity = try persistentStoreCoordinator.objectClasses.entity(for: objectClass)
    return try firstOrNew(entity, key.name, value.propertyValue) { try insert(objectClass) }
  }

  /// The first object whose attribute has a value, or a new one that is given it; see
  /// ``fetchFirstOrInsert(_:where:equals:)-(Object.Type,AttributeKey<Value>,Value)``.
  ///
  /// The key path must be of a property, by what ``ManagedObject/propertyName(forKeyPath:)`` says: the process stops otherwise.
  public func fetchFirstOrInsert<Object: ManagedObject, Value: AttributeValue>(
    _ objectClass: Object.Type,
    where keyPath: KeyPath<Object, Value>,
    equals value: Value
  ) throws -> Object {
    try fetchFirstOrInsert(objectClass, where: Object.key(keyPath), equals: value)
  }

  /// The first object of an entity whose attribute has a value, or a new one that is given it; see
  /// ``fetchFirstOrInsert(_:where:equals:)-(Object.Type,AttributeKey<Value>,Value)``.
  ///
  /// - Throws: ``PersistenceError/Code/valueTypeMismatch`` where the value does not fit the attribute.
  public func fetchFirstOrInsert(
    entityName: String,
    where attributeName: String,
    equals value: PropertyValue
  ) throws -> ManagedObject {
    let entity = try entity(named: entityName)
    return try firstOrNew(entity, attributeName, value) { try insert(entityName: entityName) }
  }

  private func firstOrNew<Object: ManagedObject>(
    _ entity: EntityDescription,
    _ name: String,
    _ value: PropertyValue,
    insert: () throws -> Object
  ) throws -> Object {
    let condition = FetchPredicate.comparison(FetchComparison(.key(name), .equalTo, .constant(value)))
    if let found = try fetchFirst(FetchRequest<Object>(entityName: entity.name, where: condition)) { return found }
    if let ordinal = entity.ordinal(ofProperty: name) { try value.checkFits(propertyAt: ordinal, of: entity) }
    let object = try insert()
    try object.setPropertyValue(value, forKey: name)
    return object
  }
}
