public import Heartwood
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore
import Synchronization

/// An incremental store whose reads fail as ``ReadFaults`` decide.
final class ReadFailingStore<Base: IncrementalStore>: IncrementalStore {
  private let base: Base
  private let faults: ReadFaults?

  init(_ base: Base, _ faults: ReadFaults?) {
    self.base = base
    self.faults = faults
  }

  // MARK: Reading

  func dataVersion() throws -> UInt64 {
    try faults?.admit(.dataVersion)
    return try base.dataVersion()
  }

  func changes(since version: UInt64) throws -> [ChangedRecords]? {
    try faults?.admit(.dataVersion)
    return try base.changes(since: version)
  }

  func reading<Result>(_ body: () throws -> Result) throws -> Result {
    try faults?.admit(.transaction)
    return try base.reading(body)
  }

  func metadata() throws -> StoreMetadata {
    try faults?.admit(.metadata)
    return try base.metadata()
  }

  func load(_ entities: [EntityDescription], into loader: StoreLoader) throws {
    try faults?.admit(.allRecords)
    try base.load(entities, into: loader)
  }

  func load(_ references: [ReferenceID], of entity: EntityDescription, into loader: StoreLoader) throws {
    try faults?.admit(.records)
    try base.load(references, of: entity, into: loader)
  }

  func count(of entity: EntityDescription) throws -> Int {
    try faults?.admit(.count)
    return try base.count(of: entity)
  }

  func estimatedCount(of entity: EntityDescription) throws -> Int {
    try faults?.admit(.count)
    return try base.estimatedCount(of: entity)
  }

  func fetch(_ fetch: RecordFetch) throws -> [ReferenceID]? {
    try faults?.admit(.search)
    return try base.fetch(fetch)
  }

  func count(_ fetch: RecordFetch) throws -> Int? {
    try faults?.admit(.count)
    return try base.count(fetch)
  }

  func queryPlan(_ fetch: RecordFetch) throws -> [String]? { try base.queryPlan(fetch) }

  // MARK: The rest

  func connect() throws -> StoreMetadata? { try base.connect() }
  func create(_ metadata: StoreMetadata) throws { try base.create(metadata) }
  func disconnect() { base.disconnect() }
  func saving<Result>(_ body: () throws -> Result) throws -> Result { try base.saving(body) }
  func saveMetadata(_ metadata: StoreMetadata) throws { try base.saveMetadata(metadata) }

  func save(_ changes: ChangeSet, over contents: StoreContents) throws { try base.save(changes, over: contents) }

  func newReferences(count: Int, for entity: EntityDescription) throws -> [ReferenceID] {
    try base.newReferences(count: count, for: entity)
  }

  var storesInversesOnce: Bool { base.storesInversesOnce }
  var savesReplaceFile: Bool { base.savesReplaceFile }
}

// MARK: Requests that the store performs itself

extension ReadFailingStore {
  func canAnswer(_ fetch: RecordFetch) throws -> Bool { try base.canAnswer(fetch) }

  func groups(_ fetch: GroupFetch) throws -> [RecordGroup]? {
    try faults?.admit(.groups)
    return try base.groups(fetch)
  }

  func queryPlan(_ fetch: GroupFetch) throws -> [String]? { try base.queryPlan(fetch) }

  func execute(_ batch: RecordBatch) throws -> RecordBatchResult? {
    try faults?.admit(.batch)
    return try base.execute(batch)
  }

  func saving<Result>(_ body: () throws -> Result, release: () -> Void, retake: () -> Void) throws -> Result {
    try base.saving(body, release: release, retake: retake)
  }
}

extension ReadFailingStore: HistoryKeepingStore where Base: HistoryKeepingStore {
  func historyExtent() throws -> HistoryExtent? {
    try faults?.admit(.metadata)
    return try base.historyExtent()
  }

  func beginHistory(after number: Int64) throws { try base.beginHistory(after: number) }

  func record(_ transaction: RecordedTransaction) throws -> Int64 { try base.record(transaction) }

  func transactions(after number: Int64) throws -> [RecordedTransaction] {
    try faults?.admit(.history)
    return try base.transactions(after: number)
  }

