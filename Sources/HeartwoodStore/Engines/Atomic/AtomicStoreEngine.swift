import HeartwoodFoundation
package import HeartwoodModel
import Synchronization

/// Drives an atomic store: keeps its tables in memory, and replaces its file as a whole at each save.
package final class AtomicStoreEngine: StoreEngine {
  struct State: EngineState {
    var contents: StoreContents
    /// The file that ``contents`` was loaded from or saved to; nil if there is none yet. It is kept open, so that the
    /// system does not give its inode number to another file.
    var file: StoreInput?
    /// The file at the path as far as the engine knows: ``file``, or one that a save put there before it failed.
    var standing: FileIdentity?
    /// The path that the next save writes to; nil for a store without a file.
    var path: String?
    var hasUnsavedMetadata = false
    /// Whether nothing may be added to the file before it is written as a whole.
    var isDoubtful = false
    /// Whether a save was added to the file since it was opened.
    var hasAppended = false
  }

  private let store: any AtomicStore
  let typeDescription: StoreTypeDescription
  let setup: StoreSetup
  let fileSystem: any FileSystem
  /// For each entity, by its ordinal, the ordinals of the entities whose records are read together with its own.
  private let reachable: [[Int]]
  let state: Mutex<State>
  /// References are never given twice, whether or not the save that asked for them succeeds.
  let references: Mutex<ReferenceAssigner>
  /// Used only by the save that is under way.
  private let uniqueness: Mutex<UniquenessCheck>
  /// Whether the engine was closed. Locked for the whole of a save, so that saves run one after the other while readers
  /// continue.
  let saving = Mutex(false)
  package let saves = ChangeCounter()
  package let hasRenamedRecords: Bool

  init(
    store: any AtomicStore,
    typeDescription: StoreTypeDescription,
    setup: StoreSetup,
    fileSystem: any FileSystem,
    contents: StoreContents,
    file: StoreInput?,
    references: ReferenceAssigner = ReferenceAssigner()
  ) {
    self.store = store
    self.typeDescription = typeDescription
    self.hasRenamedRecords = contents.hasNewReferences
    self.setup = setup
    self.uniqueness = Mutex(UniquenessCheck(setup.model))
    self.fileSystem = fileSystem
    self.reachable = setup.model.entities.map { setup.model.entitiesReachable(from: $0).map(\.ordinal) }
    self.references = Mutex(references)
    self.state = Mutex(State(contents: contents, file: file, standing: file?.status.identity, path: setup.path))
  }

  package var place: StorePlace? { state.withLock { $0.path }.map { .file(path: $0) } }
  package var metadata: StoreMetadata { state.withLock { $0.contents.metadata } }
  package var tableByteCount: Int { state.withLock { $0.contents }.tables.reduce(0) { $0 + $1.byteCount } }
  package var scopes: [ObjectIDScope] { state.withLock { $0.contents.scopes } }
  /// The history, which may not have been verified.
  var currentHistory: StoreHistory? { state.withLock { $0.contents.history } }
}

// MARK: Opening

extension AtomicStoreEngine {
  /// Loads the store's file, or begins a new store if there is no file or an empty one.
  package static func open(
    _ format: any AtomicStoreFormat,
    setup: StoreSetup,
    fileSystem: any FileSystem
  ) throws -> AtomicStoreEngine {
    try CapabilityCheck(format.typeDescription).check(setup)
    for _ in 1..<openingLimit {
      do {
        return try openOnce(format, setup: setup, fileSystem: fileSystem)
      } catch let error as PersistenceError where error.code == .fileChangedOnDisk {
        // Another process has saved meanwhile.
        continue
      }
    }
    return try openOnce(format, setup: setup, fileSystem: fileSystem)
  }

  /// How often a file is opened that other processes write to while it is read.
  private static let openingLimit = 10

  private static func openOnce(
    _ format: any AtomicStoreFormat,
    setup: StoreSetup,
    fileSystem: any FileSystem
  ) throws -> AtomicStoreEngine {
    let store = try format.makeStore(setup)
    guard let path = setup.path, let status = try fileSystem.status(atPath: path),
      status.size > 0 || !status.isRegularFile
    else {
      return try beginning(store, format.typeDescription, setup: setup, fileSystem: fileSystem)
    }
    let file = try StoreInput(try fileSystem.openFile(atPath: path))
    let metadata = try file.reading { try format.readMetadata(from: file, options: setup.options) }
    try ModelCompatibility.check(metadata, setup: setup, readsRecovered: format.readsRecovered)
    let loader = StoreLoader(setup: setup, storeType: format.typeDescription.type)
    loader.metadata = metadata
    let contents = try file.reading {
      try store.load(file, into: loader)
      return try loader.finish()
    }
    try checkUnchanged(file, mayGrow: store is any AppendingStore)
    return AtomicStoreEngine(
      store: store,
      typeDescription: format.typeDescription,
      setup: setup,
      fileSystem: fileSystem,
      contents: contents,
      file: file
    )
  }

