import HeartwoodModel
import HeartwoodStore

/// Keeps both ends of relationships equal: all that does so in a context is reached from here.
///
/// Each entry point is called for one kind of event, which has changed one end, or has made objects come, go or read
/// another version. It makes the other ends follow. Its postcondition is that of ``RelationshipCheck``: both ends of
/// every relationship with an inverse agree for each two objects that are known. Debug builds assert it for the objects
/// that the event has touched, and tests for whole contexts.
///
/// | event | entry point | done by |
/// | --- | --- | --- |
/// | an end is set | ``didLink(_:_:to:)``, ``didUnlink(_:_:from:)`` | `ManagedObject.link`, `unlink` |
/// | a deletion | ``didDelete(_:_:from:)`` | `ManagedObject.unlink`; delete rules choose the objects |
/// | an object reads a newer version by itself | ``dropRefusedLinks(of:)`` | `ManagedObject.unlink` |
/// | a save, before it is written | ``conflict(in:)`` | ``DanglingReferences`` |
/// | a merge policy has to decide, and may take deletions back | ``beginMerge()``, ``end(_:restoring:)`` | ``RelationshipMerge``, ``RelationshipMending``, ``DanglingReferences`` |
/// | objects take newer versions | ``refreshing(_:_:)`` | ``RelationshipMerge`` |
/// | a child's save is taken in | ``endChildSave(of:keeping:advanced:_:)`` | ``RelationshipMending`` |
/// | an undo or a redo, event by event | ``mend(_:strays:moved:)``, ``endUndo(of:)`` | ``RelationshipMending`` |
///
/// What cannot be read follows later: see ``PostponedChange``. Batches change records and not objects, and stores keep
/// the two ends of what one save has changed alone equal; they have their own: `InverseLinks`, and `InverseSettlement`
/// in HeartwoodStore.
struct RelationshipUpkeep {
  private let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) {
    self.context = context
  }
}

// MARK: A save

extension RelationshipUpkeep {
  /// The conflict that saves come to since they would lead to records which others have deleted; nil if there is none.
  ///
  /// - Throws: what looking for the records throws.
  func conflict(in saves: [PendingSave]) throws(PersistenceError) -> PersistenceError? {
    try DanglingReferences(context).conflict(in: saves)
  }
}

// MARK: A merge

extension RelationshipUpkeep {
  /// Begins a merge, which is to be given the objects that are in conflict before a policy changes them.
  func beginMerge() -> RelationshipMerge { RelationshipMerge(context) }

  /// Makes the other ends follow what a policy has made of objects.
  ///
  /// - Parameter restored: the objects whose deletion it has taken back.
  /// - Throws: what looking for records throws that others have deleted.
  func end(_ merge: RelationshipMerge, restoring restored: [ManagedObject]) throws(PersistenceError) {
    // Objects that refer to each other must all be there again first.
    var mending = RelationshipMending(context)
    mending.undelete(restored)
    merge.settle()
    try DanglingReferences(context).drop()
    assertAgreement(of: merge.objects + restored, after: "a merge")
  }

  /// Calls `body`, which makes objects take the newest values, and makes the other ends of their relationships follow.
  /// None of it can be undone, and what was done before can.
  ///
  /// - Parameter body: must leave the objects alone that it is called with: they have changes, and others may have
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

  /// What a child has changed of a relationship.
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

  /// Ends the taking in of what a child has saved. It has changed both ends, unless it has dropped the changes of one
  /// by a refresh: that end follows here.
  ///
  /// - Parameters:
  ///   - objects: the objects that the child has inserted, changed or deleted.
  ///   - changes: what it has changed of relationships.
  ///   - kept: those of them that the child has deleted, and the context keeps.
  ///   - advanced: those of them that have read the version which the child saw.
  ///   - settle: lets go of the links that the context does not take.
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

  /// Makes the other ends of links that a child has added, or removed, follow if they do not yet.
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
  /// Makes both ends agree after an event was taken back, if that itself has not seen to it.
  ///
  /// - Parameters:
  ///   - edits: what was taken back of properties.
  ///   - strays: those of them that something else had changed since, with the ids that they made come and go.
  ///   - moved: the objects that came back or went.
  func mend(_ edits: [PropertyEdit], strays: [(PropertyEdit, [ManagedObjectID])], moved: [ManagedObject]) {
    var mending = RelationshipMending(context)
    mending.revert(edits, strays: strays, moved: moved)
  }

