package import Dispatch
import Synchronization

/// Threads that help code which has to wait for work anyway: as many as there are processors, and none of Swift's
/// cooperative ones.
///
/// Nothing may depend on these threads starting a piece of work, since all of them may be busy: see ``StealableTask``.
package final class WorkerThreads: Sendable {
  /// The threads that the whole process shares.
  package static let shared = WorkerThreads(count: Parallel.processorCount)

  private struct State {
    var waiting: [@Sendable () -> Void] = []
    /// The queues that are not running anything.
    var idle: [Int]
  }

  /// Each queue uses one thread at a time.
  private let queues: [DispatchQueue]
  private let state: Mutex<State>

  init(count: Int) {
    queues = (0..<count).map { DispatchQueue(label: "Heartwood.Worker.\($0)") }
    state = Mutex(State(idle: Array(0..<count)))
  }

  /// Calls `work` as soon as a thread is free, after all work that was submitted before.
  package func run(_ work: @escaping @Sendable () -> Void) {
    let free = state.withLock { state in
      state.waiting.append(work)
      return state.idle.popLast()
    }
    if let free { queues[free].async { self.work(on: free) } }
  }

  /// Runs waiting work until none is left.
  private func work(on place: Int) {
    while let work = next(place) { work() }
  }

  private func next(_ place: Int) -> (@Sendable () -> Void)? {
    state.withLock { state in
      // Few pieces of work wait at a time.
      if !state.waiting.isEmpty { return state.waiting.removeFirst() }
      state.idle.append(place)
      return nil
    }
  }
}

// MARK: StealableTask

/// A value that another thread makes as soon as one is free, unless the code that needs it comes first and makes it.
///
/// Code that waits for the system's threads to start something may wait forever: if all of them wait for locks that
/// this code holds, none becomes free. A task waits only for a value that a thread has already begun to make.
///
///     let helper = StealableTask { secondConnection.read(scan) }
///     firstConnection.read(scan)
///     helper.callOff()
public final class StealableTask<Value: Sendable>: Sendable {
  private enum State {
    case waiting(@Sendable () -> Value)
    case running
    /// Nil if the task was called off, or the value was taken.
    case over(Value?)
  }

  private let state: Mutex<State>
  private let end = DispatchGroup()

  /// Begins a task on a thread of the process's own, as soon as one is free.
  ///
  /// - Parameter make: called at most once.
  public convenience init(_ make: @escaping @Sendable () -> Value) { self.init(on: nil, make) }

  /// - Parameters:
  ///   - queue: the queue whose threads make the value; nil means the process's shared worker threads.
  ///   - make: called at most once.
  package init(on queue: DispatchQueue?, _ make: @escaping @Sendable () -> Value) {
    state = Mutex(.waiting(make))
    end.enter()
    if let queue {
      queue.async { self.begin() }
    } else {
      WorkerThreads.shared.run { self.begin() }
    }
  }

  /// Makes the value, unless another thread has begun to.
  private func begin() {
    guard let value = make() else { return }
    state.withLock { $0 = .over(value) }
    end.leave()
  }

  /// Makes the value, unless another thread has begun to. When this returns, the closure that makes it is no longer
  /// held.
  private func make() -> Value? {
    let make: (@Sendable () -> Value)? = state.withLock { state in
      guard case .waiting(let make) = state else { return nil }
      state = .running
      return make
    }
    return make?()
  }

  /// Returns the value. Makes it on the calling thread if no other thread has begun to.
  ///
  /// - Precondition: It is called once, and the task was not called off.
  public func take() -> Value {
    begin()
    end.wait()
    let value: Value? = state.withLock { state in
      guard case .over(let value) = state else { return nil }
      // The queue may keep the task for longer.
      state = .over(nil)
      return value
    }
    guard let value else { preconditionFailure("A value is taken once, and not after it was cancelled.") }
    return value
  }

  /// Prevents the value from being made; if a thread has begun to make it, waits for that thread. When this returns,
  /// the closure that makes it is no longer held.
  public func callOff() {
    let wasWaiting = state.withLock { state in
      guard case .waiting = state else { return false }
      state = .over(nil)
      return true
    }
    if wasWaiting { end.leave() } else { end.wait() }
  }
}
