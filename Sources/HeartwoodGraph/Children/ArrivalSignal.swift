import HeartwoodStore
import Synchronization

/// Tells a parent that a child has saved.
final class ArrivalSignal: Sendable {
  private let arrivals = ChangeCounter()
  private let wake = Mutex<(@Sendable () -> Void)?>(nil)

  /// How many saves there have been.
  var count: UInt64 { arrivals.current }

  /// Lets `body` be called after each save, on the child's side.
  func setWake(_ body: (@Sendable () -> Void)?) {
    wake.withLock { $0 = body }
  }

  func send() {
    arrivals.advance()
    wake.withLock { $0 }?()
  }
}
