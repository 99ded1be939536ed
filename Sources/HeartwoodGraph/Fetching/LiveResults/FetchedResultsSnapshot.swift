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

// MARK: FetchedResultsChanges

/// The place of an object in live results: a section, and a place in it.
public struct FetchedResultsIndexPath: Sendable, Hashable {
  /// The place of the section, from 0.
  public var section: Int
  /// The place in the section, from 0.
  public var item: Int

  /// The place `item` of the section at `section`.
  public init(section: Int, item: Int) {
    self.section = section
    self.item = item
  }
}

extension FetchedResultsIndexPath: Comparable {
  /// By sections, then by places in them.
  public static func < (left: FetchedResultsIndexPath, right: FetchedResultsIndexPath) -> Bool {
    (left.section, left.item) < (right.section, right.item)
  }
}

extension FetchedResultsIndexPath: CustomStringConvertible {
  /// `section.item`
  public var description: String { "\(section).\(item)" }
}

/// What has become of an object of live results. Old places are those before the event, new ones those behind it.
public enum FetchedResultsObjectChange<Object: ManagedObject> {
  /// The object has come.
  case insert(Object, at: FetchedResultsIndexPath)
  /// The object has gone.
  case delete(Object, from: FetchedResultsIndexPath)
  /// The object has taken another place among the others, or another section; it may have other values as well.
  case move(Object, from: FetchedResultsIndexPath, to: FetchedResultsIndexPath)
  /// The object has other values. Its place has changed by what came and went before it at most.
  case update(Object, from: FetchedResultsIndexPath, to: FetchedResultsIndexPath)
}

/// What has become of a section of live results.
public enum FetchedResultsSectionChange: Sendable, Hashable {
  /// A section has come; its objects are told one by one.
  case insert(name: String, at: Int)
  /// A section has gone; its objects are told one by one.
  case delete(name: String, from: Int)
}

/// What one event has done to live results.
///
/// Whoever shows them takes from a copy first what was deleted and what was moved, by the old places, then sections that were deleted;
/// then puts in sections that were inserted, and what was inserted and moved, by the new places.
public struct FetchedResultsChanges<Object: ManagedObject> {
  /// The sections that came and went.
  public internal(set) var sections: [FetchedResultsSectionChange] = []
  /// The objects that came, went, moved and changed: in this order deletions, insertions, moves, updates.
  public internal(set) var objects: [FetchedResultsObjectChange<Object>] = []
  /// The same, without sections and updates, as what has to be done to a list of ids.
  public internal(set) var difference: CollectionDifference<ManagedObjectID>
}

// MARK: FetchedResultsControllerDelegate

/// Learns what becomes of live results, in the isolation of their context, when an event ends.
///
/// All functions have a default that does nothing. An object that is changed in one of them is part of the next event.
public protocol FetchedResultsControllerDelegate<Object>: AnyObject {
  /// The class of the objects.
  associatedtype Object: ManagedObject

  /// The results are about to change. They are still what they were.
  func controllerWillChangeContent(_ controller: FetchedResultsController<Object>)

  /// A section has come or gone. The results are what they are after the event.
  func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeSection change: FetchedResultsSectionChange
  )

  /// An object has come, gone, moved or changed. The results are what they are after the event.
  func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeObject change: FetchedResultsObjectChange<Object>
  )

  /// All that has changed, at once: what the single calls have told, and the same as a difference of ids.
  func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeContent changes: FetchedResultsChanges<Object>
  )

  /// All has been told.
  func controllerDidChangeContent(_ controller: FetchedResultsController<Object>)

  /// What an event has done to the results cannot be told, since something could not be read. They are what they were before it, and what they
  /// should be after the next event that can be told, or a ``FetchedResultsController/performFetch()``.
  func controller(_ controller: FetchedResultsController<Object>, didFailToUpdateWith error: any Error)
}

extension FetchedResultsControllerDelegate {
  /// Does nothing.
  public func controllerWillChangeContent(_ controller: FetchedResultsController<Object>) {}

  /// Does nothing.
  public func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeSection change: FetchedResultsSectionChange
  ) {}

  /// Does nothing.
  public func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeObject change: FetchedResultsObjectChange<Object>
  ) {}

  /// Does nothing.
  public func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeContent changes: FetchedResultsChanges<Object>
  ) {}

  /// Does nothing.
  public func controllerDidChangeContent(_ controller: FetchedResultsController<Object>) {}

  /// Does nothing.
  public func controller(_ controller: FetchedResultsController<Object>, didFailToUpdateWith error: any Error) {}
}
