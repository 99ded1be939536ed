import HeartwoodModel
public import HeartwoodStore

extension ManagedObjectContext {
  /// Makes a new object of the entity of `objectClass`, with the model's default values.
  ///
  /// - Throws: ``PersistenceError/Code/entityUnknown`` where the class is not one of the coordinator's, or its entity is abstract;
  ///   ``PersistenceError/Code/coordinatorClosed``.
  public func insert<Object: ManagedObject>(_ objectClass: Object.Type) throws(PersistenceError) -> Object {
    let entity = try persistentStoreCoordinator.objectClasses.entity(for: objectClass)
    guard let object = try insert(entity) as? Object else {
      Misuse.stop("The object of an entity is of the class that the coordinator was given for it.")
    }
    return object
  }

  /// Makes a new object of the entity called `entityName`, with the model's default values.
  ///
  /// - Throws: ``PersistenceError/Code/entityUnknown`` where there is no such entity, or it is abstract;
  ///   ``PersistenceError/Code/coordinatorClosed``.
  public func insert(entityName: String) throws(PersistenceError) -> ManagedObject {
    try insert(try entity(named: entityName))
  }

  private func insert(_ entity: EntityDescription) throws(PersistenceError) -> ManagedObject {
    try persistentStoreCoordinator.checkNotClosed()
    guard !entity.isAbstract else {
      throw PersistenceError(
        .entityUnknown,
        "The entity is abstract.",
        recovery: "Make an object of one of its subentities.",
        context: .init(entity: entity.name)
      )
    }
    let binding = bindingForNewObjects(of: entity)
    let object = makeNewObject(binding, .temporary(in: binding.scope))
    object.awakeFromInsert()
    return object
  }

  /// Registers a new object that has the model's default values.
  func makeNewObject(_ binding: EntityBinding, _ id: ManagedObjectID) -> ManagedObject {
    let changes = ObjectChanges(newID: id, group: nil, values: binding.initialValues)
    let object = binding.makeObject(.changed(changes), RowID(rawValue: 0), .inserted)
    recorder?.willInsert(object)
    inserted.append(object, id)
    noteInsertion(of: object)
    return object
  }
}
