import HeartwoodModel
import HeartwoodStore

// What children have saved becomes changes of the parent.

extension ManagedObjectContext {
  /// Whether children have saved something that has not been taken in.
  var hasWaitingArrivals: Bool {
    guard let stagingArea else { return false }
    return stagingArea.arrivals.count != seenArrival
  }

  /// Whether nothing is under way that must be alone: what may be taken back as a whole, a validation, in which objects can be neither
  /// changed nor renamed, or a save, which the context is to learn of first.
  var mayBeDisturbed: Bool { !takesNothingIn && !isValidating && saveUnderWay == nil }

  /// Takes in what children have saved since the last time, unless something is under way that it would disturb.
  func takeWaitingArrivals() {
    if mayBeDisturbed { takeArrivals() }
  }

  /// Takes in what children have saved since the last time.
  func takeArrivals() {
    guard let stagingArea else { return }
    let newest = stagingArea.arrivals.count
    guard newest != seenArrival else { return }
    seenArrival = newest
    // What children have saved is called by the names that the context has for it.
    followConversions()
    for staged in stagingArea.stagedStores {
      let names = ArrivalNames(staged, persistentStoreCoordinator.unsavedNames)
      for arrival in staged.takeArrivals() {
        var pass = ArrivalPass(self, arrival, names)
        pass.run()
      }
    }
    changeNumber &+= 1
  }

  /// Notes that a child's changes of an object could not be taken in.
  func noteConflictingArrival(_ id: ManagedObjectID) {
    conflictingArrivals.insert(id)
  }

  /// Tells once, before a save, where a child's changes could not be taken in.
  func checkArrivals() throws(PersistenceError) {
    if conflictingArrivals.isEmpty { return }
    let ids = conflictingArrivals.sorted { $0.description < $1.description }
    conflictingArrivals = []
    throw PersistenceError(
      .saveConflict,
      "A child context saved changes of objects that this context had changed too, or deleted, without the "
        + "child being able to see it. This context's own changes stand.",
      recovery: "Save again to keep them.",
      context: .init(objectIDs: ids)
    )
  }
}
