import HeartwoodModel
import HeartwoodStore

/// The part of a change that needs records that could not be read when the change was made. It is done before the next
/// save, which fails until it can be done: otherwise one end of a relationship would be saved without the other, or a
/// deletion without its cascade.
struct PostponedChange {
  enum Work {
    /// Updates the other end of a relationship, in the record of the id; if the object is deleted, by the delete rule.
    case otherEnd(RelationshipEnd, ManagedObjectID)
    /// Removes the object of the id from this end of a relationship, unless that object refers back.
    case unlink(RelationshipEnd, ManagedObjectID)
    /// Reads the stored values of an object that was changed without them.
    case base(ManagedObject)
    /// Applies the delete rules of an object that was deleted without having been read.
    case deletion(ManagedObject)
    /// Updates the references to objects by ids that they no longer have.
    case referrers([ManagedObjectID: ManagedObject])
  }

  var work: Work
  /// Why it was postponed.
  let error: PersistenceError
}

extension ManagedObjectContext {
  /// Postpones work until the records can be read.
  func postpone(_ work: PostponedChange.Work, _ error: PersistenceError) {
    postponed.append(PostponedChange(work: work, error: error))
    noteReadFailure(error)
  }

  /// Postpones the update of the other end of a relationship until the record of `id` can be read.
  func postponeOtherEnd(of object: ManagedObject, _ ordinal: Int, _ id: ManagedObjectID, _ error: PersistenceError) {
    let failure = PersistenceError.unreadable([id], for: (object.entity, ordinal), error)
    postpone(.otherEnd(RelationshipEnd(object: object, ordinal: ordinal), id), failure)
  }

  /// Does the postponed work, as far as possible.
  ///
  /// - Throws: the first failure, with the ids of all records that cannot be read. All of the work stays postponed
  ///   then.
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

  /// Returns whether the context still has changes of one of the two ends: if they were undone, there is nothing to do.
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

/// The postponed work of a context, in the order in which it was added.
///
/// If work cannot be done yet, it stays in front of work that is added meanwhile.
final class PostponedChanges {
  private(set) var all: [PostponedChange] = []
}

extension PostponedChanges {
  var isEmpty: Bool { all.isEmpty }

  /// The first failure, with the ids of all records that cannot be read; nil if nothing is postponed.
  var failure: PersistenceError? {
    guard var failure = all.first?.error else { return nil }
    failure.context.objectIDs = all.flatMap(\.error.context.objectIDs)
    return failure
  }

  func append(_ change: PostponedChange) { all.append(change) }

  func replaceAll(with changes: [PostponedChange]) { all = changes }

  /// Calls `body` with each change, which may postpone others. If it throws, the change stays, with the new reason.
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
  /// Returns the same failure with its present cause.
  fileprivate func withCause(_ cause: PersistenceError) -> PersistenceError {
    var error = self
    error.code = cause.code
    error.underlyingError = cause.underlyingError ?? cause
    return error
  }
}
