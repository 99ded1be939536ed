package import HeartwoodModel

/// The model that a store was written with, and which of its entities the store keeps.
package struct StoreOrigin: Sendable {
  package let metadata: StoreMetadata
  package let model: ManagedObjectModel
  /// The configuration of the model whose entities the store keeps; nil means all.
  let configurationName: String?

  init(_ metadata: StoreMetadata, _ model: ManagedObjectModel, configurationName: String?) {
    self.metadata = metadata
    self.model = model
    self.configurationName = configurationName
  }

  /// The first of `models` that has all entities of the store in their version, or a model put together of all of them; nil where an
  /// entity is in none.
  init?(_ metadata: StoreMetadata, models: [ManagedObjectModel]) {
    for model in models {
      let configurations = [nil] + model.configurations.keys.sorted().map(Optional.some)
      guard
        let name = configurations.first(where: {
          model.isConfiguration(withName: $0, compatibleWithStoreMetadata: metadata)
        })
      else { continue }
      self.init(metadata, model, configurationName: name)
      return
    }
    guard let merged = ManagedObjectModel.merging(models, forStoreMetadata: metadata) else { return nil }
    self.init(metadata, merged, configurationName: nil)
  }
}
