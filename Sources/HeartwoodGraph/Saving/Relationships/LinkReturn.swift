import HeartwoodModel

/// Lets objects whose deletion is taken back and those that their records lead to lead to each other again.
///
/// What the deletion took from an ordered relationship gets its place there back. Links to objects that are deleted still go, as they would
/// had those been deleted alone.
struct LinkReturn {
  private let context: ManagedObjectContext
  private let restored: [ManagedObject]

  init(_ context: ManagedObjectContext, _ restored: [ManagedObject]) {
    self.context = context
    self.restored = restored
  }

  func link() {
    if restored.isEmpty { return }
    for object in restored { letGo(from: object) }
    var returning = returningLinks
    returning.putBack()
    LinkMending(context, returning).mendLinks(of: restored)
  }

  /// What the context has let lead elsewhere since stays there.
  private func letGo(from object: ManagedObject) {
    for (ordinal, trait) in object.binding.traits.enumerated() {
      guard let inverse = trait.inverseOrdinal else { continue }
      for other in context.present(object.value(at: ordinal).objectIDs, from: object, ordinal) where other.isPresent {
        guard !other.binding.traits[inverse].isToMany else { continue }
        // It may have been read before others let it lead to the object.
        if !other.hasPersistentChangedValues, let error = other.readNewest() {
          context.postponeOtherEnd(of: object, ordinal, other.objectID, error)
        }
        guard let id = other.value(at: inverse).objectIDs.first else { continue }
        if id != object.objectID { object.unlink(ordinal, from: other.objectID) }
      }
    }
  }

  private var returningLinks: ReturningLinks {
    var result = ReturningLinks()
    for object in restored {
      for (ordinal, trait) in object.binding.traits.enumerated() {
        guard let inverse = trait.inverseOrdinal else { continue }
        for other in context.present(object.value(at: ordinal).objectIDs, from: object, ordinal) where other.isUpdated {
          result.note(object.objectID, to: RelationshipEnd(object: other, ordinal: inverse))
        }
      }
    }
    return result
  }
}

// MARK: ReturningLinks

/// What returns to relationships that lead to objects which are there again, or which a policy lets lead back.
struct ReturningLinks {
  private var ids: [RelationshipEnd: Set<ManagedObjectID>] = [:]
  /// What has its place back.
  private var places: [RelationshipEnd: Set<ManagedObjectID>] = [:]
}

extension ReturningLinks {
  mutating func note(_ id: ManagedObjectID, to end: RelationshipEnd) {
    if end.object.binding.traits[end.ordinal].isToMany { ids[end, default: []].insert(id) }
  }

  /// Lets to-many relationships lead again to what they led to when their objects were read, at the same places. O(their objects).
  mutating func putBack() {
    for (end, ids) in ids {
      let former = end.object.committedValue(at: end.ordinal).objectIDs
      let places = ids.intersection(former)
      if places.isEmpty { continue }
      end.object.changeLinks(end.ordinal) { $0.putBack(places, asIn: former) }
      self.places[end] = places
    }
  }

  /// Whether a relationship leads to an object again, as far as is known.
  func isBack(_ id: ManagedObjectID, in end: RelationshipEnd) -> Bool { places[end]?.contains(id) ?? false }
}

// MARK: LinkMending

/// Lets both ends of relationships agree after an event, or a deletion, was taken back, where that itself has not seen to it.
struct LinkMending {
  private let context: ManagedObjectContext
  /// The ends that the event has put back as they were.
  private let restored: Set<RelationshipEnd>
  /// The objects that came back or went. Links between them are as they were.
  private let moved: [ManagedObject]
  private let movedSet: Set<ObjectIdentifier>
  /// What leads back already.
  private let returning: ReturningLinks

  init(_ context: ManagedObjectContext, _ edits: [PropertyEdit], moved: [ManagedObject]) {
    self.context = context
    self.restored = Set(edits.map { RelationshipEnd(object: $0.object, ordinal: $0.ordinal) })
    self.moved = moved
    self.movedSet = Set(moved.map { ObjectIdentifier($0) })
    returning = ReturningLinks()
  }

  init(_ context: ManagedObjectContext, _ returning: ReturningLinks) {
    self.context = context
    (restored, moved, movedSet) = ([], [], [])
    self.returning = returning
  }
}

extension LinkMending {
  /// Mends the links of the objects that came back or went.
  func mend() { mendLinks(of: moved) }

  func mendLinks(of objects: [ManagedObject]) {
    for object in objects {
      for (ordinal, trait) in object.binding.traits.enumerated() {
        guard let inverse = trait.inverseOrdinal else { continue }
        for id in object.value(at: ordinal).objectIDs where !isSettled(id, inverse, object) {
          mend(object, ordinal, inverse, id)
        }
      }
    }
  }

  /// Mends the links with the objects of `ids`, which an edit that was reverted has let come or go.
  func mend(_ edit: PropertyEdit, _ ids: [ManagedObjectID]) {
    guard let inverse = edit.object.binding.traits[edit.ordinal].inverseOrdinal else { return }
    for id in ids { mend(edit.object, edit.ordinal, inverse, id) }
  }

  /// Whether the end at `inverse` of the object of `id`, which `object` leads to, has been seen to.
  private func isSettled(_ id: ManagedObjectID, _ inverse: Int, _ object: ManagedObject) -> Bool {
    guard case .present(let other) = context.look(for: id) else { return false }
    let end = RelationshipEnd(object: other, ordinal: inverse)
    if movedSet.contains(ObjectIdentifier(other)) || returning.isBack(object.objectID, in: end) { return true }
    // What the event did to the end need not be all that has led it away from the object: a change that waited for a record to be readable is
    // an event of its own.
    return restored.contains(end) && (!object.isPresent || other.leads(inverse, to: object.objectID))
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

  /// Lets a relationship of `object` no longer lead to the object of `id`, which is not there, unless its deletion leaves that.
  private func forget(_ ordinal: Int, of object: ManagedObject, _ id: ManagedObjectID) {
    if object.leads(ordinal, to: id), !context.mayLead(object, ordinal, to: id) { object.unlink(ordinal, from: id) }
  }
}
