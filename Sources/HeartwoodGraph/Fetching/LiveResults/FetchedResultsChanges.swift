public import HeartwoodModel

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
