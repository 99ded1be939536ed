import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// How often objects may change each other while they are told that they will be saved.
  private static var mostRounds: Int { 1000 }

  /// Tells the objects with changes that they will be saved, and those that this changes as well, until nothing changes any more.
  /// What children have saved is among them.
  ///
  /// - Throws: ``PersistenceError/Code/saveNeverSettles``.
  func tellObjectsWillSave() throws(PersistenceError) {
    finishSaveUnderWay()
    takeWaitingArrivals()
    guard hasChanges else { return }
    Misuse.check(
      disturbed == nil,
      "An object saves its context in its willSave(). Leave saving to the save that is under way."
    )
    disturbed = ObjectList()
    defer { disturbed = nil }
    var objects = inserted.objects + updated.objects + deleted.objects
    for _ in 0..<Self.mostRounds {
      for object in objects where object.hasChanges { object.willSave() }
      objects = disturbed?.objects.filter(\.hasChanges) ?? []
      if objects.isEmpty { return }
      disturbed = ObjectList()
    }
    throw PersistenceError(
      .saveNeverSettles,
      "Objects were still changing in willSave() after \(Self.mostRounds) rounds.",
      recovery: "Set there only what differs, or use the primitive subscript.",
      context: .init(entity: objects.first?.entity.name, objectIDs: objects.map(\.objectID))
    )
  }
}

extension PendingSave {
  /// Tells the objects of a save that it is done.
  func tellDidSave() {
    for insertion in inserted { for object in insertion.objects { object.didSave() } }
    for object in updated + deleted { object.didSave() }
  }
}
