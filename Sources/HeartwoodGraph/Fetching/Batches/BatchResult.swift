public import HeartwoodModel

/// What a batch request tells of what it has done, beyond how many records it was.
public enum BatchResultType: Sendable, Hashable {
  /// The number of records alone.
  case count
  /// The ids of the records too.
  case objectIDs
}

/// What a batch request has done.
public struct BatchResult: Sendable {
  /// How many records were inserted, updated or deleted, those included that insertions have updated; of a deletion, with those that delete rules took along.
  public internal(set) var count = 0
  /// The ids of the records; empty unless the request asked for them.
  public var objectIDs: Set<ManagedObjectID> {
    changes.insertedObjectIDs.union(changes.deletedObjectIDs).union(updatedObjectIDs)
  }
  /// The same for ``ManagedObjectContext/mergeChanges(from:)``, with the objects whose relationships or derived attributes have changed
  /// along with them; empty unless the request asked for ids.
  public internal(set) var changes = ContextChanges(context: nil, name: nil, author: nil)
  /// The records that the request itself has updated.
  var updatedObjectIDs: Set<ManagedObjectID> = []
}
