import HeartwoodModel

/// Applies changes to the tables of an atomic store, which are in the store's own model and name records by permanent references.
struct ChangeApplication {
  private(set) var contents: StoreContents
  /// The rows of the new records of each entity, by ordinal, in the order of the changes.
  private(set) var insertedRows: [Int: RowRuns] = [:]

  /// - Parameters:
  ///   - conflicts: those that are known already.
  ///   - contestedEntities: the entities, by ordinal, of which records may have references that were given to others.
  /// - Throws: ``PersistenceError/Code/saveConflict`` where a record has another version than its change was made on.
  init(
    _ changes: ColumnChanges,
    contents: StoreContents,
    conflicts: [MergeConflict],
    contestedEntities: Set<Int>
  ) throws(PersistenceError) {
    self.contents = contents
    // Every change is held against the tables as they are before the first one is made.
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
    insertedRows[ordinal, default: RowRuns()].append(contents.tables[ordinal].insert(insertion.groups))
  }

  /// Records that come with a reference of their own must not have one that is taken.
  private func checkReferencesAreNew(_ insertion: InsertedRows) throws(PersistenceError) {
    let table = contents.tables[insertion.entity.ordinal]
    for group in insertion.groups {
      for row in 0..<group.rowCount {
        let reference = group.references[row]
        guard try table.row(of: reference) != nil else { continue }
        throw PersistenceError(
          .duplicateReference,
          "An object is inserted under the reference of another.",
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
