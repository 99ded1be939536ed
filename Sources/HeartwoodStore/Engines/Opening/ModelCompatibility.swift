import HeartwoodModel

/// Whether a store was written with the same model as it is opened with.
enum ModelCompatibility {
  /// - Throws: ``PersistenceError/Code/modelIncompatible``, which names the entities that differ.
  static func check(_ metadata: StoreMetadata, setup: StoreSetup) throws(PersistenceError) {
    let hashes = metadata.modelVersionHashes
    guard !hashes.isEmpty, !(setup.options[.ignoresModelVersion] ?? false) else { return }
    let names = Set(setup.entities.map(\.name))
    let changed = setup.entities.filter { entity in
      hashes[entity.name].map { $0 != entity.versionHash } ?? false
    }.map(\.name)
    let missing = setup.entities.filter { hashes[$0.name] == nil }.map(\.name)
    let extra = hashes.keys.filter { !names.contains($0) }.sorted()
    guard !changed.isEmpty || !missing.isEmpty || !extra.isEmpty else { return }
    let parts = [("differ", changed), ("are not in the store", missing), ("are not in the model", extra)]
    let differences = parts.filter { !$0.1.isEmpty }.map { "\($0.1.joined(separator: ", ")) \($0.0)" }
    throw PersistenceError(
      .modelIncompatible,
      "The store was written with another version of the model: \(differences.joined(separator: "; ")).",
      recovery: .migrateStore,
      context: .init(path: setup.path)
    )
  }
}
