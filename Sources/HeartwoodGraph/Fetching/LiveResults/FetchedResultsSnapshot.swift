public import HeartwoodModel

/// Live results at one moment, as ids. It is Sendable.
///
/// A new snapshot shares unchanged parts with the one before.
public struct FetchedResultsSnapshot: Sendable {
  /// A section at that moment.
  public struct Section: Sendable {
    /// The name of the section.
    public let name: String
    /// The value from which the name is made.
    public let value: PropertyValue
    /// The ids of the objects in the section.
    public let objectIDs: FetchedObjectIDs
  }

  /// The sections; a single one without a name if the results have objects but are not divided.
  public let sections: [Section]
  /// The ids of all objects.
  public let objectIDs: FetchedObjectIDs
  /// The objects that were in the snapshot before, are still there, and have changed. For a reader that has missed
  /// snapshots, this includes the changes of the missed ones.
  public internal(set) var updatedObjectIDs: Set<ManagedObjectID>
  /// Whether some of them are from snapshots that were missed, so that they may have been removed or renamed since.
  private var hasMissed = false

  init(sections: [Section], objectIDs: FetchedObjectIDs, updatedObjectIDs: Set<ManagedObjectID>) {
    self.sections = sections
    self.objectIDs = objectIDs
    self.updatedObjectIDs = updatedObjectIDs
  }

  /// The snapshot for the reader, without changes of objects that it does not contain. O(objects) if snapshots were
  /// missed.
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

  /// Replaces an unread snapshot by a later one.
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

  /// 0, the index of the first id.
  public var startIndex: Int { 0 }
  /// The number of ids.
  public var endIndex: Int { elements.count }

  /// The id at `position`. O(log objects).
  public subscript(position: Int) -> ManagedObjectID { elements[position] }
}

/// A sequence of live results: the current ones at once, then those after each event that changes them.
///
/// It ends with the controller, which it does not retain. A slow reader gets the newest snapshot, and never waits for
/// those that it has missed. Each element is delivered to one reader; request a sequence for each.
public struct FetchedResultsSnapshots: AsyncSequence, Sendable {
  let mailbox: Mailbox<FetchedResultsSnapshot>

  /// Creates an iterator over the snapshots.
  public func makeAsyncIterator() -> Iterator { Iterator(mailbox: mailbox) }

  /// An iterator over the snapshots.
  public struct Iterator: AsyncIteratorProtocol {
    let mailbox: Mailbox<FetchedResultsSnapshot>

    /// Waits for the next snapshot and returns it; nil at the end, or if the task is cancelled.
    public mutating func next() async -> FetchedResultsSnapshot? { await mailbox.next()?.settled }

    /// Waits for the next snapshot and returns it; nil at the end, or if the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> FetchedResultsSnapshot? {
      await mailbox.next()?.settled
    }
  }
}

// MARK: FetchedResultsChanges

/// The place of an object in live results: a section, and an index in it.
public struct FetchedResultsIndexPath: Sendable, Hashable {
  /// The index of the section, from 0.
  public var section: Int
  /// The index in the section, from 0.
  public var item: Int

  /// Creates the index path of `item` in `section`.
  public init(section: Int, item: Int) {
    self.section = section
    self.item = item
  }
}

extension FetchedResultsIndexPath: Comparable {
  /// Compares by section, then by item.
  public static func < (left: FetchedResultsIndexPath, right: FetchedResultsIndexPath) -> Bool {
    (left.section, left.item) < (right.section, right.item)
  }
}

extension FetchedResultsIndexPath: CustomStringConvertible {
  /// `section.item`
  public var description: String { "\(section).\(item)" }
}

/// A change of an object of live results. Old places are those before the event, new ones those after it.
public enum FetchedResultsObjectChange<Object: ManagedObject> {
  /// The object was added.
  case insert(Object, at: FetchedResultsIndexPath)
  /// The object was removed.
  case delete(Object, from: FetchedResultsIndexPath)
  /// The object has moved among the others or to another section; it may have other values too.
  case move(Object, from: FetchedResultsIndexPath, to: FetchedResultsIndexPath)
  /// The object has other values. Its place has changed only through insertions and deletions before it.
  case update(Object, from: FetchedResultsIndexPath, to: FetchedResultsIndexPath)
}

/// A change of a section of live results.
public enum FetchedResultsSectionChange: Sendable, Hashable {
  /// A section was added; its objects are reported one by one.
  case insert(name: String, at: Int)
  /// A section was removed; its objects are reported one by one.
  case delete(name: String, from: Int)
}

/// The changes of live results through one event.
///
/// To apply them to a copy, first remove the deleted and moved objects at their old places, then the deleted sections;
/// then insert the new sections, and the inserted and moved objects at their new places.
public struct FetchedResultsChanges<Object: ManagedObject> {
  /// The sections that were added and removed.
  public internal(set) var sections: [FetchedResultsSectionChange] = []
  /// The changes of objects, in this order: deletions, insertions, moves, updates.
  public internal(set) var objects: [FetchedResultsObjectChange<Object>] = []
  /// The deletions, insertions and moves of objects, as a difference of lists of ids.
  public internal(set) var difference: CollectionDifference<ManagedObjectID>
}

// MARK: FetchedResultsControllerDelegate

/// An observer of the changes of live results, which is notified in the isolation of their context when an event ends.
///
/// All functions have a default that does nothing. If one of them changes an object, this is part of the next event.
public protocol FetchedResultsControllerDelegate<Object>: AnyObject {
  /// The class of the objects.
  associatedtype Object: ManagedObject

  /// Called before the results change. They are still those before the event.
  func controllerWillChangeContent(_ controller: FetchedResultsController<Object>)

  /// Called when a section was added or removed. The results are those after the event.
  func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeSection change: FetchedResultsSectionChange
  )

  /// Called when an object was added, removed, moved or changed. The results are those after the event.
  func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeObject change: FetchedResultsObjectChange<Object>
  )

  /// Called once with all changes: those of the individual calls, and the same as a difference of ids.
  func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeContent changes: FetchedResultsChanges<Object>
  )

  /// Called after all changes were reported.
  func controllerDidChangeContent(_ controller: FetchedResultsController<Object>)

  /// Called if an event could not be applied to the results, since something could not be read. The results stay as
  /// they were before it, until the next event that can be applied, or a ``FetchedResultsController/performFetch()``.
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
