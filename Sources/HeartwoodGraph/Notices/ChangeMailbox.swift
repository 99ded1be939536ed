import HeartwoodStore
import Synchronization

/// Keeps changes until somebody takes them.
///
/// It holds a few as they are and merges those that come after with the last one, so a reader that is slow, or never comes, costs
/// as much memory as there are different objects at most, and misses nothing.
final class ChangeMailbox: Sendable {
  /// How many changes are kept apart.
  static let capacity = 64

  private struct State {
    var changes: [ContextChanges] = []
    var readers: [UInt64: CheckedContinuation<ContextChanges?, Never>] = [:]
    /// Readers that were cancelled before they began to wait.
    var cancelledReaders: Set<UInt64> = []
    var lastReader: UInt64 = 0
    var isFinished = false
  }

  private let state = Mutex(State())
  /// Grows with each arrival: tells without a lock whether there is something new.
  let arrivals = ChangeCounter()
  /// Called when something arrives where nothing was.
  private let wake: (@Sendable () -> Void)?

  init(wake: (@Sendable () -> Void)? = nil) {
    self.wake = wake
  }
}

extension ChangeMailbox {
  func put(_ changes: ContextChanges) {
    let (reader, wasEmpty) = state.withLock { state -> (CheckedContinuation<ContextChanges?, Never>?, Bool) in
      if let (id, reader) = state.readers.first {
        state.readers[id] = nil
        return (reader, false)
      }
      let wasEmpty = state.changes.isEmpty
      if state.changes.count < Self.capacity {
        state.changes.append(changes)
      } else {
        state.changes[state.changes.count - 1].append(changes)
      }
      return (nil, wasEmpty)
    }
    arrivals.advance()
    reader?.resume(returning: changes)
    if wasEmpty { wake?() }
  }

  /// No more will come. What is there can still be taken.
  func finish() {
    let readers = state.withLock { state in
      state.isFinished = true
      defer { state.readers = [:] }
      return Array(state.readers.values)
    }
    for reader in readers { reader.resume(returning: nil) }
  }

  /// Takes all that is there.
  func takeAll() -> [ContextChanges] {
    state.withLock { state in
      defer { state.changes = [] }
      return state.changes
    }
  }

  /// Takes the first, or waits for one; nil where none will come, or the task was cancelled.
  func next() async -> ContextChanges? {
    let reader = state.withLock { state in
      state.lastReader += 1
      return state.lastReader
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { begin(reader, $0) }
    } onCancel: {
      cancel(reader)
    }
  }

  private func begin(_ reader: UInt64, _ continuation: CheckedContinuation<ContextChanges?, Never>) {
    let answer: ContextChanges?? = state.withLock { state in
      if state.cancelledReaders.remove(reader) != nil { return .some(nil) }
      if !state.changes.isEmpty { return state.changes.removeFirst() }
      if state.isFinished { return .some(nil) }
      state.readers[reader] = continuation
      return nil
    }
    if let answer { continuation.resume(returning: answer) }
  }

  private func cancel(_ reader: UInt64) {
    let continuation = state.withLock { state in
      let continuation = state.readers.removeValue(forKey: reader)
      if continuation == nil { state.cancelledReaders.insert(reader) }
      return continuation
    }
    continuation?.resume(returning: nil)
  }
}
