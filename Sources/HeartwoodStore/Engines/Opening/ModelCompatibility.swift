package import HeartwoodFoundation
public import HeartwoodModel

/// Checks that a store was written with the same model as it is opened with.
enum ModelCompatibility {
  /// - Parameter readsRecovered: whether the store can be read with a model that was recovered from it, whose hashes
  ///   differ from its own.
  /// - Throws: ``PersistenceError/Code/modelIncompatible``, which names the entities that differ.
  static func check(
    _ metadata: StoreMetadata,
    setup: StoreSetup,
    readsRecovered: Bool = false
  ) throws(PersistenceError) {
    let hashes = metadata.modelVersionHashes
    guard !hashes.isEmpty, !setup.options[.ignoresModelVersion] else { return }
    let names = Set(setup.entities.map(\.name))
    // Another store would have none of the entities.
    if readsRecovered, setup.model.isRecovered, !names.isDisjoint(with: hashes.keys) { return }
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
      context: .init(path: setup.placeName)
    )
  }
}

// MARK: ManagedObjectModel: compatibility

extension ManagedObjectModel {
  /// Returns whether a store with this metadata can be opened with a configuration of the model: its entities are those
  /// that the store was written with, in the same version.
  ///
  /// - Parameter configuration: The name of a configuration; nil means all entities.
  /// - Returns: False too if there is no such configuration, and if the metadata lists no entities.
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

  /// Returns the model that a store with this metadata was written with, composed of those entities of `models` that
  /// have the version hashes in the metadata; nil if an entity with one of the hashes is missing.
  public static func merging(
    _ models: [ManagedObjectModel],
    forStoreMetadata metadata: StoreMetadata
  ) -> ManagedObjectModel? {
    let hashes = metadata.modelVersionHashes
    var found: Set<String> = []
    // Definitions may differ in parts that do not enter the hash: the first model that has an entity is used.
    // try?: nil reports that none of the models fits, and callers throw that.
    let model = try? ManagedObjectModel(merging: models) { entity in
      hashes[entity.name] == entity.versionHash && found.insert(entity.name).inserted
    }
    guard let model, !hashes.isEmpty, model.entities.count == hashes.count else { return nil }
    return model
  }
}

// MARK: ManagedObjectModel: decoding

extension ManagedObjectModel {
  /// Decodes a model from `data`, the JSON in a store's file or in a file of its own.
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed``, which describes the fault and its place in the JSON. The caller
  ///   adds the name of the file if it knows it.
  package static func decoded(from data: Data) throws(PersistenceError) -> ManagedObjectModel {
    do {
      return try ManagedObjectModel(encoded: data)
    } catch let error as DecodingError {
      throw PersistenceError(.fileMalformed, "The model, which must be JSON, cannot be read: \(error.explanation)")
    } catch let error as ModelValidationError {
      throw PersistenceError(.fileMalformed, "\(error)")
    } catch {
      throw PersistenceError(.fileMalformed, "The model cannot be read.", underlyingError: error)
    }
  }
}

extension DecodingError {
  /// The fault and its place, without the names of Swift types.
  fileprivate var explanation: String {
    switch self {
    case .keyNotFound(let key, let context): "\(Self.place(context) ?? "It") has no \(key.stringValue)."
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      Self.place(context).map { "\($0) has the wrong type." } ?? "It is not a JSON object."
    case .dataCorrupted(let context):
      Self.place(context).map { "\($0): \(Self.detail(context))" } ?? "It is not JSON, or it is incomplete."
    @unknown default: "It is not JSON of a model."
    }
  }

  /// The decoder's own message mentions Swift if a name is unknown; this package describes that itself.
  private static func detail(_ context: Context) -> String {
    let text = context.debugDescription
    return text.hasPrefix("Cannot initialize ") ? "It is not a known name." : text
  }

  /// Returns the place of a fault: `entities[0].properties[2].type`; nil for the top level.
  private static func place(_ context: Context) -> String? {
    guard !context.codingPath.isEmpty else { return nil }
    return context.codingPath.reduce(into: "") { text, key in
      if let index = key.intValue { text += "[\(index)]" } else { text += (text.isEmpty ? "" : ".") + key.stringValue }
    }
  }
}

// MARK: ManagedObjectModel: known entities

extension ManagedObjectModel {
  /// Returns the entity called `name`.
  ///
  /// - Throws: ``PersistenceError/Code/entityUnknown``, with the name that may have been meant.
  package func knownEntity(named name: String) throws(PersistenceError) -> EntityDescription {
    if let entity = entity(named: name) { return entity }
    let advice = NameSuggestion.advice(for: name, among: entities.map(\.name))
    throw PersistenceError(
      .entityUnknown,
      "The model has no entity called \(name).",
      recovery: .custom(advice),
      context: .init(entity: name)
    )
  }
}
