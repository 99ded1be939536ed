import Dispatch
import Synchronization

/// Lets those who flush files wait.
final class DiskStall: Sendable {
  private struct State {
    /// What those wait for who flush; nil while the disk goes on.
    var end: DispatchGroup?
    var waitingCount = 0
  }

  private let state = Mutex(State())

  init() {}

  /// How many wait.
  var waitingCount: Int { state.withLock { $0.waitingCount } }

  func begin() {
    state.withLock { state in
      guard state.end == nil else { return }
      let end = DispatchGroup()
      end.enter()
      state.end = end
    }
  }

  func end() {
    let end = state.withLock { $0.end.take() }
    end?.leave()
  }

  /// Waits until the disk goes on.
  func wait() {
    let end = state.withLock { state in
      if state.end != nil { state.waitingCount += 1 }
      return state.end
    }
    guard let end else { return }
    end.wait()
    state.withLock { $0.waitingCount -= 1 }
  }
}
