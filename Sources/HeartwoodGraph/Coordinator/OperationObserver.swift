public import HeartwoodStore

/// Receives the operations of a coordinator and its contexts on the stores, for metrics and traces.
///
/// Give one to the coordinator, or to the container that makes it:
///
///     struct SlowSaves: OperationObserver {
///       func operationWillBegin(_ operation: StoreOperation) -> @Sendable (StoreOperation.Result) -> Void {
///         { result in
///           if operation.kind == .save, result.duration > .seconds(1) { print("slow: \(operation)") }
///         }
///       }
///     }
///     let container = try PersistentContainer(name: "ToDo", operationObserver: SlowSaves())
///
/// The product `HeartwoodMetrics` has one for swift-metrics and swift-distributed-tracing. Without an observer nothing is
/// measured.
public protocol OperationObserver: Sendable {
  /// Called before an operation, on the thread that does it. The returned closure is called once when the operation has
  /// ended: on the same thread, unless it is an asynchronous fetch.
  ///
  /// Both are called while the operation waits, so they should not take long, and must not use the context.
  func operationWillBegin(_ operation: StoreOperation) -> @Sendable (StoreOperation.Result) -> Void
}

/// An operation of a coordinator and its contexts, as an ``OperationObserver`` is told of it.
public struct StoreOperation: Sendable, Hashable {
  /// What is done.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A store is opened, and migrated before if that was asked for.
    case open
    /// A store is closed.
    case close
    /// A store is converted to another type or place.
    case convert
    /// A context's changes of one store are written, once: a save that is tried again after a conflict is another
    /// operation, and so is each further store.
    case save
    /// Records are inserted, updated or deleted by a batch request.
    case batch
    /// Objects, ids or rows are fetched.
    case fetch
    /// Objects are counted.
    case count
  }

  /// What is done.
  public let kind: Kind
  /// The entity of a fetch or a count; otherwise nil.
  public let entityName: String?
  /// The type of the store; nil for fetches and counts, which may search several stores, and for a store that is being
  /// opened.
  public let storeType: StoreType?
}

extension StoreOperation {
  /// How an operation has ended.
  public struct Result: Sendable {
    /// How long it took, with the time for which it waited.
    public let duration: Duration
    /// How long it waited, of that, for other operations of this process that use the store. Waiting for other processes,
    /// in a database, is not known.
    public let waited: Duration
    /// The number of records that were found, counted or changed; nil for operations on stores, and if there was an error.
    public let recordCount: Int?
    /// The error with which it has failed; nil if it succeeded. A save that conflicts with another one fails with
    /// ``PersistenceError/Code/saveConflict`` or ``PersistenceError/Code/constraintConflict``, also if the merge policy
    /// then resolves the conflict and it is tried again.
    public let error: (any Error)?
  }
}
