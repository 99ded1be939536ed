import HeartwoodModel
import HeartwoodStore

/// Finds relationships whose two ends disagree: it checks the postcondition of ``RelationshipUpkeep``.
///
/// Both ends of a relationship with an inverse must agree for each two objects that the context has, that have been
/// read, and that have the newest version of their records known to the context. Objects that were read from versions
/// of different saves may differ until they are merged or refreshed; saving a change of them is a conflict. While work
/// waits for records that cannot be read, nothing is guaranteed.
///
/// It reads nothing, creates no object, and changes nothing.
struct RelationshipCheck {
  private let context: ManagedObjectContext
  /// The destinations of unchanged ends that have many.
  private var unchangedIDs: [RelationshipEnd: Set<ManagedObjectID>] = [:]
  private(set) var disagreements: [RelationshipDisagreement] = []
  /// The number of links that may still be checked; links beyond it are skipped.
  private var linksLeft: Int

  /// - Parameter mostLinks: the greatest number of links to check.
  init(_ context: ManagedObjectContext, mostLinks: Int = .max) {
    self.context = context
    linksLeft = mostLinks
  }
}

/// Two ends of a relationship that do not agree.
struct RelationshipDisagreement: Hashable {
  /// The end that refers to the object of ``other``.
  let end: RelationshipEnd
  /// The end that does not refer back, or that of a deleted object to which nothing should refer.
  let other: RelationshipEnd
}

extension RelationshipDisagreement: CustomStringConvertible {
  var description: String {
    let (object, destination) = (end.object, other.object)
    let verb = destination.isPresent ? "does not refer back" : "is of a deleted object"
    return "\(object.entity.name).\(object.entity.properties[end.ordinal].name) of \(object.knownID) refers to "
      + "\(destination.knownID), whose \(destination.entity.properties[other.ordinal].name) \(verb)"
  }
}

extension RelationshipCheck {
  /// Checks all relationships of an object, from its side. O(present and former destinations).
  mutating func check(_ object: ManagedObject) {
    guard linksLeft > 0, object.isPresent, isRead(object) else { return }
    for (ordinal, trait) in object.binding.traits.enumerated() {
      guard let inverse = trait.inverseOrdinal, !trait.isTransient, object.binding.inverseMismatches[ordinal] == nil
      else { continue }
      let end = RelationshipEnd(object: object, ordinal: ordinal)
      for id in affordable(object.value(at: ordinal).objectIDs) { check(end, leads: true, to: id, inverse) }
      if object.isInserted || !object.isUnsettled(ordinal) { continue }
      for id in affordable(object.committedValue(at: ordinal).objectIDs) where !object.leads(ordinal, to: id) {
        check(end, leads: false, to: id, inverse)
      }
    }
  }

  /// Returns as many of `ids` as may still be checked.
  private mutating func affordable(_ ids: [ManagedObjectID]) -> ArraySlice<ManagedObjectID> {
    let result = ids.prefix(linksLeft)
    linksLeft -= result.count
    return result
  }

  private mutating func check(_ end: RelationshipEnd, leads: Bool, to id: ManagedObjectID, _ inverse: Int) {
    guard let object = context.knownObject(id), isRead(object), isDestination(object, of: end) else { return }
    let other = RelationshipEnd(object: object, ordinal: inverse)
    if !object.isPresent {
      if leads, isTakenAway(other), haveAgreed(end, other) { note(end, other) }
      return
    }
    if self.leads(other, to: end.object.knownID) == leads || !haveAgreed(end, other) { return }
    if leads { note(end, other) } else { note(other, end) }
  }

  private mutating func note(_ end: RelationshipEnd, _ other: RelationshipEnd) {
    let found = RelationshipDisagreement(end: end, other: other)
    // A removed link is found from both sides.
    if !disagreements.contains(found) { disagreements.append(found) }
  }

  private mutating func leads(_ end: RelationshipEnd, to id: ManagedObjectID) -> Bool {
    if !end.object.binding.traits[end.ordinal].isToMany || end.object.isUnsettled(end.ordinal) {
      return end.object.leads(end.ordinal, to: id)
    }
    if let known = unchangedIDs[end] { return known.contains(id) }
    let ids = Set(end.object.value(at: end.ordinal).objectIDs)
    linksLeft = max(0, linksLeft - ids.count)
    unchangedIDs[end] = ids
    return ids.contains(id)
  }
}

// MARK: Known values

extension RelationshipCheck {
  /// Returns whether the values of an object are available without reading.
  private func isRead(_ object: ManagedObject) -> Bool {
    !object.isFault && object.state.isDisjoint(with: [.detached, .inaccessible, .unread, .awaking, .deleting])
  }

  private func isDestination(_ object: ManagedObject, of end: RelationshipEnd) -> Bool {
    // In a damaged file, a relationship may refer to objects of any entity.
    end.object.binding.destinations[end.ordinal].map { object.entity.isKind(of: $0) } ?? false
  }

  /// Returns whether the deletion of the object of an end removes all references to it.
  private func isTakenAway(_ end: RelationshipEnd) -> Bool {
    guard end.object.state.contains(.deleted) else { return false }
    switch end.object.entity.properties[end.ordinal].relationship?.deleteRule {
    case .nullify, .cascade: return true
    case .noAction, .deny, nil: return false
    }
  }

  /// Returns whether both ends have the newest versions, and agree there: then they must agree in the context.
  private func haveAgreed(_ end: RelationshipEnd, _ other: RelationshipEnd) -> Bool {
    isNewest(end.object) && isNewest(other.object)
      && wasLeading(end, to: other.object.knownID) == wasLeading(other, to: end.object.knownID)
  }

  private func isNewest(_ object: ManagedObject) -> Bool {
    if object.isInserted { return true }
    if context.saveProgress.isOneSided(object.knownID) { return false }
    return object.binding.liveGroup(of: object.rowID)?.versions[object.rowID.row] == object.baseVersion
  }

  private func wasLeading(_ end: RelationshipEnd, to id: ManagedObjectID) -> Bool {
    !end.object.isInserted && end.object.committedValue(at: end.ordinal).objectIDs.contains(id)
  }
}

// MARK: ManagedObjectContext: asking

extension ManagedObjectContext {
  /// Whether both ends of relationships must agree now: no work waits for records that could not be read, nor for new
  /// ids from a conversion.
  var relationshipsAreToAgree: Bool { postponed.isEmpty && hasFollowedConversions }

  /// The relationships of all objects that the context has read whose two ends disagree, for tests. O(destinations). It
  /// reads nothing.
  package var relationshipDisagreements: [String] {
    guard relationshipsAreToAgree else { return [] }
    var check = RelationshipCheck(self)
    for object in registeredObjects { check.check(object) }
    return check.disagreements.map(\.description)
  }
}
