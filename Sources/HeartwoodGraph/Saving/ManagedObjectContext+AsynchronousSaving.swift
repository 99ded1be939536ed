import Dispatch
import HeartwoodModel
import HeartwoodStore
import Synchronization

extension ManagedObjectContext {
  /// Writes all changes to the stores as ``save()`` does, without blocking the isolation of the context: the changes
  /// are collected and validated there, the stores write them on another thread, and then the context is updated in its
  /// isolation.
  ///
  ///     list.title = "Groceries"
  ///     button.isEnabled = false
  ///     try await container.viewContext.saveAsynchronously()
  ///     button.isEnabled = true
  ///
  /// Meanwhile the context can be used. Objects that are changed, inserted or deleted meanwhile stay changed for the
  /// next save; until this save is done, the objects that it writes count as unsaved too. A fetch finds what the
  /// context had before. The following wait for the end of the save and block the thread: fetches and counts in a
  /// context with a store that reads records on demand (SQLite), ``save()``, ``rollback()``, ``reset()``, refreshing
  /// and merging, undoing, ``setQueryGeneration(from:)`` and conversions.
  ///
  /// New objects get permanent ids before they are written; see ``obtainPermanentIDs(for:)``. If a conflict has to be
  /// resolved, the save starts again with the changes at that time; after the second conflict, the context writes in
  /// its own isolation, while no other context of the coordinator saves. The save of a child context writes no file,
  /// and is done immediately. Cancelling the task does not cancel the save.
  ///
  /// - Throws: the errors of ``save()``. The changes are still in the context then.
  public func saveAsynchronously(isolation: isolated (any Actor)? = #isolation) async throws {
    takeWaitingChildSaves()
    defer { publishChanges() }
    guard case .stores = sources.upstream else { return try save() }
    try await prepareToSaveAway(isolation: isolation)
    while let other = saveProgress.underWay {
      await other.writing.wait(isolation: isolation)
      finishSaveUnderWay()
    }
    try tellObjectsWillSave()
    processPendingChanges()
    guard hasChanges else { return try checkChildSaves() }
    followStores()
    takeMerges()
    // Objects that were inserted meanwhile.
    try obtainPermanentIDs(for: pending.inserted.objects)
    try deriveAndTellAll()
    let left = leaveOwnRows()
    defer { endLeaving(left) }
    guard let conflict = try await attemptAway(isolation: isolation) else { return }
    try writeInTurn(after: conflict)
    endSaving()
  }

  /// Tries to write all changes on another thread; returns the conflict of the last attempt, if there was one.
  private func attemptAway(isolation: isolated (any Actor)?) async throws -> ConflictingSave? {
    var conflict: ConflictingSave?
    for _ in 0..<Self.attemptsTogether {
      if let conflict { try resolve(conflict) }
      guard hasChanges else {
        endSaving()
        return nil
      }
      conflict = try await writeAway(isolation: isolation)
      if conflict == nil { return nil }
    }
    return conflict
  }

  private func writeAway(isolation: isolated (any Actor)?) async throws -> ConflictingSave? {
    let (gathered, conflict) = try gatherSaves()
    if let save = gathered.first, let conflict { return ConflictingSave(save: save, error: conflict) }
    let isPinned = pinForSave()
    let underWay = SaveUnderWay(gathered, of: self, isPinned: isPinned)
    saveProgress.begin(underWay)
    underWay.writing.begin()
    await underWay.writing.wait(isolation: isolation)
    if saveProgress.underWay === underWay {
      finishSaveUnderWay()
      return try underWay.outcome?.get()
    }
    // Other work had to wait for the save, and may have changed everything since, or saved it.
    guard underWay.isLast(in: self), let conflict = try underWay.outcome?.get() else { return nil }
    guard hasChanges else { throw conflict.error }
    try save()
    return nil
  }

  /// Waits for the end of the save that the stores are writing, and updates the context.
  func finishSaveUnderWay() {
    guard let underWay = saveProgress.underWay else { return }
    underWay.writing.wait()
    let written = underWay.written(in: self)
    if underWay.isPinned { pin(to: nil) }
    saveProgress.endWriting()
    underWay.outcome = Result {
      try settle(underWay.saves, written) { try underWay.writing.commit(of: $0.store) }
    }
    if case .success(nil) = underWay.outcome { endSaving(comparing: underWay.optimisticallyLocked) }
    underWay.noteEnd(in: self)
    // Changes of others were postponed meanwhile.
    notifier.wake?()
  }

  /// Updates the context after a finished save, before it reads anything; waits for a save that it cannot read beside.
  func catchUpWithSave() {
    guard let underWay = saveProgress.underWay, underWay.writing.isDone || sources.generation == nil else { return }
    finishSaveUnderWay()
  }

  /// Pins the context to the current records for the time of a save, if all of them are in memory; returns whether it
  /// has done so.
  private func pinForSave() -> Bool {
    // try?: if the stores cannot be read, the save that begins throws.
    guard sources.generation == nil, !persistentStoreCoordinator.persistentStores.contains(where: \.readsAsNeeded),
      let newest = try? QueryGeneration(persistentStoreCoordinator)
    else { return false }
    pin(to: newest)
    return true
  }
}

// MARK: Before

extension ManagedObjectContext {
  /// New objects of one entity that need ids of one store.
  private struct Naming: Sendable {
    let store: PersistentStore
    let entity: EntityDescription
    var count: Int
  }

