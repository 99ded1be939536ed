import HeartwoodFormats
public import HeartwoodGraph
public import HeartwoodModel
public import HeartwoodStore
public import Logging

extension StoreRegistry {
  /// The registry that knows the stores that ship with Heartwood. Register your own here, or in a registry of your own.
  public static let `default`: StoreRegistry = {
    do {
      return try StoreRegistry(shippedStoreClasses)
    } catch {
      preconditionFailure("The types of the stores that ship differ: \(error)")
    }
  }()

  /// The stores that ship with this product.
  package static let shippedStoreClasses: [any StoreClass.Type] = [
    BinaryStore.self, CSVStore.self, XMLStore.self, PropertyListStore.self, CoreDataBinaryStore.self,
    InMemoryStore.self,
  ]
}

// MARK: PersistentStoreCoordinator: default

extension PersistentStoreCoordinator {
  /// Makes a coordinator without stores that knows the stores of ``StoreRegistry/default``.
  ///
  /// - Parameters:
  ///   - managedObjectModel: the model of all its stores.
  ///   - objectClasses: the classes of the objects of entities that have one; the others' are ``ManagedObject``.
  ///   - logger: what it reports to; see ``logger``.
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
