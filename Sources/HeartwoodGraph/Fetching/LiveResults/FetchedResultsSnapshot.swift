public import HeartwoodModel

/// Live results at one moment, as ids: it is Sendable.
///
/// Making one shares all that has not changed with the one before.
public struct FetchedResultsSnapshot: Sendable {
  /// A section at that moment.
  public struct Section: Sendable {
    /// The name of the section.
    public let name: String
    /// The value that is the name.
    public let value: PropertyValue
    /// The objects of the section.
    public let objectIDs: FetchedObjectIDs
  }

  /// The sections; one without a name where the results have none but objects.
  public let sections: [Section]
  /// All objects.
  public let objectIDs: FetchedObjectIDs
  /// The objects that have changed since the snapshot before: those that are still there and look different. A reader that has missed
  /// snapshots finds theirs here too.
  public internal(set) var updatedObjectIDs: Set<ManagedObjectID>
  /// Whether some of them are from snapshots that were missed, so that they may be gone or called otherwise by now.
  private var hasMissed = false

  init(sections: [Section], objectIDs: FetchedObjectIDs, updatedObjectIDs: Set<ManagedObjectID>) {
    self.sections = sections
    self.objectIDs = objectIDs
    self.updatedObjectIDs = updatedObjectIDs
  }

  /// The snapshot as it is read, with such changes only as are of objects that it has. O(objects) where snapshots were missed.
  fileprivate var settled: FetchedResultsSnapshot {
    guard hasMissed else { return self }
    var settled = self
    settled.updatedObjectIDs = Set(objectIDs.filter(updatedObjectIDs.contains))
    settled.hasMissed = false
    return settled
  }
}

extension FetchedResultsSnapshot: MailboxElement {
  static var capacity: Int { 1 }

  /// Takes the place of a snapshot that nobody has read.
  mutating func append(_ later: FetchedResultsSnapshot) {
    let missed = updatedObjectIDs
    self = later
    hasMissed = hasMissed || !missed.isEmpty
    updatedObjectIDs.formUnion(missed)
  }
}

/// The ids of the objects of live results, in their order.
public struct FetchedObjectIDs: RandomAccessCollection, Sendable {
  private let elements: ChunkedElements<ManagedObjectID>

  init(_ sections: some Sequence<LiveSection>) {
    elements = ChunkedElements(sections.flatMap { $0.chunks.map(\.objectIDs) })
  }

  /// 0.
  public var startIndex: Int { 0 }
  /// How many objects there are.
  public var endIndex: Int { elements.count }

  /// The id at a place. O(log objects).
  public subscript(position: Int) -> ManagedObjectID { elements[position] }
}

/// Live results as they come: the present ones at once, then those after each event that changes them.
///
/// It ends with the controller, which it does not hold. A reader that is slow gets the newest snapshot, and never waits for those it
/// has missed. An element goes to one reader; ask for a sequence of their own for each.
public struct FetchedResultsSnapshots: AsyncSequence, Sendable {
  let mailbox: Mailbox<FetchedResultsSnapshot>

  /// Begins to read.
  public func makeAsyncIterator() -> Iterator { Iterator(mailbox: mailbox) }

  /// Reads one snapshot after another.
  public struct Iterator: AsyncIteratorProtocol {
    let mailbox: Mailbox<FetchedResultsSnapshot>

    /// The next snapshot, once there is one; nil at the end, or when the task is cancelled.
    public mutating func next() async -> FetchedResultsSnapshot? { await mailbox.next()?.settled }

    /// The next snapshot, once there is one; nil at the end, or when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> FetchedResultsSnapshot? {
      await mailbox.next()?.settled
    }
  }
}
