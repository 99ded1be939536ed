import HeartwoodFormats
public import HeartwoodStore

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
    BinaryStore.self, CSVStore.self, XMLStore.self, PropertyListStore.self, InMemoryStore.self,
  ]
}
