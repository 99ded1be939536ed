import HeartwoodModel
import Synchronization

/// What a save makes of a store's records: they have their names, fit those that others have saved, and are unique. Nothing is
/// written yet.
struct PreparedSave {
  /// All changes, with permanent references.
  let columns: ColumnChanges
  /// The permanent ids of the new records, by the ids that they came with.
  let permanentIDs: [ManagedObjectID: ManagedObjectID]
  /// The rows of the new records of each entity, by ordinal, in the order of the changes.
  let insertedRows: [Int: RowRuns]
  /// The records with the changes.
  var contents: StoreContents
  /// What the check for uniqueness is to learn once the changes are saved.
  let additions: UniquenessCheck.Additions
}

extension PreparedSave {
  /// - Parameters:
  ///   - contents: the records before the changes.
  ///   - contestedEntities: the entities, by ordinal, of which records may have references that were given to others.
  ///   - note: takes the references that records bring with them.
  ///   - newReferences: gives references to as many records of an entity as it is asked for.
  /// - Throws: ``PersistenceError/Code/saveConflict``, ``PersistenceError/Code/constraintConflict``, or what is wrong with a change.
  init(
    _ changes: ChangeSet,
    contents: StoreContents,
    uniqueness: borrowing Mutex<UniquenessCheck>,
    contestedEntities: () -> Set<Int>,
    note: ([ManagedObjectID]) -> Void,
    newReferences: (Int, EntityDescription) throws(PersistenceError) -> ReferenceColumn
  ) throws(PersistenceError) {
    let resolution = try RecordResolution(
      changes.byRecord,
      expected: changes.expected,
      contents: contents,
      note: note,
      newReferences: newReferences
    )
    let columns = changes.byColumn.appending(resolution.columns)
    let application = try ChangeApplication(
      columns,
      contents: contents,
      conflicts: resolution.conflicts,
      contestedEntities: contestedEntities()
    )
    additions = try uniqueness.withLock { check throws(PersistenceError) in
      try check.check(columns, before: contents, application)
    }
    self.columns = columns
    permanentIDs = resolution.permanentIDs
    insertedRows = application.insertedRows
    self.contents = application.contents
  }

  /// What the save tells once it is done.
  func commit(number: UInt64) -> StoreCommit {
    StoreCommit(permanentIDs: permanentIDs, insertedRows: insertedRows, tables: contents.tables, number: number)
  }
}
