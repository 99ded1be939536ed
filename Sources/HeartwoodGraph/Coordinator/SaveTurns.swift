import Dispatch
import HeartwoodStore
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Makes saves that have had repeated conflicts run while no other context of the coordinator saves.
///
/// Saves usually run concurrently: each store serializes them itself. A save that has had two conflicts runs
/// exclusively: it waits for the saves that are under way, and later ones wait for it. Waiting saves are admitted in
/// their order, so that none waits forever.
///
/// Both kinds last for one call on one thread. A save that is made within another one, for example by a merge policy,
/// runs as part of that.
final class SaveTurns: Sendable {
  private struct Waiting {
    let goesAlone: Bool
    let thread: UInt
    let gate: DispatchSemaphore
  }

  private struct State {
    /// The threads that are saving.
    var threads: Set<UInt> = []
    var isAlone = false
    var line: [Waiting] = []

    /// Returns whether a save that is first in the queue can begin.
    func admits(goingAlone goesAlone: Bool) -> Bool { goesAlone ? threads.isEmpty : !isAlone }

    mutating func begin(_ thread: UInt, goingAlone goesAlone: Bool) {
      threads.insert(thread)
      isAlone = goesAlone
    }
  }

  private let state = Mutex(State())

  init() {}

  /// Calls `body` while no save runs exclusively.
  func together<Value>(_ body: () throws -> Value) rethrows -> Value { try taking(alone: false, body) }

  /// Calls `body` while no other save runs.
  func alone<Value>(_ body: () throws -> Value) rethrows -> Value { try taking(alone: true, body) }

  private func taking<Value>(alone goesAlone: Bool, _ body: () throws -> Value) rethrows -> Value {
    let thread = Self.currentThread
    guard begin(thread, goingAlone: goesAlone) else { return try body() }
    defer { end(thread) }
    return try body()
  }

  /// A number that no other thread has while this one exists.
  private static var currentThread: UInt {
    #if canImport(Glibc)
      UInt(pthread_self())
    #else
      UInt(bitPattern: pthread_self())
    #endif
  }

  /// Waits for the turn; returns false if the thread has one already.
  private func begin(_ thread: UInt, goingAlone goesAlone: Bool) -> Bool {
    enum Admission {
      case now, before
      case later(DispatchSemaphore)
    }
    let admission: Admission = state.withLock { state in
      if state.threads.contains(thread) { return .before }
      if state.line.isEmpty, state.admits(goingAlone: goesAlone) {
        state.begin(thread, goingAlone: goesAlone)
        return .now
      }
      let gate = DispatchSemaphore(value: 0)
      state.line.append(Waiting(goesAlone: goesAlone, thread: thread, gate: gate))
      return .later(gate)
    }
    switch admission {
    case .before: return false
    case .now: return true
    case .later(let gate):
      gate.waitForOthers()
      return true
    }
  }

  private func end(_ thread: UInt) {
    state.withLock { state in
      state.threads.remove(thread)
      if state.threads.isEmpty { state.isAlone = false }
      while let first = state.line.first, state.admits(goingAlone: first.goesAlone) {
        state.line.removeFirst()
        state.begin(first.thread, goingAlone: first.goesAlone)
        first.gate.signal()
      }
    }
  }
}
