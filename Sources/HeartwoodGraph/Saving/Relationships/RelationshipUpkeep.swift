import HeartwoodModel
import HeartwoodStore

/// Keeps both ends of relationships consistent: everything in a context that does so is reached from here.
///
/// Each entry point is called for one kind of event, which has changed one end, or has made objects be inserted,
/// removed, or read in another version. It updates the other ends. Its postcondition is that of ``RelationshipCheck``:
/// both ends of every relationship with an inverse agree for each two objects that are known. Debug builds assert it
/// for the objects that the event has changed, and tests for whole contexts.
///
/// | event | entry point | done by |
/// | --- | --- | --- |
/// | an end is set | ``didLink(_:_:to:)``, ``didUnlink(_:_:from:)`` | `ManagedObject.link`, `unlink` |
/// | a deletion | ``didDelete(_:_:from:)`` | `ManagedObject.unlink`; delete rules choose the objects |
/// | an object reads a newer version by itself, or its record comes back | ``dropRefusedLinks(of:)`` | `ManagedObject.unlink` |
/// | a save, before it is written | ``conflict(in:)`` | ``DanglingReferences`` |
/// | a merge policy has to decide, and may revert deletions | ``beginMerge()``, ``end(_:restoring:)`` | ``RelationshipMerge``, ``RelationshipMending``, ``DanglingReferences`` |
/// | objects take newer versions | ``refreshing(_:_:)`` | ``RelationshipMerge`` |
/// | a child's save is merged | ``endChildSave(of:keeping:advanced:_:)`` | ``RelationshipMending`` |
/// | an undo or a redo, event by event | ``mend(_:strays:moved:)``, ``endUndo(of:)`` | ``RelationshipMending`` |
///
/// Updates of records that cannot be read are postponed: see ``PostponedChange``. Batches change records and not
/// objects, and stores keep the two ends of changes that only one save has made consistent; they have their own:
/// `InverseLinks`, and `InverseSettlement` in HeartwoodStore.
struct RelationshipUpkeep {
  private let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) {
    self.context = context
  }
}

// MARK: A save

extension RelationshipUpkeep {
  /// Returns the conflict of saves with references to records that others have deleted; nil if there is none.
  ///
  /// - Throws: the errors of looking for the records.
  func conflict(in saves: [PendingSave]) throws(PersistenceError) -> PersistenceError? {
    try DanglingReferences(context).conflict(in: saves)
  }
}

// MARK: A merge

extension RelationshipUpkeep {
  /// Begins a merge, which must be given the objects that are in conflict before a policy changes them.
  func beginMerge() -> RelationshipMerge { RelationshipMerge(context) }

  /// Updates the other ends after a policy has changed objects.
  ///
  /// - Parameter restored: the objects whose deletion it has reverted.
  /// - Throws: the errors of looking for records that others have deleted.
  func end(_ merge: RelationshipMerge, restoring restored: [ManagedObject]) throws(PersistenceError) {
    // Objects that refer to each other must all be restored first.
    var mending = RelationshipMending(context)
    mending.undelete(restored)
    merge.settle()
    try DanglingReferences(context).drop()
    assertAgreement(of: merge.objects + restored, after: "a merge")
  }

  /// Calls `body`, which makes objects take the newest values, and updates the other ends of their relationships. This
  /// cannot be undone, but earlier changes can.
  ///
  /// - Parameter body: must not change the objects that it is called with: they have changes, and others may have
  ///   changed them too, which cannot be read. That is noted.
  func refreshing(_ objects: [ManagedObject], _ body: (_ unread: Set<ManagedObject>) -> Void) {
    context.registerPendingChanges()
    var merge = RelationshipMerge(context)
    var unread: Set<ManagedObject> = []
    for object in objects where object.isUpdated {
      if object.synchronize() != nil || object.isBehind && !merge.noteIfReadable(object) { unread.insert(object) }
    }
    body(unread)
    if let recorder = context.recorder { recorder.pausing(merge.settle) } else { merge.settle() }
    assertAgreement(of: objects, after: "a refresh")
  }

  /// The change of a relationship by a child.
  struct LinkChange {
    let end: RelationshipEnd
    let inverse: Int
    let added: [ManagedObjectID]
    let removed: [ManagedObjectID]

    init(end: RelationshipEnd, inverse: Int, from former: [ManagedObjectID], to new: [ManagedObjectID]) {
      self.end = end
      self.inverse = inverse
      let (formerIDs, newIDs) = (Set(former), Set(new))
      added = new.filter { !formerIDs.contains($0) }
      removed = former.filter { !newIDs.contains($0) }
    }
  }

