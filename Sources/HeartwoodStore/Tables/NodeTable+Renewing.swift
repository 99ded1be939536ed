import HeartwoodModel

extension NodeTable {
  /// The records of `newest`, those that both have in the rows that they have here.
  ///
  /// A record that has the same version in both is the same, but for its to-many relationships: what leads to it from elsewhere may have
  /// changed without it. O(records).
  ///
  /// - Parameters:
  ///   - scopes: what object ids are made with, indexed by entity ordinal.
  ///   - note: is told what became of each record that is not as it was.
  func renewed(
    by newest: NodeTable,
    scopes: [ObjectIDScope],
    note: (RemoteChanges.Fate, ReferenceID) -> Void = { _, _ in }
  ) throws(PersistenceError) -> NodeTable {
    var renewed = self
    var updates = RowRenewal()
    var deletions: [RowID] = []
    for row in liveRows {
      guard let newRow = try newest.row(of: reference(row)) else {
        deletions.append(row)
        note(.deleted, reference(row))
        continue
      }
      let isAnotherVersion = newest.version(newRow) != version(row)
      let values = changedValues(row, newest, newRow, isAnotherVersion: isAnotherVersion, scopes)
      if values.isEmpty, !isAnotherVersion { continue }
      updates.add(row, values, version: newest.version(newRow))
      note(.updated, reference(row))
    }
    updates.apply(to: &renewed)
    renewed.delete(deletions)
    for group in try newest.groups(missingIn: self) {
      for row in 0..<group.rowCount { note(.inserted, group.reference(row)) }
      renewed.insert([group])
    }
    return renewed
  }

  /// The same, with those records as `newest` has them that both have.
  func corrected(by newest: NodeTable, scopes: [ObjectIDScope]) throws(PersistenceError) -> NodeTable {
    var corrected = self
    var updates = RowRenewal()
    for newRow in newest.liveRows {
      guard let row = try self.row(of: newest.reference(newRow)) else { continue }
      let values = changedValues(row, newest, newRow, isAnotherVersion: true, scopes)
      if !values.isEmpty { updates.add(row, values, version: newest.version(newRow)) }
    }
    updates.apply(to: &corrected)
    return corrected
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
      if value.isSame(as: group.value(row: row.row, ordinal: ordinal, type: type, scopes: scopes), trait) { continue }
      values.append((ordinal, value))
    }
    return values
  }

  /// The records that `other` does not have, with their versions.
  private func groups(missingIn other: NodeTable) throws(PersistenceError) -> [RowGroup] {
    var missing = RowGroupListBuilder(entity: entity)
    for row in liveRows where try other.row(of: reference(row)) == nil {
      missing.next().append(row.row..<(row.row + 1), of: groups[row.group])
    }
    return missing.finish()
  }
}

extension PropertyValue {
  /// Whether both are the same to whoever reads the property: of a relationship without an order the objects come in any.
  fileprivate func isSame(as other: PropertyValue, _ trait: PropertyTrait) -> Bool {
    if self == other { return true }
    guard trait.isToMany, !trait.isOrdered else { return false }
    let (ids, otherIDs) = (objectIDs, other.objectIDs)
    return ids.count == otherIDs.count && Set(ids) == Set(otherIDs)
  }
}

/// Rows that get other values and versions.
private struct RowRenewal {
  private var updates: [NodeTable.RowUpdate] = []
  private var versions: [UInt64: [RowID]] = [:]

  mutating func add(_ row: RowID, _ values: [(ordinal: Int, value: PropertyValue)], version: UInt64) {
    updates.append(NodeTable.RowUpdate(row: row, values: values))
    versions[version, default: []].append(row)
  }

  func apply(to table: inout NodeTable) {
    table.update(updates)
    for (version, rows) in versions { table.setVersion(version, of: rows) }
  }
}