  func transactions(after number: Int64, limit: Int) throws -> [RecordedTransaction] {
    try faults?.admit(.history)
    return try base.transactions(after: number, limit: limit)
  }

  func transactionCount(after number: Int64) throws -> Int { try base.transactionCount(after: number) }

  func lastTransactionNumber(before date: Date) throws -> Int64 { try base.lastTransactionNumber(before: date) }

  func deleteHistory(through number: Int64) throws { try base.deleteHistory(through: number) }
}

// MARK: ReadFaults

/// Makes reads of an incremental store fail, for the conformance kit: a single read, or all reads from one on.
///
/// The kit passes it to the stores that it opens, in the option `StoreOptionKey.readFaults`. A wrapper around the
/// tested store calls ``admit(_:)`` before each read. A store whose reads do not correspond to the calls of the
/// framework, such as one that reads from a service, can conform to ``ReadFaultAwareStore`` and call it itself:
///
///     try options[.readFaults]?.admit(.records)
/// ``ReadFaultAwareStore`` and ask it itself.
public final class ReadFaults: Sendable {
  /// A kind of read.
  public enum Operation: String, Sendable, CaseIterable {
    /// The beginning of a transaction.
    case transaction = "the beginning of a transaction"
    /// A check whether another process has saved.
    case dataVersion = "the change mark"
    /// A read of the metadata.
    case metadata
    /// A read of all records of some entities.
    case allRecords = "all records"
    /// A read of records by their references.
    case records = "records by their references"
    /// A count of records.
    case count = "a count"
    /// A search for records.
    case search = "a search"
    /// The grouping of records.
    case groups = "the making of groups"
    /// A change or deletion of all records that meet a condition.
    case batch = "a batch"
    /// A read of the history.
    case history
    /// A migration to another model that the store performs itself.
    case migration = "a migration by the store itself"
  }

  /// The error of a read that fails.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private struct State {
    var isCounting = false
    var count = 0
    var failing: ClosedRange<Int> = 0...0
    var last: Operation?
  }

  private let state = Mutex(State())

  init() {}

  /// Counts a read. A ``ReadFaultAwareStore`` calls it before each of its reads.
  ///
  /// - Throws: an error if the read has to fail. The store passes it on.
  public func admit(_ operation: Operation) throws {
    let fails = state.withLock { state in
      guard state.isCounting else { return false }
      state.count += 1
      guard state.failing.contains(state.count) else { return false }
      state.last = operation
      return true
    }
    if fails { throw Failure(description: "a test lets \(operation.rawValue) fail") }
  }

  /// Begins to count reads, from 1, and makes some of them fail.
  func begin(failing reads: ClosedRange<Int> = 0...0) {
    state.withLock { $0 = State(isCounting: true, failing: reads) }
  }

  /// Ends the counting, so that all reads succeed.
  func end() { state.withLock { $0.isCounting = false } }

  /// The number of reads.
  var count: Int { state.withLock { $0.count } }

  /// The kind of the last read that failed; nil if none has.
  var lastFailure: Operation? { state.withLock { $0.last } }
}

extension StoreOptionKey<ReadFaults?> {
  /// The reads that a conformance case makes fail; see ``ReadFaults``.
  public static let readFaults = StoreOptionKey("HeartwoodTesting.readFaults")
}

/// A store that calls ``ReadFaults/admit(_:)`` of the ``ReadFaults`` in its options before each read.
public protocol ReadFaultAwareStore: IncrementalStore {}

extension StoreConformance {
  /// Returns the same store with reads that fail as `faults` decide.
  func failing(by faults: ReadFaults) throws -> StoreConformance {
    let incremental = try unwrap(format as? any IncrementalStoreFormat, "an incremental store")
    var conformance = self
    conformance.format = WrappingFormat(incremental, migrationFaults: faults) { store, options in
      store is any ReadFaultAwareStore ? store : Self.failing(store, options[.readFaults])
    }
    let options = options
    conformance.options = { model in
      var options = options(model)
      options[.readFaults] = faults
      return options
    }
    return conformance
  }

  private static func failing(_ store: some IncrementalStore, _ faults: ReadFaults?) -> any IncrementalStore {
    ReadFailingStore(store, faults)
  }
}
