public import HeartwoodStore
import Synchronization

/// The faults that a test has in store for a ``FaultInjectingStore``, and what the store has done so far.
public final class StoreFaults: Sendable {
  /// Something that a store does.
  public enum Operation: Sendable, Hashable {
    /// Reading the metadata of a file without its records.
    case readMetadata
    /// Reading the model that a file holds.
    case readModel
    /// Reading all records of a file.
    case load
    /// Checking what is to be saved, before anything is written.
    case validate
    /// Writing the file.
    case save
  }

  struct Fault: Sendable {
    let operation: Operation
    let byteCount: Int
    let error: any Error
  }

  private struct State {
    var faults: [Fault] = []
    var operations: [Operation] = []
  }

  private let state = Mutex(State())

  /// Makes faults of which there are none yet.
  public init() {}

  /// What the store was asked to do, in order, whether it failed or not.
  public var operations: [Operation] { state.withLock { $0.operations } }

  /// Lets the next `operation` fail, and only that. Several faults of one operation come one after the other.
  ///
  /// - Parameters:
  ///   - byteCount: how many bytes of nonsense are written before a save fails.
  ///   - error: what is thrown.
  public func fail(
    _ operation: Operation,
    afterByteCount byteCount: Int = 0,
    with error: any Error = PersistenceError(.fileWriteFailed, "A test lets this fail.")
  ) {
    state.withLock { $0.faults.append(Fault(operation: operation, byteCount: max(0, byteCount), error: error)) }
  }

  /// Counts an operation, and takes the fault that it is to have.
  func take(_ operation: Operation) -> Fault? {
    state.withLock { state in
      state.operations.append(operation)
      return state.faults.firstIndex { $0.operation == operation }.map { state.faults.remove(at: $0) }
    }
  }

  func admit(_ operation: Operation) throws {
    if let fault = take(operation) { throw fault.error }
  }
}

extension StoreOptionKey<StoreFaults> {
  /// Where a ``FaultInjectingStore`` is to fail.
  public static let storeFaults = StoreOptionKey("storeFaults")
}
