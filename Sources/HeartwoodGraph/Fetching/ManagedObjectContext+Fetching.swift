public import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// Returns all objects of the entity of `objectClass`, including subentities, as the stores have them now with this
  /// context's changes on top: in the stores' order, new objects last.
  ///
  /// It reads no values: objects that have not been read yet are faults, and those that have been read keep their
  /// values. O(objects).
  ///
  /// To fetch only some objects, pass a condition that the stores evaluate:
  /// `fetch(ToDo.self, where: ToDo.doneKey == false)`. No fetch takes a closure; to filter with Swift code, filter the
  /// array, which reads the values of each object:
  ///
  ///     let long = try context.fetch(ToDo.self).filter { $0.memo.count > 80 }
  ///
  /// Put this into ``reading(_:)`` to throw if a record cannot be read.
  ///
  /// - Throws: ``PersistenceError/Code/entityUnknown``; ``PersistenceError/Code/storeNotOpen`` if the store that kept
  ///   the entity was removed; ``PersistenceError/Code/fileCorrupt`` if a file turns out to be damaged.
  public func fetch<Object: ManagedObject>(_ objectClass: Object.Type) throws -> [Object] {
    try allObjects(of: try persistentStoreCoordinator.objectClasses.entity(for: objectClass), as: objectClass)
  }

  /// Returns all objects of the entity called `entityName`; see ``fetch(_:)-(Object.Type)``.
  public func fetch(entityName: String) throws -> [ManagedObject] {
    try allObjects(of: try entity(named: entityName), as: ManagedObject.self)
  }

  /// Returns the number of objects that ``fetch(entityName:)`` would return. It creates no objects and reads no values.
  public func count(entityName: String) throws -> Int {
    try persistentStoreCoordinator.logging(.counted, entity: entityName, count: \.self) { try countAll(entityName) }
  }

  private func countAll(_ entityName: String) throws -> Int {
    let entity = try entity(named: entityName)
    try prepare()
    var count = pending.inserted.objects.count { $0.entity.isKind(of: entity) }
    for entity in persistentStoreCoordinator.managedObjectModel.concreteEntities(under: entity) {
      for store in try persistentStoreCoordinator.storesToRead(keeping: entity) {
        count += try sources.source(for: store).count(of: entity)
      }
    }
    for object in pending.deleted.objects where object.entity.isKind(of: entity) {
      // Another context may have deleted it too.
      try object.binding.synchronize()
      if object.binding.liveGroup(of: object.rowID) != nil { count -= 1 }
    }
    return count
  }

  /// Returns all objects of `entity`, all of which are of the class `objectClass`.
  private func allObjects<Object: ManagedObject>(
    of entity: EntityDescription,
    as objectClass: Object.Type
  ) throws -> [Object] {
    try persistentStoreCoordinator.logging(.fetched, entity: entity.name, count: \.count) {
      try gatherObjects(of: entity, as: objectClass) ?? orderedObjects(of: entity)
    }
  }

  private func orderedObjects<Object: ManagedObject>(of entity: EntityDescription) throws -> [Object] {
    let request = FetchRequest<Object>(entityName: entity.name)
    return try objects(try FetchPass(request, in: self).matches(), request)
  }

  /// Returns the objects in the order of their rows; nil if the store has another order of the records.
  private func gatherObjects<Object: ManagedObject>(
    of entity: EntityDescription,
    as _: Object.Type
  ) throws -> [Object]? {
    try prepare()
    let new = pending.inserted.objects.filter { $0.entity.isKind(of: entity) }
    let bindings = try bindings(of: entity)
    if bindings.contains(where: \.table.isOutOfOrder) { return nil }
    let capacity = bindings.reduce(new.count) { $0 + $1.table.count }
    // All empty arrays share their storage, and filling one writes to it.
    if capacity == 0 { return [] }
    return [Object](unsafeUninitializedCapacity: capacity) { buffer, count in
      // An element of either type is one reference that the array owns, and the coordinator's map of classes ensures
      // that the objects of an entity and its subentities are of the entity's class.
      UnsafeMutableRawBufferPointer(buffer).withMemoryRebound(to: Unmanaged<ManagedObject>.self) { results in
        for binding in bindings { binding.fetch(into: results, count: &count) }
        for object in new {
          results.initializeElement(at: count, to: Unmanaged.passRetained(object))
          count += 1
        }
      }
    }
  }

  /// Returns the bindings of the saved objects of `entity` and its subentities, synchronized with their stores.
  private func bindings(of entity: EntityDescription) throws -> [EntityBinding] {
    var bindings: [EntityBinding] = []
    for concrete in persistentStoreCoordinator.managedObjectModel.concreteEntities(under: entity) {
      for store in try persistentStoreCoordinator.storesToRead(keeping: concrete) {
        let binding = binding(for: concrete, in: store)
        try binding.synchronize()
        try binding.readWhole()
        bindings.append(binding)
      }
    }
    return bindings
  }

  func stores(keeping entity: EntityDescription) -> [PersistentStore] {
    persistentStoreCoordinator.persistentStores.filter { store in store.entities.contains { $0 === entity } }
  }
}

