import Dispatch

/// A turn that one thread has at a time, and can give up in the middle of a call and take again.
final class StoreTurn: Sendable {
  private let free = DispatchSemaphore(value: 1)

  init() {}

  /// Waits for the turn.
  func take() { free.wait() }

  /// Lets the next one have it.
  func giveUp() { free.signal() }

  /// Calls `body` while the thread has the turn.
  func having<Value>(_ body: () throws -> Value) rethrows -> Value {
    take()
    defer { giveUp() }
    return try body()
  }
}
