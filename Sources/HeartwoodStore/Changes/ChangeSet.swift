public import HeartwoodModel

/// What a save does: the records that it inserts, updates and deletes.
///
/// Relationships of the values may name records that the same set inserts, by their temporary ids.
public struct ChangeSet: Sendable {
  /// The new records.
  public var inserted: [ObjectSnapshot]
  /// The changed records.
  public var updated: [RecordUpdate]
  /// The records that go.
  public var deleted: [RecordDeletion]

  /// Makes a set of changes.
  public init(inserted: [ObjectSnapshot] = [], updated: [RecordUpdate] = [], deleted: [RecordDeletion] = []) {
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
  }

  /// Whether there is nothing to save.
  public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}

/// The new values of a record that a store has.
public struct RecordUpdate: Sendable {
  /// The record.
  public let objectID: ManagedObjectID
  /// The version that the changes were made on. A store that has another refuses them.
  public let baseVersion: UInt64
  /// The properties that changed, by ordinal, and their new values.
  public let values: [(ordinal: Int, value: PropertyValue)]

  /// Makes a change of the values of some properties.
  public init(objectID: ManagedObjectID, baseVersion: UInt64, values: [(ordinal: Int, value: PropertyValue)]) {
    self.objectID = objectID
    self.baseVersion = baseVersion
    self.values = values
  }
}

/// The end of a record that a store has.
public struct RecordDeletion: Sendable {
  /// The record.
  public let objectID: ManagedObjectID
  /// The version that was deleted. A store that has another refuses.
  public let baseVersion: UInt64

  /// Makes a deletion of a record as it was at a version.
  public init(objectID: ManagedObjectID, baseVersion: UInt64) {
    self.objectID = objectID
    self.baseVersion = baseVersion
  }
}

/// What became of a change set.
public struct SaveResult: Sendable {
  /// The permanent ids of the inserted records, by their temporary ones.
  public var permanentIDs: [ManagedObjectID: ManagedObjectID]

  /// Makes a result of permanent ids by temporary ones.
  public init(permanentIDs: [ManagedObjectID: ManagedObjectID] = [:]) {
    self.permanentIDs = permanentIDs
  }
}
