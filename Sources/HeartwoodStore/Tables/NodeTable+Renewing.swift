import HeartwoodModel

extension NodeTable {
  /// The records of `newest`, those that both have in the rows that they have here.
  ///
  /// A record that has the same version in both is the same, but for its to-many relationships: what leads to it from elsewhere may have
  /// changed without it. O(records).
  ///
  /// - Parameter scopes: what object ids are made with, indexed by entity ordinal.
  func renewed(by newest: NodeTable, scopes: [ObjectIDScope]) throws(PersistenceError) -> NodeTable {
    var renewed = self
    var updates: [RowUpdate] = []
    var versions: [UInt64: [RowID]] = [:]
    var deletions: [RowID] = []
    for row in liveRows {
      guard let newRow = try newest.row(of: reference(row)) else {
        deletions.append(row)
        continue
      }
      let version = newest.version(newRow)
      let values = changedValues(row, newest, newRow, isAnotherVersion: version != self.version(row), scopes)
      if values.isEmpty, version == self.version(row) { continue }
      updates.append(RowUpdate(row: row, values: values))
      versions[version, default: []].append(row)
    }
    renewed.update(updates)
    renewed.delete(deletions)
    for (version, rows) in versions { renewed.setVersion(version, of: rows) }
    for group in try newest.groups(missingIn: self) { renewed.insert([group]) }
    return renewed
  }

  private func changedValues(
    _ row: RowID,
    _ newest: NodeTable,
    _ newRow: RowID,
    isAnotherVersion: Bool,
    _ scopes: [ObjectIDScope]
  ) -> [(ordinal: Int, value: PropertyValue)] {
    let (group, newGroup) = (groups[row.group], newest.groups[newRow.group])
    var values: [(ordinal: Int, value: PropertyValue)] = []
    for (ordinal, trait) in entity.traits.enumerated() where isAnotherVersion || trait.isToMany {
      let type = trait.attributeType
      let value = newGroup.value(row: newRow.row, ordinal: ordinal, type: type, scopes: scopes)
      if value == group.value(row: row.row, ordinal: ordinal, type: type, scopes: scopes) { continue }
      values.append((ordinal, value))
    }
    return values
  }

  /// The records that `other` does not have, with their versions.
  private func groups(missingIn other: NodeTable) throws(PersistenceError) -> [RowGroup] {
    let builder = RowGroupBuilder(entity: entity)
    var groups: [RowGroup] = []
    for row in liveRows where try other.row(of: reference(row)) == nil {
      if builder.isFull { groups.append(builder.sealed()) }
      builder.append(row.row..<(row.row + 1), of: self.groups[row.group])
    }
    if builder.rowCount > 0 { groups.append(builder.sealed()) }
    return groups
  }
}
