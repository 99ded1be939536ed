package import HeartwoodModel

extension StoreManager {
  /// Reads the model that is kept with a store; returns nil if there is none.
  package func embeddedModel(_ request: Request) throws -> ManagedObjectModel? {
    if case .url(let url) = request.place {
      return try remoteFormat(request).readModel(at: url, options: request.options)
    }
    let format = try fileFormat(for: request.type)
    let file = try file(request)
    return try file.reading { try format.readModel(from: file, options: request.options) }
  }

  /// Returns whether the file of a store exists and was written with other entities than it is to be opened with.
  ///
  /// - Throws: the reason why the store cannot be opened, if its file does not determine its model and neither this
  ///   model nor an older one fits it.
  package func needsMigration(_ request: Request) throws -> Bool {
    guard !request.options[.ignoresModelVersion], try isThere(request) else { return false }
    let metadata = try metadata(request)
    guard metadata.modelVersionHashes.isEmpty else {
      return !model.isConfiguration(withName: request.configurationName, compatibleWithStoreMetadata: metadata)
    }
    if let written = try writtenModel(request) ?? embeddedModel(request) { return !written.isSameVersion(as: model) }
    guard let misfit = try misfit(of: request, with: model) else { return false }
    // A file that fits no model is damaged or belongs to another model: it is not of this version, and there is nothing
    // to migrate it from.
    guard try olderModel(opening: request) != nil else { throw misfit }
    return true
  }

  /// Returns the model that a store was written with according to the options, if its file fits it.
  private func writtenModel(_ request: Request) throws -> ManagedObjectModel? {
    guard let model = request.options[.writtenModel], try misfit(of: request, with: model) == nil else { return nil }
    return model
  }

  /// Returns the model that a store was written with, for a file without version hashes: the one in the options, or
  /// else the one in the file, or the newest of the older models that it can be opened with.
  private func olderModel(opening request: Request) throws -> ManagedObjectModel? {
    try writtenModel(request) ?? embeddedModel(request)
      ?? request.options[.olderModels].last { try misfit(of: request, with: $0) == nil }
  }

  /// Returns the reason why a store that does not determine its model cannot have records of this one; nil if it can.
  /// O(records).
  private func misfit(of request: Request, with model: ManagedObjectModel) throws -> PersistenceError? {
    var request = request
    request.options[.isReadOnly] = true
    do {
      let store = try StoreManager(model: model, registry: registry, fileSystem: fileSystem).open(request)
      _ = store.engine.close(unlessSavedSince: nil)
      return nil
    } catch let error as PersistenceError where error.mayBeOfAnotherModel {
      return error
    }
  }

  /// Returns the model that the store's file was written with: the one in the file, or one made from
  /// ``StoreOptionKey/olderModels``.
  ///
  /// - Throws: ``PersistenceError/Code/migrationModelMissing``.
  package func origin(_ request: Request) throws -> StoreOrigin {
    let metadata = try metadata(request)
    if metadata.modelVersionHashes.isEmpty, let model = try olderModel(opening: request) {
      return StoreOrigin(metadata, model, configurationName: request.configurationName)
    }
    if let given = request.options[.writtenModel], let origin = StoreOrigin(metadata, models: [given]) { return origin }
    let embedded: ManagedObjectModel?
    do {
      embedded = try embeddedModel(request)
    } catch {
      // A model in the file that cannot be read is not needed if a known model has the same version.
      if let origin = StoreOrigin(metadata, models: request.options[.olderModels]) { return origin }
      throw error
    }
    let candidates = [embedded].compactMap(\.self) + request.options[.olderModels]
    if let origin = StoreOrigin(metadata, models: candidates) { return origin }
    let names = metadata.modelVersionHashes.keys.sorted().joined(separator: ", ")
    throw PersistenceError(
      .migrationModelMissing,
      candidates.isEmpty
        ? "The migration needs the model with which the store was written, and its file contains none. Its entities are \(names)."
        : "The store was written with none of the given models. "
          + "\(Self.misfits(request, metadata, embedded))Its entities are \(names).",
      recovery: embedded == nil ? .giveOlderModels : .giveOlderModelsOrCopyStore,
      context: .init(path: request.placeName, storeType: request.type)
    )
  }

  /// Returns what is wrong with the models if none has the version hashes of a store, not even the one in its own file,
  /// as with derived attributes of Core Data. Each sentence ends with a space.
  private static func misfits(_ request: Request, _ metadata: StoreMetadata, _ embedded: ManagedObjectModel?) -> String
  {
    func others(_ model: ManagedObjectModel) -> String {
      let others = metadata.modelVersionHashes.filter { model.entity(named: $0.key)?.versionHash != $0.value }
      return "other version hashes of \(others.keys.sorted().joined(separator: ", "))"
    }
    let given = request.options[.writtenModel].map { "The given model has \(others($0))." }
    let own = embedded.map { "The model in the store's file has \(others($0))." }
    return [given, own].compactMap(\.self).map { $0 + " " }.joined()
  }

  /// Opens a store for reading, with the model that it was written with.
  package func open(_ request: Request, from origin: StoreOrigin) throws -> PersistentStore {
    var request = request
    request.options[.isReadOnly] = true
    request.configurationName = origin.configurationName
    return try StoreManager(model: origin.model, registry: registry, fileSystem: fileSystem).open(request)
  }

