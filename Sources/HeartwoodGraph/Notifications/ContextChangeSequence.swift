/// Changes as they come: one element for each save, or for each event.
///
/// It begins with what comes after it was asked for, and ends with what it is about: the context or the coordinator. It holds
/// neither. Where a reader is slow, elements beyond 64 are merged with the last one, so none is missed and memory stays bounded. An
/// element goes to one reader; ask for a sequence of their own for each.
public struct ContextChangeSequence: AsyncSequence, Sendable {
  let mailbox: Mailbox<ContextChanges>

  /// Begins to read.
  public func makeAsyncIterator() -> Iterator { Iterator(mailbox: mailbox) }

  /// Reads one element after another.
  public struct Iterator: AsyncIteratorProtocol {
    let mailbox: Mailbox<ContextChanges>

    /// The next changes, once there are some; nil at the end, or when the task is cancelled.
    public mutating func next() async -> ContextChanges? { await mailbox.next() }

    /// The next changes, once there are some; nil at the end, or when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> ContextChanges? {
      await mailbox.next()
    }
  }
}