  private static func beginning(
    _ store: any AtomicStore,
    _ typeDescription: StoreTypeDescription,
    setup: StoreSetup,
    fileSystem: any FileSystem
  ) throws -> AtomicStoreEngine {
    if setup.path != nil, setup.isReadOnly {
      throw setup.absent()
    }
    var metadata = StoreMetadata(storeType: typeDescription.type)
    metadata.setModel(setup.entities, versionIdentifiers: setup.model.versionIdentifiers)
    let contents = StoreContents(model: setup.model, entities: setup.entities, metadata: metadata)
    return AtomicStoreEngine(
      store: store,
      typeDescription: typeDescription,
      setup: setup,
      fileSystem: fileSystem,
      contents: contents,
      file: nil
    )
  }

  /// - Parameter mayGrow: whether other processes may have added saves behind what was read, which is as it was then.
  private static func checkUnchanged(_ file: StoreInput, mayGrow: Bool) throws(PersistenceError) {
    let (before, now) = (file.status.identity, try file.file.status().identity)
    guard now == before || mayGrow && now.isSameFile(as: before) && now.size >= before.size else {
      throw PersistenceError(
        .fileChangedOnDisk,
        "The file was changed while it was being read.",
        recovery: .openAgain,
        context: .init(path: file.path)
      )
    }
  }
}

// MARK: Reading

extension AtomicStoreEngine {
  package func contents(withUnreadable: Bool) throws -> StoreContents {
    let contents = try verified(setup.model.entities.indices)
    try contents.history?.verify()
    return contents
  }

  package func table(of entity: EntityDescription) throws -> NodeTable {
    try verified(reachable[entity.ordinal]).tables[entity.ordinal]
  }

  /// Returns the contents, in which the tables with these ordinals may be read.
  private func verified(_ ordinals: some Sequence<Int>) throws(PersistenceError) -> StoreContents {
    let contents = state.withLock { $0.contents }
    var tables: [NodeTable] = []
    for ordinal in ordinals where !contents.tables[ordinal].isVerified {
      tables.append(try contents.tables[ordinal].verified())
    }
    if tables.isEmpty { return contents }
    return state.withLock { state in
      // No save begins before all tables are verified, so a table that is not is still the one of the file.
      for table in tables where !state.contents.tables[table.entity.ordinal].isVerified {
        state.contents.tables[table.entity.ordinal] = table
      }
      return state.contents
    }
  }

  /// Makes everything readable and returns the state, for a change of it.
  private func verifiedState() throws(PersistenceError) -> State {
    try verified(setup.model.entities.indices).history?.verify()
    return state.withLock { $0 }
  }

  package func count(of entity: EntityDescription) throws -> Int {
    state.withLock { $0.contents.tables[entity.ordinal].count }
  }
}

// MARK: Saving

extension AtomicStoreEngine {
  package func newReferences(
    count: Int,
    for entity: EntityDescription
  ) throws(PersistenceError) -> ReferenceColumn {
    let preferred = typeDescription.capabilities.referenceKinds.first ?? .uuid
    return try references.withLock { assigner throws(PersistenceError) in
      let contents = try verified(setup.model.entities.indices)
      let table = contents.tables[entity.ordinal]
      return try assigner.newReferences(count, for: table, of: contents, preferred: preferred)
    }
  }

  package func setUserInfo(_ userInfo: [String: MetadataValue]) throws(PersistenceError) {
    try checkWritable(setup, typeDescription.type)
    try CapabilityCheck(typeDescription).check(userInfo, path: path)
    saving.withLock { _ in state.withLock { $0.changeMetadata { $0.userInfo = userInfo } } }
  }

  package func replaceMetadata(_ metadata: StoreMetadata) throws {
    try checkWritable(setup, typeDescription.type)
    try CapabilityCheck(typeDescription).check(metadata.userInfo, path: path)
    saving.withLock { _ in state.withLock { $0.changeMetadata { $0 = metadata } } }
    _ = try save(ChangeSet())
  }