  /// Ends the merge of a child's save. The child has changed both ends, unless it has dropped the changes of one by a
  /// refresh: that end is updated here.
  ///
  /// - Parameters:
  ///   - objects: the objects that the child has inserted, changed or deleted.
  ///   - changes: the child's changes of relationships.
  ///   - kept: those of `objects` that the child has deleted, and the context keeps.
  ///   - advanced: those of `objects` that have read the version which the child saw.
  ///   - settle: removes the links that the context does not accept.
  func endChildSave(
    of objects: @autoclosure () -> [ManagedObject],
    _ changes: [LinkChange],
    keeping kept: [ManagedObject],
    advanced: [ManagedObject],
    _ settle: () -> Void
  ) {
    var mending = RelationshipMending(context)
    mending.undelete(kept)
    settle()
    for object in advanced { Self.dropRefusedLinks(of: object) }
    for change in changes { follow(change, change.added, isAddition: true) }
    for change in changes { follow(change, change.removed, isAddition: false) }
    assertAgreement(of: objects(), after: "a child's save")
  }

  /// Updates the other ends of links that a child has added, or removed, if that was not done yet.
  private func follow(_ change: LinkChange, _ ids: [ManagedObjectID], isAddition: Bool) {
    let (object, ordinal) = (change.end.object, change.end.ordinal)
    for other in context.present(object.isPresent ? ids : [], from: object, ordinal) where other.isPresent {
      guard object.leads(ordinal, to: other.objectID) == isAddition,
        other.leads(change.inverse, to: object.objectID) != isAddition
      else { continue }
      if isAddition {
        other.link(change.inverse, to: object, forward: ordinal)
      } else {
        other.unlink(change.inverse, from: object.objectID)
      }
    }
  }
}

// MARK: Undo

extension RelationshipUpkeep {
  /// Makes both ends agree after an event was reverted, if the reversal has not done so.
  ///
  /// - Parameters:
  ///   - edits: the reverted edits of properties.
  ///   - strays: those of them that something else had changed since, with the ids that they have added and removed.
  ///   - moved: the objects that were restored or removed.
  func mend(_ edits: [PropertyEdit], strays: [(PropertyEdit, [ManagedObjectID])], moved: [ManagedObject]) {
    var mending = RelationshipMending(context)
    mending.revert(edits, strays: strays, moved: moved)
  }

  /// Called after all events of a group were reverted. One alone may be half of a change: an event ends if an object
  /// reads a newer version while a relationship to it is changed.
  func endUndo(of events: @autoclosure () -> [GraphEvent]) {
    assertAgreement(of: events().flatMap(\.objects), after: "an undo or a redo")
  }
}

// MARK: The postcondition

extension RelationshipUpkeep {
  /// The number of links to check after an event: the assertion must not take longer than the event by more than a
  /// constant factor.
  private static let mostLinks = 2_000

  /// Stops in a debug build if the ends of relationships of `objects` do not agree.
  ///
  /// - Parameter event: the event that has changed them.
  private func assertAgreement(of objects: @autoclosure () -> [ManagedObject], after event: String) {
    assert(
      disagreement(among: objects()) == nil,
      "After \(event), \(disagreement(among: objects()) ?? "ends disagree"). This is a fault of Heartwood; please report it."
    )
  }

  private func disagreement(among objects: [ManagedObject]) -> String? {
    guard context.relationshipsAreToAgree else { return nil }
    var check = RelationshipCheck(context, mostLinks: Self.mostLinks)
    for object in objects { check.check(object) }
    return check.disagreements.first?.description
  }
}

// MARK: A newer version

extension RelationshipUpkeep {
  /// Removes destinations that the context has deleted or related elsewhere from an object that has read a newer
  /// version of its record, or whose record has come back: the other end already agrees.
  static func dropRefusedLinks(of object: ManagedObject) {
    // An object that refuses a link has changes.
    guard let context = object.managedObjectContext,
      !context.pending.updated.isEmpty || !context.pending.deleted.isEmpty
    else { return }
    for (ordinal, trait) in object.binding.traits.enumerated() {
      guard let inverse = trait.inverseOrdinal, !trait.isTransient else { continue }
      for id in object.value(at: ordinal).objectIDs where isRefused(id, by: inverse, object, ordinal, context) {
        object.unlink(ordinal, from: id)
      }
    }
  }

