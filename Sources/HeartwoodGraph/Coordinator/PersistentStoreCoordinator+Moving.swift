public import HeartwoodFoundation
import HeartwoodModel
public import HeartwoodStore

// MARK: Moving stores

extension PersistentStoreCoordinator {
  /// Writes all that `store` keeps as a store of another type or at another place; that is open from then on, and `store` is
  /// not, though its file stays. Core Data calls it `migratePersistentStore`.
  ///
  ///     try coordinator.convert(store, to: folder.appending(path: "list.csv"))
  ///
  /// The identifier, the metadata and, where the other type can have them, the names of the records stay the same; a store that numbers its
  /// records gives them others. Objects that contexts have belong to the new store. What the other type cannot hold is refused before anything
  /// is written. It reads all records of the one store and writes those of the other.
  ///
  /// - Parameter replacing: whether a file that stands there is replaced.
  /// - Returns: the new store.
  /// - Throws: ``PersistenceError/Code/storeNotOpen``, ``PersistenceError/Code/storeAlreadyOpen`` where a store of the coordinator has the file
  ///   open, ``PersistenceError/Code/fileExists``, ``PersistenceError/Code/capabilityMissing`` and ``PersistenceError/Code/valueUnsupported``
  ///   for what the other type cannot hold, and what reading and writing can throw.
  @discardableResult
  public func convert(
    _ store: PersistentStore,
    to url: URL?,
    type: StoreType? = nil,
    options: StoreOptions = StoreOptions(),
    replacing: Bool = false
  ) throws -> PersistentStore {
    guard isOpen(store) else { throw Self.notOpen(store) }
    let log = log(.converted)
    let request = try request(type: type, configuration: store.configurationName, at: url, options: options)
    try checkNotOpen(request.place)
    var replacing = replacing
    while true {
      // What others have saved is no save that comes in between.
      try store.engine.followOthers()
      let number = store.engine.saves.current
      let converted = try storeManager.convert(store, to: request, replacing: replacing)
      if store.engine.close(unlessSavedSince: number) {
        try replace(store, by: converted)
        // Nobody opens it again: it lets go of its file.
        _ = store.engine.close(unlessSavedSince: nil)
        log?.tell(converted, formerPath: store.placeName)
        return converted
      }
      // Somebody saved while the records were written: they are written once more, over what is there now.
      _ = converted.engine.close(unlessSavedSince: nil)
      replacing = true
    }
  }

  /// Converts a store; Core Data's name for ``convert(_:to:type:options:replacing:)``.
  ///
  /// The model stays the same. For a change of the model, see ``StoreMigration``.
  @discardableResult
  public func migratePersistentStore(
    _ store: PersistentStore,
    to url: URL?,
    type: StoreType? = nil,
    options: StoreOptions = StoreOptions(),
    replacing: Bool = false
  ) throws -> PersistentStore {
    try convert(store, to: url, type: type, options: options, replacing: replacing)
  }

  /// Writes all that `store` has saved as a file of any type, as it is now; `store` stays open where it is, and others may go on saving to
  /// it meanwhile. Unsaved changes of contexts are not part of it.
  ///
  /// The identifier, the metadata and, where the other type can have them, the names of the records are the same. What the other type cannot
  /// hold is refused before anything is written.
  ///
  /// - Parameter replacing: whether a file that stands there is replaced.
  /// - Throws: ``PersistenceError/Code/storeAlreadyOpen`` where a store of the coordinator has that file open.
  public func copyPersistentStore(
    _ store: PersistentStore,
    to url: URL,
    type: StoreType? = nil,
    options: StoreOptions = StoreOptions(),
    replacing: Bool = false
  ) throws {
    guard isOpen(store) else { throw Self.notOpen(store) }
    let request = try request(type: type, configuration: store.configurationName, at: url, options: options)
    try checkNotOpen(request.place)
    let copy = try storeManager.copy(store, to: request, replacing: replacing)
    _ = copy.engine.close(unlessSavedSince: nil)
  }

