public import HeartwoodFoundation
import HeartwoodModel
public import HeartwoodStore

// MARK: Moving stores

extension PersistentStoreCoordinator {
  /// Writes the records of `store` as a store of another type or at another place. The new store is open from then on,
  /// and `store` is closed, but its file stays. Core Data calls this `migratePersistentStore`.
  ///
  ///     try coordinator.convert(store, to: folder.appending(path: "list.csv"))
  ///
  /// The identifier and the metadata stay the same, and so do the references of the records if the other type supports
  /// them; a store that numbers its records assigns others. Objects in contexts belong to the new store afterwards. If
  /// the other type cannot hold something, this throws before anything is written. It reads all records of the one
  /// store and writes those of the other.
  ///
  /// - Parameter replacing: whether an existing file at `url` is replaced.
  /// - Returns: the new store.
  /// - Throws: ``PersistenceError/Code/storeNotOpen``, ``PersistenceError/Code/storeAlreadyOpen`` if a store of the
  ///   coordinator has the file open, ``PersistenceError/Code/fileExists``, ``PersistenceError/Code/capabilityMissing``
  ///   and ``PersistenceError/Code/valueUnsupported`` for data that the other type cannot hold, and the errors of
  ///   reading and writing.
  @discardableResult
  public func convert(
    _ store: PersistentStore,
    to url: URL?,
    type: StoreType? = nil,
    options: StoreOptions = StoreOptions(),
    replacing: Bool = false
  ) throws -> PersistentStore {
    try logging(.converted, storeType: store.type) { log in
      try converted(store, type, url, options, replacing, log)
    }
  }

  private func converted(
    _ store: PersistentStore,
    _ type: StoreType?,
    _ url: URL?,
    _ options: StoreOptions,
    _ replacing: Bool,
    _ log: OperationLog?
  ) throws -> PersistentStore {
    guard isOpen(store) else { throw Self.notOpen(store) }
    let request = try request(type: type, configuration: store.configurationName, at: url, options: options)
    try checkNotOpen(request.place)
    var replacing = replacing
    while true {
      // Saves of others up to here do not count as saves during the conversion.
      try store.engine.followOthers()
      let number = store.engine.saves.current
      let converted = try storeManager.convert(store, to: request, replacing: replacing)
      if store.engine.close(unlessSavedSince: number) {
        try replace(store, by: converted)
        // It will not be opened again, so it releases its file.
        _ = store.engine.close(unlessSavedSince: nil)
        log?.tell(converted, formerPath: store.placeName)
        return converted
      }
      // Another save came while the records were written: they are written once more, and replace the new file.
      _ = converted.engine.close(unlessSavedSince: nil)
      replacing = true
    }
  }

  /// Converts a store. This is Core Data's name for ``convert(_:to:type:options:replacing:)``.
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

  /// Writes the saved records of `store` as a file of any type; `store` stays open at its place, and others may save to
  /// it meanwhile. Unsaved changes of contexts are not included.
  ///
  /// The identifier and the metadata are the same, and so are the references of the records if the other type supports
  /// them. If the other type cannot hold something, this throws before anything is written.
  ///
  /// - Parameter replacing: whether an existing file is replaced.
  /// - Throws: ``PersistenceError/Code/storeAlreadyOpen`` if a store of the coordinator has that file open.
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

  /// Sets the file URL of an open store: its next save writes there, and the file at the old place stays.
  ///
  /// If the store's file was moved to `url`, it is still the same file. Another file at `url` is not overwritten: then
  /// the next save throws ``PersistenceError/Code/fileExists``.
  ///
  /// - Throws: ``PersistenceError/Code/capabilityMissing`` if the store has no file,
  ///   ``PersistenceError/Code/storeAlreadyOpen``, ``PersistenceError/Code/storeNotOpen``.
  public func setURL(_ url: URL, for store: PersistentStore) throws(PersistenceError) {
    guard isOpen(store) else { throw Self.notOpen(store) }
    let request = try request(type: store.type, at: url, options: store.options)
    if let path = request.path, persistentStore(for: url) !== store {
      try checkNotOpen(request.place)
      try store.engine.setPath(path)
    }
  }

  /// Rebuilds the file of an open store without what earlier saves have left in it: the records that saves have added to
  /// the end of a binary file, with their former versions, or the free pages of an SQLite file. Records, references,
  /// metadata and history stay as they are.
  ///
  ///     try coordinator.compact(store)
  ///
  /// Heartwood does this by itself when it pays, and an SQLite file uses its free pages for what is saved next. It is
  /// for files that are to be copied, compared, or put under version control: a binary file has the same bytes for the
  /// same records then. It takes as long as writing the whole file, and as much disk space. Unsaved changes of contexts
  /// are not written.
  ///
  /// - Returns: whether that was done; false if each save of this type writes the whole file, if the store has no file,
  ///   and for a server, which does this by itself.
  /// - Throws: ``PersistenceError/Code/storeReadOnly``, ``PersistenceError/Code/storeNotOpen``,
  ///   ``PersistenceError/Code/storeBusy`` if another process writes to an SQLite file for long, and the errors of
  ///   saving. The old file is whole then.
  @discardableResult
  public func compact(_ store: PersistentStore) throws -> Bool {
    guard isOpen(store) else { throw Self.notOpen(store) }
    return try store.engine.compact()
  }

