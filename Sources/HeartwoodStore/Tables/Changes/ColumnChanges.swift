public import HeartwoodModel

/// Changes in columns: however many records there are, they need only a few allocations for each 65,536.
package struct ColumnChanges: Sendable {
  package var insertions: [InsertedRows]
  package var updates: [UpdatedRows]
  package var deletions: [DeletedRows]
  /// The scopes that ids are made with, indexed by the entity ordinals of the references in the columns.
  package var scopes: [ObjectIDScope]

  package init(
    insertions: [InsertedRows] = [],
    updates: [UpdatedRows] = [],
    deletions: [DeletedRows] = [],
    scopes: [ObjectIDScope] = []
  ) {
    self.insertions = insertions
    self.updates = updates
    self.deletions = deletions
    self.scopes = scopes
  }

  var isEmpty: Bool { insertions.isEmpty && updates.isEmpty && deletions.isEmpty }

  /// Returns these changes followed by `others`, of the same store.
  func appending(_ others: ColumnChanges) -> ColumnChanges {
    if isEmpty { return others }
    return ColumnChanges(
      insertions: insertions + others.insertions,
      updates: updates + others.updates,
      deletions: deletions + others.deletions,
      scopes: scopes
    )
  }
}

/// New records of one entity, column by column: see ``ChangeSet/insertedRows``.
public struct InsertedRows: Sendable {
  /// The entity of the records.
  public let entity: EntityDescription
  /// The records, in order. All groups but the last are full, and none has deleted records.
  public let groups: [RowGroup]
  /// Whether the store chose the references for these records, so that no other can have them.
  package let hasGivenReferences: Bool

  package init(entity: EntityDescription, groups: [RowGroup], hasGivenReferences: Bool) {
    self.entity = entity
    self.groups = groups
    self.hasGivenReferences = hasGivenReferences
  }

  /// The number of records. O(groups).
  public var count: Int { groups.reduce(0) { $0 + $1.rowCount } }

  /// Returns records that were given one by one, entity by entity, in the order of the first of each.
  static func rows(of records: [ObjectSnapshot]) -> [InsertedRows] {
    var places: [Int: Int] = [:]
    var builders: [(entity: EntityDescription, rows: RowGroupListBuilder)] = []
    for record in records {
      let entity = record.objectID.entity
      let place = places[entity.ordinal] ?? builders.count
      if place == builders.count {
        places[entity.ordinal] = place
        builders.append((entity, RowGroupListBuilder(entity: entity)))
      }
      builders[place].rows.next().append(record.objectID.reference, version: record.version, values: record.values)
    }
    return builders.indices.map { place in
      InsertedRows(
        entity: builders[place].entity,
        groups: builders[place].rows.finish(),
        hasGivenReferences: false
      )
    }
  }
}

/// Changes of records of one entity.
package struct UpdatedRows: Sendable {
  package let entity: EntityDescription
  /// The changes, by group; each group of the table at most once.
  package let groups: [UpdatedGroup]
  /// The epoch of the table that these rows belong to; nil if it is the store's newest.
  let epoch: UInt64?

  package init(entity: EntityDescription, groups: [UpdatedGroup], epoch: UInt64? = nil) {
    self.entity = entity
    self.groups = groups
    self.epoch = epoch
  }
}

/// Records of one entity that are deleted.
package struct DeletedRows: Sendable {
  package let entity: EntityDescription
  package let rows: [RowID]
  /// The version that each record was deleted at.
  let baseVersions: [UInt64]
  /// The references of the records.
  let references: ReferenceColumn
  /// The epoch of the table that these rows belong to; nil if it is the store's newest.
  let epoch: UInt64?

  package init(
    entity: EntityDescription,
    rows: [RowID],
    baseVersions: [UInt64],
    references: ReferenceColumn,
    epoch: UInt64? = nil
  ) {
    self.epoch = epoch
    self.entity = entity
    self.rows = rows
    self.baseVersions = baseVersions
    self.references = references
  }
}

/// Changes of records in one group of a table.
package struct UpdatedGroup: Sendable {
  /// The place of the group in its table.
  package let group: Int
  /// The rows that change, ascending, each once.
  package let rows: [UInt16]
  /// The version of each row that its change was made on.
  package let baseVersions: [UInt64]
  /// A version of the group that has the rows; it contains their references.
  package let base: RowGroup
  /// The new values, by property ordinal; nil for properties that no row changes.
  package let columns: [UpdatedColumn?]
}

