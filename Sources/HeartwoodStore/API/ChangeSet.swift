public import HeartwoodModel

/// The changes of a save: the records that it inserts, updates and deletes.
///
/// An ``IncrementalStore`` gets them, with permanent ids only:
///
///     func save(_ changes: ChangeSet, over contents: StoreContents) throws {
///       for record in changes.inserted { try insert(record.objectID, version: record.version, record.values) }
///       for update in changes.updated { try set(update.values, of: update.objectID, version: update.baseVersion + 1) }
///       for deletion in changes.deleted { try delete(deletion.objectID) }
///     }
///
/// Before the framework has assigned permanent ids, relationships may refer to inserted records of the same set by
/// their temporary ids.
///
/// A context supplies its changes column by column; ``inserted``, ``updated`` and ``deleted`` are made from the columns
/// at each call, so keep the result instead of asking twice.
public struct ChangeSet: Sendable {
  /// The changes that were given record by record.
  package private(set) var byRecord: RecordChanges
  /// The changes that were given column by column.
  package private(set) var byColumn: ColumnChanges
  /// The records that the save does not change, and that must have a certain version for it to be done.
  public var preconditions: [RecordPrecondition] = []

  /// Creates a set of changes.
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
  /// The new records of each entity, column by column: what a store that binds or copies columns saves without
  /// intermediate values.
  ///
  ///     for rows in changes.insertedRows {
  ///       for group in rows.groups { try insert(group, into: table(of: rows.entity)) }
  ///     }
  ///
  /// O(entities) for the changes of a context; O(values) at each call for records that were given one by one.
  public var insertedRows: [InsertedRows] { byColumn.insertions + InsertedRows.rows(of: byRecord.inserted) }

  /// The new records, with all their values. O(values) at each call.
  public var inserted: [ObjectSnapshot] {
    get { byColumn.insertedSnapshots + byRecord.inserted }
    set { (byColumn.insertions, byRecord.inserted) = ([], newValue) }
  }

  /// The changed records, with the values that changed. O(values) at each call.
  public var updated: [RecordUpdate] {
    get { byColumn.recordUpdates + byRecord.updated }
    set { (byColumn.updates, byRecord.updated) = ([], newValue) }
  }

  /// The deleted records. O(records) at each call.
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
  /// The references of records that were given one by one, by the name of their entity.
  package var recordReferences: [String: [ReferenceID]] {
    let ids =
      byRecord.updated.map(\.objectID) + byRecord.deleted.map(\.objectID) + preconditions.map(\.objectID)
      + byRecord.inserted.map(\.objectID)
    return Dictionary(grouping: ids.filter { !$0.isTemporaryID }, by: \.entity.name).mapValues { $0.map(\.reference) }
  }
}

// MARK: RecordUpdate

/// New values for some properties of a record in a store.
public struct RecordUpdate: Sendable {
  /// The record.
  public let objectID: ManagedObjectID
  /// The version that the changes were made on. If the store has another one, the save fails.
  public let baseVersion: UInt64
  /// The properties that changed, by ordinal, and their new values.
  public let values: [(ordinal: Int, value: PropertyValue)]

  /// Creates a change of some properties of a record.
  public init(objectID: ManagedObjectID, baseVersion: UInt64, values: [(ordinal: Int, value: PropertyValue)]) {
    self.objectID = objectID
    self.baseVersion = baseVersion
    self.values = values
  }
}

// MARK: RecordDeletion

/// The deletion of a record in a store.
public struct RecordDeletion: Sendable {
  /// The record.
  public let objectID: ManagedObjectID
  /// The version that was deleted. If the store has another one, the save fails.
  public let baseVersion: UInt64

  /// Creates a deletion of a record as it was at a version.
  public init(objectID: ManagedObjectID, baseVersion: UInt64) {
    self.objectID = objectID
    self.baseVersion = baseVersion
  }
}

// MARK: RecordPrecondition

/// A record that a save does not change, and that must have a certain version for the save to be done.
public struct RecordPrecondition: Sendable {
  /// The record.
  public let objectID: ManagedObjectID
  /// The version that the record must have. If the store has another one, or no such record, the save fails.
  public let version: UInt64

  /// Creates the precondition that a record has a version.
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
  /// The number of times that the record has been saved, including its insertion; 0 for a record that has not been
  /// saved.
  public let version: UInt64
  /// The values, indexed by property ordinal of the object's entity.
  public let values: [PropertyValue]

  /// Creates a snapshot from values that are indexed by property ordinal.
  public init(objectID: ManagedObjectID, version: UInt64, values: [PropertyValue]) {
    self.objectID = objectID
    self.version = version
    self.values = values
  }
}

// MARK: ChangedObjectIDs

/// The records that were inserted, updated and deleted.
package struct ChangedObjectIDs: Sendable {
  package var inserted: Set<ManagedObjectID> = []
  package var updated: Set<ManagedObjectID> = []
  package var deleted: Set<ManagedObjectID> = []

  package init() {}

  /// Whether nothing was changed.
  package var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  /// Adds later changes, so that the result describes the effect of both on each record.
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

/// What other processes or stores have saved to an open store, as far as it concerns records that were read.
package struct RemoteChanges: Sendable {
  package private(set) var records = ChangedObjectIDs()
  /// Whether there may be new records that are not named: those of entities of which not all had been read.
  package internal(set) var mayHaveMore = false
  /// Whether any record that had been read may have changed or been deleted. No record is named then.
  package internal(set) var mayBeAny = false

  /// Whether no record is named.
  var isEmpty: Bool { records.isEmpty }

  /// What may have happened to a record.
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

  /// Adds later changes.
  mutating func append(_ later: RemoteChanges) {
    records.append(later.records)
    mayHaveMore = mayHaveMore || later.mayHaveMore
    mayBeAny = mayBeAny || later.mayBeAny
  }
}
