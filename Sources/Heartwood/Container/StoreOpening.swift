import HeartwoodModelFiles
package import HeartwoodFoundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

/// Opens the store of a description, and migrates it first if that is needed.
struct StoreOpening {
  let coordinator: PersistentStoreCoordinator
  let description: PersistentStoreDescription
  /// The file; nil for a store without one.
  let url: URL?
  /// The file or folder in which the model was found; nil if the model was passed.
  let modelURL: URL?

  func open(_ progress: MigrationProgress) throws(PersistenceError) -> PersistentStore {
    do {
      return try openMigrated(progress)
    } catch let error where mismatches.contains(error.code) {
      guard try mayBeReplaced else { throw error }
      return try replace()
    }
  }

  private var mayBeReplaced: Bool {
    get throws(PersistenceError) {
      guard description.losesAllDataOnModelMismatch, !description.isReadOnly, isOfAnotherModel else { return false }
      return try !coordinator.isReadOnly(description.type, at: url)
    }
  }

  /// The codes of errors that report a store of another model which could not be migrated. A migration reads the store
  /// with the store's own model: a store that does not fit even that one is damaged.
  private var mismatches: Set<PersistenceError.Code> {
    description.shouldMigrateStoreAutomatically
      ? [.migrationModelMissing, .mappingModelMissing, .migrationFailed] : [.modelIncompatible]
  }

  /// Whether the file's metadata names another model. A file that names this model and does not fit it is damaged.
  private var isOfAnotherModel: Bool {
    guard let url,
      // try?: opening the store has failed already, and the caller throws that error.
      let metadata = try? coordinator.metadataForPersistentStore(
        type: description.type,
        at: url,
        options: description.options
      ),
      !metadata.modelVersionHashes.isEmpty
    else { return false }
    return !coordinator.managedObjectModel.isConfiguration(
      withName: description.configuration,
      compatibleWithStoreMetadata: metadata
    )
  }

  /// Opens the store, and migrates it only if that fails: most stores are of the current model.
  private func openMigrated(_ progress: MigrationProgress) throws(PersistenceError) -> PersistentStore {
    do {
      return try add()
    } catch let error where description.shouldMigrateStoreAutomatically && error.mayBeOfAnotherModel {
      // The application has to start and may be unable to ask its user, so losses are logged, unless its options forbid
      // them.
      guard let migration = try migration(allowingLoss: true) else { throw error }
      _ = try withErrors("The store cannot be migrated.") { try migration.run(progress: progress) }
      return try add()
    }
  }

  private func add() throws(PersistenceError) -> PersistentStore {
    var options = description.options
    // `openMigrated` migrates if it is needed, with the models that it finds.
    options[.shouldMigrateStoreAutomatically] = false
    return try withErrors("The store cannot be opened.") {
      try coordinator.addPersistentStore(
        type: description.type,
        configuration: description.configuration,
        at: url,
        options: options
      )
    }
  }

  /// Replaces a store of another model by a new one.
  private func replace() throws(PersistenceError) -> PersistentStore {
    try destroy()
    return try add()
  }

  /// Removes the store, if there is one.
  func destroy() throws(PersistenceError) {
    guard let url, try isThere(url) else { return }
    try withErrors("The store cannot be removed.") {
      try coordinator.destroyPersistentStore(at: url, type: description.type, options: description.options)
    }
  }

  /// Returns whether the URL refers to a file of any size, or to a saved store that is not a file.
  private func isThere(_ url: URL) throws(PersistenceError) -> Bool {
    if url.isFileURL { return try coordinator.fileSystem.status(atPath: url.path) != nil }
    return try isSaved(url)
  }

  /// Returns whether there is a store that has been saved.
  private func isSaved(_ url: URL) throws(PersistenceError) -> Bool {
    try withErrors("It cannot be found out whether there is a store.") {
      let request = try coordinator.request(type: description.type, at: url, options: description.options)
      return try coordinator.storeManager.isThere(request)
    }
  }

  /// Returns the migration that the store needs, or nil if it needs none or has not been saved yet.
  ///
  /// - Parameter allowingLoss: whether the migration may drop records and values if the options do not decide.
  func migration(allowingLoss: Bool? = nil) throws(PersistenceError) -> StoreMigration? {
    guard let url, try isSaved(url) else { return nil }
    return try withErrors("What the store needs to be migrated cannot be found.") {
      try coordinator.migration(
        ofStoreAt: url,
        type: description.type,
        configuration: description.configuration,
        options: try migrationOptions(allowingLoss)
      )
    }
  }

