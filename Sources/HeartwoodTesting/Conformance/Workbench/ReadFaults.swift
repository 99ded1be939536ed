public import Heartwood
import Synchronization

/// Makes the reads of an incremental store fail, one of them or all from one on.
///
/// The conformance kit puts it into the options of the stores that it opens, under ``HeartwoodStore/StoreOptionKey/readFaults``, and a store
/// around the one that is tested asks it before each read. A store that reads in ways of its own, such as from a service, can be a
/// ``ReadFaultAwareStore`` and ask it itself.
public final class ReadFaults: Sendable {
  /// A way of reading.
  public enum Operation: String, Sendable, CaseIterable {
    /// Beginning to read at one moment.
    case transaction = "the beginning of a transaction"
    /// Asking whether somebody else has saved.
    case changeMark = "the change mark"
    /// Reading the metadata.
    case metadata
    /// Reading all records of entities.
    case allRecords = "all records"
    /// Reading the records that references name.
    case records = "records by their references"
    /// Counting records.
    case count = "a count"
    /// Finding records.
    case search = "a search"
    /// Making groups of records.
    case groups = "the making of groups"
    /// Changing or deleting the records that meet a condition.
    case batch = "a batch"
    /// Making a store of another model of a store's records.
    case migration = "a migration by the store itself"
  }

  /// What a read that fails throws.
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

  /// Counts a read, and throws if it is to fail. A ``ReadFaultAwareStore`` calls it before each of its reads.
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

  /// Begins to count, from 1, and lets some reads fail.
  func begin(failing reads: ClosedRange<Int> = 0...0) {
    state.withLock { $0 = State(isCounting: true, failing: reads) }
  }

  /// Lets all reads succeed.
  func end() { state.withLock { $0.isCounting = false } }

  /// How many reads there have been.
  var count: Int { state.withLock { $0.count } }

  /// What has failed last; nil if nothing has.
  var lastFailure: Operation? { state.withLock { $0.last } }
}

extension StoreOptionKey<ReadFaults> {
  /// The reads that a conformance case lets fail; see ``ReadFaults``.
  public static let readFaults = StoreOptionKey("HeartwoodTesting.readFaults")
}

/// A store that asks the ``ReadFaults`` in its options itself, before each read.
public protocol ReadFaultAwareStore: IncrementalStore {}

extension StoreConformance {
  /// The same store, whose reads `faults` lets fail.
  func failing(by faults: ReadFaults) throws -> StoreConformance {
    let incremental = try unwrap(storeClass as? any IncrementalStore.Type, "an incremental store")
    var conformance = self
    if !(storeClass is any ReadFaultAwareStore.Type) { conformance.storeClass = Self.failing(incremental) }
    let options = options
    conformance.options = { model in
      var options = options(model)
      options[.readFaults] = faults
      return options
    }
    return conformance
  }

  private static func failing<Base: IncrementalStore>(_ storeClass: Base.Type) -> any StoreClass.Type {
    ReadFailingStore<Base>.self
  }
}
