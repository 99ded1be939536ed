package import HeartwoodModel

/// What others have saved to an open store, as far as it is about records that were read.
package struct RemoteChanges: Sendable {
  package private(set) var inserted: Set<ManagedObjectID> = []
  package private(set) var updated: Set<ManagedObjectID> = []
  package private(set) var deleted: Set<ManagedObjectID> = []
  /// Whether there may be new records that are not named: those of entities of which not all had been read.
  package internal(set) var mayHaveMore = false

  /// Whether no record is named.
  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  /// What may have become of a record.
  enum Fate {
    case inserted, updated, deleted
  }

  mutating func note(_ fate: Fate, _ id: ManagedObjectID) {
    switch fate {
    case .inserted: inserted.insert(id)
    case .updated: updated.insert(id)
    case .deleted: deleted.insert(id)
    }
  }

  /// Adds what was saved after these.
  mutating func append(_ later: RemoteChanges) {
    inserted.formUnion(later.inserted)
    inserted.subtract(later.deleted)
    updated.formUnion(later.updated)
    updated.subtract(later.deleted)
    updated.subtract(inserted)
    deleted.formUnion(later.deleted)
    deleted.subtract(later.inserted)
    mayHaveMore = mayHaveMore || later.mayHaveMore
  }
}
