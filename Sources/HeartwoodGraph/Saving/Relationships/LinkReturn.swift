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
