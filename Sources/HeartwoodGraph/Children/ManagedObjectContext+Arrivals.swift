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

  /// Takes in what children have saved since the last time. What cannot be taken in, since the records that it changes cannot be read, waits
  /// for the next time; see ``checkArrivalsAreTaken()``.
  func takeArrivals() {
    guard let stagingArea else { return }
    let newest = stagingArea.arrivals.count
    guard newest != seenArrival else { return }
    let former = seenArrival
    seenArrival = newest
    // What children have saved is called by the names that the context has for it.
    followConversions()
    failures.arrival = nil
    for staged in stagingArea.stagedStores where !takeArrivals(from: staged) { seenArrival = former }
    changeNumber &+= 1
  }

  /// - Returns: whether all could be taken in.
  private func takeArrivals(from staged: StagedStore) -> Bool {
    let names = ArrivalNames(staged, persistentStoreCoordinator.unsavedNames)
    while let arrival = staged.nextArrival {
      do throws(PersistenceError) {
        var pass = try ArrivalPass(self, arrival, names)
        staged.takeNextArrival()
        pass.run()
      } catch {
        failures.arrival = error
        noteReadFailure(error)
        return false
      }
    }
    return true
  }

  /// Throws why what children have saved could not be taken in.
  func checkArrivalsAreTaken() throws(PersistenceError) {
    if hasWaitingArrivals, let error = failures.arrival { throw error }
  }

  /// Lets go of what children have saved and could not be taken in.
  func dropWaitingArrivals() {
    failures.arrival = nil
    guard let stagingArea, hasWaitingArrivals else { return }
    seenArrival = stagingArea.arrivals.count
    for staged in stagingArea.stagedStores {
      while staged.nextArrival != nil { staged.takeNextArrival() }
    }
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
