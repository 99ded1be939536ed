import HeartwoodStore
import Synchronization

/// The stores that the command has opened. They stay open until it ends, when the system takes all their memory at once.
enum OpenedStores {
  private static let all = Mutex<[PersistentStore]>([])

  static func add(_ store: PersistentStore) {
    all.withLock { $0.append(store) }
  }

  /// Closes incremental stores, so that no file is left beside theirs. Others have nothing to close.
  ///
  /// The last that is opened goes first: one that only reads a file that another one has written cannot tidy up behind it.
  static func close() {
    for store in all.withLock({ $0 }).reversed() where store.capabilities.kind == .incremental {
      _ = store.engine.close(unlessSavedSince: nil)
    }
  }
}
