import HeartwoodModel
import HeartwoodStore

/// What a change asks of records that could not be read when it was made. It is done before the next save, which fails while it cannot be: one
/// end of a relationship would be saved without the other, or a deletion without what it takes along.
struct PostponedChange {
  enum Work {
    /// The other end of a relationship, at the record of the id, follows this one; where the object is deleted, by the delete rule.
    case otherEnd(RelationshipEnd, ManagedObjectID)
    /// This end of a relationship no longer leads to the object of the id, unless that leads here.
    case unlink(RelationshipEnd, ManagedObjectID)
    /// The values that an object was changed without.
    case base(ManagedObject)
    /// The delete rules of an object that was deleted without its having been read.
    case deletion(ManagedObject)
    /// What leads to objects by ids that they no longer have.
    case referrers([ManagedObjectID: ManagedObject])
  }

  var work: Work
  /// Why it was postponed.
  let error: PersistenceError
}

extension ManagedObjectContext {
  /// Leaves something to be done once the records can be read.
  func postpone(_ work: PostponedChange.Work, _ error: PersistenceError) {
    postponed.append(PostponedChange(work: work, error: error))
    noteReadFailure(error)
  }

  /// Leaves the other end of a relationship to be changed once the record of `id` can be read.
  func postponeOtherEnd(of object: ManagedObject, _ ordinal: Int, _ id: ManagedObjectID, _ error: PersistenceError) {
    let failure = PersistenceError.unreadable([id], for: (object.entity, ordinal), error)
    postpone(.otherEnd(RelationshipEnd(object: object, ordinal: ordinal), id), failure)
  }

  /// Does what was postponed, as far as it can be done.
  ///
  /// - Throws: the first failure, with the ids of all records that cannot be read. All of it is still postponed then.
  func settlePostponedChanges() throws(PersistenceError) {
    if postponed.isEmpty { return }
    registerPendingChanges()
    postponed.settle(settle)
    if let recorder, let event = recorder.takeEvent() {
      recorder.undoManager.registerWithNewest(UndoAction(self, reverting: event))
    }
    if let failure = postponed.failure { throw failure }
  }

  private func settle(_ work: PostponedChange.Work) throws(PersistenceError) {
    switch work {
    case .otherEnd(let end, let id):
      if !end.object.state.contains(.detached), isChanged(end, id) { try settleOtherEnd(end, id) }
    case .unlink(let end, let id): try settleUnlinking(end, id)
    case .base(let object): try object.rebaseUnread()
    case .deletion(let object):
      if object.state.contains(.deleted), !object.state.contains(.detached) { try settleDeletion(of: object) }
    case .referrers(let renamed):
      for object in Referrers(self).objects(leadingTo: renamed) {
        object.renameLinks { renamed[$0]?.objectID ?? $0 }
      }
    }
  }

  /// Whether the context has changed one of the two ends still: what was undone since asks for nothing.
  private func isChanged(_ end: RelationshipEnd, _ id: ManagedObjectID) -> Bool {
    let object = end.object
    return !object.isPresent || object.isInserted || object.isUnsettled(end.ordinal)
      || pending.updated.objects.contains { $0.objectID == id }
      || pending.deleted.objects.contains { $0.objectID == id }
  }

  private func settleOtherEnd(_ end: RelationshipEnd, _ id: ManagedObjectID) throws(PersistenceError) {
    let (object, ordinal) = (end.object, end.ordinal)
    let other = try find(id)
    if object.state.contains(.deleted) {
      if let other, other.isPresent { applyDeleteRule(of: object, ordinal, to: other) }
      return
    }
    guard object.isPresent else { return }
    let leads = object.leads(ordinal, to: id)
    guard let other, other.isPresent else {
      if leads, !mayLead(object, ordinal, to: id) { object.unlink(ordinal, from: id) }
      return
    }
    guard let inverse = object.binding.traits[ordinal].inverseOrdinal else { return }
    if leads {
      other.link(inverse, to: object, forward: ordinal)
    } else {
      other.unlink(inverse, from: object.objectID)
    }
  }

  private func settleUnlinking(_ end: RelationshipEnd, _ id: ManagedObjectID) throws(PersistenceError) {
    guard end.object.isPresent, let inverse = end.object.binding.traits[end.ordinal].inverseOrdinal else { return }
    if let other = try find(id), other.isPresent, other.leads(inverse, to: end.object.objectID) { return }
    end.object.unlink(end.ordinal, from: id)
  }

  private func settleDeletion(of object: ManagedObject) throws(PersistenceError) {
    if let failure = object.readIfUnread() { throw failure }
    applyDeleteRules(of: object)
  }
}

// MARK: PostponedChanges

/// What changes of a context ask of records that could not be read, in the order in which it came.
///
/// What cannot be done yet stays before what comes while the rest is done.
final class PostponedChanges {
  private(set) var all: [PostponedChange] = []
}

extension PostponedChanges {
  var isEmpty: Bool { all.isEmpty }

  /// The first reason, with the ids of all records that cannot be read; nil if nothing is postponed.
  var failure: PersistenceError? {
    guard var failure = all.first?.error else { return nil }
    failure.context.objectIDs = all.flatMap(\.error.context.objectIDs)
    return failure
  }

  func append(_ change: PostponedChange) { all.append(change) }

  func replaceAll(with changes: [PostponedChange]) { all = changes }

  /// Calls `body` with each change, which may postpone others; those that it throws at stay, for the reason that they have now.
  func settle(_ body: (PostponedChange.Work) throws(PersistenceError) -> Void) {
    let changes = all
    all = []
    var failed: [PostponedChange] = []
    for change in changes {
      do throws(PersistenceError) {
        try body(change.work)
      } catch {
        failed.append(PostponedChange(work: change.work, error: change.error.withCause(error)))
      }
    }
    all = failed + all
  }

  /// Replaces all ids.
  func replaceIDs(_ newID: (ManagedObjectID) -> ManagedObjectID) {
    for index in all.indices {
      switch all[index].work {
      case .otherEnd(let end, let id): all[index].work = .otherEnd(end, newID(id))
      case .unlink(let end, let id): all[index].work = .unlink(end, newID(id))
      case .referrers(let renamed):
        let pairs = renamed.map { (newID($0.key), $0.value) }
        all[index].work = .referrers(Dictionary(pairs, uniquingKeysWith: { first, _ in first }))
      case .base, .deletion: break
      }
    }
  }
}

extension PersistenceError {
  /// The same failure, for the reason that it has now.
  fileprivate func withCause(_ cause: PersistenceError) -> PersistenceError {
    var error = self
    error.code = cause.code
    error.underlyingError = cause.underlyingError ?? cause
    return error
  }
}
