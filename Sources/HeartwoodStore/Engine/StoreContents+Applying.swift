package import HeartwoodModel

extension StoreContents {
  /// What became of a change set that was applied.
  package struct AppliedChanges {
    /// All of them by column.
    package let columns: ColumnChanges
    /// The permanent ids of the inserted records, by those that they came with.
    package let permanentIDs: [ManagedObjectID: ManagedObjectID]
    /// The rows of the inserted records of each entity, by ordinal, in the order of the change set.
    package let insertedRows: [Int: RowRuns]
  }

  /// Makes changes in the tables and writes nothing. All ids are permanent.
  ///
  /// - Throws: ``PersistenceError/Code/saveConflict`` where a record has another version than its change was made on, or than is
  ///   expected.
  package mutating func apply(
    _ changes: ChangeSet,
    typeDescription: StoreTypeDescription
  ) throws -> AppliedChanges {
    var references = ReferenceAssigner()
    let preferred = typeDescription.capabilities.referenceKinds.first ?? .uuid
    let contents = self
    let resolution = try RecordResolution(
      changes.byRecord,
      expected: changes.expected,
      contents: self,
      note: { _ in },
      newReferences: { count, entity throws(PersistenceError) in
        try references.newReferences(
          count,
          for: contents.tables[entity.ordinal],
          of: contents,
          preferred: preferred
        )
      }
    )
    let columns = changes.byColumn.appending(resolution.columns)
    let application = try ChangeApplication(
      columns,
      contents: self,
      conflicts: resolution.conflicts,
      contestedEntities: []
    )
    self = application.contents
    return AppliedChanges(
      columns: columns,
      permanentIDs: resolution.permanentIDs,
      insertedRows: application.insertedRows
    )
  }
}