  /// Calls `body`, which makes a store at a place next to that of `target`, and moves the store to that place in one
  /// step.
  ///
  /// - Returns: nil if stores of the type are not incremental; `body` is then not called.
  package func makeStore<Result>(
    _ target: Request,
    replacing: Bool,
    expecting expected: FileIdentity? = nil,
    _ body: (_ temporary: Request) throws -> Result
  ) throws -> Result? {
    guard let place = target.place, case .incremental(let format) = try kind(target.type) else { return nil }
    let newPlace = NewStorePlace(format, at: place, target.options, fileSystem: fileSystem)
    return try newPlace.make(replacing: replacing, expecting: expected) { try body(target.moved(to: $0)) }
  }

  /// Checks that a store of `request` can be made, as far as that is possible without its records.
  ///
  /// - Parameter replacing: whether an existing file is replaced.
  package func checkPlace(_ request: Request, replacing: Bool) throws {
    let kind = try kind(request.type)
    try CapabilityCheck(kind.typeDescription).check(try setup(request))
    if case .url = request.place, !replacing, try isThere(request) {
      throw PersistenceError(
        .fileExists,
        "There is a store already.",
        recovery: .replaceFile,
        context: .init(path: request.placeName, storeType: request.type)
      )
    }
    guard let path = request.path else { return }
    if !replacing { try checkFree(path) }
    if case .incremental = kind { try fileSystem.checkWritable(path, request.type, request.options) }
  }

  /// - Throws: ``PersistenceError/Code/fileExists``.
  func checkFree(_ path: String) throws(PersistenceError) {
    try fileSystem.checkFree(try fileSystem.resolvingSymbolicLinks(inPath: path))
  }

  /// Checks that a store of `request` can be made from `contents`.
  package func checkFit(_ contents: StoreContents, _ request: Request) throws {
    let kind = try kind(request.type)
    try setup(request).checkKeeps(contents)
    let check = CapabilityCheck(kind.typeDescription)
    switch kind {
    case .atomic: try check.check(contents, path: request.placeName)
    // It may give records other references.
    case .incremental(let format):
      try check.check(contents.metadata.userInfo, path: request.placeName)
      try format.check(contents, for: setup(request))
    }
  }

  /// Calls `body`, which reads a store, and removes the files that reading has created beside its file, if there were
  /// none before.
  package func leavingAlone<Result>(_ request: Request, _ body: () throws -> Result) throws -> Result {
    let isAlone = try isAlone(request)
    // try?: files that cannot be removed stay, and the next use of the store handles them.
    defer { if isAlone { try? checkpoint(request) } }
    return try body()
  }

  private func isAlone(_ request: Request) throws -> Bool {
    guard let path = request.path, let format = try filesOfIncrementalStore(request.type) else { return false }
    let resolved = try fileSystem.resolvingSymbolicLinks(inPath: path)
    return try format.sideFiles(ofStoreAt: resolved).allSatisfy { try fileSystem.status(atPath: $0) == nil }
  }

  /// Writes `contents`, the records of this store manager's model, as the store of `request`, in one step.
  ///
  /// - Parameters:
  ///   - replacing: whether an existing file is replaced.
  ///   - expected: the file that must still be there then; nil means any.
  package func write(
    _ contents: StoreContents,
    to request: Request,
    replacing: Bool,
    expecting expected: FileIdentity? = nil
  ) throws -> PersistentStore {
    let kind = try kind(request.type)
    let setup = try setup(request)
    let engine = try create(kind, contents, setup, replacing: replacing, expecting: expected)
    return PersistentStore(engine: engine, setup: setup, typeDescription: kind.typeDescription)
  }
}

extension StoreContents {
  /// Returns the same store with records of another model.
  ///
  /// Its history is removed, because it may refer to removed entities. It continues with the next number, so that
  /// earlier tokens are known to be too old.
  package func migrated(to model: ManagedObjectModel, entities: [EntityDescription], tables: [NodeTable])
    -> StoreContents
  {
    var metadata = metadata
    metadata.setModel(entities, versionIdentifiers: model.versionIdentifiers)
    var contents = StoreContents(model: model, entities: entities, metadata: metadata, tables: tables)
    contents.endHistory(after: history?.lastNumber)
    contents.nextReferenceNumber = nextReferenceNumber
    return contents
  }

  /// Removes all transactions. The next one has the number after `number`; nil means that there is no history.
  package mutating func endHistory(after number: Int64?) {
    // try?: a history without pages is always valid.
    history = number.flatMap { try? StoreHistory(purgedNumber: $0, pages: []) }
  }
}

// MARK: StoreOrigin

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

  /// Finds the first of `models` that has all entities of the store in their version, or a model that is made from all
  /// of them; nil if an entity is in none.
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

// MARK: PersistenceError: other models

extension PersistenceError {
  /// Whether a store may be of another version of the model, because it refuses its records with this error. Stores
  /// that keep no version notice it by the form of their files.
  package var mayBeOfAnotherModel: Bool {
    [.modelIncompatible, .fileMalformed, .entityUnknown, .propertyUnknown, .capabilityMissing].contains(code)
  }
}
