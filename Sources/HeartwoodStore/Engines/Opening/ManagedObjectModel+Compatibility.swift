public import HeartwoodModel

extension ManagedObjectModel {
  /// Whether a store with this metadata can be opened with a configuration of the model: its entities are those that the store was
  /// written with, in the same version.
  ///
  /// - Parameter configuration: The name of a configuration; nil means all entities.
  /// - Returns: False too where there is no such configuration, and where the metadata tell of no entities.
  public func isConfiguration(
    withName configuration: String?,
    compatibleWithStoreMetadata metadata: StoreMetadata
  ) -> Bool {
    guard let entities = entities(forConfiguration: configuration), !metadata.modelVersionHashes.isEmpty else {
      return false
    }
    return entities.count == metadata.modelVersionHashes.count
      && metadata.hasVersions(of: entities)
  }

  /// The model that a store with this metadata was written with, made of those entities of `models` that have the version hashes that
  /// the metadata tell; nil where one has none of them.
  public static func merging(
    _ models: [ManagedObjectModel],
    forStoreMetadata metadata: StoreMetadata
  ) -> ManagedObjectModel? {
    let hashes = metadata.modelVersionHashes
    var found: Set<String> = []
    // Definitions may differ in what does not enter the hash: the first model that has an entity is taken.
    // try?: nil says that none of the models fits, and callers throw that.
    let model = try? ManagedObjectModel(merging: models) { entity in
      hashes[entity.name] == entity.versionHash && found.insert(entity.name).inserted
    }
    guard let model, !hashes.isEmpty, model.entities.count == hashes.count else { return nil }
    return model
  }
}
