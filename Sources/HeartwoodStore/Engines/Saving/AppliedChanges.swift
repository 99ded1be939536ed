package import HeartwoodModel

/// What a change set makes of a store's records: new ones have their names, and all fit what others have saved. Nothing is written yet.
package struct AppliedChanges: Sendable {
  /// All changes, with permanent references.
  package let columns: ColumnChanges
  /// The permanent ids of the new records, by the ids that they came with.
  package let permanentIDs: [ManagedObjectID: ManagedObjectID]
  /// The rows of the new records of each entity, by ordinal, in the order of the changes.
  package let insertedRows: [Int: RowRuns]
  /// The records with the changes.
  var contents: StoreContents
}

extension AppliedChanges {
  /// - Parameters:
  ///   - contents: the records before the changes.
  ///   - contestedEntities: the entities, by ordinal, of which records may have references that were given to others; asked for once the
  ///     new records have their names.
  ///   - note: takes the references that records bring with them.
  ///   - newReferences: gives references to as many records of an entity as it is asked for.
  /// - Throws: ``PersistenceError/Code/saveConflict`` where a record has another version than its change was made on, or than is
  ///   expected; or what is wrong with a change.
  init(
    _ changes: ChangeSet,
    to contents: StoreContents,
    contestedEntities: () -> Set<Int> = { [] },
    note: ([ManagedObjectID]) -> Void = { _ in },
    newReferences: (Int, EntityDescription) throws(PersistenceError) -> ReferenceColumn
  ) throws(PersistenceError) {
    let resolution = try RecordResolution(
      changes.byRecord,
      expected: changes.expected,
      contents: contents,
      note: note,
      newReferences: newReferences
    )
    columns = changes.byColumn.appending(resolution.columns)
    let application = try ChangeApplication(
      columns,
      contents: contents,
      conflicts: resolution.conflicts,
      contestedEntities: contestedEntities()
    )
    permanentIDs = resolution.permanentIDs
    insertedRows = application.insertedRows
    self.contents = application.contents
  }

  /// The same changes, made in contents that have more records than those that they were made in before, and are as they were else.
  func applied(to contents: StoreContents) throws(PersistenceError) -> AppliedChanges {
    let application = try ChangeApplication(columns, contents: contents, conflicts: [], contestedEntities: [])
    var newContents = application.contents
    newContents.metadata = self.contents.metadata
    return AppliedChanges(
      columns: columns,
      permanentIDs: permanentIDs,
      insertedRows: application.insertedRows,
      contents: newContents
    )
  }

  /// What a save tells once it is done.
  func commit(number: UInt64) -> StoreCommit {
    StoreCommit(permanentIDs: permanentIDs, insertedRows: insertedRows, tables: contents.tables, number: number)
  }
}
