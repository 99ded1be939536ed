package import Dispatch
import Synchronization

/// Threads that help whoever has to wait for work anyway: as many as there are processors, and none of Swift's cooperative ones.
///
/// Nothing may depend on their beginning with something, since they may all be busy: see ``Errand``.
package final class WorkerThreads: Sendable {
  /// The threads that all of the process share.
  package static let shared = WorkerThreads(count: Parallel.processorCount)

  private struct State {
    var waiting: [@Sendable () -> Void] = []
    /// The queues that nothing runs on.
    var idle: [Int]
  }

  /// Each has one thread at a time.
  private let queues: [DispatchQueue]
  private let state: Mutex<State>

  init(count: Int) {
    queues = (0..<count).map { DispatchQueue(label: "Heartwood.Worker.\($0)") }
    state = Mutex(State(idle: Array(0..<count)))
  }

  /// Calls `work` as soon as a thread is free, after what was asked for before.
  package func run(_ work: @escaping @Sendable () -> Void) {
    let free = state.withLock { state in
      state.waiting.append(work)
      return state.idle.popLast()
    }
    if let free { queues[free].async { self.work(on: free) } }
  }

  /// Does what waits, until nothing does.
  private func work(on place: Int) {
    while let work = next(place) { work() }
  }

  private func next(_ place: Int) -> (@Sendable () -> Void)? {
    state.withLock { state in
      // Few wait at a time.
      if !state.waiting.isEmpty { return state.waiting.removeFirst() }
      state.idle.append(place)
      return nil
    }
  }
}

// MARK: Errand

/// A value that another thread makes as soon as one is free, unless who needs it comes first and makes it.
///
/// Who waits for the system's threads to begin with something may wait for ever: where all of them wait for locks that are held meanwhile, none
/// becomes free. Here only that is waited for which somebody is making.
package final class Errand<Value: Sendable>: Sendable {
  private enum State {
    case waiting(@Sendable () -> Value)
    case running
    /// Nil where it was called off, or the value was taken.
    case over(Value?)
  }

  private let state: Mutex<State>
  private let end = DispatchGroup()

  /// - Parameters:
  ///   - queue: whose threads make the value; nil means those that the process has for such work.
  ///   - make: is called once at most.
  package init(on queue: DispatchQueue? = nil, _ make: @escaping @Sendable () -> Value) {
    state = Mutex(.waiting(make))
    end.enter()
    if let queue {
      queue.async { self.begin() }
    } else {
      WorkerThreads.shared.run { self.begin() }
    }
  }

  /// Makes the value, unless somebody has begun to.
  private func begin() {
    guard let value = make() else { return }
    state.withLock { $0 = .over(value) }
    end.leave()
  }

  /// Makes the value, unless somebody has begun to. When this returns, nothing of what makes it is held any more.
  private func make() -> Value? {
    let make: (@Sendable () -> Value)? = state.withLock { state in
      guard case .waiting(let make) = state else { return nil }
      state = .running
      return make
    }
    return make?()
  }

  /// Takes the value, which is made here where nobody has begun to.
  ///
  /// - Precondition: It is called once, and the errand was not called off.
  package func take() -> Value {
    begin()
    end.wait()
    let value: Value? = state.withLock { state in
      guard case .over(let value) = state else { return nil }
      // The queue may keep the errand for longer.
      state = .over(nil)
      return value
    }
    guard let value else { preconditionFailure("A value is taken once, and not where it was called off.") }
    return value
  }

  /// Sees to it that nobody makes the value any more: where somebody has begun to, that is waited for. What makes it is not held any more
  /// when this returns.
  package func callOff() {
    let wasWaiting = state.withLock { state in
      guard case .waiting = state else { return false }
      state = .over(nil)
      return true
    }
    if wasWaiting { end.leave() } else { end.wait() }
  }
}