  /// Does the part of a save that reads the stores before the changes are collected: looks for saves of others, and
  /// obtains ids for new objects.
  private func prepareToSaveAway(isolation: isolated (any Actor)?) async throws {
    let coordinator = persistentStoreCoordinator
    let namings = try namings()
    let references = try await WaitingWork.run {
      try coordinator.followOthers()
      if !coordinator.persistentStores.contains(where: \.readsAsNeeded) {
        // Records that are read for the first time here are checked now.
        // try?: the save reports damaged ones.
        _ = try? QueryGeneration(coordinator)
      }
      return try namings.map { try $0.store.newReferences(count: $0.count, for: $0.entity) }
    }
    name(namings, references)
  }

  private func namings() throws -> [Naming] {
    var namings: [Naming] = []
    for object in pending.inserted.objects where object.objectID.isTemporaryID {
      let (store, entity) = (try storeForNewObject(object), object.entity)
      if let index = namings.firstIndex(where: { $0.store === store && $0.entity === entity }) {
        namings[index].count += 1
      } else {
        namings.append(Naming(store: store, entity: entity, count: 1))
      }
    }
    return namings
  }

  /// Assigns ids to the present new objects, as far as they go.
  private func name(_ namings: [Naming], _ references: [ReferenceColumn]) {
    var used = Array(repeating: 0, count: namings.count)
    var ids: [ManagedObjectID: ManagedObjectID] = [:]
    for object in pending.inserted.objects where object.objectID.isTemporaryID {
      // try?: an object that no store takes gets no id, and its save throws.
      guard let store = try? storeForNewObject(object),
        let index = namings.firstIndex(where: { $0.store === store && $0.entity === object.entity }),
        used[index] < references[index].count
      else { continue }
      // If the store is converted, the binding knows the former ids.
      _ = binding(for: object.entity, in: store)
      let scope = store.scopes[object.entity.ordinal]
      ids[object.objectID] = ManagedObjectID(scope: scope, reference: references[index][used[index]])
      used[index] += 1
    }
    rename(ids)
  }
}

// MARK: SaveUnderWay

/// A save that stores write while its context can be used.
final class SaveUnderWay {
  let saves: [PendingSave]
  let writing: SaveWriting
  /// The objects that the save has compared with the store's.
  let optimisticallyLocked: [ManagedObject]
  /// Whether the context stays at one version of the records until the save is done.
  let isPinned: Bool
  private let written: WrittenChanges
  private let changeNumber: UInt64
  private var saveCount: UInt64?
  /// The result; nil until the context has been updated.
  var outcome: Result<ManagedObjectContext.ConflictingSave?, any Error>?

  init(_ saves: [PendingSave], of context: ManagedObjectContext, isPinned: Bool) {
    self.saves = saves
    self.isPinned = isPinned
    optimisticallyLocked = context.saveProgress.lockedObjects
    written = WrittenChanges(saves)
    changeNumber = context.notes.changeNumber
    writing = SaveWriting(
      saves.map { SaveWriting.Part(source: $0.source, changes: $0.changes, counts: $0.counts) },
      context.saveOrigin,
      context.persistentStoreCoordinator
    )
  }

  /// Notes that the context has been updated.
  func noteEnd(in context: ManagedObjectContext) { saveCount = context.saveProgress.count }

  /// Returns whether nothing was saved since the context was updated.
  func isLast(in context: ManagedObjectContext) -> Bool { saveCount == context.saveProgress.count }

  /// Returns the changes that were written, to distinguish them from later ones.
  func written(in context: ManagedObjectContext) -> WrittenChanges {
    written.disturbed(context.notes.changeNumber != changeNumber)
  }
}

/// The writing of a save, on a thread of its own.
final class SaveWriting: Sendable {
  /// The changes that one store is to write.
  struct Part: Sendable {
    let source: any RecordSource
    let changes: ChangeSet
    let counts: PendingSave.Counts
  }

  private struct State {
    /// By store; stores after one that has failed are not written.
    var results: [ObjectIdentifier: Result<StoreCommit, any Error>] = [:]
    var isDone = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let parts: [Part]
  private let origin: SaveOrigin
  private let coordinator: PersistentStoreCoordinator
  private let state = Mutex(State())
  private let end = DispatchGroup()

  fileprivate init(_ parts: [Part], _ origin: SaveOrigin, _ coordinator: PersistentStoreCoordinator) {
    self.parts = parts
    self.origin = origin
    self.coordinator = coordinator
  }

  /// Begins to write.
  func begin() {
    end.enter()
    WaitingExecutor(label: "Heartwood.SaveWriting").run { self.write() }
  }

  private func write() {
    for part in parts where !part.changes.isEmpty {
      let result = Result {
        try coordinator.write(part.changes, of: part.counts, to: part.source, origin: origin)
      }
      state.withLock { $0.results[ObjectIdentifier(part.source.store)] = result }
      if case .failure = result { break }
    }
    let waiting = state.withLock { state in
      state.isDone = true
      defer { state.waiting = [] }
      return state.waiting
    }
    end.leave()
    for continuation in waiting { continuation.resume() }
  }

  /// Whether it has ended.
  var isDone: Bool { state.withLock { $0.isDone } }

  /// Blocks the thread until the end, which needs no isolation and so does not depend on this thread.
  func wait() { end.wait() }

  /// Suspends until the end.
  func wait(isolation: isolated (any Actor)? = #isolation) async {
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        if !state.isDone { state.waiting.append(continuation) }
        return state.isDone
      }
      if isDone { continuation.resume() }
    }
  }

  /// Returns the result of a store.
  func commit(of store: PersistentStore) throws -> StoreCommit {
    guard let result = state.withLock({ $0.results[ObjectIdentifier(store)] }) else {
      ProgrammerError.stop("A store is asked what it has written after another one has failed.")
    }
    return try result.get()
  }
}
