package import HeartwoodModel

/// The result of applying a change set to a store's records: new ones have their references, and there is no conflict
/// with what others have saved. Nothing is written yet.
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
  ///   - contestedEntities: returns the entities, by ordinal, whose records may have references that were given to
  ///     others; called once the new records have their references.
  ///   - note: receives the references that records bring with them.
  ///   - newReferences: returns references for as many records of an entity as it is asked for.
  /// - Throws: ``PersistenceError/Code/saveConflict`` if a record has another version than its change was made on, or
  ///   than is expected; or an error for an invalid change.
  init(
    _ changes: ChangeSet,
    to contents: StoreContents,
    contestedEntities: () -> Set<Int> = { [] },
    note: ([ManagedObjectID]) -> Void = { _ in },
    newReferences: (Int, EntityDescription) throws(PersistenceError) -> ReferenceColumn
  ) throws(PersistenceError) {
    let resolution = try RecordResolution(
      changes.byRecord,
      preconditions: changes.preconditions,
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

  /// Returns the same changes, applied to contents that have more records than those that they were applied to before,
  /// and are otherwise the same.
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

  /// Returns the result of the save once it is done.
  func commit(number: UInt64) -> StoreCommit {
    StoreCommit(permanentIDs: permanentIDs, insertedRows: insertedRows, tables: contents.tables, number: number)
  }
}

// MARK: ChangeApplication

/// Applies changes to the tables of an atomic store. They use the store's own model and identify records by permanent
/// references.
struct ChangeApplication {
  private(set) var contents: StoreContents
  /// The rows of the new records of each entity, by ordinal, in the order of the changes.
  private(set) var insertedRows: [Int: RowRuns] = [:]

  /// - Parameters:
  ///   - conflicts: the conflicts that are known already.
  ///   - contestedEntities: the entities, by ordinal, whose records may have references that were given to others.
  /// - Throws: ``PersistenceError/Code/saveConflict`` if a record has another version than its change was made on.
  init(
    _ changes: ColumnChanges,
    contents: StoreContents,
    conflicts: [MergeConflict],
    contestedEntities: Set<Int>
  ) throws(PersistenceError) {
    self.contents = contents
    // Every change is compared with the tables as they are before the first one is made.
    var conflicts = conflicts
    for update in changes.updates { findConflicts(of: update, &conflicts) }
    for deletion in changes.deletions { findConflicts(of: deletion, &conflicts) }
    if !conflicts.isEmpty { throw .saveConflict(conflicts) }
    for update in changes.updates { self.contents.tables[update.entity.ordinal].update(update.groups) }
    for deletion in changes.deletions { self.contents.tables[deletion.entity.ordinal].delete(deletion.rows) }
    for insertion in changes.insertions {
      let isContested = contestedEntities.contains(insertion.entity.ordinal)
      if isContested || !insertion.hasGivenReferences { try checkReferencesAreNew(insertion) }
      insert(insertion)
    }
  }

  private mutating func insert(_ insertion: InsertedRows) {
    let ordinal = insertion.entity.ordinal
    let limit = NodeTable.groupSize(forCount: contents.tables[ordinal].count)
    let rows = contents.tables[ordinal].insert(insertion.groups, fillingGroupsBelow: limit)
    insertedRows[ordinal, default: RowRuns()].append(rows)
  }

  /// Checks that records which come with references of their own have none that is taken.
  private func checkReferencesAreNew(_ insertion: InsertedRows) throws(PersistenceError) {
    let table = contents.tables[insertion.entity.ordinal]
    for group in insertion.groups {
      for row in 0..<group.rowCount {
        let reference = group.references[row]
        guard try table.row(of: reference) != nil else { continue }
        throw PersistenceError(
          .duplicateReference,
          "An object is inserted with the reference of another.",
          recovery: "Give it one of its own, or none.",
          context: .init(
            entity: insertion.entity.name,
            objectIDs: [contents.objectID(reference, of: insertion.entity)]
          )
        )
      }
    }
  }
}

// MARK: Conflicts

extension ChangeApplication {
  private func findConflicts(of update: UpdatedRows, _ conflicts: inout [MergeConflict]) {
    let table = contents.tables[update.entity.ordinal]
    for changed in update.groups {
      let group = table.groups[changed.group]
      if group.liveness == nil, case .same(let version) = group.versions,
        changed.baseVersions.allSatisfy({ $0 == version })
      {
        continue
      }
      for (row, baseVersion) in zip(changed.rows, changed.baseVersions) {
        findConflict(RowID(group: changed.group, row: Int(row)), of: table, baseVersion, &conflicts)
      }
    }
  }

  private func findConflicts(of deletion: DeletedRows, _ conflicts: inout [MergeConflict]) {
    let table = contents.tables[deletion.entity.ordinal]
    for (row, baseVersion) in zip(deletion.rows, deletion.baseVersions) {
      findConflict(row, of: table, baseVersion, &conflicts)
    }
  }

  @inline(__always)
  private func findConflict(
    _ row: RowID,
    of table: NodeTable,
    _ baseVersion: UInt64,
    _ conflicts: inout [MergeConflict]
  ) {
    let version = table.isLive(row) ? table.version(row) : nil
    if version == baseVersion { return }
    conflicts.append(
      MergeConflict(
        objectID: contents.objectID(table.reference(row), of: table.entity),
        oldVersion: baseVersion,
        persisted: version.map { _ in
          AtomicStoreCacheNode(
            group: table.groups[row.group],
            row: row.row,
            entity: table.entity,
            scopes: contents.scopes
          )
        }
      )
    )
  }
}

// MARK: StoreContents: applying

extension StoreContents {
  /// Makes changes in the tables and writes nothing. All ids are permanent.
  ///
  /// - Throws: ``PersistenceError/Code/saveConflict`` if a record has another version than its change was made on, or
  ///   than is expected.
  package mutating func apply(
    _ changes: ChangeSet,
    typeDescription: StoreTypeDescription
  ) throws -> AppliedChanges {
    var references = ReferenceAssigner()
    let preferred = typeDescription.capabilities.referenceKinds.first ?? .uuid
    let contents = self
    let applied = try AppliedChanges(
      changes,
      to: contents,
      newReferences: { count, entity throws(PersistenceError) in
        try references.newReferences(
          count,
          for: contents.tables[entity.ordinal],
          of: contents,
          preferred: preferred
        )
      }
    )
    self = applied.contents
    return applied
  }
}
