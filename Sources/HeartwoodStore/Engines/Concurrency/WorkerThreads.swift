import Dispatch
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