// MARK: First

extension ManagedObjectContext {
  /// Returns the first object that matches a request; nil if there is none. At most one object is created.
  ///
  /// - Throws: the errors of ``fetch(_:)-(FetchRequest<Object>)``.
  public func fetchFirst<Object>(_ request: FetchRequest<Object>) throws -> Object? {
    try fetch(request.limited(to: 1)).first
  }

  /// Returns the first object of the entity of `objectClass` that meets a condition; nil if there is none.
  ///
  ///     let milk = try context.fetchFirst(ToDo.self, where: ToDo.memoKey == "Milk")
  ///     let next = try context.fetchFirst(ToDo.self, sortedBy: ToDo.dueKey.ascending)
  ///
  /// - Throws: the errors of ``fetch(_:)-(FetchRequest<Object>)``.
  public func fetchFirst<Object: ManagedObject>(
    _ objectClass: Object.Type,
    where predicate: FetchPredicate? = nil,
    sortedBy sortDescriptors: FetchSortDescriptor...
  ) throws -> Object? {
    try fetchFirst(FetchRequest(where: predicate, sortedBy: sortDescriptors))
  }

  /// Returns whether any object matches a request. No object is created.
  ///
  /// - Throws: the errors of ``fetch(_:)-(FetchRequest<Object>)``.
  public func hasAny<Object>(for request: FetchRequest<Object>) throws -> Bool {
    try count(for: request.limited(to: 1)) > 0
  }

  /// Returns whether there is an object of the entity of `objectClass` that meets a condition, or any object if no
  /// condition is given.
  ///
  /// - Throws: the errors of ``fetch(_:)-(FetchRequest<Object>)``.
  public func hasAny<Object: ManagedObject>(
    _ objectClass: Object.Type,
    where predicate: FetchPredicate? = nil
  ) throws -> Bool {
    try hasAny(for: FetchRequest<Object>(where: predicate))
  }
}

extension FetchRequest {
  /// Returns the same request, limited to `count` objects.
  fileprivate func limited(to count: Int) -> FetchRequest {
    var request = self
    request.fetchLimit = min(fetchLimit ?? count, count)
    return request
  }
}

// MARK: Or a new one

extension ManagedObjectContext {
  /// Returns the first object whose attribute equals `value`, or inserts one with this value.
  ///
  ///     let list = try context.fetchFirstOrInsert(ToDoList.self, where: ToDoList.nameKey, equals: "Shopping")
  ///
  /// It considers what the stores have now, and this context. Two contexts that call this at the same time both insert;
  /// with a uniqueness constraint in the model, the second save finds a conflict.
  ///
  /// - Throws: the errors of ``fetch(_:)-(FetchRequest<Object>)`` and ``insert(_:)``. Then nothing was inserted.
  public func fetchFirstOrInsert<Object: ManagedObject, Value: AttributeValue>(
    _ objectClass: Object.Type,
    where key: AttributeKey<Value>,
    equals value: Value
  ) throws -> Object {
    let entity = try persistentStoreCoordinator.objectClasses.entity(for: objectClass)
    return try firstOrNew(entity, key.name, value.propertyValue) { try insert(objectClass) }
  }

  /// Returns the first object whose attribute equals `value`, or inserts one with this value; see
  /// ``fetchFirstOrInsert(_:where:equals:)-(Object.Type,AttributeKey<Value>,Value)``.
  ///
  /// - Precondition: ``ManagedObject/propertyName(forKeyPath:)`` returns a name for the key path.
  public func fetchFirstOrInsert<Object: ManagedObject, Value: AttributeValue>(
    _ objectClass: Object.Type,
    where keyPath: KeyPath<Object, Value>,
    equals value: Value
  ) throws -> Object {
    try fetchFirstOrInsert(objectClass, where: Object.key(keyPath), equals: value)
  }

  /// Returns the first object of an entity whose attribute equals `value`, or inserts one with this value; see
  /// ``fetchFirstOrInsert(_:where:equals:)-(Object.Type,AttributeKey<Value>,Value)``.
  ///
  /// - Throws: ``PersistenceError/Code/valueTypeMismatch`` if the value does not fit the attribute.
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
