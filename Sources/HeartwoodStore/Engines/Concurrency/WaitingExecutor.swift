import Dispatch
public import Synchronization

/// A serial executor with a thread of its own whenever it has work: for actors whose work waits for disks and locks.
///
/// Swift's cooperative threads are as many as there are processors, and what waits on one of them keeps the other tasks of the program from
/// running. Here only the work of the same executor waits behind it.
package final class WaitingExecutor: SerialExecutor {
  // A serial queue that targets none of the system's concurrent ones gets a thread beyond the fixed number of those.
  private let queue: DispatchQueue

  /// - Parameter label: a name for debuggers.
  package init(label: String) {
    queue = DispatchQueue(label: label)
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // The executor lasts as long as its jobs, also where the job lets go of the actor.
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

  /// Calls `body` on the executor, after what was asked for before.
  package func run(_ body: @escaping @Sendable () -> Void) {
    queue.async(execute: body)
  }
}

/// Work that waits, done away from the cooperative threads, for functions that are asynchronous and belong to no actor.
package actor WaitingWork {
  private let executor = WaitingExecutor(label: "Heartwood.WaitingWork")

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private init() {}

  private func run<Value, Failure: Error>(
    _ body: sending () throws(Failure) -> sending Value
  ) throws(Failure) -> sending Value {
    try body()
  }

  /// Calls `body` on a thread that may wait, while the caller is suspended. Calls do not wait for each other.
  package static func run<Value, Failure: Error>(
    _ body: sending () throws(Failure) -> sending Value
  ) async throws(Failure) -> sending Value {
    try await WaitingWork().run(body)
  }
}

// MARK: ChangeCounter

/// Counts the changes of something shared, so that whoever has read it can tell without a lock whether there is something newer.
///
/// Read the number first and the thing after it: it is as that change left it, or a later one.
@usableFromInline
package final class ChangeCounter: Sendable {
  @usableFromInline
  let number = Atomic<UInt64>(0)

  package init() {}

  /// How many changes have become visible.
  @inlinable
  package var current: UInt64 { number.load(ordering: .acquiring) }

  /// Counts a change that can be seen already, and returns its number.
  @discardableResult
  package func advance() -> UInt64 { number.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue }
}
