import HeartwoodModel
import HeartwoodStore

/// The class of the objects of each entity.
struct ObjectClassMap: Sendable {
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
          "The class \(objectClass) is for an entity that the model does not have. Let its entityName be the name of one.",
          context: .init(entity: objectClass.entityName)
        )
      }
      own[entity.ordinal] = objectClass
      entities[ObjectIdentifier(objectClass)] = entity
    }
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

  /// The class of the objects of `entity`: its own, or the nearest ancestor's.
  func objectClass(for entity: EntityDescription) -> ManagedObject.Type { classes[entity.ordinal] }

  /// The entity that `objectClass` is for.
  ///
  /// - Throws: ``PersistenceError/Code/entityUnknown`` where the class was not given to the coordinator.
  func entity(for objectClass: ManagedObject.Type) throws(PersistenceError) -> EntityDescription {
    if let entity = entities[ObjectIdentifier(objectClass)] { return entity }
    throw PersistenceError(
      .entityUnknown,
      "The class \(objectClass) is not one of the coordinator's. Give it to the coordinator as one of its objectClasses.",
      context: .init(entity: objectClass.entityName)
    )
  }
}
