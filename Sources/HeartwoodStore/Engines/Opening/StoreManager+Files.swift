import HeartwoodModel

// Information that the format of a store reads from its file without opening it.

extension StoreManager {
  /// Returns `target` with options that give the new store the same form as `source`, if both are of the same type.
  package func keepingForm(
    of source: Request,
    from origin: StoreOrigin,
    in target: Request
  ) throws -> Request {
    guard source.type == target.type, source.path != nil,
      let format = try registry.format(for: source.type) as? any FileFormat
    else { return target }
    let (file, setup) = try (file(source), setupForReading(source, from: origin))
    var target = target
    target.options = try file.reading { try format.options(target.options, keepingFormOf: file, setup) }
    return target
  }
}

extension StoreManager {
  /// Returns what another program has stored for its own use in the file of a store.
  package func foreignContents(_ request: Request) throws -> ForeignContents {
    guard let path = request.path, let format = try registry.format(for: request.type) as? any FileFormat else {
      return ForeignContents()
    }
    return try format.foreignContents(ofStoreAt: path, options: request.options)
  }

  /// Counts the records of a store's file without a model; empty if the type of the store cannot. O(rows).
  package func recordCounts(_ request: Request) throws -> RecordCounts {
    guard let path = request.path, let format = try registry.format(for: request.type) as? any FileFormat else {
      return RecordCounts()
    }
    return try format.recordCounts(ofStoreAt: path, options: request.options) ?? RecordCounts()
  }

  /// Checks that a migration may replace the file of a store.
  ///
  /// - Throws: ``PersistenceError/Code/storeReadOnly``.
  package func checkMigratesInPlace(_ request: Request) throws {
    let refusals = try foreignContents(request).refusals
    guard refusals.isEmpty else {
      throw PersistenceError(
        .storeReadOnly,
        "The store can be read, but not migrated in place, because data of another program in its file would be lost. "
          + refusals.joined(separator: " ") + " The store is unchanged.",
        recovery: .migrateToOtherFile,
        context: .init(path: request.path, storeType: request.type)
      )
    }
    try checkPlace(request, replacing: true)
  }
}

extension StoreFormat {
  /// Whether a store can be read with a model that was recovered from it.
  var readsRecovered: Bool { (self as? any FileFormat)?.recoversModels ?? false }
}

extension StoreSetup {
  /// Returns whether the model was recovered, and the store with this metadata was written with another one, so that it
  /// must not be written.
  public func isRecovered(of metadata: StoreMetadata) -> Bool {
    guard model.isRecovered else { return false }
    return metadata.modelVersionHashes.count != entities.count || !metadata.hasVersions(of: entities)
  }
}
