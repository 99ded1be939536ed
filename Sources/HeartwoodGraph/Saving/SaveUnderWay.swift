import Dispatch
import HeartwoodModel
import HeartwoodStore
import Synchronization

/// A save that stores write while its context can be used.
final class SaveUnderWay {
  let saves: [PendingSave]
  let writing: SaveWriting
  /// The objects that the save has compared with the store's.
  let watched: [ManagedObject]
  /// Whether the context reads one version of the records until the save is done, and no other.
  let isPinned: Bool
  private let written: WrittenChanges
  private let changeNumber: UInt64
  private var saveCount: UInt64?
  /// What has become of it; nil until the context knows.
  var outcome: Result<ManagedObjectContext.ConflictingSave?, any Error>?

  init(_ saves: [PendingSave], of context: ManagedObjectContext, isPinned: Bool) {
    self.saves = saves
    self.isPinned = isPinned
    watched = context.watched.objects
    written = WrittenChanges(saves)
    changeNumber = context.changeNumber
    writing = SaveWriting(
      saves.map { SaveWriting.Part(source: $0.source, changes: $0.changes) },
      context.saveOrigin,
      context.persistentStoreCoordinator.saveTurns
    )
  }

  /// Notes that the context has learned of the end.
  func noteEnd(in context: ManagedObjectContext) { saveCount = context.saveCount }

  /// Whether nothing was saved since the context has learned of the end.
  func isLast(in context: ManagedObjectContext) -> Bool { saveCount == context.saveCount }

  /// What was written, to be told from what has changed since.
  func written(in context: ManagedObjectContext) -> WrittenChanges {
    written.disturbed(context.changeNumber != changeNumber)
  }
}

/// The writing of a save, on a thread of its own.
final class SaveWriting: Sendable {
  /// What one store is to write.
  struct Part: Sendable {
    let source: any RecordSource
    let changes: ChangeSet
  }

  private struct State {
    /// By store; those after one that has failed are not tried.
    var results: [ObjectIdentifier: Result<StoreCommit, any Error>] = [:]
    var isDone = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let parts: [Part]
  private let origin: SaveOrigin
  private let turns: SaveTurns
  private let state = Mutex(State())
  private let end = DispatchGroup()

  fileprivate init(_ parts: [Part], _ origin: SaveOrigin, _ turns: SaveTurns) {
    self.parts = parts
    self.origin = origin
    self.turns = turns
  }

  /// Begins to write.
  func begin() {
    end.enter()
    WaitingExecutor(label: "Heartwood.SaveWriting").run { self.write() }
  }

  private func write() {
    for part in parts where !part.changes.isEmpty {
      let result = Result { try turns.together { try part.source.save(part.changes, origin: origin) } }
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

  /// Waits for the end, with the thread. It comes whatever the waiting thread is needed for: writing needs no isolation.
  func wait() { end.wait() }

  /// Waits for the end.
  func wait(isolation: isolated (any Actor)? = #isolation) async {
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        if !state.isDone { state.waiting.append(continuation) }
        return state.isDone
      }
      if isDone { continuation.resume() }
    }
  }

  /// What a store has made of it.
  func commit(of store: PersistentStore) throws -> StoreCommit {
    guard let result = state.withLock({ $0.results[ObjectIdentifier(store)] }) else {
      Misuse.stop("A store is asked what it has written after another one has failed.")
    }
    return try result.get()
  }
}
