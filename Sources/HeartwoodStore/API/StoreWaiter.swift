import Dispatch
import Synchronization

/// Lets a store wait for what is asynchronous, such as the answer of a service: what the author of an ``IncrementalStore`` over an
/// asynchronous client calls within the store's methods.
///
///     let waiter = StoreWaiter(timeLimit: .seconds(10))
///     let (data, response) = try waiter.wait(for: "The service") { try await session.data(for: request) }
///
/// The methods of a store return when they are done, so somebody has to wait. It is never one of Swift's cooperative threads that what is waited
/// for needs: it runs on threads that are for nothing else, also if all cooperative threads are waiting for stores. Whoever must not wait at all
/// uses the asynchronous ways of contexts (`fetchAsynchronously`, `saveAsynchronously`, a `BackgroundContext`), which call stores on threads of their own.
///
/// What is waited for ends early, with an error, if the task that is waiting is cancelled, or the time limit has passed.
public struct StoreWaiter: Sendable {
  /// How long is waited for one call; nil means as long as it takes.
  public let timeLimit: Duration?

  /// Makes a waiter.
  public init(timeLimit: Duration? = nil) {
    self.timeLimit = timeLimit
  }

  /// Calls `body` and waits until it has returned.
  ///
  /// - Parameters:
  ///   - what: what is waited for, as the beginning of a sentence.
  ///   - body: what takes its time. It is cancelled if it is not waited for any more, and what it returns or throws then counts for nothing:
  ///     whether a change that it has asked for is made, the store has to find out.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws; `CancellationError`; ``PersistenceError/Code/timeLimitExceeded``.
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

  /// How long nobody looks whether the task was cancelled.
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

/// What a body has returned or thrown, once it has.
private final class Outcome<Value: Sendable>: Sendable {
  private let result = Mutex<Result<Value, any Error>?>(nil)
  private let isSet = DispatchSemaphore(value: 0)

  func set(_ result: Result<Value, any Error>) {
    self.result.withLock { $0 = result }
    isSet.signal()
  }

  /// The result; nil if it has not come in time.
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
