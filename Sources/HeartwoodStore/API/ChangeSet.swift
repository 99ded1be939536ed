public import HeartwoodModel

/// What a save does: the records that it inserts, updates and deletes.
///
/// Relationships of the values may name records that the same set inserts, by their temporary ids.
///
/// A context gives its changes column by column; records are made of them when they are asked for.
public struct ChangeSet: Sendable {
  /// The changes that were given record by record.
  package private(set) var byRecord: RecordChanges
  /// The changes that were given column by column.
  package private(set) var byColumn: ColumnChanges
  /// The records that the changes leave alone, and that must be as they were for them to be made.
  public var preconditions: [RecordPrecondition] = []

  /// Makes a set of changes.
  public init(inserted: [ObjectSnapshot] = [], updated: [RecordUpdate] = [], deleted: [RecordDeletion] = []) {
    self.byRecord = RecordChanges(inserted: inserted, updated: updated, deleted: deleted)
    self.byColumn = ColumnChanges()
  }

  package init(byColumn: ColumnChanges, byRecord: RecordChanges = RecordChanges()) {
    self.byRecord = byRecord
    self.byColumn = byColumn
  }

  /// Whether there is nothing to save.
  public var isEmpty: Bool { byRecord.isEmpty && byColumn.isEmpty }
}

extension ChangeSet {
  /// The new records. O(values).
  public var inserted: [ObjectSnapshot] {
    get { byColumn.insertedSnapshots + byRecord.inserted }
    set { (byColumn.insertions, byRecord.inserted) = ([], newValue) }
  }

  /// The changed records. O(values).
  public var updated: [RecordUpdate] {
    get { byColumn.recordUpdates + byRecord.updated }
    set { (byColumn.updates, byRecord.updated) = ([], newValue) }
  }

  /// The records that go. O(records).
  public var deleted: [RecordDeletion] {
    get { byColumn.recordDeletions + byRecord.deleted }
    set { (byColumn.deletions, byRecord.deleted) = ([], newValue) }
  }
}

/// Changes that are given record by record.
package struct RecordChanges: Sendable {
  package var inserted: [ObjectSnapshot] = []
  package var updated: [RecordUpdate] = []
  package var deleted: [RecordDeletion] = []

  package init(inserted: [ObjectSnapshot] = [], updated: [RecordUpdate] = [], deleted: [RecordDeletion] = []) {
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
  }

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}

extension ChangeSet {
  /// The references of records that are given one by one, by the name of their entity.
  package var recordReferences: [String: [ReferenceID]] {
    let ids =
      byRecord.updated.map(\.objectID) + byRecord.deleted.map(\.objectID) + preconditions.map(\.objectID)
      + byRecord.inserted.map(\.objectID)
    return Dictionary(grouping: ids.filter { !$0.isTemporaryID }, by: \.entity.name).mapValues { $0.map(\.reference) }
  }
}

// MARK: RecordUpdate

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

// MARK: RecordDeletion

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

// MARK: RecordPrecondition

/// A record that a save leaves alone, and that must be as it was for the save to be done.
public struct RecordPrecondition: Sendable {
  /// The record.
  public let objectID: ManagedObjectID
  /// The version that it must have. A store that has another, or no such record, refuses the save.
  public let version: UInt64

  /// Makes the precondition that a record has a version.
  public init(objectID: ManagedObjectID, version: UInt64) {
    self.objectID = objectID
    self.version = version
  }
}

// MARK: ObjectSnapshot

/// The values of one record at one version.
public struct ObjectSnapshot: Sendable {
  /// The record.
  public let objectID: ManagedObjectID
  /// How often the record has been saved, its insertion included; 0 for one that has not.
  public let version: UInt64
  /// The values, indexed by property ordinal of the object's entity.
  public let values: [PropertyValue]

  /// Makes a snapshot of values that are indexed by property ordinal.
  public init(objectID: ManagedObjectID, version: UInt64, values: [PropertyValue]) {
    self.objectID = objectID
    self.version = version
    self.values = values
  }
}

// MARK: ChangedObjectIDs

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

// MARK: RemoteChanges

/// What others have saved to an open store, as far as it is about records that were read.
package struct RemoteChanges: Sendable {
  package private(set) var records = ChangedObjectIDs()
  /// Whether there may be new records that are not named: those of entities of which not all had been read.
  package internal(set) var mayHaveMore = false
  /// Whether any record may have changed or gone that had been read: none is named.
  package internal(set) var mayBeAny = false

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
    mayBeAny = mayBeAny || later.mayBeAny
  }
}
