import HeartwoodModel
import HeartwoodStore

/// Keeps both ends of relationships equal: all that does so in a context is reached from here.
///
/// Each entry point is called for one kind of event, which has changed one end, or has let objects come, go or read another version. It lets
/// the other ends follow: both ends of every relationship with an inverse are to agree for each two objects that are known. ``RelationshipCheck``
/// says what that means, and tests hold it against whole contexts. Debug builds stop where a change or a deletion has not come to it.
///
/// | event | entry point | done by |
/// | --- | --- | --- |
/// | an end is set | ``didLink(_:_:to:)``, ``didUnlink(_:_:from:)`` | `ManagedObject.link`, `unlink` |
/// | a deletion | ``didDelete(_:_:from:)`` | `ManagedObject.unlink`; delete rules choose the objects |
/// | a save, before it is written | ``conflict(in:)`` | ``DanglingReferences`` |
/// | a merge policy has to decide | ``beginMerge()``, ``end(_:restoring:)`` | ``LinkSettlement``, ``LinkReturn``, ``DanglingReferences`` |
/// | objects take newer versions | ``refreshing(_:_:)`` | ``LinkSettlement`` |
/// | a child's save is taken in | ``endChildSave(keeping:advanced:_:)`` | ``LinkReturn``, refused links |
/// | an undo or a redo | ``mend(_:strays:moved:)`` | ``LinkMending`` |
/// | objects get other ids | ``objects(leadingTo:)`` | ``Referrers`` |
///
/// What cannot be read follows later: see ``PostponedChange``. Batches change records and not objects, and stores keep the two ends of what one
/// save has changed alone equal; they have their own: `InverseLinks`, and `InverseSettlement` in HeartwoodStore.
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
  /// Begins a merge. The settlement is to be given the objects that are in conflict, before a policy changes them.
  func beginMerge() -> LinkSettlement { LinkSettlement(context) }

  /// Lets the other ends follow what a policy has made of objects.
  ///
  /// - Parameter restored: the objects whose deletion it has taken back.
  /// - Throws: what looking for records throws that others have deleted.
  func end(_ settlement: LinkSettlement, restoring restored: [ManagedObject]) throws(PersistenceError) {
    // Objects that lead to each other must all be there again first.
    LinkReturn(context, restored).link()
    settlement.settle()
    try DanglingReferences(context).drop()
  }

  /// Calls `body`, which lets objects take the newest values, and lets the other ends of their relationships follow. None of it can be
  /// undone, and what was done before can.
  ///
  /// - Parameter body: must leave the objects alone that it is called with: they have changes, and others may have changed them too, which
  ///   cannot be read. That is noted.
  func refreshing(_ objects: [ManagedObject], _ body: (_ unread: Set<ManagedObject>) -> Void) {
    context.registerPendingChanges()
    var settlement = LinkSettlement(context)
    var unread: Set<ManagedObject> = []
    for object in objects where object.isUpdated {
      if object.synchronize() != nil || object.isBehind && !settlement.noteIfReadable(object) { unread.insert(object) }
    }
    body(unread)
    if let recorder = context.recorder { recorder.pausing(settlement.settle) } else { settlement.settle() }
  }

  /// Ends the taking in of what a child has saved, of which it has changed both ends.
  ///
  /// - Parameters:
  ///   - kept: the objects that the child has deleted, and the context keeps.
  ///   - advanced: the objects that have read the version which the child saw.
  ///   - settle: lets go of the links that the context does not take.
  func endChildSave(keeping kept: [ManagedObject], advanced: [ManagedObject], _ settle: () -> Void) {
    LinkReturn(context, kept).link()
    settle()
    for object in advanced { object.dropRefusedLinks() }
  }
}

// MARK: Undo

extension RelationshipUpkeep {
  /// Lets both ends agree after an event was taken back, where that itself has not seen to it.
  ///
  /// - Parameters:
  ///   - edits: what was taken back of properties.
  ///   - strays: those of them that something else had changed since, with the ids that they let come and go.
  ///   - moved: the objects that came back or went.
  func mend(_ edits: [PropertyEdit], strays: [(PropertyEdit, [ManagedObjectID])], moved: [ManagedObject]) {
    let mending = LinkMending(context, edits, moved: moved)
    for (edit, ids) in strays { mending.mend(edit, ids) }
    mending.mend()
  }

  /// The objects that lead to others by ids which these no longer have. O(records of the entities that have relationships without an inverse
  /// to them).
  func objects(leadingTo renamed: [ManagedObjectID: ManagedObject]) -> Set<ManagedObject> {
    Referrers(context).objects(leadingTo: renamed)
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

  /// Stops in a debug build if a change has left the two ends of a relationship with a difference, unless something could not be read.
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
  /// Where it does so too, that end was read later: the newest of this one is read then, or the save would change one end alone. An object
  /// with changes stays as it is, since saving it is a conflict.
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

  /// Lets this end of a relationship no longer lead to the object of `id`. Where it does not, the newest of it is read first, as when linking.
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
