import Dispatch
public import Synchronization

/// A serial executor with a thread of its own whenever it has work: for actors whose work waits for disks and locks.
///
/// Swift has as many cooperative threads as there are processors, and work that blocks one of them keeps the other
/// tasks of the program from running. Here, blocked work delays only other work of the same executor.
package final class WaitingExecutor: SerialExecutor {
  // A serial queue that targets none of the system's concurrent ones gets a thread beyond the fixed number of those.
  private let queue: DispatchQueue

  /// - Parameter label: a name for debuggers.
  package init(label: String) {
    queue = DispatchQueue(label: label)
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // The executor exists as long as its jobs, even if the job releases the actor.
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

  /// Calls `body` on the executor, after all work that was submitted before.
  package func run(_ body: @escaping @Sendable () -> Void) {
    queue.async(execute: body)
  }
}

/// Runs blocking work away from the cooperative threads, for asynchronous functions that belong to no actor.
package actor WaitingWork {
  private let executor = WaitingExecutor(label: "Heartwood.WaitingWork")

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private init() {}

  private func run<Value, Failure: Error>(
    _ body: sending () throws(Failure) -> sending Value
  ) throws(Failure) -> sending Value {
    try body()
  }

  /// Calls `body` on a thread that may block, while the caller is suspended. Calls do not wait for each other.
  package static func run<Value, Failure: Error>(
    _ body: sending () throws(Failure) -> sending Value
  ) async throws(Failure) -> sending Value {
    try await WaitingWork().run(body)
  }
}

// MARK: ChangeCounter

/// Counts the changes of shared data, so that a reader can check without a lock whether there is something newer.
///
/// Read the number first and the data after it: the data is as that change left it, or newer.
@usableFromInline
package final class ChangeCounter: Sendable {
  @usableFromInline
  let number = Atomic<UInt64>(0)

  package init() {}

  /// The number of changes that have become visible.
  @inlinable
  package var current: UInt64 { number.load(ordering: .acquiring) }

  /// Counts a change that is already visible, and returns its number.
  @discardableResult
  package func advance() -> UInt64 { number.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue }
}
