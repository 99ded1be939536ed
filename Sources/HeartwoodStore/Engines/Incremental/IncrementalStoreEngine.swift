import Dispatch
package import HeartwoodModel
import Synchronization

/// Drives an incremental store: keeps the records that were read in tables, and saves those that change.
package final class IncrementalStoreEngine: StoreEngine {
  struct State: EngineState {
    /// The records that have been read so far. All are of one moment.
    var contents: StoreContents
    /// The entities, by ordinal, of which all records have been read. Abstract entities, and those that the store does
    /// not keep, count as read.
    var whole: Set<Int> = []
    /// The store's mark when the records were read; nil if it is unknown whether other processes have saved since.
    var mark: UInt64? {
      didSet { if mark != oldValue { estimatedCounts = [:] } }
    }
    /// The store's estimates of how many records entities have, by ordinal, as of the mark. SQLite reads a whole index
    /// for each.
    var estimatedCounts: [Int: Int] = [:]
    var hasUnsavedMetadata = false
    /// What other processes have saved since this was last taken; nil if they have not saved.
    var remoteChanges: RemoteChanges?
    /// What relies on records staying in their rows.
    var keepers = RowKeepers()
    /// The number of known records at which their memory is measured next.
    var nextLook = 0
  }

  /// The state of the engine.
  enum Usage {
    case open
    /// Refuses all calls, but can be reopened by the code that closed it on the condition that it was not saved since.
    case closed
    /// Refuses all calls for good.
    case disconnected
  }

  let store: any IncrementalStore
  let typeDescription: StoreTypeDescription
  let setup: StoreSetup
  let fileSystem: any FileSystem
  /// The identity of the file that the store was opened from, in any state of its content.
  private let file: FileIdentity?
  let state: Mutex<State>
  let uniqueness: Mutex<UniquenessCheck>
  /// Taken for the whole of each change of the store. A thread that has `turn` must not take this one.
  let writing = StoreTurn()
  /// Taken for each call of the store, which happen one at a time.
  let turn = StoreTurn()
  let usage = Mutex(Usage.open)
  let held = HeldRecords()
  /// The snapshots of this store that are still in use.
  let snapshots = Mutex<[WeakSnapshot]>([])
  package let saves = ChangeCounter()
  package let hasRenamedRecords: Bool

  init(
    store: any IncrementalStore,
    typeDescription: StoreTypeDescription,
    setup: StoreSetup,
    fileSystem: any FileSystem,
    contents: StoreContents,
    mark: UInt64?,
    isWhole: Bool,
    hasRenamedRecords: Bool = false
  ) throws {
    self.store = store
    self.hasRenamedRecords = hasRenamedRecords
    self.typeDescription = typeDescription
    self.setup = setup
    self.fileSystem = fileSystem
    self.file = try setup.path.flatMap { try fileSystem.status(atPath: $0)?.identity }
    self.uniqueness = Mutex(UniquenessCheck(setup.model))
    var state = State(contents: contents, mark: mark)
    if isWhole {
      state.whole = Set(setup.model.entities.map(\.ordinal))
      // Objects of the store that it was made from find their records by row.
      state.keepers.count = 1
    } else {
      state.forgetRecords(of: setup)
    }
    self.state = Mutex(state)
  }

  package var place: StorePlace? { setup.place }
  /// The context of errors.
  private var context: PersistenceError.Context { .init(path: placeName, storeType: typeDescription.type) }
  package var metadata: StoreMetadata { state.withLock { $0.contents.metadata } }
  package var scopes: [ObjectIDScope] { state.withLock { $0.contents.scopes } }
  package var tableByteCount: Int { state.withLock { $0.contents }.tables.reduce(0) { $0 + $1.byteCount } }
}

// MARK: Opening

extension IncrementalStoreEngine {
  /// Connects to a store, which is created if there is none yet.
  static func open(
    _ format: any IncrementalStoreFormat,
    setup: StoreSetup,
    fileSystem: any FileSystem
  ) throws -> IncrementalStoreEngine {
    try CapabilityCheck(format.typeDescription).check(setup)
    let store = try format.makeStore(setup)
    try checkKeepsHistory(store, format.typeDescription.type, setup)
    let found = try store.connect()
    do {
      return try open(store, format, found, setup: setup, fileSystem: fileSystem)
    } catch {
      // No other code disconnects the store.
      store.disconnect()
      throw error
    }
  }
}

extension IncrementalStoreEngine {
  /// - Parameter found: the metadata of the store that was found; nil if it is to be created.
  private static func open(
    _ store: any IncrementalStore,
    _ format: any IncrementalStoreFormat,
    _ found: StoreMetadata?,
    setup: StoreSetup,
    fileSystem: any FileSystem
  ) throws -> IncrementalStoreEngine {
    var metadata = found ?? StoreMetadata(storeType: format.typeDescription.type)
    if found == nil {
      if setup.isReadOnly { throw setup.absent() }
      metadata.setModel(setup.entities, versionIdentifiers: setup.model.versionIdentifiers)
      metadata = try make(store, metadata)
    }
    try ModelCompatibility.check(metadata, setup: setup, readsRecovered: format.readsRecovered)
    return try IncrementalStoreEngine(
      store: store,
      typeDescription: format.typeDescription,
      setup: setup,
      fileSystem: fileSystem,
      contents: StoreContents(model: setup.model, entities: setup.entities, metadata: metadata),
      mark: try store.dataVersion(),
      isWhole: false
    )
  }

