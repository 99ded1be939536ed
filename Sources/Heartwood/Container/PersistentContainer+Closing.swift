import HeartwoodGraph
public import HeartwoodStore
import Synchronization

extension PersistentContainer {
  /// Closes the stores for good. Saves that are under way are waited for; what is unsaved in contexts is not saved.
  ///
  /// Contexts throw ``PersistenceError/Code/coordinatorClosed`` from then on; objects keep the values that they have read. Another container may
  /// open the files.
  public func close() {
    persistentStoreCoordinator.close()
  }

  /// Closes the container and deletes the files of its stores, with all that they keep.
  ///
  /// What is there and is no store of its description is left, with an error.
  ///
  /// - Throws: why a file cannot be removed; those before it are gone then.
  public func destroyPersistentStores() async throws(PersistenceError) {
    try await WaitingWork.run { () throws(PersistenceError) in try self.destroyPersistentStoresAndWait() }
  }

  private func destroyPersistentStoresAndWait() throws(PersistenceError) {
    let openings = try zip(persistentStoreDescriptions, slots.withLock { $0 }).map {
      description,
      slot throws(PersistenceError) in
      try opening(of: description, in: slot)
    }
    close()
    for opening in openings {
      try alone(opening) { () throws(PersistenceError) in try opening.destroy() }
    }
  }

  /// The store of a description where it is now.
  private func opening(
    of description: PersistentStoreDescription,
    in slot: StoreSlot
  ) throws(PersistenceError) -> StoreOpening {
    guard case .loaded(let first) = slot else { return try opening(of: description) }
    let store = first.newest
    var description = description
    description.type = store.type
    return opening(of: description, at: persistentStoreCoordinator.url(for: store))
  }
}