  package func compact() throws -> Bool {
    guard path != nil, store is any AppendingStore else { return false }
    try checkWritable(setup, typeDescription.type)
    try saving.withLock { isClosed in
      try checkNotClosed(isClosed, typeDescription.type)
      let before = try verifiedState()
      guard before.file != nil else { return }
      var contents = before.contents
      try write(&contents, over: before)
    }
    return true
  }

  package var hasUnsavedMetadata: Bool { state.withLock { $0.hasUnsavedMetadata } }

  package func save(_ changes: ChangeSet, origin: SaveOrigin) throws -> StoreCommit {
    try checkWritable(setup, typeDescription.type)
    return try saving.withLockAfterOthers { isClosed in
      try checkNotClosed(isClosed, typeDescription.type)
      let before = try verifiedState()
      let applied = try apply(changes, to: before.contents)
      let additions = try uniqueness.withLock { check throws(PersistenceError) in
        try check.check(check.uses(of: applied), applied, before: before.contents)
      }
      var after = applied.contents
      after.metadata.setModel(setup.entities, versionIdentifiers: setup.model.versionIdentifiers)
      let transaction =
        changes.isEmpty
        ? nil : try record(changes, applied.insertedRows, origin, before: before.contents, in: &after)
      let saved = ChangeSet(byColumn: applied.columns)
      if try !append(saved, transaction, to: &after, over: before) { try write(&after, over: before) }
      uniqueness.withLock { $0.add(additions, to: after) }
      return applied.commit(number: saves.advance())
    }
  }

  /// Applies `change` to the store's contents and writes the file, or leaves the file alone if `change` returns false.
  func rewrite(_ change: (inout StoreContents) throws -> Bool) throws {
    try checkWritable(setup, typeDescription.type)
    try saving.withLock { isClosed in
      try checkNotClosed(isClosed, typeDescription.type)
      let before = try verifiedState()
      var after = before.contents
      guard try change(&after) else { return }
      try write(&after, over: before)
      saves.advance()
    }
  }

  private func apply(_ changes: ChangeSet, to contents: StoreContents) throws(PersistenceError) -> AppliedChanges {
    try AppliedChanges(
      changes,
      to: contents,
      contestedEntities: { references.withLock { $0.contestedEntities } },
      note: { ids in
        references.withLock { assigner in
          for id in ids { assigner.note(id.reference, entityOrdinal: id.entity.ordinal) }
        }
      },
      newReferences: { count, entity throws(PersistenceError) in try newReferences(count: count, for: entity) }
    )
  }

  package func close(unlessSavedSince number: UInt64?) -> Bool {
    saving.withLock { isClosed in
      isClosed = isClosed || number.map { $0 == saves.current } ?? true
      return isClosed
    }
  }

  package func reopen() {
    saving.withLock { $0 = false }
  }

  /// Writes `contents` in place of the contents of the previous state, and makes it the current state.
  private func write(_ contents: inout StoreContents, over before: State) throws {
    let previous = before.file.map { PreviousSave(contents: before.contents, file: $0) }
    try write(&contents, over: previous, expecting: before.standing.map { .unchanged($0) } ?? .nothing)
  }

  /// Writes `contents` and makes it the current state.
  func write(
    _ contents: inout StoreContents,
    over previous: PreviousSave?,
    expecting expectation: AtomicFile.Expectation
  ) throws {
    try check(contents)
    let file = try path.map { try replaceFile(at: $0, with: &contents, over: previous, expecting: expectation) }
    let written = contents
    state.withLock { state in
      state.contents = written
      state.file = file
      state.hasUnsavedMetadata = false
      state.isDoubtful = false
    }
  }

  /// Checks that the store can hold `contents`.
  private func check(_ contents: StoreContents) throws {
    try CapabilityCheck(typeDescription).check(contents, path: path)
    try store.validate(contents)
  }

