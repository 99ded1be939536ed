import Synchronization

/// Puts changes into the mailboxes of all who listen. Whoever drops a mailbox listens no longer.
final class ChangeBroadcast: Sendable {
  private struct Listener {
    weak var mailbox: Mailbox<ContextChanges>?
  }

  private let listeners = Mutex<[Listener]>([])
  private let isHeardFlag = Atomic<Bool>(false)

  init() {}

  deinit {
    for listener in listeners.withLock({ $0 }) { listener.mailbox?.finish() }
  }
}

extension ChangeBroadcast {
  /// Whether somebody may listen: otherwise changes need not be put together.
  var isHeard: Bool { isHeardFlag.load(ordering: .acquiring) }

  func listen(wake: (@Sendable () -> Void)? = nil) -> Mailbox<ContextChanges> {
    let mailbox = Mailbox<ContextChanges>(wake: wake)
    listeners.withLock { listeners in
      listeners.removeAll { $0.mailbox == nil }
      listeners.append(Listener(mailbox: mailbox))
      isHeardFlag.store(true, ordering: .releasing)
    }
    return mailbox
  }

  func send(_ changes: ContextChanges) {
    let mailboxes = listeners.withLock { listeners in
      listeners.removeAll { $0.mailbox == nil }
      if listeners.isEmpty { isHeardFlag.store(false, ordering: .releasing) }
      return listeners.compactMap(\.mailbox)
    }
    for mailbox in mailboxes { mailbox.put(changes) }
  }
}
