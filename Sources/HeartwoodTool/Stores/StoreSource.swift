import Heartwood
import HeartwoodFoundation
import HeartwoodStore
import Synchronization

/// A store that a command reads: where it is, and what the user says about it.
struct StoreSource {
  let place: StorePlace
  /// The type that the user gives; nil means that the file tells.
  let typeName: String?
  /// The model that the user gives; nil means that it is looked for.
  let modelPath: String?
  /// The types that are known.
  let registry: StoreRegistry
  let fileSystem = POSIXFileSystem()

  init(path: String, typeName: String?, modelPath: String?, registry: StoreRegistry = .tool) {
    place = StorePlace(argument: path)
    self.registry = registry
    self.typeName = typeName
    self.modelPath = modelPath
  }

  /// The place as errors and reports name it.
  var path: String { place.description }

  /// The type of the store, whose file must be there, and its format.
  func format() throws -> (type: StoreType, format: any StoreFormat) {
    if let path = place.path { _ = try fileSystem.storeStatus(atPath: path) }
    let type = try typeName.map { StoreType($0) } ?? registry.type(ofStoreAt: place, in: fileSystem)
    return (type, try registry.format(for: type))
  }

  /// Opens the store.
  ///
  /// - Parameters:
  ///   - substitute: the model to take where none is given and none is found.
  ///   - options: nothing but reading is allowed unless they say so.
  func open(substitute: LocatedModel? = nil, options: StoreOptions = .readOnly) throws -> OpenStore {
    let (type, format) = try format()
    let (model, store) = try withModel(type, format, substitute: substitute) { model in
      return try StoreManager(model: model.model, registry: registry, fileSystem: fileSystem).open(
        StoreManager.Request(type: type, place: place, options: Self.options(options, for: model))
      )
    }
    OpenedStores.add(store)
    return OpenStore(
      place: place,
      size: try fileSystem.storeSize(at: place, format),
      model: model,
      formatVersion: try formatVersion(format),
      store: store,
      registry: registry
    )
  }

  /// The version of the format of the store's file; nil if it is no file.
  func formatVersion(_ format: any StoreFormat) throws -> String? {
    guard let path = place.path, let format = format as? any FileFormat else { return nil }
    let file = try StoreInput(try fileSystem.openFile(atPath: path))
    return try format.readFormatVersion(from: file, options: .readOnly)
  }

  /// Reads what is sound of a damaged store, with its model. Where the file does not tell of which version of the model it is, that is taken by
  /// which most can be read.
  func salvage() throws -> OpenStore {
    let (type, format) = try format()
    let locator = ModelLocator(registry: registry, fileSystem: fileSystem)
    let model = try modelPath.map { try locator.model(at: $0) } ?? locator.model(forDamagedStoreAt: place, type, format)
    var best: (model: LocatedModel, salvaged: SalvagedStore, count: Int)?
    var failure: (any Error)?
    for candidate in try [model] + locator.otherVersions(of: model) {
      do {
        let salvaged = try salvaged(type, candidate)
        let count = try salvaged.report.recordCount
        if count > best?.count ?? -1 { best = (candidate, salvaged, count) }
        if salvaged.losses.isEmpty || !salvaged.store.metadata.modelVersionHashes.isEmpty { break }
      } catch let error as PersistenceError where error.mayBeOfAnotherModel {
        failure = failure ?? error
      }
    }
    guard let best else { throw failure ?? CocoaError(.fileReadUnknown) }
    return OpenStore(
      place: place,
      size: try fileSystem.storeSize(at: place, format),
      model: best.model,
      formatVersion: nil,
      store: best.salvaged.store,
      salvage: SalvageRun(best.salvaged),
      registry: registry
    )
  }

  private func salvaged(_ type: StoreType, _ model: LocatedModel) throws -> SalvagedStore {
    let storeManager = StoreManager(model: model.model, registry: registry, fileSystem: fileSystem)
    return try storeManager.salvage(.init(type: type, place: place, options: Self.options(.readOnly, for: model)))
  }

  /// Opens the store in a context of its own, for reading unless the options say otherwise.
  func openContext(options: StoreOptions = .readOnly) throws -> (context: ManagedObjectContext, model: LocatedModel) {
    let (type, format) = try format()
    let (model, coordinator) = try withModel(type, format, substitute: nil) { model in
      let options = Self.options(options, for: model)
      let coordinator = try PersistentStoreCoordinator(
        managedObjectModel: model.model,
        registry: registry,
        fileSystem: fileSystem
      )
      OpenedStores.add(try coordinator.addPersistentStore(type: type, at: place.argumentURL, options: options))
      return coordinator
    }
    return (ManagedObjectContext(coordinator), model)
  }

  /// The options with which a store is opened with a model. Where that is from the store's own file, no other one fits it better: one that was
  /// made of the records has other hashes than theirs, and so may one that another program has kept in its own form.
  private static func options(_ options: StoreOptions, for model: LocatedModel) -> StoreOptions {
    var options = options
    let isOfStore = model.path == nil && options[.isReadOnly]
    if model.isInferred || isOfStore { options[.ignoresModelVersion] = true }
    return options
  }

