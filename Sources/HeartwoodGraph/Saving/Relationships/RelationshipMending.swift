import HeartwoodModel

/// Makes both ends of relationships agree after objects were restored or removed by an undo or a redo, or restored from
/// a deletion.
///
/// Relationships that the context has set to other destinations since keep these. A destination that returns to an
/// ordered relationship gets its former place.
struct RelationshipMending {
  private let context: ManagedObjectContext
  /// The ends that an undo has reset.
  private var revertedEnds: Set<RelationshipEnd> = []
  /// The objects that an undo has restored or removed. Links between them are as they were.
  private var moved: Set<ObjectIdentifier> = []
  /// The objects that have already returned to the other ends.
  private var returning = ReturningLinks()

  init(_ context: ManagedObjectContext) {
    self.context = context
  }
}

// MARK: Undo

extension RelationshipMending {
  /// Makes both ends agree after an undo, in which `edits` have reset properties.
  ///
  /// - Parameters:
  ///   - strays: the edits of properties that were changed since by something else, with the ids that they have added
  ///     and removed.
  ///   - objects: the objects that were restored or removed.
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
  /// Makes restored objects, and the objects to which their records refer, refer to each other again.
  ///
  /// Links to deleted objects are still removed, as if those had been deleted alone. All objects must have been
  /// restored before.
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

  /// Keeps the other destinations that the context has set since.
  private func letGo(from object: ManagedObject) {
    forEachOther(of: object) { other, ordinal, inverse in
      guard other.isPresent, !other.binding.traits[inverse].isToMany else { return }
      // The object may have been read before others made it refer to this one.
      if !other.hasPersistentChangedValues, let error = other.readNewest() {
        context.postponeOtherEnd(of: object, ordinal, other.objectID, error)
      }
      guard let id = other.value(at: inverse).objectIDs.first, id != object.objectID else { return }
      object.unlink(ordinal, from: other.objectID)
    }
  }

  /// Calls `body` with each destination of relationships of `object` with an inverse, and the ordinals of both ends.
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

  /// Returns whether the end at `inverse` of the object of `id`, to which `object` refers, was processed already.
  private func isSettled(_ id: ManagedObjectID, _ inverse: Int, _ object: ManagedObject) -> Bool {
    guard case .present(let other) = context.look(for: id) else { return false }
    let end = RelationshipEnd(object: other, ordinal: inverse)
    if moved.contains(ObjectIdentifier(other)) || returning.isBack(object.objectID, in: end) { return true }
    // The event need not be the only reason why the end refers to another object: a change that waited for a record to
    // be readable is an event of its own.
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

  /// Removes the object of `id`, which does not exist, from a relationship of `object`, unless its deletion leaves such
  /// references.
  private func forget(_ ordinal: Int, of object: ManagedObject, _ id: ManagedObjectID) {
    if object.leads(ordinal, to: id), !context.mayLead(object, ordinal, to: id) { object.unlink(ordinal, from: id) }
  }
}

// MARK: ReturningLinks

/// The links that return to to-many relationships, to objects that were restored or that a policy makes refer back.
struct ReturningLinks {
  private var ids: [RelationshipEnd: Set<ManagedObjectID>] = [:]
  /// The links that have their places again.
  private var places: [RelationshipEnd: Set<ManagedObjectID>] = [:]
}

extension ReturningLinks {
  mutating func note(_ id: ManagedObjectID, to end: RelationshipEnd) {
    if end.object.binding.traits[end.ordinal].isToMany { ids[end, default: []].insert(id) }
  }

  /// Restores the destinations that the relationships had when their objects were read, at the same places.
  /// O(destinations).
  mutating func putBack() {
    for (end, ids) in ids {
      let former = end.object.committedValue(at: end.ordinal).objectIDs
      let places = ids.intersection(former)
      if places.isEmpty { continue }
      end.object.changeLinks(end.ordinal) { $0.putBack(places, asIn: former) }
      self.places[end] = places
    }
  }

  /// Returns whether a relationship refers to an object again, as far as is known.
  func isBack(_ id: ManagedObjectID, in end: RelationshipEnd) -> Bool { places[end]?.contains(id) ?? false }
}
