import HeartwoodFormats
public import HeartwoodStore

extension StoreRegistry {
  /// The registry that knows the stores that ship with Heartwood. Register your own here, or in a registry of your own.
  public static let `default`: StoreRegistry = {
    let registry = StoreRegistry()
    for storeClass in shippedStoreClasses {
      do {
        try registry.register(storeClass)
      } catch {
        preconditionFailure("The types of the stores that ship differ: \(error)")
      }
    }
    return registry
  }()

  /// The stores that ship with this product.
  static let shippedStoreClasses: [any StoreClass.Type] = [
    BinaryStore.self, CSVStore.self, XMLStore.self, PropertyListStore.self, InMemoryStore.self,
  ]
}
