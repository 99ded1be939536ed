public import HeartwoodGraph
public import HeartwoodModel
public import HeartwoodStore

extension PersistentStoreCoordinator {
  /// Makes a coordinator without stores that knows the stores of ``StoreRegistry/default``.
  ///
  /// - Parameter objectClasses: the classes of the objects of entities that have one; the others' are ``ManagedObject``.
  /// - Throws: ``PersistenceError/Code/entityUnknown`` where a class names an entity that the model lacks.
  public convenience init(
    managedObjectModel: ManagedObjectModel,
    objectClasses: [ManagedObject.Type] = []
  ) throws(PersistenceError) {
    try self.init(managedObjectModel: managedObjectModel, registry: .default, objectClasses: objectClasses)
  }
}
