import HeartwoodModel
import HeartwoodStore

/// The connection of a context to its children: the changes that they see, and those that they have saved to it.
///
/// Saves of children are merged once each, in their order. A save that cannot be merged waits, with all later ones, and
/// the reason is kept as long as it waits. Children see the changes up to one change number; when the context has
/// another, the changes are assembled again.
final class ChildContexts {
  /// The area from which children read and to which they save, if there are any.
  private(set) var stagingArea: StagingArea?
  /// The change number up to which children see changes.
  private var publishedNumber: UInt64 = 0
  /// The reason why children cannot see all changes of the context.
  private(set) var publishingFailure: PersistenceError?
  /// Whether children of other isolations see the changes with each fetch.
  private var publishesWithFetches = false
  /// The number of children's saves that the context has merged.
  private var seenSaves: UInt64 = 0
  /// The reason why the next one could not be merged.
  private var savingFailure: PersistenceError?
  /// The objects of which a child's changes could not be merged.
  private var conflicts: Set<ManagedObjectID> = []
}

extension ChildContexts {
  /// Prepares the context for children.
  func begin(_ area: StagingArea) {
    assert(stagingArea == nil, "A context gets a second staging area.")
    stagingArea = area
  }
}

// MARK: Publishing

extension ChildContexts {
  /// Makes children of other isolations see the changes with each fetch.
  func publishWithFetches() { publishesWithFetches = true }

  /// Whether a fetch must publish its results to children of other isolations.
  var needFetchesPublished: Bool { publishesWithFetches && stagingArea?.hasDistantChildren == true }

  /// Returns whether children see the changes of the context up to `number`.
  func haveSeen(_ number: UInt64) -> Bool { number == publishedNumber }

  /// Clears the failure, before the changes are assembled again.
  func beginPublishing() { publishingFailure = nil }

  /// Notes the reason why children cannot see all changes.
  func notePublishingFailure(_ error: PersistenceError) { publishingFailure = error }

  /// Notes that children see the changes up to `number`, unless there was a failure: then publishing is tried again.
  func endPublishing(at number: UInt64) {
    if publishingFailure == nil { publishedNumber = number }
  }
}

// MARK: Saves of children

extension ChildContexts {
  /// Whether children have saved changes that have not been merged.
  var hasWaitingSaves: Bool {
    guard let stagingArea else { return false }
    return stagingArea.childSaves.count != seenSaves
  }

  /// Merges the waiting saves.
  ///
  /// - Parameters:
  ///   - prepare: called once, if there are waiting saves. From then on they do not count as waiting, so that it may
  ///     call functions that would merge them.
  ///   - take: merges the saves of one store; returns the reason if it could not merge all.
  /// - Returns: whether there were waiting saves.
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

  /// The reason why a waiting save could not be merged; nil if there are no waiting saves, or merging them was not
  /// tried yet.
  var waitingSaveFailure: PersistenceError? { hasWaitingSaves ? savingFailure : nil }

  /// Discards the waiting saves.
  func dropWaitingSaves() {
    savingFailure = nil
    guard let stagingArea, hasWaitingSaves else { return }
    seenSaves = stagingArea.childSaves.count
    for store in stagingArea.stagedStores {
      while store.nextChildSave != nil { store.takeNextChildSave() }
    }
  }

  /// Notes that a child's changes of an object could not be merged.
  func noteConflict(_ id: ManagedObjectID) { conflicts.insert(id) }

  /// Returns and removes the objects of which a child's changes could not be merged.
  func takeConflicts() -> [ManagedObjectID] {
    defer { conflicts = [] }
    return conflicts.sorted { $0.description < $1.description }
  }

  func forgetConflicts() { conflicts = [] }
}
