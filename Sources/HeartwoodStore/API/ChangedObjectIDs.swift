package import HeartwoodModel

/// What became of records.
package struct ChangedObjectIDs: Sendable {
  package var inserted: Set<ManagedObjectID> = []
  package var updated: Set<ManagedObjectID> = []
  package var deleted: Set<ManagedObjectID> = []

  package init() {}

  /// Whether nothing was changed.
  package var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  /// Adds what came after these, so that both together tell what became of each record.
  package mutating func append(_ later: ChangedObjectIDs) {
    inserted.subtract(later.deleted)
    inserted.formUnion(later.inserted)
    updated.formUnion(later.updated)
    updated.subtract(inserted)
    updated.subtract(later.deleted)
    deleted.subtract(later.inserted)
    deleted.formUnion(later.deleted)
  }
}
