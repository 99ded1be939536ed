import HeartwoodModel
import HeartwoodStore

/// The state of a context's saves: how many have succeeded, which one is being written, and what the next one has to
/// check besides the objects that it writes.
///
/// At most one save is under way. The checks for the next save are removed when a save has succeeded, except those that
/// were requested while the stores were writing it.
final class SaveProgress {
  /// The save that the stores write while the context is in use.
  private(set) var underWay: SaveUnderWay?
  /// The number of saves that have succeeded.
  private(set) var count: UInt64 = 0
  /// The number of stores that have taken changes.
  private(set) var writtenCount: UInt64 = 0
  /// The objects that the next save compares with the store's, whether or not it changes them.
  private var locked = ObjectList()
  /// The objects whose changes were dropped without the other ends of their relationships, which keep theirs until the
  /// next save.
  private var oneSided: Set<ManagedObjectID> = []
}

extension SaveProgress {
  /// Notes that stores begin to write a save.
  func begin(_ save: SaveUnderWay) {
    assert(underWay == nil, "A save begins while another one is written.")
    underWay = save
  }

  /// Notes that the stores have written, or rejected, the save that is under way.
  func endWriting() { underWay = nil }

  /// Notes that a store has taken its changes, whether or not other stores succeed.
  func noteWritten() { writtenCount &+= 1 }

  /// Notes that a save has succeeded.
  ///
  /// - Parameter compared: the objects that it has compared with the store's; nil for all that were to be compared.
  func end(comparing compared: [ManagedObject]? = nil) {
    count &+= 1
    oneSided = []
    if let compared {
      for object in compared { locked.remove(object) }
    } else {
      locked = ObjectList()
    }
  }

  /// Removes all checks for the next save.
  func clear() {
    oneSided = []
    locked = ObjectList()
  }
}

extension SaveProgress {
  /// The objects that the next save compares with the store's.
  var lockedObjects: [ManagedObject] { locked.objects }

  /// Returns whether the next save compares an object with the store's.
  func isLocked(_ object: ManagedObject) -> Bool { locked.contains(object) }

  /// Makes the next save compare an object with the store's.
  func lock(_ object: ManagedObject) { locked.append(object) }

  /// Returns whether an object's changes were dropped without the other ends of its relationships since the last save.
  func isOneSided(_ id: ManagedObjectID) -> Bool { !oneSided.isEmpty && oneSided.contains(id) }

  /// Notes that an object's changes are dropped without the other ends of its relationships.
  func noteOneSided(_ id: ManagedObjectID) { oneSided.insert(id) }

  /// Replaces all ids.
  func replaceIDs(_ newID: (ManagedObjectID) -> ManagedObjectID) { oneSided = Set(oneSided.map(newID)) }
}
