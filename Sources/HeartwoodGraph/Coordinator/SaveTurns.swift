import Dispatch
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Lets saves that come to conflicts again and again be made while no other context of the coordinator saves.
///
/// Saves go together as a rule: each store makes them one at a time itself. One that has met others twice goes alone: it waits until those that
/// are under way are done, and those that come after wait for it. Whoever waits is let in before all who come later, so nobody waits for ever.
///
/// Both are for the time of a call on one thread. A save that is made within another one, by a merge policy say, goes with that.
final class SaveTurns: Sendable {
  private struct Waiting {
    let goesAlone: Bool
    let thread: UInt
    let gate: DispatchSemaphore
  }

  private struct State {
    /// Who is saving.
    var threads: Set<UInt> = []
    var isAlone = false
    var line: [Waiting] = []

    /// Whether a save can begin that has nobody before it in the line.
    func admits(goingAlone goesAlone: Bool) -> Bool { goesAlone ? threads.isEmpty : !isAlone }

    mutating func begin(_ thread: UInt, goingAlone goesAlone: Bool) {
      threads.insert(thread)
      isAlone = goesAlone
    }
  }

  private let state = Mutex(State())

  init() {}

  /// Calls `body` while no save goes alone.
  func together<Value>(_ body: () throws -> Value) rethrows -> Value { try taking(alone: false, body) }

  /// Calls `body` while nobody else saves.
  func alone<Value>(_ body: () throws -> Value) rethrows -> Value { try taking(alone: true, body) }

  private func taking<Value>(alone goesAlone: Bool, _ body: () throws -> Value) rethrows -> Value {
    let thread = Self.currentThread
    guard begin(thread, goingAlone: goesAlone) else { return try body() }
    defer { end(thread) }
    return try body()
  }

  /// A number that no other thread has as long as this one is there.
  private static var currentThread: UInt {
    #if canImport(Glibc)
      UInt(pthread_self())
    #else
      UInt(bitPattern: pthread_self())
    #endif
  }

  /// Waits for the turn; false where the thread has one already.
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
      gate.wait()
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
