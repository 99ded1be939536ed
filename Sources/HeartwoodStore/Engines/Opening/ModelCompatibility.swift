package import HeartwoodFoundation
public import HeartwoodModel

/// Whether a store was written with the same model as it is opened with.
enum ModelCompatibility {
  /// - Parameter readsRecovered: whether the store can be read with a model that was recovered from it, whose hashes are others than its own.
  /// - Throws: ``PersistenceError/Code/modelIncompatible``, which names the entities that differ.
  static func check(
    _ metadata: StoreMetadata,
    setup: StoreSetup,
    readsRecovered: Bool = false
  ) throws(PersistenceError) {
    let hashes = metadata.modelVersionHashes
    guard !hashes.isEmpty, !setup.options[.ignoresModelVersion] else { return }
    let names = Set(setup.entities.map(\.name))
    // Another store has none of the entities.
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

// MARK: ManagedObjectModel: decoding

extension ManagedObjectModel {
  /// The model of which `data` is the JSON, as a store's file has it in itself, or a file of its own.
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed``, which says what is wrong where in the JSON. Who knows the file names it.
  package static func decoded(from data: Data) throws(PersistenceError) -> ManagedObjectModel {
    do {
      return try ManagedObjectModel(encoded: data)
    } catch let error as DecodingError {
      throw PersistenceError(.fileMalformed, "The model, which is to be JSON, cannot be read: \(error.explanation)")
    } catch let error as ModelValidationError {
      throw PersistenceError(.fileMalformed, "\(error)")
    } catch {
      throw PersistenceError(.fileMalformed, "The model cannot be read.", underlyingError: error)
    }
  }
}

extension DecodingError {
  /// What is wrong where, without the name of a Swift type.
  fileprivate var explanation: String {
    switch self {
    case .keyNotFound(let key, let context): "\(Self.place(context) ?? "It") has no \(key.stringValue)."
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      Self.place(context).map { "\($0) is of another type than it must be." } ?? "It is no JSON object."
    case .dataCorrupted(let context):
      Self.place(context).map { "\($0): \(Self.detail(context))" } ?? "It is not JSON, or not all of it is there."
    @unknown default: "It is not JSON of a model."
    }
  }

  /// The decoder speaks of Swift where a name is none of those that are known; else this package says what is wrong.
  private static func detail(_ context: Context) -> String {
    let text = context.debugDescription
    return text.hasPrefix("Cannot initialize ") ? "It is none of the names that are known." : text
  }

  /// Where something is: `entities[0].properties[2].type`; nil where it is all.
  private static func place(_ context: Context) -> String? {
    guard !context.codingPath.isEmpty else { return nil }
    return context.codingPath.reduce(into: "") { text, key in
      if let index = key.intValue { text += "[\(index)]" } else { text += (text.isEmpty ? "" : ".") + key.stringValue }
    }
  }
}

// MARK: ManagedObjectModel: known entities

extension ManagedObjectModel {
  /// The entity called `name`.
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
