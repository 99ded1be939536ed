import HeartwoodFormats
public import HeartwoodGraph
public import HeartwoodModel
public import HeartwoodStore
public import Logging

extension StoreRegistry {
  /// The registry of the store types that ship with Heartwood. Register your own types here, or make a separate
  /// registry.
  public static let `default`: StoreRegistry = {
    do {
      return try StoreRegistry(shippedStoreClasses)
    } catch {
      preconditionFailure("The types of the stores that ship differ: \(error)")
    }
  }()

  /// The store classes that ship with this product.
  package static let shippedStoreClasses: [any StoreClass.Type] = [
    BinaryStore.self, CSVStore.self, XMLStore.self, PropertyListStore.self, CoreDataBinaryStore.self,
    InMemoryStore.self,
  ]
}

// MARK: PersistentStoreCoordinator: default

extension PersistentStoreCoordinator {
  /// Makes a coordinator without stores, which opens the store types of ``StoreRegistry/default``.
  ///
  /// - Parameters:
  ///   - managedObjectModel: the model that all its stores share.
  ///   - objectClasses: the classes for the objects of entities. Objects of an entity without a class are plain
  ///     ``ManagedObject``s.
  ///   - logger: the logger that receives the coordinator's messages; see ``logger``.
  ///   - operationObserver: see ``operationObserver``.
  /// - Throws: ``PersistenceError/Code/entityUnknown`` if a class names an entity that the model does not have.
  public convenience init(
    managedObjectModel: ManagedObjectModel,
    objectClasses: [ManagedObject.Type] = [],
    logger: Logger? = nil,
    operationObserver: (any OperationObserver)? = nil
  ) throws(PersistenceError) {
    try self.init(
      managedObjectModel: managedObjectModel,
      registry: .default,
      objectClasses: objectClasses,
      logger: logger,
      operationObserver: operationObserver
    )
  }
}
