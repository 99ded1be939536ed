import HeartwoodModel
import HeartwoodStore

/// The link of a context to its children: what they see of it, and what they have saved to it.
///
/// Saves of children are taken in once each, in their order. One that cannot be taken in waits, with all that came
/// after it, and the reason is kept as long as it waits. What children see is that of one change number; it is put
/// together again when the context has another.
final class ChildContexts {
  /// What children read from and save to, once there is one.
  private(set) var stagingArea: StagingArea?
  /// The change number of what children see.
  private var publishedNumber: UInt64 = 0
  /// Why children cannot see all that the context has changed.
  private(set) var publishingFailure: PersistenceError?
  /// Whether children of other isolations see the changes with each fetch.
  private var publishesWithFetches = false
  /// How many saves of children the context has taken in.
  private var seenSaves: UInt64 = 0
  /// Why the next one could not be taken in.
  private var savingFailure: PersistenceError?
  /// The objects of which a child's changes could not be taken in.
  private var conflicts: Set<ManagedObjectID> = []
}

extension ChildContexts {
  /// Makes it possible that there are children.
  func begin(_ area: StagingArea) {
    assert(stagingArea == nil, "A context gets a second staging area.")
    stagingArea = area
  }
}

// MARK: What children see

extension ChildContexts {
  /// Makes children of other isolations see the changes with each fetch.
  func publishWithFetches() { publishesWithFetches = true }

  /// Whether a fetch is to show children of other isolations what it finds.
  var needFetchesPublished: Bool { publishesWithFetches && stagingArea?.hasDistantChildren == true }

  /// Whether children see what the context has changed up to `number`.
  func haveSeen(_ number: UInt64) -> Bool { number == publishedNumber }

  /// Forgets why children could not see the changes, which are put together again.
  func beginPublishing() { publishingFailure = nil }

  /// Notes why children cannot see all changes.
  func notePublishingFailure(_ error: PersistenceError) { publishingFailure = error }

  /// Notes that children see the changes up to `number`, unless there was a failure: then it is tried again.
  func endPublishing(at number: UInt64) {
    if publishingFailure == nil { publishedNumber = number }
  }
}

// MARK: What children have saved

extension ChildContexts {
  /// Whether children have saved something that has not been taken in.
  var hasWaitingSaves: Bool {
    guard let stagingArea else { return false }
    return stagingArea.childSaves.count != seenSaves
  }

  /// Takes in what waits.
  ///
  /// - Parameters:
  ///   - prepare: called once, if something waits. Nothing seems to wait from then on, so that it may do what would
  ///     take it in.
  ///   - take: takes in the saves of one store; returns why it could not go on, if it could not.
  /// - Returns: whether something waited.
  func takeSaves(_ prepare: () -> Void, _ take: (StagedStore) -> PersistenceError?) -> Bool {
    guard let stagingArea else { return false }
    let (newest, former) = (stagingArea.childSaves.count, seenSaves)
    guard newest != former else { return false }
    seenSaves = newest
    prepare()
    savingFailure = nil
    for store in stagingArea.stagedStores {
      guard let failure = take(store) else { continue }
      savingFailure = failure
      seenSaves = former
    }
    return true
  }

  /// Why something that waits could not be taken in; nil if nothing waits, or it was not tried yet.
  var waitingSaveFailure: PersistenceError? { hasWaitingSaves ? savingFailure : nil }

  /// Forgets what waits.
  func dropWaitingSaves() {
    savingFailure = nil
    guard let stagingArea, hasWaitingSaves else { return }
    seenSaves = stagingArea.childSaves.count
    for store in stagingArea.stagedStores {
      while store.nextChildSave != nil { store.takeNextChildSave() }
    }
  }

  /// Notes that a child's changes of an object could not be taken in.
  func noteConflict(_ id: ManagedObjectID) { conflicts.insert(id) }

  /// Returns the objects of which a child's changes could not be taken in, and forgets them.
  func takeConflicts() -> [ManagedObjectID] {
    defer { conflicts = [] }
    return conflicts.sorted { $0.description < $1.description }
  }

  func forgetConflicts() { conflicts = [] }
}