  /// Creates a store, unless another process has been faster: then opens that one.
  private static func make(_ store: any IncrementalStore, _ metadata: StoreMetadata) throws -> StoreMetadata {
    do {
      try store.create(metadata)
      return metadata
    } catch let error as PersistenceError where error.code == .fileExists {
      guard let found = try store.connect() else { throw error }
      return found
    }
  }
}

extension IncrementalStore {
  /// Returns as many references for new records as are asked for, after checking them.
  func checkedNewReferences(
    count: Int,
    for entity: EntityDescription,
    _ context: PersistenceError.Context
  ) throws -> [ReferenceID] {
    let references = try newReferences(count: count, for: entity)
    if references.count == count { return references }
    var context = context
    context.entity = entity.name
    throw PersistenceError(
      .capabilityMissing,
      "The store returned \(references.count) references, and \(count) were requested.",
      context: context
    )
  }
}

// MARK: Saving

extension IncrementalStoreEngine {
  package func newReferences(count: Int, for entity: EntityDescription) throws(PersistenceError) -> ReferenceColumn {
    try withStoreErrors(.fileWriteFailed, Self.notNamed) { try using { try storeReferences(count, for: entity) } }
  }

  private static let notNamed = "The store returned no references for new records."

  private func storeReferences(_ count: Int, for entity: EntityDescription) throws -> ReferenceColumn {
    let references = ReferenceColumnBuilder()
    for reference in try store.checkedNewReferences(count: count, for: entity, context) {
      references.append(reference, entityOrdinal: entity.ordinal)
    }
    return references.sealed()
  }

  /// Calls `body`; wraps an error of the store's own in one of this package's as its cause.
  func withStoreErrors<Result>(
    _ code: PersistenceError.Code,
    _ text: String,
    _ body: () throws -> Result
  ) throws(PersistenceError) -> Result {
    do {
      return try body()
    } catch {
      throw .of(error, code, text, context: context)
    }
  }

  package func save(_ changes: ChangeSet, origin: SaveOrigin) throws -> StoreCommit {
    try checkWritable(setup, typeDescription.type)
    try checkPlace()
    return try using {
      state.withLock { $0.keepers.isSaving = true }
      defer { state.withLock { $0.keepers.isSaving = false } }
      var haveMoved = false
      do {
        return try publish(
          try saving {
            do {
              return try make(changes, origin)
            } catch let error as RecordsHaveMoved {
              haveMoved = true
              throw error
            }
          }
        )
      } catch {
        // The store may have replaced the error with one of its own.
        if haveMoved { throw RecordsHaveMoved() }
        throw error
      }
    }
  }

  /// Calls `body`, which saves. If the store supports that, other threads read while it waits for the disk.
  private func saving<Result>(_ body: () throws -> Result) throws -> Result {
    try store.saving(body, release: turn.giveUp, retake: turn.take)
  }

  /// Changes that the store has made, but that are not visible yet.
  private struct MadeChanges {
    let before: StoreContents
    let applied: AppliedChanges
    let additions: UniquenessCheck.Additions
    let mark: UInt64
  }

  /// Makes changes in the store, within a call that saves.
  private func make(_ changes: ChangeSet, _ origin: SaveOrigin) throws -> MadeChanges {
    try renewIfNeeded(for: .saving)
    try checkRows(of: changes)
    try read(whatMattersTo: changes)
    var before = state.withLock { $0 }
    var applied = try apply(changes, to: before.contents)
    var uses = uniqueness.withLock { $0.uses(of: applied) }
    let rivals = try self.rivals(of: uses, applied)
    if rivals.hasReadMore {
      before = state.withLock { $0 }
      applied = try apply(changes, to: before.contents)
      uses = uniqueness.withLock { $0.uses(of: applied) }
    }
    let additions = try uniqueness.withLock { check throws(PersistenceError) in
      try check.check(uses, applied, before: before.contents, rivals: rivals.rows)
    }
    try write(applied, changes, over: before)
    if !changes.isEmpty { try record(applied, over: before.contents, origin) }
    try settleInverses(&applied, before: before.contents)
    return MadeChanges(before: before.contents, applied: applied, additions: additions, mark: try store.dataVersion())
  }

  /// Makes changes visible that are on the disk now.
  private func publish(_ made: MadeChanges) throws -> StoreCommit {
    let now = state.withLock { $0.contents }
    let isAlone = zip(now.tables, made.before.tables).allSatisfy { $0.isSame(as: $1) }
    let (applied, mark) = isAlone ? (made.applied, made.mark) : try changesBesideOthers(made, now)
    state.withLock { state in
      state.contents = applied.contents
      state.mark = mark
      state.hasUnsavedMetadata = false
    }
    uniqueness.withLock { uniqueness in
      // It identifies new records by the rows that they would have got.
      if isAlone {
        uniqueness.add(made.additions, to: applied.contents)
      } else {
        uniqueness = UniquenessCheck(setup.model)
      }
    }
    var commit = applied.commit(number: saves.advance())
    commit.keeper = keepRows()
    return commit
  }

