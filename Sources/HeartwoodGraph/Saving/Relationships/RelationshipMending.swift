import HeartwoodModel

/// Makes both ends of relationships agree where objects have come back or gone: after an undo or a redo, and after a
/// deletion that was taken back.
///
/// What the context has made refer elsewhere since stays there. What comes back to an ordered relationship gets the
/// place back that it had.
struct RelationshipMending {
  private let context: ManagedObjectContext
  /// The ends that an undo has put back as they were.
  private var revertedEnds: Set<RelationshipEnd> = []
  /// The objects that came back or went with an undo. Links between them are as they were.
  private var moved: Set<ObjectIdentifier> = []
  /// What has come back to the other ends already.
  private var returning = ReturningLinks()

  init(_ context: ManagedObjectContext) {
    self.context = context
  }
}

// MARK: Undo

extension RelationshipMending {
  /// Mends what an undo has left: `edits` have put back values of properties.
  ///
  /// - Parameters:
  ///   - strays: the edits of what something else has changed since, with the ids that they have made come and go.
  ///   - objects: the objects that came back or went.
  mutating func revert(
    _ edits: [PropertyEdit],
    strays: [(PropertyEdit, [ManagedObjectID])],
    moved objects: [ManagedObject]
  ) {
    revertedEnds = Set(edits.map { RelationshipEnd(object: $0.object, ordinal: $0.ordinal) })
    moved = Set(objects.map { ObjectIdentifier($0) })
    for (edit, ids) in strays {
      guard let inverse = edit.object.binding.traits[edit.ordinal].inverseOrdinal else { continue }
      for id in ids { mend(edit.object, edit.ordinal, inverse, id) }
    }
    mendLinks(of: objects)
  }
}

// MARK: Undeletion

extension RelationshipMending {
  /// Makes objects whose deletion is taken back, and those that their records refer to, refer to each other again.
  ///
  /// Links to objects that are deleted still go, as they would if those had been deleted alone. All objects must be
  /// there again before.
  mutating func undelete(_ objects: [ManagedObject]) {
    if objects.isEmpty { return }
    for object in objects { letGo(from: object) }
    var links = ReturningLinks()
    for object in objects {
      forEachOther(of: object) { other, _, inverse in
        if other.isUpdated { links.note(object.objectID, to: RelationshipEnd(object: other, ordinal: inverse)) }
      }
    }
    links.putBack()
    returning = links
    mendLinks(of: objects)
  }

  /// What the context has made refer elsewhere since stays there.
  private func letGo(from object: ManagedObject) {
    forEachOther(of: object) { other, ordinal, inverse in
      guard other.isPresent, !other.binding.traits[inverse].isToMany else { return }
      // It may have been read before others made it refer to the object.
      if !other.hasPersistentChangedValues, let error = other.readNewest() {
        context.postponeOtherEnd(of: object, ordinal, other.objectID, error)
      }
      guard let id = other.value(at: inverse).objectIDs.first, id != object.objectID else { return }
      object.unlink(ordinal, from: other.objectID)
    }
  }

  /// Calls `body` with each object that relationships of `object` with an inverse refer to, and the ordinals of both
  /// ends.
  private func forEachOther(of object: ManagedObject, _ body: (ManagedObject, Int, Int) -> Void) {
    for (ordinal, trait) in object.binding.traits.enumerated() {
      guard let inverse = trait.inverseOrdinal else { continue }
      for other in context.present(object.value(at: ordinal).objectIDs, from: object, ordinal) {
        body(other, ordinal, inverse)
      }
    }
  }
}

// MARK: Both ends

extension RelationshipMending {
  private func mendLinks(of objects: [ManagedObject]) {
    for object in objects {
      for (ordinal, trait) in object.binding.traits.enumerated() {
        guard let inverse = trait.inverseOrdinal else { continue }
        for id in object.value(at: ordinal).objectIDs where !isSettled(id, inverse, object) {
          mend(object, ordinal, inverse, id)
        }
      }
    }
  }

  /// Whether the end at `inverse` of the object of `id`, which `object` refers to, has been seen to.
  private func isSettled(_ id: ManagedObjectID, _ inverse: Int, _ object: ManagedObject) -> Bool {
    guard case .present(let other) = context.look(for: id) else { return false }
    let end = RelationshipEnd(object: other, ordinal: inverse)
    if moved.contains(ObjectIdentifier(other)) || returning.isBack(object.objectID, in: end) { return true }
    // What the event did to the end need not be all that has led it away from the object: a change that waited for a
    // record to be readable is an event of its own.
    return revertedEnds.contains(end) && (!object.isPresent || other.leads(inverse, to: object.objectID))
  }

  private func mend(_ object: ManagedObject, _ ordinal: Int, _ inverse: Int, _ id: ManagedObjectID) {
    let other: ManagedObject?
    switch context.look(for: id) {
    case .present(let object): other = object
    case .gone: other = nil
    case .unreadable(let error): return context.postponeOtherEnd(of: object, ordinal, id, error)
    }
    guard let other, other.isPresent else {
      if object.isPresent { forget(ordinal, of: object, id) }
      return
    }
    guard object.isPresent else { return forget(inverse, of: other, object.objectID) }
    switch (object.leads(ordinal, to: id), other.leads(inverse, to: object.objectID)) {
    case (true, false): other.link(inverse, to: object, forward: ordinal)
    case (false, true): other.unlink(inverse, from: object.objectID)
    case (true, true), (false, false): break
    }
  }

  /// Makes a relationship of `object` no longer refer to the object of `id`, which is not there, unless its deletion
  /// leaves that.
  private func forget(_ ordinal: Int, of object: ManagedObject, _ id: ManagedObjectID) {
    if object.leads(ordinal, to: id), !context.mayLead(object, ordinal, to: id) { object.unlink(ordinal, from: id) }
  }
}

// MARK: ReturningLinks

/// What comes back to to-many relationships that refer to objects which are there again, or which a policy makes refer
/// back.
struct ReturningLinks {
  private var ids: [RelationshipEnd: Set<ManagedObjectID>] = [:]
  /// What has its place back.
  private var places: [RelationshipEnd: Set<ManagedObjectID>] = [:]
}

extension ReturningLinks {
  mutating func note(_ id: ManagedObjectID, to end: RelationshipEnd) {
    if end.object.binding.traits[end.ordinal].isToMany { ids[end, default: []].insert(id) }
  }

  /// Makes the relationships refer again to what they referred to when their objects were read, at the same places.
  /// O(their objects).
  mutating func putBack() {
    for (end, ids) in ids {
      let former = end.object.committedValue(at: end.ordinal).objectIDs
      let places = ids.intersection(former)
      if places.isEmpty { continue }
      end.object.changeLinks(end.ordinal) { $0.putBack(places, asIn: former) }
      self.places[end] = places
    }
  }

  /// Whether a relationship refers to an object again, as far as is known.
  func isBack(_ id: ManagedObjectID, in end: RelationshipEnd) -> Bool { places[end]?.contains(id) ?? false }
}
