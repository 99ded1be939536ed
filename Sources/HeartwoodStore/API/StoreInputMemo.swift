import Synchronization

/// Keeps what was made of a file for as long as it is open, so that it is made once.
package final class StoreInputMemo: Sendable {
  private let storage = Mutex<(any Sendable)?>(nil)

  init() {}

  package var value: (any Sendable)? {
    get { storage.withLock { $0 } }
    set { storage.withLock { $0 = newValue } }
  }
}
