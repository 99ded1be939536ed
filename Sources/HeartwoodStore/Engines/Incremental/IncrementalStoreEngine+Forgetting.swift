import Dispatch
import HeartwoodModel
import Synchronization

// Records are forgotten if they take too much memory and most of them are not held by contexts, and if other processes
// have saved and too many records are known to be compared. Tables begin a new epoch then: records are read again when
// they are used, into other rows, and code that has rows of the former epoch finds the records by their references.

extension IncrementalStoreEngine.State {
  /// Forgets all records.
  mutating func forgetRecords(of setup: StoreSetup) {
    let epoch = NodeTable.newEpoch()
    whole = Set(setup.model.entities.map(\.ordinal))
    for entity in setup.entities where !entity.isAbstract {
      whole.remove(entity.ordinal)
      contents.tables[entity.ordinal] = NodeTable(unread: entity, epoch: epoch)
    }
    nextLook = 0
  }

  /// The number of known records. O(entities).
  var knownCount: Int { contents.count }
}

extension NodeTable {
  /// Makes a table of which nothing has been read yet.
  fileprivate init(unread entity: EntityDescription, epoch: UInt64) {
    self.init(entity: entity)
    self.epoch = epoch
    beginOrderByNumber()
  }

  /// Releases tables on another thread: the system needs some milliseconds to reclaim a hundred megabytes.
  ///
  /// - Parameter delay: how long the tables are kept. Code that is using them releases them meanwhile, and what it does
  ///   next does not wait for memory that the system is reclaiming.
  package static func release(_ tables: [NodeTable], after delay: Duration = .zero) {
    let deadline = DispatchTime.now() + delay / .seconds(1)
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: deadline) { withExtendedLifetime(tables) {} }
  }
}

// MARK: Memory

extension IncrementalStoreEngine {
  package var heldRecords: HeldRecords? { held }

  package var keepsTooMuch: Bool {
    state.withLock { state in
      let known = state.knownCount
      guard known >= state.nextLook else { return false }
      if state.contents.tables.reduce(0, { $0 + $1.byteCount }) > setup.options[.recordCacheSize] { return true }
      state.nextLook = known + max(1_000, known / 8)
      return false
    }
  }

  package func forgetRecords(evenHeld: Bool) {
    let hasForgotten = turn.having {
      let heldCount = held.count
      return forget(for: .reading) { state in
        // Records that are held would be read again at once.
        let isWorthIt = evenHeld || state.knownCount > 4 * heldCount
        if !isWorthIt { state.nextLook = 2 * state.knownCount }
        return isWorthIt
      }
    }
    if hasForgotten { uniqueness.withLock { $0 = UniquenessCheck(setup.model) } }
  }

  /// Forgets all records if nothing relies on their rows and `condition` holds.
  ///
  /// - Parameter delay: how long their memory is kept.
  /// - Returns: whether all records were forgotten.
  func forget(
    for purpose: RowKeepers.Purpose,
    releasingAfter delay: Duration = .zero,
    if condition: (inout State) -> Bool = { _ in true }
  ) -> Bool {
    let former = state.withLock { state -> [NodeTable]? in
      guard state.keepers.allowForgetting(for: purpose), condition(&state) else { return nil }
      let former = state.contents.tables
      state.forgetRecords(of: setup)
      saves.advance()
      return former
    }
    if let former { NodeTable.release(former, after: delay) }
    return former != nil
  }
}

// MARK: Keeping rows

extension IncrementalStoreEngine {
  package func keepRows() -> RowKeeper? {
    state.withLock { $0.keepers.count += 1 }
    return RowKeeper { [self] in state.withLock { $0.keepers.count -= 1 } }
  }

  /// Refuses changes of rows of a former epoch.
  func checkRows(of changes: ChangeSet) throws {
    let tables = state.withLock { $0.contents.tables }
    let changes = changes.byColumn
    let epochs = changes.updates.map { ($0.entity, $0.epoch) } + changes.deletions.map { ($0.entity, $0.epoch) }
    for case (let entity, let epoch?) in epochs where tables[entity.ordinal].epoch != epoch { throw RecordsHaveMoved() }
  }
}

/// Keeps the records of a store in their rows as long as it is held, whatever other processes save.
package final class RowKeeper: Sendable {
  private let end: @Sendable () -> Void

  init(_ end: @escaping @Sendable () -> Void) {
    self.end = end
  }

  deinit { end() }
}

/// A save that uses rows which are no longer those of the records: other processes have saved, and the records were
/// forgotten. Nothing was saved; if the save is made again, it may succeed.
package struct RecordsHaveMoved: Error {}

/// Counts what relies on records staying in their rows.
struct RowKeepers {
  /// The reason for forgetting all records.
  enum Purpose {
    case reading
    /// The save that is under way.
    case saving
  }

  /// The number of ``RowKeeper`` objects.
  var count = 0
  /// Whether a save is under way: once it has begun to change records, it relies on their rows.
  var isSaving = false

  func allowForgetting(for purpose: Purpose) -> Bool { count == 0 && (purpose == .saving || !isSaving) }
}

// MARK: HeldRecords

/// Counts the objects that contexts hold for the records of a store.
package final class HeldRecords: Sendable {
  private let counts = Mutex<[ObjectIdentifier: Int]>([:])

  init() {}

  /// The number of all held objects. O(holders).
  var count: Int { counts.withLock { $0.values.reduce(0, +) } }

  /// Sets the number of objects that `holder` has.
  package func note(_ count: Int, by holder: ObjectIdentifier) {
    counts.withLock { $0[holder] = count == 0 ? nil : count }
  }
}
