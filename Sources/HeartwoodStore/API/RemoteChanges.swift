import HeartwoodModel

/// What others have saved to an open store, as far as it is about records that were read.
package struct RemoteChanges: Sendable {
  package private(set) var records = ChangedObjectIDs()
  /// Whether there may be new records that are not named: those of entities of which not all had been read.
  package internal(set) var mayHaveMore = false

  /// Whether no record is named.
  var isEmpty: Bool { records.isEmpty }

  /// What may have become of a record.
  enum Fate {
    case inserted, updated, deleted
  }

  mutating func note(_ fate: Fate, _ id: ManagedObjectID) {
    switch fate {
    case .inserted: records.inserted.insert(id)
    case .updated: records.updated.insert(id)
    case .deleted: records.deleted.insert(id)
    }
  }

  /// Adds what was saved after these.
  mutating func append(_ later: RemoteChanges) {
    records.append(later.records)
    mayHaveMore = mayHaveMore || later.mayHaveMore
  }
}