  /// Tells where the file of an open store is now, or is to be: its next save writes there, and the file at the old place stays.
  ///
  /// Where the store's file has been moved there, it is the same file as before. Another file that stands there is not written over:
  /// the next save throws ``PersistenceError/Code/fileExists``.
  ///
  /// - Throws: ``PersistenceError/Code/capabilityMissing`` where the store has no file, ``PersistenceError/Code/storeAlreadyOpen``,
  ///   ``PersistenceError/Code/storeNotOpen``.
  public func setURL(_ url: URL, for store: PersistentStore) throws(PersistenceError) {
    guard isOpen(store) else { throw Self.notOpen(store) }
    let request = try request(type: store.type, at: url, options: store.options)
    if let path = request.path, persistentStore(for: url) !== store {
      try checkNotOpen(request.place)
      try store.engine.setPath(path)
    }
  }

  /// Removes a store that is not open: its file, with the links to it at `url`, what lies beside it while it is in use (the write-ahead log
  /// of an SQLite file, say), its support folder, and what a writer that died has left. The support folder stays where another
  /// store beside it, of the same name but for the extension, has files there too.
  ///
  /// - Throws: ``PersistenceError/Code/storeAlreadyOpen``, ``PersistenceError/Code/fileNotFound``, ``PersistenceError/Code/storeBusy`` where
  ///   another process has the store open and its type can tell; ``PersistenceError/Code/storeReadOnly`` where files of the type are only
  ///   read; and an error where the file is not a store of `type`, so that no other file is ever removed.
  public func destroyPersistentStore(
    at url: URL,
    type: StoreType? = nil,
    options: StoreOptions = StoreOptions()
  ) throws {
    let request = try request(type: type, at: url, options: options)
    try checkNotOpen(request.place)
    try storeManager.destroy(request)
  }

  /// Replaces the store at `url`, or makes it, by a copy of the store at `source`, of the same type, in one step: its file, and the files
  /// of its support folder.
  ///
  /// Neither may be open. The copy of a file that is all of its store is byte for byte the same; an SQLite file is copied page by page,
  /// with what is in its log.
  ///
  /// - Throws: ``PersistenceError/Code/storeAlreadyOpen``, ``PersistenceError/Code/storeBusy`` where another process has the store at `url`
  ///   open and its type can tell; ``PersistenceError/Code/storeReadOnly`` where files of the type are only read; and what reading and
  ///   writing can throw. Then the store at `url` is what it was.
  public func replacePersistentStore(
    at url: URL,
    withPersistentStoreFrom source: URL,
    type: StoreType? = nil,
    options: StoreOptions = StoreOptions()
  ) throws {
    let request = try request(type: type, at: source, options: options)
    try checkNotOpen(request.place)
    try checkNotOpen(StorePlace(url))
    try storeManager.replaceStore(at: StorePlace(url), by: request)
  }

  /// Whether a file is of a type whose files are only read.
  ///
  /// - Parameter type: nil means the one that the file tells.
  package func isReadOnly(_ type: StoreType?, at url: URL?) throws(PersistenceError) -> Bool {
    let request = try request(type: type, at: url, options: StoreOptions())
    return try registry.format(for: request.type).isReadOnly
  }
}

// MARK: Stores that were converted

extension PersistentStoreCoordinator {
  /// The open stores that have the records of `stores` today: in the place of one that was converted, what it was converted to.
  ///
  /// - Throws: ``PersistenceError/Code/storeNotOpen`` where one of them is not open.
  func openStores(of stores: [PersistentStore]) throws(PersistenceError) -> [PersistentStore] {
    for store in stores where !isOpen(store.newest) { throw Self.notOpen(store) }
    return stores.map(\.newest)
  }
}

// MARK: Metadata

// MARK: Metadata

extension PersistentStoreCoordinator {
  /// The metadata of a store that need not be open. It reads no records.
  ///
  /// - Parameter type: the registered type; nil means that the file's name or content tells it.
  public func metadataForPersistentStore(
    type: StoreType? = nil,
    at url: URL,
    options: StoreOptions = StoreOptions()
  ) throws -> StoreMetadata {
    try storeManager.metadata(try request(type: type, at: url, options: options))
  }

