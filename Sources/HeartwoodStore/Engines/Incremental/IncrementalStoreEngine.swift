import Dispatch
package import HeartwoodModel
import Synchronization

/// Drives an incremental store: keeps the records that were read in tables, and saves those that change.
package final class IncrementalStoreEngine: StoreEngine {
  struct State: EngineState {
    /// The records that have been read so far. All are of one moment.
    var contents: StoreContents
    /// The entities, by ordinal, of which all records have been read. Of abstract ones, and of those that the store does not keep, there
    /// are none.
    var whole: Set<Int> = []
    /// The store's mark when the records were read; nil where nobody knows whether others have saved since.
    var mark: UInt64?
    var hasUnsavedMetadata = false
    /// What others have saved since it was last asked for; nil where they have not.
    var remoteChanges: RemoteChanges?
    /// Who relies on records staying in their rows.
    var keepers = RowKeepers()
    /// So many records may be known before it is looked again how much memory they take.
    var nextLook = 0
  }

  /// What may be asked of the store.
  enum Usage {
    case open
    /// Nothing, but whoever closed it if a save was the last may open it again.
    case closed
    /// Nothing any more.
    case disconnected
  }

  let store: any IncrementalStore
  let typeDescription: StoreTypeDescription
  let setup: StoreSetup
  let fileSystem: any FileSystem
  /// The file that the store was opened from, in whatever state.
  private let file: FileIdentity?
  let state: Mutex<State>
  let uniqueness: Mutex<UniquenessCheck>
  /// Held by who changes the store, from the beginning to the end. Who holds the turn takes it no more.
  let writing = StoreTurn()
  /// Had by who uses the store, which happens one call at a time.
  let turn = StoreTurn()
  let usage = Mutex(Usage.open)
  let held = HeldRecords()
  /// The stores that read what this one held at some time, as long as somebody has them.
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
      // Objects of the store that it was made of find their records by row.
      state.keepers.count = 1
    } else {
      state.forgetRecords(of: setup)
    }
    self.state = Mutex(state)
  }

  package var place: StorePlace? { setup.place }
  /// Where an error has happened.
  private var context: PersistenceError.Context { .init(path: placeName, storeType: typeDescription.type) }
  package var metadata: StoreMetadata { state.withLock { $0.contents.metadata } }
  package var scopes: [ObjectIDScope] { state.withLock { $0.contents.scopes } }
  package var tableByteCount: Int { state.withLock { $0.contents }.tables.reduce(0) { $0 + $1.byteCount } }
}

// MARK: Opening

extension IncrementalStoreEngine {
  /// Connects to a store, which is made where there is none yet.
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
      // Nobody else lets go of what the store holds.
      store.disconnect()
      throw error
    }
  }
}

extension IncrementalStoreEngine {
  /// - Parameter found: the metadata of the store that was found; nil where it is to be made.
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

  /// Makes a store, unless another process has been faster: then that one's is opened.
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
  /// References for new records, as many as are asked for.
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
      "The store gave \(references.count) references where \(count) were asked for.",
      context: context
    )
  }
}

// MARK: Saving

extension IncrementalStoreEngine {
  package func newReferences(count: Int, for entity: EntityDescription) throws(PersistenceError) -> ReferenceColumn {
    try withStoreErrors(.fileWriteFailed, Self.notNamed) { try using { try storeReferences(count, for: entity) } }
  }

  private static let notNamed = "The store could not give references to new records."

  private func storeReferences(_ count: Int, for entity: EntityDescription) throws -> ReferenceColumn {
    let references = ReferenceColumnBuilder()
    for reference in try store.checkedNewReferences(count: count, for: entity, context) {
      references.append(reference, entityOrdinal: entity.ordinal)
    }
    return references.sealed()
  }

  /// Calls `body`, and lets an error of the store's own be the cause of one of ours.
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
        // The store may have made another error of it.
        if haveMoved { throw RecordsHaveMoved() }
        throw error
      }
    }
  }

  /// Calls `body`, which saves. If the store can, others read while it waits for the disk.
  private func saving<Result>(_ body: () throws -> Result) throws -> Result {
    try store.saving(body, release: turn.giveUp, retake: turn.take)
  }

  /// Changes that the store has made, but that nobody sees yet.
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

  /// Lets changes be seen that are on the disk now.
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
      // It knows new records by the rows that they would have got.
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

  /// The changes made anew in what is known by now: others have read more of the records as they were before the save while that waited for the
  /// disk, and new records come behind these.
  ///
  /// - Returns: also the store's mark; nil where what is known has to be read anew.
  private func changesBesideOthers(
    _ made: MadeChanges,
    _ now: StoreContents
  ) throws -> (changes: AppliedChanges, mark: UInt64?) {
    var applied = try made.applied.applied(to: now)
    do {
      try store.reading { try settleInverses(&applied, before: now) }
      return (applied, made.mark)
    } catch {
      // The save is done, and who reads next learns what is wrong.
      return (applied, nil)
    }
  }

  /// Refuses to save into a file that is no longer at its place: whoever opens the store next would not find it there.
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

  /// Makes the changes in `contents`, with the model that the records are saved with.
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
            // Who closes a file last carries its log over, and a snapshot cannot.
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
      "An open store of this type stays where it is.",
      recovery: "Use convert(_:to:) to move it.",
      context: context
    )
  }
}

// MARK: StoreTurn

/// A turn that one thread has at a time, and can give up in the middle of a call and take again.
final class StoreTurn: Sendable {
  private let free = DispatchSemaphore(value: 1)

  init() {}

  /// Waits for the turn.
  func take() { free.wait() }

  /// Lets the next one have it.
  func giveUp() { free.signal() }

  /// Calls `body` while the thread has the turn.
  func having<Value>(_ body: () throws -> Value) rethrows -> Value {
    take()
    defer { giveUp() }
    return try body()
  }
}
