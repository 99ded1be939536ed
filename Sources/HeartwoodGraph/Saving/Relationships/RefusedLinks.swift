import HeartwoodModel

// What others have let a relationship lead to, and the context has deleted or let lead elsewhere: the other end says so already.

extension ManagedObject {
  /// Lets no relationship lead to what the context has deleted or let lead elsewhere.
  final func dropRefusedLinks() {
    // Who refuses has changes.
    guard let context = managedObjectContext, !context.updated.isEmpty || !context.deleted.isEmpty else { return }
    for (ordinal, trait) in binding.traits.enumerated() where trait.inverseOrdinal != nil && !trait.isTransient {
      for id in value(at: ordinal).objectIDs where isRefused(id, at: ordinal) { unlink(ordinal, from: id) }
    }
  }

  private final func isRefused(_ id: ManagedObjectID, at ordinal: Int) -> Bool {
    guard let inverse = binding.traits[ordinal].inverseOrdinal, let context = managedObjectContext,
      let other = context.registeredObject(for: id)
    else { return false }
    if other.state.contains(.deleted) { return !context.mayLead(self, ordinal, to: id) }
    guard other.isUnsettled(inverse), !other.leads(inverse, to: objectID) else { return false }
    // What a list was not read with, the context has not taken from it: others may have added it since.
    return !other.binding.traits[inverse].isToMany
      || other.committedValue(at: inverse).objectIDs.contains(objectID)
  }
}
