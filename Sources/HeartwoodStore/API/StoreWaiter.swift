import Dispatch
import Synchronization

/// Waits for asynchronous work, such as the answer of a service, in the synchronous methods of an ``IncrementalStore``.
///
///     let waiter = StoreWaiter(timeLimit: .seconds(10))
///     let (data, response) = try waiter.wait(for: "The service") { try await session.data(for: request) }
///
/// The methods of a store return when they are done, so a thread has to wait. The work does not need any of Swift's
/// cooperative threads: it runs on threads that nothing else uses, so it continues even if all cooperative threads are
/// waiting for stores. A caller that must not wait uses the asynchronous methods of contexts (`fetchAsynchronously`,
/// `saveAsynchronously`, a `BackgroundContext`), which call stores on threads of their own.
///
/// Waiting ends early, with an error, if the waiting task is cancelled, or if the time limit has passed.
public struct StoreWaiter: Sendable {
  /// The greatest time to wait for one call; nil if there is no limit.
  public let timeLimit: Duration?

  /// Creates a waiter.
  public init(timeLimit: Duration? = nil) {
    self.timeLimit = timeLimit
  }

  /// Calls `body` and waits until it has returned. It blocks the calling thread.
  ///
  /// - Parameters:
  ///   - what: what the store waits for, as the beginning of a sentence.
  ///   - body: the asynchronous work. It is cancelled if waiting ends early; its result or error is then ignored, and
  ///     the store has to find out whether a change that it has requested was made.
  /// - Returns: the result of `body`.
  /// - Throws: the errors of `body`; `CancellationError`; ``PersistenceError/Code/timeLimitExceeded``.
  public func wait<Value: Sendable>(
    for what: String,
    _ body: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let outcome = Outcome<Value>()
    let task = Task(executorPreference: WaitedWorkExecutor.shared) {
      do { outcome.set(.success(try await body())) } catch { outcome.set(.failure(error)) }
    }
    let deadline = timeLimit.map { ContinuousClock.now + $0 }
    while true {
      if let result = outcome.result(waiting: Self.pause(until: deadline)) { return try result.get() }
      if Task.isCancelled {
        task.cancel()
        throw CancellationError()
      }
      if let deadline, let timeLimit, deadline <= .now {
        task.cancel()
        throw Self.isLate(what, timeLimit)
      }
    }
  }

  /// The longest time between two checks whether the task was cancelled.
  private static let longestPause: Duration = .milliseconds(20)

  private static func pause(until deadline: ContinuousClock.Instant?) -> Duration {
    deadline.map { min(longestPause, max(.zero, $0 - .now)) } ?? longestPause
  }

  private static func isLate(_ what: String, _ limit: Duration) -> PersistenceError {
    PersistenceError(
      .timeLimitExceeded,
      "\(what) did not answer within \(limit).",
      recovery: "Try again later, or open the store with a longer time limit."
    )
  }
}

/// The result or error of a body, once it has returned.
private final class Outcome<Value: Sendable>: Sendable {
  private let result = Mutex<Result<Value, any Error>?>(nil)
  private let isSet = DispatchSemaphore(value: 0)

  func set(_ result: Result<Value, any Error>) {
    self.result.withLock { $0 = result }
    isSet.signal()
  }

  /// Waits for the result; returns nil if it does not arrive in time.
  func result(waiting duration: Duration) -> Result<Value, any Error>? {
    let (seconds, attoseconds) = duration.components
    let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    guard isSet.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success else { return nil }
    return result.withLock { $0 }
  }
}

/// Runs what stores wait for, on threads that nothing else uses.
private final class WaitedWorkExecutor: TaskExecutor {
  static let shared = WaitedWorkExecutor()

  /// Serial queues that target none of the system's concurrent ones get threads beyond the fixed number of those.
  private let queues = (0..<4).map { DispatchQueue(label: "Heartwood.WaitedWork.\($0)") }
  private let turn = Atomic<Int>(0)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let number = turn.wrappingAdd(1, ordering: .relaxed).oldValue
    queues[Int(UInt(bitPattern: number) % UInt(queues.count))].async {
      job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }
}
