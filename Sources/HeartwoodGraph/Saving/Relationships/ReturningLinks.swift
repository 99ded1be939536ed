import HeartwoodModel

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
