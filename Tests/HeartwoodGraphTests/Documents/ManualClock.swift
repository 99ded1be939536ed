import Synchronization

/// A clock that a test moves on, so that nothing waits for real time.
final class ManualClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    var offset: Swift.Duration

    func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct State {
    var now = Instant(offset: .zero)
    var sleepers: [Int: (deadline: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
    var watchers: [CheckedContinuation<Void, Never>] = []
    var lastSleeper = 0
    var cancelled: Set<Int> = []
  }

  private let state = Mutex(State())

  var now: Instant { state.withLock { $0.now } }
  var minimumResolution: Swift.Duration { .zero }
  /// Whether somebody sleeps.
  var hasSleeper: Bool { state.withLock { !$0.sleepers.isEmpty } }

  func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
    let number = state.withLock { state in
      state.lastSleeper += 1
      return state.lastSleeper
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in sleep(number, until: deadline, continuation) }
    } onCancel: {
      cancel(number)
    }
  }

  private func sleep(_ number: Int, until deadline: Instant, _ continuation: CheckedContinuation<Void, any Error>) {
    let (isCancelled, watchers) = state.withLock { state in
      guard !state.cancelled.contains(number) else { return (true, [CheckedContinuation<Void, Never>]()) }
      state.sleepers[number] = (deadline, continuation)
      defer { state.watchers = [] }
      return (false, state.watchers)
    }
    if isCancelled { continuation.resume(throwing: CancellationError()) }
    for watcher in watchers { watcher.resume() }
  }

  private func cancel(_ number: Int) {
    let sleeper = state.withLock { state in
      state.cancelled.insert(number)
      return state.sleepers.removeValue(forKey: number)
    }
    sleeper?.continuation.resume(throwing: CancellationError())
  }

  /// Waits until somebody sleeps.
  func waitForSleeper() async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.sleepers.isEmpty { state.watchers.append(continuation) }
        return !state.sleepers.isEmpty
      }
      if isThere { continuation.resume() }
    }
  }

  /// Moves on, and wakes those whose time has come.
  func advance(by duration: Swift.Duration) {
    let woken = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for number in due.keys { state.sleepers[number] = nil }
      return due.values.map(\.continuation)
    }
    for continuation in woken { continuation.resume() }
  }
}
