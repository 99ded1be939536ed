import Heartwood
import HeartwoodFoundation
import HeartwoodStore
import Synchronization

/// An incremental store that can be stopped at each step of a save.
final class InterruptedStore<Base: IncrementalStore>: IncrementalStore {
  private let base: Base
  private let interruption: StoreInterruption

  init(_ base: Base, _ interruption: StoreInterruption) {
    self.base = base
    self.interruption = interruption
  }

  /// Calls `body` between two steps.
  private func stepping<Result>(_ what: String, _ body: () throws -> Result) throws -> Result {
    try interruption.pass("the beginning of \(what)")
    let result = try body()
    try interruption.pass("the end of \(what)")
    return result
  }

  // MARK: Changing

  func create(_ metadata: StoreMetadata) throws {
    try stepping("making the store") { try base.create(metadata) }
  }

  func saving<Result>(_ body: () throws -> Result) throws -> Result {
    try base.saving { try stepping("a save") { try body() } }
  }

  func newReferences(count: Int, for entity: EntityDescription) throws -> [ReferenceID] {
    try stepping("giving references") { try base.newReferences(count: count, for: entity) }
  }

  func save(_ changes: ChangeSet, over contents: StoreContents) throws {
    try stepping("saving changes") { try base.save(changes, over: contents) }
  }

  func saveMetadata(_ metadata: StoreMetadata) throws {
    try stepping("saving metadata") { try base.saveMetadata(metadata) }
  }

  // MARK: Reading

  func connect() throws -> StoreMetadata? { try base.connect() }
  func disconnect() { base.disconnect() }
  func dataVersion() throws -> UInt64 { try base.dataVersion() }
  func compact() throws -> Bool { try base.compact() }
  func changes(since version: UInt64) throws -> [ChangedRecords]? { try base.changes(since: version) }
  func reading<Result>(_ body: () throws -> Result) throws -> Result { try base.reading(body) }
  func metadata() throws -> StoreMetadata { try base.metadata() }

  func load(_ entities: [EntityDescription], into loader: StoreLoader) throws {
    try base.load(entities, into: loader)
  }

  func load(_ references: [ReferenceID], of entity: EntityDescription, into loader: StoreLoader) throws {
    try base.load(references, of: entity, into: loader)
  }

  func fetch(_ fetch: RecordFetch) throws -> [ReferenceID]? { try base.fetch(fetch) }
  func count(_ fetch: RecordFetch) throws -> Int? { try base.count(fetch) }
  func queryPlan(_ fetch: RecordFetch) throws -> [String]? { try base.queryPlan(fetch) }
  func count(of entity: EntityDescription) throws -> Int { try base.count(of: entity) }
  func estimatedCount(of entity: EntityDescription) throws -> Int { try base.estimatedCount(of: entity) }

  // MARK: Kind

  var storesInversesOnce: Bool { base.storesInversesOnce }
  var savesReplaceFile: Bool { base.savesReplaceFile }
}

// MARK: History

extension InterruptedStore: HistoryKeepingStore where Base: HistoryKeepingStore {
  func historyExtent() throws -> HistoryExtent? { try base.historyExtent() }

  func beginHistory(after number: Int64) throws {
    try stepping("beginning a history") { try base.beginHistory(after: number) }
  }

  func record(_ transaction: RecordedTransaction) throws -> Int64 {
    try stepping("recording a transaction") { try base.record(transaction) }
  }

  func transactions(after number: Int64) throws -> [RecordedTransaction] { try base.transactions(after: number) }

  func transactions(after number: Int64, limit: Int) throws -> [RecordedTransaction] {
    try base.transactions(after: number, limit: limit)
  }

  func transactionCount(after number: Int64) throws -> Int { try base.transactionCount(after: number) }
  func lastTransactionNumber(before date: Date) throws -> Int64 { try base.lastTransactionNumber(before: date) }

  func deleteHistory(through number: Int64) throws {
    try stepping("purging the history") { try base.deleteHistory(through: number) }
  }
}

// MARK: StoreInterruption

/// Stops an incremental store at one step of a save, and calls an observer at a step.
///
/// A step is the beginning or the end of a method that changes something. Steps within such a method cannot be
/// observed.
final class StoreInterruption: Sendable {
  /// The error that a stopped store throws.
  struct Stop: Error, CustomStringConvertible {
    let description: String
  }

  private struct State {
    var step = 0
    var stop: Int?
    var hasStopped = false
    var last = "none"
    var observedStep: Int?
    var observed = "none"
  }

  private let state = Mutex(State())
  private let observer: @Sendable () throws -> Void

  /// - Parameter observer: called at the observed step.
  init(observer: @escaping @Sendable () throws -> Void = {}) {
    self.observer = observer
  }

  /// The number of steps.
  var step: Int { state.withLock { $0.step } }
  var hasStopped: Bool { state.withLock { $0.hasStopped } }
  /// The description of the last step.
  var last: String { state.withLock { $0.last } }
  /// The description of the observed step.
  var observed: String { state.withLock { $0.observed } }

  /// Makes the store fail at a step.
  func stop(at step: Int) { state.withLock { $0.stop = step } }

  /// Makes the observer be called at a step.
  func observe(at step: Int) { state.withLock { $0.observedStep = step } }

  /// Counts a step, which calls the observer or throws if this has been requested.
  func pass(_ what: String) throws {
    let (isObserved, isStop) = state.withLock { state in
      state.step += 1
      state.last = what
      let isStop = state.step == state.stop
      state.hasStopped = state.hasStopped || isStop
      if state.step == state.observedStep { state.observed = what }
      return (state.step == state.observedStep, isStop)
    }
    if isObserved { try observer() }
    if isStop { throw Stop(description: "stopped at \(what)") }
  }
}

extension StoreConformance {
  /// Returns the same store, which `interruption` can stop.
  func interrupted(by interruption: StoreInterruption) throws -> StoreConformance {
    let incremental = try unwrap(format as? any IncrementalStoreFormat, "an incremental store")
    var conformance = self
    conformance.format = WrappingFormat(incremental) { store, _ in Self.interrupted(store, interruption) }
    return conformance
  }

  private static func interrupted(
    _ store: some IncrementalStore,
    _ interruption: StoreInterruption
  ) -> any IncrementalStore {
    InterruptedStore(store, interruption)
  }
}
