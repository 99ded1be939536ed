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
    var returning = returningLinks
    returning.putBack()
    LinkMending(context, returning).mendLinks(of: restored)
  }

  private var returningLinks: ReturningLinks {
    var result = ReturningLinks()
    for object in restored {
      for (ordinal, trait) in object.binding.traits.enumerated() {
        guard let inverse = trait.inverseOrdinal else { continue }
        for id in object.value(at: ordinal).objectIDs {
          guard let other = context.objectIfPresent(id), other.isUpdated else { continue }
          result.note(object.objectID, to: RelationshipEnd(object: other, ordinal: inverse))
        }
      }
    }
    return result
  }
}
