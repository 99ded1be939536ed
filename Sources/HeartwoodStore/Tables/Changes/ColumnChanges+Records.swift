import HeartwoodModel

/// The same changes record by record, for whoever wants few of them or is in no hurry.
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
