import Heartwood
import HeartwoodFoundation
import HeartwoodSQLite
import HeartwoodStore
import Synchronization

/// A store that a command reads: its place, and the options that the user gives.
struct StoreSource {
  let place: StorePlace
  /// The type that the user gives; nil if the file determines it.
  let typeName: String?
  /// The path of the model that the user gives; nil if it has to be found.
  let modelPath: String?
  /// The known store types.
  let registry: StoreRegistry
  let fileSystem = POSIXFileSystem()

  init(path: String, typeName: String?, modelPath: String?, registry: StoreRegistry = .tool) {
    place = StorePlace(argument: path)
    self.registry = registry
    self.typeName = typeName
    self.modelPath = modelPath
  }

  /// The name of the store in errors and reports.
  var path: String { place.description }

  /// Returns the type of the store and its format. A file must exist.
  func format() throws -> (type: StoreType, format: any StoreFormat) {
    if let path = place.path { _ = try fileSystem.storeStatus(atPath: path) }
    let type = try typeName.map { StoreType($0) } ?? registry.type(ofStoreAt: place, in: fileSystem)
    return (type, try registry.format(for: type))
  }

  /// Opens the store.
  ///
  /// - Parameters:
  ///   - substitute: the model to use if none is given and none is found.
  ///   - options: the options of the store. By default, it is read-only.
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

  /// Returns the format version of the store's file; nil if it is not a file.
  func formatVersion(_ format: any StoreFormat) throws -> String? {
    guard let path = place.path, let format = format as? any FileFormat else { return nil }
    let file = try StoreInput(try fileSystem.openFile(atPath: path))
    return try format.readFormatVersion(from: file, options: .readOnly)
  }

  /// Reads what is sound in a damaged store, with its model. If the file does not contain the version of its model, the
  /// version with which most records can be read is used.
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

  /// Opens the store in a new context, for reading unless the options say otherwise.
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

  /// Returns the options to open a store with a model. A model from the store's own file is not compared with the
  /// version hashes: the hashes of an inferred model differ, and so may those of a model that another program has
  /// stored in its own form.
  private static func options(_ options: StoreOptions, for model: LocatedModel) -> StoreOptions {
    var options = options
    let isOfStore = model.path == nil && options[.isReadOnly]
    if model.isInferred || isOfStore { options[.ignoresModelVersion] = true }
    return options
  }

  /// Opens the store with its model. If there are several versions and the file does not contain its own, the current
  /// version is used, or the newest of the others that fits the file.
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
      // The model of the other store does not belong to this one, nor does a model beside it if the version hashes
      // differ.
      let isBeside = modelPath == nil && model.path != nil
      let isForeign = model.model === substitute?.model || isBeside && isOfNoVersion
      if isForeign, let inferred = try locator.inferredModel(forStoreAt: place, format, inPlaceOf: model) {
        return (inferred, try open(inferred))
      }
      throw furthest
    }
  }

  /// Returns the error of a type that cannot represent the model. The file exists, so its type is right, and the model
  /// belongs to another store.
  private static func blaming(_ model: LocatedModel, for error: PersistenceError) -> PersistenceError {
    var error = error
    error.recovery = "The model does not belong to this file: give the file's own with --model."
    error.context.relatedPaths += model.path.map { [.init("model", $0)] } ?? []
    return error
  }

  /// Returns the error with the path of the model, if the user has not given it.
  private func naming(_ model: LocatedModel, in error: PersistenceError) -> PersistenceError {
    guard modelPath == nil, let path = model.path else { return error }
    var error = error
    error.context.relatedPaths.append(.init("read with the model", path))
    return error
  }

  /// Returns the error of the version that could be read further. It is more likely to be that of the file, and is
  /// named in the error.
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
    if type == .csv, let path = place.path { try checkIsNoTable(path) }
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

// MARK: Tables

extension StoreSource {
  /// Refuses a CSV file of a spreadsheet, which has no line with an identifier.
  private func checkIsNoTable(_ path: String) throws {
    let file = try StoreInput(try fileSystem.openFile(atPath: path))
    let prefix = try file.bytes(from: 0, count: TableEncoding.utf8Mark.count + 1)
    let first = prefix.starts(with: TableEncoding.utf8Mark) ? prefix.last : prefix.first
    guard first != UInt8(ascii: "#") else { return }
    throw ToolError(
      at: "\(path):1",
      "This CSV file is not a store: the first line of a store is # and a UUID. If a spreadsheet or another program has written it, make a store of it with heartwood import."
    )
  }
}

// MARK: OpenStore

/// An open store, with information about its file.
struct OpenStore {
  let place: StorePlace
  /// The size of its files in bytes; nil for a store that is not a file.
  let size: Int?
  let model: LocatedModel
  let formatVersion: String?
  let store: PersistentStore
  /// What was salvaged, for a damaged store.
  var salvage: SalvageRun?
  fileprivate let registry: StoreRegistry

  /// The name of the store in errors and reports.
  var path: String { place.description }

  /// Returns the number of transactions of another program whose history cannot be read because its form is not known.
  func foreignTransactionCount() throws -> Int {
    if try store.engine.history() != nil { return 0 }
    return try storeManager.foreignContents(.reading(place, store.type)).transactionCount
  }

  /// Counts the rows whose entity the file does not list. O(rows).
  func strayCount() throws -> Int { try storeManager.recordCounts(.reading(place, store.type)).strayCount }

  /// Returns a note for an SQLite file without records that may have been copied without its write-ahead log, in which
  /// Apple's systems keep the newest records.
  func missingLogNote() throws -> String? {
    let fileSystem = POSIXFileSystem()
    guard let path = place.path, store.type == SQLiteStore.typeDescription.type,
      (try fileSystem.status(atPath: path + Self.logSuffix)?.size ?? 0) == 0,
      try store.entities.allSatisfy({ try $0.isAbstract || store.engine.count(of: $0) == 0 }),
      try StoreInput(try fileSystem.openFile(atPath: path)).bytes(from: Self.formatOffset, count: 2) == Self.logFormat
    else { return nil }
    return
      "\(path): There are no records in this file. It may have been copied without \(path)\(Self.logSuffix), which has the "
      + "newest ones: copy both, or close the application first."
  }

  private static let logSuffix = "-wal"
  /// The offset of the two bytes of an SQLite file that show whether it is used with a write-ahead log.
  private static let formatOffset = 18
  private static let logFormat: [UInt8] = [2, 2]

  private var storeManager: StoreManager {
    StoreManager(model: model.model, registry: registry, fileSystem: POSIXFileSystem())
  }
}

extension StoreManager.Request {
  /// Returns a request to open an existing store read-only.
  static func reading(_ place: StorePlace, _ type: StoreType) -> StoreManager.Request {
    StoreManager.Request(type: type, place: place, options: .readOnly)
  }

  /// Returns a request to open an existing file read-only.
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

/// The stores that the command has opened. They stay open until it ends, when the system releases all memory at once.
enum OpenedStores {
  private static let all = Mutex<[PersistentStore]>([])

  static func add(_ store: PersistentStore) {
    all.withLock { $0.append(store) }
  }

  /// Closes incremental stores, so that no files are left beside them. Other stores need not be closed.
  ///
  /// The store that was opened last is closed first: a store that only reads a file cannot remove the files of another
  /// one that has written it.
  static func close() {
    for store in all.withLock({ $0 }).reversed() where store.capabilities.kind == .incremental {
      _ = store.engine.close(unlessSavedSince: nil)
    }
  }
}