  /// Adds the changes of a save to the file of the previous state, and makes `contents` the current state.
  ///
  /// - Returns: whether that was done; otherwise the file has to be written as a whole.
  private func append(
    _ changes: ChangeSet,
    _ transaction: ByteSlice?,
    to contents: inout StoreContents,
    over before: State
  ) throws -> Bool {
    guard let store = store as? any AppendingStore, let path, let file = before.file, !before.isDoubtful,
      file.status.identity == before.standing, !before.hasUnsavedMetadata,
      contents.metadata == before.contents.metadata
    else { return false }
    var after = contents
    guard
      let appendix = try store.appendix(
        for: changes,
        recordedAs: transaction,
        in: &after,
        before: before.contents
      )
    else { return false }
    try check(contents)
    let target = AtomicFile(path: path, fileSystem: fileSystem)
    guard let result = try target.append(appendix, to: file, isFirst: !before.hasAppended) else { return false }
    state.withLock { state in
      state.hasAppended = true
      state.file = result.file
      state.standing = result.file.status.identity
      state.isDoubtful = result.isDoubtful
    }
    if let failure = result.failure { throw failure }
    contents = after
    let written = after
    state.withLock { state in
      state.contents = written
      state.hasUnsavedMetadata = false
    }
    return true
  }

  private func replaceFile(
    at path: String,
    with contents: inout StoreContents,
    over previous: PreviousSave?,
    expecting expectation: AtomicFile.Expectation
  ) throws -> StoreInput {
    let replacement = try AtomicFile(path: path, fileSystem: fileSystem).replace(expecting: expectation) { output in
      try store.save(&contents, over: previous, to: output)
    }
    // The name is taken whether it is flushed or not, and the next attempt must not take the file for one of another
    // process.
    state.withLock { $0.standing = replacement.file.status.identity }
    if let failure = replacement.flushFailure { throw Self.notFlushed(failure) }
    return byItsName(replacement.file)
  }

  private static func notFlushed(_ failure: PersistenceError) -> PersistenceError {
    PersistenceError(
      failure.code,
      "The new file is complete and in its place, but its directory could not be flushed: a loss of power may restore the old file. "
        + "The changes still count as unsaved.",
      recovery: "Save again.",
      context: failure.context,
      underlyingError: failure
    )
  }
}

// MARK: History

// MARK: Recording

extension AtomicStoreEngine {
  private var tracksHistory: Bool { setup.options[.tracksPersistentHistory] }

  /// Adds a transaction with the changes of a save to the history of `after`, if the store keeps one.
  ///
  /// - Returns: the transaction as it is kept in the file; nil if there is none.
  /// - Throws: ``PersistenceError/Code/storeReadOnly`` if the store has a history that would miss this save.
  func record(
    _ changes: ChangeSet,
    _ insertedRows: [Int: RowRuns],
    _ origin: SaveOrigin,
    before: StoreContents,
    in after: inout StoreContents
  ) throws(PersistenceError) -> ByteSlice? {
    guard tracksHistory else {
      try checkNotMissed(after.history)
      return nil
    }
    let recorded = try HistoryRecorder(before: before, after: after).changes(changes, insertedRows: insertedRows)
    guard let bytes = HistoryTransactionEncoder.bytes(of: origin.transaction(recorded)) else { return nil }
    var history = after.history ?? StoreHistory()
    try history.append(bytes)
    after.history = history
    return bytes
  }

  private func checkNotMissed(_ history: StoreHistory?) throws(PersistenceError) {
    guard history != nil else { return }
    throw PersistenceError(
      .storeReadOnly,
      "The store has a history, which would lack this save.",
      recovery: .custom(
        "Open it with the option tracksPersistentHistory; or convert it with that option set to false, which "
          + "leaves the history out."
      ),
      context: .init(path: path, storeType: typeDescription.type)
    )
  }
}

extension StoreSetup {
  /// Returns the history for a new store with `contents`: the same history, or nil if the type keeps none or the
  /// options leave it out.
  func keptHistory(of contents: StoreContents, _ description: StoreTypeDescription) -> StoreHistory? {
    keepsHistory(description) ? contents.history : nil
  }

  /// Returns whether a new store of a type takes over the history of the store that it is made from.
  public func keepsHistory(_ description: StoreTypeDescription) -> Bool {
    let isLeftOut = options.isSet(.tracksPersistentHistory) && !options[.tracksPersistentHistory]
    return description.capabilities.supports(.history) && !isLeftOut
  }
}

// MARK: Reading and purging

extension AtomicStoreEngine {
  package func history() throws -> (any KeptHistory)? {
    currentHistory ?? (tracksHistory ? StoreHistory() : nil)
  }

  package func deleteHistory(through number: (any KeptHistory) throws -> Int64) throws {
    try rewrite { contents in
      guard var history = contents.history else { return false }
      try history.verify()
      history.removeTransactions(through: try number(history))
      guard history.purgedNumber != contents.history?.purgedNumber else { return false }
      contents.history = history
      return true
    }
  }
}