  /// Returns the options, with the versions and the mapping models that lie beside the model, unless the options have
  /// others.
  private func migrationOptions(_ allowingLoss: Bool?) throws -> StoreOptions {
    var options = description.options
    options[.allowsMigrationLoss] = options[.allowsMigrationLoss] ?? allowingLoss
    guard let modelURL, modelURL.pathExtension != ModelSearch.ownExtension,
      try DataModelFile.versions(at: modelURL).count > 1
    else { return options }
    let versions = options.isSet(.olderModels) ? options[.olderModels] : nil
    if !options.isSet(.mappingModels) {
      try options.setMigrations(fromModelAt: modelURL)
      if let versions { options[.olderModels] = versions }
    } else if versions == nil {
      options[.olderModels] = try DataModelFile.models(at: modelURL).map(\.model)
    }
    return options
  }

  private func withErrors<Result>(
    _ message: String,
    _ body: () throws -> Result
  ) throws(PersistenceError) -> Result {
    do {
      return try body()
    } catch {
      throw .of(error, .fileReadFailed, message, context: .init(path: url.map { StorePlace($0).description }))
    }
  }
}

// MARK: StoreLocation

/// Finds the place of a description's store, or the place where it will be made.
struct StoreLocation {
  /// The name of the file if the description has none.
  let name: String
  /// The container's folder.
  let directory: URL
  /// A further folder to search after the description's ``PersistentStoreDescription/formerDirectories``.
  let formerDirectory: URL?
  let registry: StoreRegistry
  let fileSystem: any FileSystem

  /// The file; nil for a store of a type without files.
  func url(of description: PersistentStoreDescription) throws(PersistenceError) -> URL? {
    if let url = description.url { return url }
    guard let fileName = try fileName(of: description) else { return nil }
    let formerDirectories = description.formerDirectories + [formerDirectory].compactMap(\.self)
    for candidate in [directory] + formerDirectories {
      let url = candidate.appending(path: fileName)
      if try fileSystem.status(atPath: url.path) != nil { return url }
    }
    return directory.appending(path: fileName)
  }

  private func fileName(of description: PersistentStoreDescription) throws(PersistenceError) -> String? {
    let name = description.fileName ?? name
    if description.type == nil, !registry.types(forFileName: name).isEmpty { return name }
    let type = description.type ?? .binary
    let extensions = try registry.format(for: type).typeDescription.fileExtensions
    guard let preferred = extensions.first else { return nil }
    return extensions.contains { name.lowercased().hasSuffix(".\($0)") } ? name : "\(name).\(preferred)"
  }
}

// MARK: StoreSlot

/// The state of one of a container's descriptions.
enum StoreSlot: Sendable {
  case unloaded
  case loading
  case loaded(PersistentStore)

  var isUnloaded: Bool {
    if case .unloaded = self { true } else { false }
  }
}

// MARK: DefaultDirectory

/// The folder in which an application on this platform keeps its user's files.
package struct DefaultDirectory: Sendable {
  private let application: String
  private let environment: [String: String]
  private let home: URL

  /// - Parameters:
  ///   - application: the name of the application's folder; nil means the name of the process.
  ///   - environment: the environment variables of the process.
  ///   - home: the user's home folder; nil means the one that the system reports.
  package init(
    application: String? = nil,
    environment: [String: String] = ProcessInfo.processInfo.environment,
    home: URL? = nil
  ) {
    self.application = application ?? ProcessInfo.processInfo.processName
    self.environment = environment
    self.home = home ?? Self.home
  }

  private static var home: URL {
    #if canImport(Darwin)
      // homeDirectoryForCurrentUser exists on macOS only.
      URL(filePath: NSHomeDirectory())
    #else
      FileManager.default.homeDirectoryForCurrentUser
    #endif
  }

  /// The folder of the application's files.
  package var url: URL {
    #if canImport(Darwin)
      home.appending(path: "Library/Application Support").appending(path: application)
    #else
      dataHome.appending(path: application)
    #endif
  }

  /// The hidden folder in which programs kept such files before the XDG convention.
  package var formerURL: URL { home.appending(path: ".\(application)") }

  /// The data folder of the XDG Base Directory Specification, which requires that a relative path is ignored.
  private var dataHome: URL {
    if let path = environment["XDG_DATA_HOME"], path.hasPrefix("/") { return URL(filePath: path) }
    return home.appending(path: ".local/share")
  }

  /// Creates the folder, accessible to its owner only (0700).
  static func make(_ url: URL) throws {
    try FileManager.default.createDirectory(
      at: url,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
  }
}