  /// Opens the store with its model. Where that has several versions and the file does not tell which is its own, it is the current one, or
  /// else the newest of the others that the file fits.
  private func withModel<Result>(
    _ type: StoreType,
    _ format: any StoreFormat,
    substitute: LocatedModel?,
    _ open: (LocatedModel) throws -> Result
  ) throws -> (LocatedModel, Result) {
    let model = try model(type, format, substitute: substitute)
    do {
      return (model, try open(model))
    } catch let error as PersistenceError where error.recovery == .chooseAnotherTypeOrFewerEntities {
      throw Self.blaming(model, for: error)
    } catch let error as PersistenceError where error.mayBeOfAnotherModel {
      var furthest = naming(model, in: error)
      var isOfNoVersion = error.code == .modelIncompatible
      let locator = ModelLocator(registry: registry, fileSystem: fileSystem)
      for older in try locator.otherVersions(of: model) {
        do {
          return (older, try open(older))
        } catch let other as PersistenceError where other.mayBeOfAnotherModel {
          furthest = Self.further(furthest, other, older)
          isOfNoVersion = isOfNoVersion && other.code == .modelIncompatible
        }
      }
      // The other store's model is not this one's, nor is one that merely lies beside it and that the file's hashes are not of.
      let isBeside = modelPath == nil && model.path != nil
      let isForeign = model.model === substitute?.model || isBeside && isOfNoVersion
      if isForeign, let inferred = try locator.inferredModel(forStoreAt: place, format, inPlaceOf: model) {
        return (inferred, try open(inferred))
      }
      throw furthest
    }
  }

  /// The error of a type that has no place for the model. The file is there: its type is right, and the model is another one's.
  private static func blaming(_ model: LocatedModel, for error: PersistenceError) -> PersistenceError {
    var error = error
    error.recovery = "The model is not that of this file: give the file's own with --model."
    error.context.relatedPaths += model.path.map { [.init("model", $0)] } ?? []
    return error
  }

  /// The error, with where the model is that the user has not given.
  private func naming(_ model: LocatedModel, in error: PersistenceError) -> PersistenceError {
    guard modelPath == nil, let path = model.path else { return error }
    var error = error
    error.context.relatedPaths.append(.init("read with the model", path))
    return error
  }

  /// The error of the version of the model that got further into the file: it is the likelier to be the file's, and is named.
  private static func further(
    _ error: PersistenceError,
    _ other: PersistenceError,
    _ version: LocatedModel
  ) -> PersistenceError {
    guard let offset = other.context.byteOffset, offset > error.context.byteOffset ?? 0,
      let file = version.file, let path = version.path
    else { return error }
    let name = file.url.deletingLastPathComponent().deletingPathExtension().lastPathComponent
    var other = other
    other.context.relatedPaths.append(.init("read with the version “\(name)” of the model", path))
    return other
  }

  private func model(
    _ type: StoreType,
    _ format: any StoreFormat,
    substitute: LocatedModel?
  ) throws -> LocatedModel {
    let locator = ModelLocator(registry: registry, fileSystem: fileSystem)
    if let modelPath { return try locator.model(at: modelPath) }
    do {
      return try locator.model(forStoreAt: place, type, format)
    } catch let error as PersistenceError where error.code == .modelMissing {
      if let model = try substitute ?? locator.inferredModel(forStoreAt: place, format) { return model }
      throw error
    }
  }
}

/// A store that is open, and what its file tells.
struct OpenStore {
  let place: StorePlace
  /// How many bytes its files have; nil for a store that is no file.
  let size: Int?
  let model: LocatedModel
  let formatVersion: String?
  let store: PersistentStore
  /// What was salvaged, if the store is a damaged one.
  var salvage: SalvageRun?
  fileprivate let registry: StoreRegistry

  /// The place as errors and reports name it.
  var path: String { place.description }

  /// How many transactions another program has put into the file that cannot be read, because its history is of an unknown form.
  func foreignTransactionCount() throws -> Int {
    if try store.engine.history() != nil { return 0 }
    return try storeManager.foreignContents(.reading(place, store.type)).transactionCount
  }

  /// Counts the rows whose entity the file does not list. O(rows).
  func strayCount() throws -> Int { try storeManager.recordCounts(.reading(place, store.type)).strayCount }

  private var storeManager: StoreManager {
    StoreManager(model: model.model, registry: registry, fileSystem: POSIXFileSystem())
  }
}

extension StoreManager.Request {
  /// Opens a store that is there and is not to be changed.
  static func reading(_ place: StorePlace, _ type: StoreType) -> StoreManager.Request {
    StoreManager.Request(type: type, place: place, options: .readOnly)
  }

  /// Opens a file that is there and is not to be changed.
  static func reading(_ path: String, _ type: StoreType) -> StoreManager.Request { reading(.file(path: path), type) }
}

extension StoreOptions {
  static let readOnly: StoreOptions = {
    var options = StoreOptions()
    options[.isReadOnly] = true
    return options
  }()
}

// MARK: OpenedStores

/// The stores that the command has opened. They stay open until it ends, when the system takes all their memory at once.
enum OpenedStores {
  private static let all = Mutex<[PersistentStore]>([])

  static func add(_ store: PersistentStore) {
    all.withLock { $0.append(store) }
  }

  /// Closes incremental stores, so that no file is left beside theirs. Others have nothing to close.
  ///
  /// The last that is opened goes first: one that only reads a file that another one has written cannot tidy up behind it.
  static func close() {
    for store in all.withLock({ $0 }).reversed() where store.capabilities.kind == .incremental {
      _ = store.engine.close(unlessSavedSince: nil)
    }
  }
}
