import HeartwoodStore
import Synchronization

/// An element of a mailbox.
protocol MailboxElement: Sendable {
  /// The number of elements that are kept separately.
  static var capacity: Int { get }
  /// Adds a later element, so that both together contain all that a late reader has to know.
  mutating func append(_ later: Self)
}

/// Stores elements until a reader takes them.
///
/// It keeps a few separately and merges later ones with the last, so that memory stays bounded if a reader is slow, or
/// never comes.
final class Mailbox<Element: MailboxElement>: Sendable {
  private struct State {
    var elements: [Element] = []
    var readers: [UInt64: CheckedContinuation<Element?, Never>] = [:]
    /// Readers that have not begun to wait, and whether they have been cancelled. A reader that has begun is not among
    /// them, so that a cancellation after it has its answer leaves nothing behind.
    var beginners: [UInt64: Bool] = [:]
    var lastReader: UInt64 = 0
    var isFinished = false
  }

  private let state = Mutex(State())
  /// Grows with each arrival: shows without a lock whether there is something new.
  let arrivals = ChangeCounter()
  /// Called when an element arrives in an empty mailbox.
  private let wake: (@Sendable () -> Void)?

  init(wake: (@Sendable () -> Void)? = nil) {
    self.wake = wake
  }
}

extension Mailbox {
  func put(_ element: Element) {
    let (reader, wasEmpty) = state.withLock { state -> (CheckedContinuation<Element?, Never>?, Bool) in
      if let (id, reader) = state.readers.first {
        state.readers[id] = nil
        return (reader, false)
      }
      let wasEmpty = state.elements.isEmpty
      if state.elements.count < Element.capacity {
        state.elements.append(element)
      } else {
        state.elements[state.elements.count - 1].append(element)
      }
      return (nil, wasEmpty)
    }
    arrivals.advance()
    reader?.resume(returning: element)
    if wasEmpty { wake?() }
  }

  /// Ends the mailbox. Remaining elements can still be taken.
  func finish() {
    let readers = state.withLock { state in
      state.isFinished = true
      defer { state.readers = [:] }
      return Array(state.readers.values)
    }
    for reader in readers { reader.resume(returning: nil) }
  }

  /// The number of known readers: those that are beginning to wait, and those that wait.
  var readerCount: Int {
    state.withLock { $0.readers.count + $0.beginners.count }
  }

  /// Returns and removes all elements.
  func takeAll() -> [Element] {
    state.withLock { state in
      defer { state.elements = [] }
      return state.elements
    }
  }

  /// Returns and removes the first element, or waits for one; nil if the mailbox has ended, or the task was cancelled.
  func next() async -> Element? {
    let reader = state.withLock { state in
      state.lastReader += 1
      state.beginners[state.lastReader] = false
      return state.lastReader
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { begin(reader, $0) }
    } onCancel: {
      cancel(reader)
    }
  }

  private func begin(_ reader: UInt64, _ continuation: CheckedContinuation<Element?, Never>) {
    let answer: Element?? = state.withLock { state in
      if state.beginners.removeValue(forKey: reader) == true { return .some(nil) }
      if !state.elements.isEmpty { return state.elements.removeFirst() }
      if state.isFinished { return .some(nil) }
      state.readers[reader] = continuation
      return nil
    }
    if let answer { continuation.resume(returning: answer) }
  }

  func cancel(_ reader: UInt64) {
    let continuation = state.withLock { state in
      if state.beginners[reader] != nil { state.beginners[reader] = true }
      return state.readers.removeValue(forKey: reader)
    }
    continuation?.resume(returning: nil)
  }
}
