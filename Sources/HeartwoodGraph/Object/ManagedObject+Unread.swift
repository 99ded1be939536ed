import HeartwoodModel
import HeartwoodStore

// An object whose record cannot be read is no object whose record is gone: it has no values for the time being, and reads them as soon as it can.

extension ManagedObject {
  /// Whether the object has not been read although it was tried.
  final var isUnread: Bool { isFault || state.contains(.unread) }

  /// Reads the values of an object that has none yet.
  ///
  /// - Returns: why they cannot be read, if they cannot. That is noted, too.
  final func readIfUnread() -> PersistenceError? {
    if case .fault = content {
      let failure = pin()
      if isFault { return failure }
      if !state.contains(.inaccessible) { awake() }
    } else if state.contains(.unread) {
      return readAgain()
    }
    return nil
  }

  /// Looks again for a record that could not be read when the object was made.
  ///
  /// - Returns: why it cannot be read, if it cannot. That is noted, too.
  final func readAgain() -> PersistenceError? {
    let binding = binding
    do {
      try binding.synchronize()
      // The binding lets those be there again whose records it reads.
      if try binding.row(of: objectID.reference) == nil {
        state.remove(.unread)
        state.insert(.inaccessible)
      } else {
        binding.recoverLostObjects()
      }
    } catch {
      let failure = PersistenceError.unreadable([objectID], error)
      managedObjectContext?.noteReadFailure(failure)
      return failure
    }
    return isFault ? readIfUnread() : nil
  }

  /// Lets an object that has no values be changed: what is set is put on top of its values before the next save, which fails if these cannot be
  /// read then.
  final func prepareUnreadForChange() {
    guard let failure = readIfUnread(), let context = managedObjectContext else { return }
    context.postpone(.base(self), failure)
  }

  /// Puts the changes of an object on top of its values, which could not be read when they were made.
  final func rebaseUnread() throws(PersistenceError) {
    // What was undone since asks for nothing.
    if !hasUnsavedValues { return }
    if state.contains(.unread), let failure = readAgain() { throw failure }
    guard isPresent, case .changed(let changes) = content, rowID != .none else { return }
    do {
      try binding.synchronize()
    } catch {
      throw .unreadable([objectID], error)
    }
    guard let group = binding.liveGroup(of: rowID) else { return }
    changes.group = group
    changes.forgetOutdated()
    for ordinal in changes.unsettledOrdinals where binding.traits[ordinal].isToMany {
      rebaseLinks(ordinal, changes, since: [])
    }
    for ordinal in changes.unsettledOrdinals { reconsider(ordinal, changes) }
    endChange(changes)
  }
}

extension EntityBinding {
  /// The object of a record that cannot be read. It is there as any other as soon as the record is read.
  func unreadObject(_ reference: ReferenceID) -> ManagedObject {
    let id = ManagedObjectID(scope: scope, reference: reference)
    if let object = lost.objectsWithoutRow.first(where: { $0.objectID == id }) { return object }
    let object = makeObject(.fault, .none, [.registered, .unread])
    let changes = object.makeChanges(group: nil)
    changes.newID = id
    object.content = .changed(changes)
    noteLoss(of: object, nil)
    return object
  }
}