/// New values of one property.
package struct UpdatedColumn: Sendable {
  /// The changing rows that get a value: indexes of ``UpdatedGroup/rows``, ascending. Nil means all of them.
  let places: [UInt16]?
  package let values: RecordColumn

  /// Returns the index among the group's changing rows of the value at `index`.
  @inline(__always)
  package func place(_ index: Int) -> Int { places.map { Int($0[index]) } ?? index }
}

extension NodeTable {
  /// Returns the deletion of records of the table at their present versions.
  func deletion(of rows: [RowID]) -> DeletedRows {
    let references = ReferenceColumnBuilder()
    for row in rows { references.append(reference(row), entityOrdinal: entity.ordinal) }
    return DeletedRows(entity: entity, rows: rows, baseVersions: rows.map(version), references: references.sealed())
  }
}

// MARK: Records

/// The same changes record by record, for code that needs few of them or need not be fast.
extension ColumnChanges {
  var insertedSnapshots: [ObjectSnapshot] {
    insertions.flatMap { insertion in
      insertion.groups.flatMap { group in
        (0..<group.rowCount).map { row in
          ObjectSnapshot(
            objectID: id(group.references, row),
            version: group.versions[row],
            values: values(row, group, insertion.entity)
          )
        }
      }
    }
  }

  var recordUpdates: [RecordUpdate] {
    updates.flatMap { update in update.groups.flatMap { recordUpdates($0, update.entity) } }
  }

  var recordDeletions: [RecordDeletion] {
    deletions.flatMap { deletion in
      deletion.baseVersions.enumerated().map { index, version in
        RecordDeletion(objectID: id(deletion.references, index), baseVersion: version)
      }
    }
  }

  private func id(_ references: ReferenceColumn, _ index: Int) -> ManagedObjectID {
    ManagedObjectID(scope: scopes[references.entityOrdinal(index)], reference: references[index])
  }

  private func values(_ row: Int, _ group: RowGroup, _ entity: EntityDescription) -> [PropertyValue] {
    entity.traits.enumerated().map { ordinal, trait in
      group.value(row: row, ordinal: ordinal, type: trait.attributeType, scopes: scopes)
    }
  }

  private func recordUpdates(_ update: UpdatedGroup, _ entity: EntityDescription) -> [RecordUpdate] {
    var values: [[(ordinal: Int, value: PropertyValue)]] = Array(repeating: [], count: update.rows.count)
    for (ordinal, column) in update.columns.enumerated() {
      guard let column else { continue }
      for index in 0..<column.values.rowCount {
        let value = column.values.value(row: index, type: entity.traits[ordinal].attributeType, scopes: scopes)
        values[column.place(index)].append((ordinal, value))
      }
    }
    return update.rows.indices.map { index in
      RecordUpdate(
        objectID: id(update.base.references, Int(update.rows[index])),
        baseVersion: update.baseVersions[index],
        values: values[index]
      )
    }
  }
}

// MARK: InsertedRows: replacing

extension InsertedRows {
  /// Returns the same records with the values that some properties have in a table.
  ///
  /// - Parameter rows: the rows of the records in the table, in order.
  package func replacing(
    _ ordinals: [Int],
    with table: NodeTable,
    at rows: inout RowRuns.Iterator
  ) -> InsertedRows {
    if ordinals.isEmpty {
      for _ in 0..<count { _ = rows.next() }
      return self
    }
    var replaced: [RowGroup] = []
    for group in groups {
      let builders = ordinals.map { ColumnBuilder(kind: group.columns[$0].kind) }
      for _ in 0..<group.rowCount {
        guard let row = rows.next() else { break }
        for (ordinal, builder) in zip(ordinals, builders) {
          builder.append(row.row..<(row.row + 1), of: table.groups[row.group].columns[ordinal])
        }
      }
      var columns = group.columns
      for (ordinal, builder) in zip(ordinals, builders) { columns[ordinal] = builder.sealed() }
      replaced.append(RowGroup(references: group.references, versions: group.versions, columns: columns))
    }
    return InsertedRows(entity: entity, groups: replaced, hasGivenReferences: hasGivenReferences)
  }
}