  /// Returns the changes, applied to the records that are known by now: while the save waited for the disk, other
  /// threads have read more records as they were before it, and new records come after these.
  ///
  /// - Returns: also the store's mark; nil if the known records have to be read again.
  private func changesBesideOthers(
    _ made: MadeChanges,
    _ now: StoreContents
  ) throws -> (changes: AppliedChanges, mark: UInt64?) {
    var applied = try made.applied.applied(to: now)
    do {
      try store.reading { try settleInverses(&applied, before: now) }
      return (applied, made.mark)
    } catch {
      // The save is done, and the next reader gets the error.
      return (applied, nil)
    }
  }

  /// Refuses to save into a file that is no longer at its path: it would be missing for the next one that opens the
  /// store.
  func checkPlace() throws(PersistenceError) {
    switch try fileState() {
    case .unchanged, .absent: return
    case .removed, .moved, .changed:
      throw PersistenceError(
        .fileChangedOnDisk,
        "The store's file was moved, removed or replaced while the store was open. Nothing was saved.",
        recovery: "Open the store again where it is now.",
        context: context
      )
    }
  }

  /// Applies the changes to `contents`, with the model that the records are saved with.
  private func apply(_ changes: ChangeSet, to contents: StoreContents) throws(PersistenceError) -> AppliedChanges {
    var applied = try AppliedChanges(
      changes,
      to: contents,
      newReferences: { count, entity throws(PersistenceError) in
        try withStoreErrors(.fileWriteFailed, Self.notNamed) { try storeReferences(count, for: entity) }
      }
    )
    if !contents.metadata.hasVersions(of: setup.entities) {
      applied.contents.metadata.setModel(setup.entities, versionIdentifiers: setup.model.versionIdentifiers)
    }
    return applied
  }

  private func write(_ applied: AppliedChanges, _ changes: ChangeSet, over before: State) throws {
    let metadata = applied.contents.metadata
    try CapabilityCheck(typeDescription).check(applied.contents, path: placeName)
    if before.hasUnsavedMetadata || metadata != before.contents.metadata { try store.saveMetadata(metadata) }
    if changes.isEmpty { return }
    var written = ChangeSet(byColumn: applied.columns)
    written.preconditions = changes.preconditions
    try store.save(written, over: before.contents)
  }

  package func setUserInfo(_ userInfo: [String: MetadataValue]) throws(PersistenceError) {
    try checkWritable(setup, typeDescription.type)
    try CapabilityCheck(typeDescription).check(userInfo, path: placeName)
    writing.having {
      turn.having { state.withLock { $0.changeMetadata { $0.userInfo = userInfo } } }
    }
  }

  package func replaceMetadata(_ metadata: StoreMetadata) throws {
    try checkWritable(setup, typeDescription.type)
    try checkPlace()
    try CapabilityCheck(typeDescription).check(metadata.userInfo, path: placeName)
    try using {
      try store.saving { try store.saveMetadata(metadata) }
      state.withLock { state in
        state.contents.metadata = metadata
        state.hasUnsavedMetadata = false
      }
    }
  }

  package var hasUnsavedMetadata: Bool { state.withLock { $0.hasUnsavedMetadata } }
}

// MARK: Closing

extension IncrementalStoreEngine {
  package func close(unlessSavedSince number: UInt64?) -> Bool {
    writing.having {
      turn.having {
        usage.withLock { usage in
          if usage == .open, number == nil || number == saves.current { usage = .closed }
          if number == nil, usage != .disconnected {
            // The last connection that closes a file checkpoints its log, and a snapshot cannot.
            closeSnapshots()
            store.disconnect()
            usage = .disconnected
          }
          return usage != .open
        }
      }
    }
  }

  package func reopen() {
    usage.withLock { if $0 == .closed { $0 = .open } }
  }

  package func fileState() throws(PersistenceError) -> StoreFileState {
    guard let path, let file else { return .absent }
    guard let found = try fileSystem.status(atPath: path)?.identity else { return .removed }
    if store.savesReplaceFile { return .unchanged }
    return found.isSameFile(as: file) ? .unchanged : .changed
  }

  package func setPath(_ path: String) throws(PersistenceError) {
    throw PersistenceError(
      .capabilityMissing,
      "An open store of this type cannot be moved.",
      recovery: "Use convert(_:to:) to move it.",
      context: context
    )
  }
}

// MARK: StoreTurn

/// A lock that one thread has at a time, and can give up in the middle of a call and take again.
final class StoreTurn: Sendable {
  private let free = DispatchSemaphore(value: 1)

  init() {}

  /// Waits for the turn.
  func take() { free.waitForOthers() }

  /// Passes the turn to the next thread.
  func giveUp() { free.signal() }

  /// Calls `body` while the thread has the turn.
  func having<Value>(_ body: () throws -> Value) rethrows -> Value {
    take()
    defer { giveUp() }
    return try body()
  }
}
