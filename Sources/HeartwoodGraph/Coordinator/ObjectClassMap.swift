package import HeartwoodModel
package import HeartwoodStore

/// The class of the objects of each entity.
package struct ObjectClassMap: Sendable {
  /// Indexed by entity ordinal.
  private let classes: [ManagedObject.Type]
  private let entities: [ObjectIdentifier: EntityDescription]

  init(_ classes: [ManagedObject.Type], model: ManagedObjectModel) throws(PersistenceError) {
    var own: [Int: ManagedObject.Type] = [:]
    var entities: [ObjectIdentifier: EntityDescription] = [:]
    for objectClass in classes {
      guard let entity = model.entity(named: objectClass.entityName) else {
        throw PersistenceError(
          .entityUnknown,
          "The class \(objectClass) is for an entity that the model does not have.",
          recovery: "Make its entityName the name of one.",
          context: .init(entity: objectClass.entityName)
        )
      }
      if let other = own[entity.ordinal], other != objectClass {
        throw Self.mismatch(
          "The classes \(other) and \(objectClass) are both for the entity.",
          recovery: "Give one of them.",
          entity
        )
      }
      own[entity.ordinal] = objectClass
      entities[ObjectIdentifier(objectClass)] = entity
    }
    try Self.checkInheritance(own, model: model)
    self.classes = model.entities.map { entity in
      var ancestor: EntityDescription? = entity
      while let current = ancestor {
        if let objectClass = own[current.ordinal] { return objectClass }
        ancestor = current.superentity
      }
      return ManagedObject.self
    }
    self.entities = entities
  }

  /// Gives all entities the same class.
  init(baseClass: ManagedObject.Type, model: ManagedObjectModel) {
    classes = model.entities.map { _ in baseClass }
    entities = [:]
  }

  /// Objects of a subentity are also fetched as objects of its superentity, so they must be of the superentity's class.
  private static func checkInheritance(
    _ own: [Int: ManagedObject.Type],
    model: ManagedObjectModel
  ) throws(PersistenceError) {
    for (ordinal, objectClass) in own {
      var ancestor = model.entities[ordinal].superentity
      while let current = ancestor {
        if let other = own[current.ordinal], !isClass(objectClass, subclassOf: other) {
          throw mismatch(
            "The entity inherits from \(current.name), so its class \(objectClass) must be a subclass of \(other).",
            model.entities[ordinal]
          )
        }
        ancestor = current.superentity
      }
    }
  }

  private static func isClass(_ subclass: ManagedObject.Type, subclassOf other: ManagedObject.Type) -> Bool {
    var current: (any AnyObject.Type)? = subclass
    while let candidate = current {
      if candidate == other { return true }
      current = _getSuperclass(candidate)
    }
    return false
  }

  private static func mismatch(
    _ problem: String,
    recovery: PersistenceError.Recovery? = nil,
    _ entity: EntityDescription
  ) -> PersistenceError {
    PersistenceError(.objectClassMismatch, problem, recovery: recovery, context: .init(entity: entity.name))
  }

  /// Returns the class of the objects of `entity`: its own, or the nearest ancestor's.
  func objectClass(for entity: EntityDescription) -> ManagedObject.Type { classes[entity.ordinal] }

  /// Returns the entity of `objectClass`.
  ///
  /// - Throws: ``PersistenceError/Code/entityUnknown`` if the class was not given to the coordinator.
  package func entity(for objectClass: ManagedObject.Type) throws(PersistenceError) -> EntityDescription {
    if let entity = entities[ObjectIdentifier(objectClass)] { return entity }
    throw PersistenceError(
      .entityUnknown,
      "The class \(objectClass) is not one of the coordinator's.",
      recovery: "Give it to the coordinator as one of its objectClasses.",
      context: .init(entity: objectClass.entityName)
    )
  }
}