  private static func isRefused(
    _ id: ManagedObjectID,
    by inverse: Int,
    _ object: ManagedObject,
    _ ordinal: Int,
    _ context: ManagedObjectContext
  ) -> Bool {
    guard let other = context.registeredObject(for: id) else { return false }
    if other.state.contains(.deleted) { return !context.mayLead(object, ordinal, to: id) }
    guard other.isUnsettled(inverse), !other.leads(inverse, to: object.objectID) else { return false }
    // The context has not removed objects that a list was read without: others may have added them since.
    return !other.binding.traits[inverse].isToMany
      || other.committedValue(at: inverse).objectIDs.contains(object.objectID)
  }
}

// MARK: A change

extension RelationshipUpkeep {
  /// Updates the other end after an object was added to a relationship.
  @inline(__always)
  static func didLink(_ object: ManagedObject, _ ordinal: Int, to other: ManagedObject) {
    guard let inverse = object.binding.traits[ordinal].inverseOrdinal else { return }
    other.link(inverse, to: object, forward: ordinal)
    assertAgreement(object, ordinal, other, inverse)
  }

  /// Updates the other end after an object was removed from a relationship.
  @inline(__always)
  static func didUnlink(_ object: ManagedObject, _ ordinal: Int, from other: ManagedObject) {
    guard let inverse = object.binding.traits[ordinal].inverseOrdinal else { return }
    other.unlink(inverse, from: object.objectID)
    assertAgreement(object, ordinal, other, inverse)
  }

  /// Does the same for an object that may not have been read, or may be gone.
  static func didUnlink(_ object: ManagedObject, _ ordinal: Int, from id: ManagedObjectID) {
    guard let inverse = object.binding.traits[ordinal].inverseOrdinal else { return }
    object.unlinkOther(id, inverse, ordinal)
  }

  /// Removes a deleted object from the relationships of others.
  static func didDelete(_ object: ManagedObject, _ inverse: Int, from others: [ManagedObject]) {
    for other in others { other.unlink(inverse, from: object.objectID) }
    assert(
      others.allSatisfy { !$0.isPresent || $0.isUnread || !$0.leads(inverse, to: object.objectID) },
      "\(object) was deleted, and something still refers to it."
    )
  }

  /// Stops in a debug build if a change has left the two ends of a relationship inconsistent, unless something could
  /// not be read.
  @inline(__always)
  private static func assertAgreement(_ object: ManagedObject, _ ordinal: Int, _ other: ManagedObject, _ inverse: Int) {
    assert(
      !object.isPresent || !other.isPresent || object.binding.context?.postponed.isEmpty != true
        || object.leads(ordinal, to: other.objectID) == other.leads(inverse, to: object.objectID),
      "\(object) and \(other) disagree on \(object.entity.properties[ordinal].name) after a change."
    )
  }
}

extension ManagedObject {
  /// Removes the link back from the object of `id`, which was removed from a relationship.
  fileprivate final func unlinkOther(_ id: ManagedObjectID, _ inverse: Int, _ ordinal: Int) {
    guard let context = binding.context else { return }
    switch context.look(for: id) {
    case .present(let other): other.unlink(inverse, from: objectID)
    case .gone: break
    case .unreadable(let error): context.postponeOtherEnd(of: self, ordinal, id, error)
    }
  }

  /// Makes this end of a relationship refer to `source`, whose other end at `forward` refers here already.
  ///
  /// If this end already does so too, that end was read later: then the newest version of this one is read, since the
  /// save would otherwise change one end alone. An object with changes stays as it is, since saving it is a conflict.
  final func link(_ ordinal: Int, to source: ManagedObject, forward: Int) {
    let id = source.objectID
    if !state.contains(.inserted), leads(ordinal, to: id), !hasPersistentChangedValues {
      if let error = readNewest() { binding.context?.postponeOtherEnd(of: source, forward, objectID, error) }
    }
    if binding.traits[ordinal].isToMany { return changeLinks(ordinal) { $0.append(id) } }
    // A to-one end has one destination, so the former one loses the link.
    if case .toOne(let previous) = value(at: ordinal), previous != id {
      unlinkOther(previous, forward, ordinal)
    }
    change(ordinal, to: .toOne(id))
  }

  /// Removes the object of `id` from this end of a relationship. If it is not in it, the newest version is read first,
  /// as when linking.
  final func unlink(_ ordinal: Int, from id: ManagedObjectID) {
    if isDeleted { return }
    if !leads(ordinal, to: id) {
      if !hasPersistentChangedValues, let error = readNewest() {
        let end = RelationshipEnd(object: self, ordinal: ordinal)
        binding.context?.postpone(.unlink(end, id), .unreadable([objectID], for: (entity, ordinal), error))
      }
      guard leads(ordinal, to: id) else { return }
    }
    if binding.traits[ordinal].isToMany {
      changeLinks(ordinal) { $0.remove(id) }
    } else {
      change(ordinal, to: .null)
    }
  }
}
