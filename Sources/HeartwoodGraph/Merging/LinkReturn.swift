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
    for (end, ids) in returningIDs { end.putBack(ids) }
    LinkMending(context).mendLinks(of: restored)
  }

  /// What may return to the to-many relationships that lead to the objects.
  private var returningIDs: [RelationshipEnd: Set<ManagedObjectID>] {
    var result: [RelationshipEnd: Set<ManagedObjectID>] = [:]
    for object in restored {
      for (ordinal, trait) in object.binding.traits.enumerated() {
        guard let inverse = trait.inverseOrdinal else { continue }
        for id in object.value(at: ordinal).objectIDs {
          guard let other = context.objectIfPresent(id), other.isUpdated, other.binding.traits[inverse].isToMany else {
            continue
          }
          result[RelationshipEnd(object: other, ordinal: inverse), default: []].insert(object.objectID)
        }
      }
    }
    return result
  }
}

extension RelationshipEnd {
  /// Lets the relationship lead again to what it led to when the object was read, where it is a to-many one.
  func putBack(_ ids: Set<ManagedObjectID>) {
    guard object.binding.traits[ordinal].isToMany else { return }
    let former = object.committedValue(at: ordinal).objectIDs
    if former.contains(where: ids.contains) {
      object.changeLinks(ordinal) { $0.putBack(ids, asIn: former) }
    }
  }
}
