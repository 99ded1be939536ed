import HeartwoodModel
import HeartwoodStore

/// What a context knows of its saves: how many have succeeded, which one is being written, and what the next one has to
/// look at besides the objects that it writes.
///
/// One save is under way at most. What the next save looks at is forgotten when a save has succeeded, but for what was
/// asked for while the stores were writing it.
final class SaveProgress {
  /// The save that the stores write while the context goes on.
  private(set) var underWay: SaveUnderWay?
  /// How many saves have succeeded.
  private(set) var count: UInt64 = 0
  /// How many stores have taken changes.
  private(set) var writtenCount: UInt64 = 0
  /// The objects that the next save compares with the store's, whether it changes them or not.
  private var locked = ObjectList()
  /// The objects whose changes were dropped without the other ends of their relationships, which keep theirs until the
  /// next save.
  private var oneSided: Set<ManagedObjectID> = []
}

extension SaveProgress {
  /// Notes that stores write a save from now on.
  func begin(_ save: SaveUnderWay) {
    assert(underWay == nil, "A save begins while another one is written.")
    underWay = save
  }

  /// Notes that the stores have written, or refused, the save that is under way.
  func endWriting() { underWay = nil }

  /// Notes that a store has taken its changes, whatever becomes of those of other stores.
  func noteWritten() { writtenCount &+= 1 }

  /// Notes that a save has succeeded.
  ///
  /// - Parameter compared: the objects that it has compared with the store's; nil for all that were to be.
  func end(comparing compared: [ManagedObject]? = nil) {
    count &+= 1
    oneSided = []
    if let compared {
      for object in compared { locked.remove(object) }
    } else {
      locked = ObjectList()
    }
  }

  /// Forgets what the next save has to look at.
  func clear() {
    oneSided = []
    locked = ObjectList()
  }
}

extension SaveProgress {
  /// The objects that the next save compares with the store's.
  var lockedObjects: [ManagedObject] { locked.objects }

  /// Whether the next save compares an object with the store's.
  func isLocked(_ object: ManagedObject) -> Bool { locked.contains(object) }

  /// Makes the next save compare an object with the store's.
  func lock(_ object: ManagedObject) { locked.append(object) }

  /// Whether an object's changes were dropped without the other ends of its relationships since the last save.
  func isOneSided(_ id: ManagedObjectID) -> Bool { !oneSided.isEmpty && oneSided.contains(id) }

  /// Notes that an object's changes are dropped without the other ends of its relationships.
  func noteOneSided(_ id: ManagedObjectID) { oneSided.insert(id) }

  /// Replaces all ids.
  func replaceIDs(_ newID: (ManagedObjectID) -> ManagedObjectID) { oneSided = Set(oneSided.map(newID)) }
}
