public import HeartwoodGraph
public import HeartwoodModel
public import HeartwoodStore
public import Logging

extension PersistentStoreCoordinator {
  /// Makes a coordinator without stores that knows the stores of ``StoreRegistry/default``.
  ///
  /// - Parameters:
  ///   - managedObjectModel: the model of all its stores.
  ///   - objectClasses: the classes of the objects of entities that have one; the others' are ``ManagedObject``.
  ///   - logger: where it is told what is done; see ``logger``.
  /// - Throws: ``PersistenceError/Code/entityUnknown`` where a class names an entity that the model lacks.
  public convenience init(
    managedObjectModel: ManagedObjectModel,
    objectClasses: [ManagedObject.Type] = [],
    logger: Logger? = nil
  ) throws(PersistenceError) {
    try self.init(
      managedObjectModel: managedObjectModel,
      registry: .default,
      objectClasses: objectClasses,
      logger: logger
    )
  }
}
