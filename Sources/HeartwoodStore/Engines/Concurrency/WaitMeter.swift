import Dispatch
import Synchronization

/// Adds up the time for which an operation waits for others, for its observer.
package final class WaitMeter: Sendable {
  /// The meter of the operation that the thread does; nil if there is no observer.
  @TaskLocal package static var current: WaitMeter?

  private let sum = Mutex(Duration.zero)

  package init() {}

  /// The time for which the operation has waited so far.
  package var total: Duration { sum.withLock { $0 } }

  /// Returns the time at which the operation begins to wait for others; nil if there is no observer.
  static func begin() -> ContinuousClock.Instant? { current == nil ? nil : .now }

  /// Adds the time since ``begin()`` to the meter of the operation.
  static func end(_ start: ContinuousClock.Instant?) {
    guard let start, let meter = current else { return }
    let time = ContinuousClock.now - start
    meter.sum.withLock { $0 += time }
  }
}

extension Mutex {
  /// Calls `body` with the lock. The time until others have released it counts as waiting for them.
  func withLockAfterOthers<Result>(_ body: (inout sending Value) throws -> sending Result) rethrows -> sending Result {
    if let result = try withLockIfAvailable(body) { return result }
    let start = WaitMeter.begin()
    return try withLock { value in
      WaitMeter.end(start)
      return try body(&value)
    }
  }
}

extension DispatchSemaphore {
  /// Waits for a signal. If there is none yet, the time counts as waiting for others.
  package func waitForOthers() {
    if wait(timeout: .now()) == .success { return }
    let start = WaitMeter.begin()
    wait()
    WaitMeter.end(start)
  }
}
