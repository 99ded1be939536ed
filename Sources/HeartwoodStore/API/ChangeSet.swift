package import HeartwoodModel

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
  public var expected: [RecordExpectation] = []

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
      byRecord.updated.map(\.objectID) + byRecord.deleted.map(\.objectID) + expected.map(\.objectID)
      + byRecord.inserted.map(\.objectID)
    return Dictionary(grouping: ids.filter { !$0.isTemporaryID }, by: \.entity.name).mapValues { $0.map(\.reference) }
  }
}