  /// Removes a store that is not open: its file, with the links to it at `url`, the files beside it that exist while it
  /// is in use (such as the write-ahead log of an SQLite file), its support folder, and files left by a writer that was
  /// interrupted. The support folder stays if another store beside it, whose name differs only in the extension, has
  /// files in it.
  ///
  /// - Throws: ``PersistenceError/Code/storeAlreadyOpen``, ``PersistenceError/Code/fileNotFound``,
  ///   ``PersistenceError/Code/storeBusy`` if another process has the store open and its type can detect that;
  ///   ``PersistenceError/Code/storeReadOnly`` if files of the type are only read; and an error if the file is not a
  ///   store of `type`, so that no other file is ever removed.
  public func destroyPersistentStore(
    at url: URL,
    type: StoreType? = nil,
    options: StoreOptions = StoreOptions()
  ) throws {
    let request = try request(type: type, at: url, options: options)
    try checkNotOpen(request.place)
    try storeManager.destroy(request)
  }

  /// Replaces the store at `url`, or creates it, by a copy of the store at `source`, of the same type, in one step: its
  /// file, and the files of its support folder.
  ///
  /// Neither may be open. If the store is a single file, the copy is identical byte for byte; an SQLite file is copied
  /// page by page, including the contents of its log.
  ///
  /// - Throws: ``PersistenceError/Code/storeAlreadyOpen``, ``PersistenceError/Code/storeBusy`` if another process has
  ///   the store at `url` open and its type can detect that; ``PersistenceError/Code/storeReadOnly`` if files of the
  ///   type are only read; and the errors of reading and writing. Then the store at `url` is unchanged.
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

  /// Returns whether a file is of a type whose files are only read.
  ///
  /// - Parameter type: nil stands for the type that is detected from the file.
  package func isReadOnly(_ type: StoreType?, at url: URL?) throws(PersistenceError) -> Bool {
    let request = try request(type: type, at: url, options: StoreOptions())
    return try registry.format(for: request.type).isReadOnly
  }
}

// MARK: Stores that were converted

extension PersistentStoreCoordinator {
  /// Returns the open stores that have the records of `stores` now: a converted store is replaced by its successor.
  ///
  /// - Throws: ``PersistenceError/Code/storeNotOpen`` if one of them is not open.
  func openStores(of stores: [PersistentStore]) throws(PersistenceError) -> [PersistentStore] {
    for store in stores where !isOpen(store.newest) { throw Self.notOpen(store) }
    return stores.map(\.newest)
  }
}

// MARK: Metadata

// MARK: Metadata

extension PersistentStoreCoordinator {
  /// Returns the metadata of a store that need not be open. It reads no records.
  ///
  /// - Parameter type: the registered type; nil stands for the type that is detected from the file's name or content.
  public func metadataForPersistentStore(
    type: StoreType? = nil,
    at url: URL,
    options: StoreOptions = StoreOptions()
  ) throws -> StoreMetadata {
    try storeManager.metadata(try request(type: type, at: url, options: options))
  }

  /// Writes the metadata of a store that is not open. It overwrites the old metadata if the format has room for that,
  /// as binary stores have; it uses a transaction if the store is incremental; otherwise it writes the whole file. In
  /// each case, the file has the old metadata or the new ones, whenever the process ends. The type and the version
  /// hashes stay those of the file.
  ///
  /// - Throws: ``PersistenceError/Code/storeAlreadyOpen``, ``PersistenceError/Code/capabilityMissing`` if the format
  ///   has no place for the user's keys, or the errors of reading and writing the file.
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
  /// Writes the readable records of a damaged store as a new store, and returns a report of the losses: record by
  /// record, with their places in the file.
  ///
  ///     do {
  ///       try coordinator.addPersistentStore(at: url)
  ///     } catch let error as PersistenceError where [.fileCorrupt, .fileMalformed].contains(error.code) {
  ///       let report = try coordinator.salvageStore(at: url, to: rescuedURL)
  ///       print(report)  // 4,217 records written; 3 records lost, 1 link dropped
  ///       try coordinator.addPersistentStore(at: rescuedURL)
  ///     }
  ///
  /// The file may be truncated, have changed bytes, unreadable rows, missing external files, or dangling references.
  /// The damaged store stays as it is, and the coordinator does not open it. Nothing is invented: a value that cannot
  /// be read becomes nil, a record that cannot be read is left out, and a reference to a missing record is dropped.
  /// Inverse relationships are made consistent. Records that violate the model's validation are written as they are and
  /// reported. How many losses can be detected depends on the format: a truncated text file does not state how many
  /// records it had, and a changed letter in a text without a checksum cannot be detected.
  ///
  /// It reads the whole file and keeps its records in memory.
  ///
  /// - Parameters:
  ///   - source: the damaged file.
  ///   - type: its type; nil stands for the type that is detected from its name or content.
  ///   - destination: the file to write.
  ///   - destinationType: the type to write; nil stands for the type that is detected from the name of `destination`,
  ///     or from a file there.
  ///   - configuration: the configuration whose entities the store keeps; nil stands for all.
  ///   - options: the options with which the damaged store is read.
  ///   - destinationOptions: the options with which the new one is written.
  ///   - replacing: whether an existing file at `destination` is replaced. It stays as it is if this throws.
  /// - Returns: a report of what was written and what was lost; ``SalvageReport/isComplete`` if nothing was wrong.
  /// - Throws: ``PersistenceError/Code/storeAlreadyOpen``, ``PersistenceError/Code/fileExists``,
  ///   ``PersistenceError/Code/modelIncompatible`` if the file was written with another model, and the error of the
  ///   damage if nothing can be salvaged.
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