  /// Called when all events of a group were taken back. One alone may be half of a change: an event ends if an object
  /// reads a newer version while a relationship to it is changed.
  func endUndo(of events: @autoclosure () -> [GraphEvent]) {
    assertAgreement(of: events().flatMap(\.objects), after: "an undo or a redo")
  }
}

// MARK: The postcondition

extension RelationshipUpkeep {
  /// How many links are looked at after an event: the assertion must not take longer than the event by more than a
  /// factor.
  private static let mostLinks = 2_000

  /// Stops in a debug build if the ends of relationships of `objects` do not agree.
  ///
  /// - Parameter event: what has happened to them.
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
  /// Makes no relationship of an object that has read a newer version of its record refer to what the context has
  /// deleted or made refer elsewhere: the other end says so already.
  static func dropRefusedLinks(of object: ManagedObject) {
    // What refuses has changes.
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
    // What a list was not read with, the context has not taken from it: others may have added it since.
    return !other.binding.traits[inverse].isToMany
      || other.committedValue(at: inverse).objectIDs.contains(object.objectID)
  }
}

// MARK: A change

extension RelationshipUpkeep {
  /// Lets the other end follow after a relationship has been made to lead to an object more.
  @inline(__always)
  static func didLink(_ object: ManagedObject, _ ordinal: Int, to other: ManagedObject) {
    guard let inverse = object.binding.traits[ordinal].inverseOrdinal else { return }
    other.link(inverse, to: object, forward: ordinal)
    assertAgreement(object, ordinal, other, inverse)
  }

  /// Lets the other end follow after a relationship has been made to lead to an object less.
  @inline(__always)
  static func didUnlink(_ object: ManagedObject, _ ordinal: Int, from other: ManagedObject) {
    guard let inverse = object.binding.traits[ordinal].inverseOrdinal else { return }
    other.unlink(inverse, from: object.objectID)
    assertAgreement(object, ordinal, other, inverse)
  }

  /// The same for an object that may not have been read, or may be gone.
  static func didUnlink(_ object: ManagedObject, _ ordinal: Int, from id: ManagedObjectID) {
    guard let inverse = object.binding.traits[ordinal].inverseOrdinal else { return }
    object.unlinkOther(id, inverse, ordinal)
  }

  /// Lets objects no longer lead to one that is deleted.
  static func didDelete(_ object: ManagedObject, _ inverse: Int, from others: [ManagedObject]) {
    for other in others { other.unlink(inverse, from: object.objectID) }
    assert(
      others.allSatisfy { !$0.isPresent || $0.isUnread || !$0.leads(inverse, to: object.objectID) },
      "\(object) was deleted, and something still leads to it."
    )
  }

  /// Stops in a debug build if a change has left the two ends of a relationship with a difference, unless something
  /// could not be read.
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
  /// Lets the object of `id`, which a relationship no longer leads to, no longer lead back.
  fileprivate final func unlinkOther(_ id: ManagedObjectID, _ inverse: Int, _ ordinal: Int) {
    guard let context = binding.context else { return }
    switch context.look(for: id) {
    case .present(let other): other.unlink(inverse, from: objectID)
    case .gone: break
    case .unreadable(let error): context.postponeOtherEnd(of: self, ordinal, id, error)
    }
  }

  /// Lets this end of a relationship lead to `source`, whose other end at `forward` leads here already.
  ///
  /// Where it does so too, that end was read later: the newest of this one is read then, or the save would change one
  /// end alone. An object with changes stays as it is, since saving it is a conflict.
  final func link(_ ordinal: Int, to source: ManagedObject, forward: Int) {
    let id = source.objectID
    if !state.contains(.inserted), leads(ordinal, to: id), !hasPersistentChangedValues {
      if let error = readNewest() { binding.context?.postponeOtherEnd(of: source, forward, objectID, error) }
    }
    if binding.traits[ordinal].isToMany { return changeLinks(ordinal) { $0.append(id) } }
    // A to-one end leads to one object, so whoever had it loses it.
    if case .toOne(let previous) = value(at: ordinal), previous != id {
      unlinkOther(previous, forward, ordinal)
    }
    change(ordinal, to: .toOne(id))
  }

  /// Lets this end of a relationship no longer lead to the object of `id`. Where it does not, the newest of it is read
  /// first, as when linking.
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