  /// Writes the metadata of a store that is not open, at once: over the old ones where the format has room for that, as that of binary
  /// stores has, in a transaction where the store is incremental, and else with the whole file. In each case the file has the old metadata
  /// or the new ones whenever the process ends. The type and the version hashes are those that the file has.
  ///
  /// - Throws: ``PersistenceError/Code/storeAlreadyOpen``, ``PersistenceError/Code/capabilityMissing`` where the format has no
  ///   place for the user's keys, or what reading and writing the file can throw.
  public func setMetadata(
    _ metadata: StoreMetadata,
    type: StoreType? = nil,
    at url: URL,
    options: StoreOptions = StoreOptions()
  ) throws {
    let request = try request(type: type, at: url, options: options)
    try checkNotOpen(request.place)
    try storeManager.setMetadata(metadata, request)
  }
}

// MARK: Salvaging

extension PersistentStoreCoordinator {
  /// Writes what is sound in a damaged store as a new store, and returns what is not: record by record, with the place in the file.
  ///
  ///     do {
  ///       try coordinator.addPersistentStore(at: url)
  ///     } catch let error as PersistenceError where [.fileCorrupt, .fileMalformed].contains(error.code) {
  ///       let report = try coordinator.salvageStore(at: url, to: rescuedURL)
  ///       print(report)  // 4,217 records written; 3 records lost, 1 link dropped
  ///       try coordinator.addPersistentStore(at: rescuedURL)
  ///     }
  ///
  /// The file may be cut short, have changed bytes, unreadable rows, external files that are missing, or links to nothing. The damaged store
  /// stays as it is, and is not opened by the coordinator. Nothing is made up: a value that cannot be read is nil, a record that cannot be read is left
  /// out, a link to a record that is not there is dropped. Inverses are made to agree. Records that the model's validation does not accept
  /// are written as they are and reported. How much a file tells of its losses depends on its format: a text file that is cut short does not
  /// say how many records it had, and a changed letter of a text without a checksum is a letter like any other.
  ///
  /// It reads the whole file and keeps its records in memory.
  ///
  /// - Parameters:
  ///   - source: the damaged file.
  ///   - type: its type; nil means that its name or content tells.
  ///   - destination: the file to write.
  ///   - destinationType: the type to write; nil means the one that the name of `destination` tells, or that of a file there.
  ///   - configuration: the configuration whose entities the store keeps; nil means all.
  ///   - options: the options with which the damaged store is read.
  ///   - destinationOptions: the options with which the new one is written.
  ///   - replacing: whether a file that stands at `destination` is replaced. It stays as it is if this throws.
  /// - Returns: what was written and what was lost; ``SalvageReport/isComplete`` if nothing was wrong.
  /// - Throws: ``PersistenceError/Code/storeAlreadyOpen``, ``PersistenceError/Code/fileExists``,
  ///   ``PersistenceError/Code/modelIncompatible`` if the file was written with another model, and the error of the damage if it leaves nothing
  ///   to begin with.
  public func salvageStore(
    at source: URL,
    type: StoreType? = nil,
    to destination: URL,
    destinationType: StoreType? = nil,
    configuration: String? = nil,
    options: StoreOptions = StoreOptions(),
    destinationOptions: StoreOptions = StoreOptions(),
    replacing: Bool = false
  ) throws -> SalvageReport {
    let damaged = try request(type: type, configuration: configuration, at: source, options: options)
    let target = try request(
      type: destinationType,
      configuration: configuration,
      at: destination,
      options: destinationOptions
    )
    for place in [damaged.place, target.place] { try checkNotOpen(place) }
    try storeManager.checkIsOther(target.path, than: damaged.path)
    let result = try storeManager.convert(try storeManager.salvage(damaged), to: target, replacing: replacing)
    _ = result.store.engine.close(unlessSavedSince: nil)
    return try result.salvaged.report
  }
}
