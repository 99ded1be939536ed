package import HeartwoodModel

extension NodeTable {
  /// Adds records at the end, whose references no other record of the table has, and returns their rows.
  ///
  /// Full groups are used as they are. O(rows of the last groups of both).
  ///
  /// - Parameter limit: the last group is filled up if it has fewer rows than these. A small number keeps it cheap to
  ///   add records one by one, and makes more groups.
  @discardableResult
  package mutating func insert(_ inserted: [RowGroup], fillingGroupsBelow limit: Int = RowID.rowsPerGroup) -> RowRuns {
    noteOrder(of: inserted)
    var rows = RowRuns()
    var start: (group: Int, row: Int) = (groups.count, 0)
    for group in inserted where group.rowCount > 0 {
      if let last = groups.last, last.rowCount < limit, group.rowCount < RowID.rowsPerGroup {
        if rows.count == 0 { start = (groups.count - 1, last.rowCount) }
        appendPartly(group, behind: last, &rows)
      } else {
        append(group, &rows)
      }
      count += group.liveCount
    }
    if rows.count > 0 { indexes.add(from: start, of: groups) }
    _checkInvariants()
    return rows
  }

  /// Up to this number, records are added one by one, whatever their share of all.
  package static let fewRows = 256

  /// Returns the number of rows below which the last group of a table with `count` records is filled up: small enough
  /// that it is cheap to add records one by one, and large enough that the table never reaches the greatest number of
  /// groups.
  package static func groupSize(forCount count: Int) -> Int {
    min(max(fewRows, count / 4096), RowID.rowsPerGroup)
  }

  private mutating func append(_ group: RowGroup, _ rows: inout RowRuns) {
    precondition(groups.count < RowID.maximumGroupCount, "A table holds at most 4,294,967,296 rows.")
    rows.append(0..<group.rowCount, group: groups.count)
    groups.append(group)
  }

  /// Fills up the last group and puts the remaining rows into another one.
  private mutating func appendPartly(_ group: RowGroup, behind last: RowGroup, _ rows: inout RowRuns) {
    let builder = RowGroupBuilder(entity: entity)
    builder.append(0..<last.rowCount, of: last)
    var place = groups.count - 1
    var next = 0
    while next < group.rowCount {
      if builder.isFull {
        put(builder.sealed(), at: place)
        place = groups.count
      }
      // Bytes are counted again for each part, so that no column grows beyond the range of its offsets.
      let part = next..<min(group.rowCount, next + room(in: builder, for: group))
      rows.append(builder.rowCount..<(builder.rowCount + part.count), group: place)
      builder.append(part, of: group)
      next = part.upperBound
    }
    put(builder.sealed(), at: place)
  }

  /// Returns how many rows of `group` are appended to those of `builder`: all remaining ones if both are small.
  private func room(in builder: RowGroupBuilder, for group: RowGroup) -> Int {
    let rows = RowID.rowsPerGroup - builder.rowCount
    return builder.greatestByteCount + group.greatestByteCount <= RowGroupBuilder.columnByteLimit ? rows : min(1, rows)
  }

  private mutating func put(_ group: RowGroup, at place: Int) {
    precondition(place < RowID.maximumGroupCount, "A table holds at most 4,294,967,296 rows.")
    if place < groups.count { groups[place] = group } else { groups.append(group) }
  }

  /// Changes values of records and raises their versions. O(rows of the columns touched).
  mutating func update(_ updates: [UpdatedGroup]) {
    for update in updates { groups[update.group] = groups[update.group].applying(update) }
    _checkInvariants()
  }

  /// Deletes records. Their rows stay empty until the table is written and read again.
  package mutating func delete(_ rows: [RowID]) {
    for (ordinal, rows) in Dictionary(grouping: rows, by: \.group) {
      let before = groups[ordinal].liveCount
      groups[ordinal] = groups[ordinal].deleting(rows.map(\.row))
      count -= before - groups[ordinal].liveCount
    }
    _checkInvariants()
  }
}

// MARK: Unsaved records

extension NodeTable {
  /// Adds records that have not been saved in a store yet.
  @discardableResult
  package mutating func insertUnsaved(_ rows: [NewRow]) -> RowRuns {
    let rows = insert(rows)
    if let first = rows.first { noteUnsaved(from: first) }
    return rows
  }

  /// Notes that `row` and those after it have not been saved in a store yet.
  package mutating func noteUnsaved(from row: RowID) {
    firstUnsavedRow = firstUnsavedRow ?? row
  }

  /// Sets the version of records, whatever they had. O(rows of the groups touched).
  package mutating func setVersion(_ version: UInt64, of rows: [RowID]) {
    for (ordinal, rows) in Dictionary(grouping: rows, by: \.group) {
      groups[ordinal] = groups[ordinal].versioning(rows.map(\.row), version)
    }
  }
}

// MARK: Record by record

extension NodeTable {
  /// A record to be added to a table. Its values are indexed by property ordinal and fit their types.
  package struct NewRow: Sendable {
    package var reference: ReferenceID
    package var values: [PropertyValue]

    package init(reference: ReferenceID, values: [PropertyValue]) {
      self.reference = reference
      self.values = values
    }
  }

  /// A change of some values of a record.
  package struct RowUpdate: Sendable {
    package var row: RowID
    package var values: [(ordinal: Int, value: PropertyValue)]

    package init(row: RowID, values: [(ordinal: Int, value: PropertyValue)]) {
      self.row = row
      self.values = values
    }
  }

  /// Adds records at the end, whose references no other record of the table has, and returns their rows.
  @discardableResult
  package mutating func insert(_ rows: [NewRow]) -> RowRuns {
    insert(RowGroupBuilder.groups(of: rows, entity: entity))
  }

  /// Changes values of records and raises their versions. Of several values for the same property of the same row the
  /// last one is used.
  package mutating func update(_ updates: [RowUpdate]) {
    update(grouped(updates))
  }

  /// Returns changes of records of the table, group by group.
  package func grouped(_ updates: [RowUpdate]) -> [UpdatedGroup] {
    let order = updates.indices.sorted { (updates[$0].row.rawValue, $0) < (updates[$1].row.rawValue, $1) }
    var result: [UpdatedGroup] = []
    var builder = UpdatedGroupBuilder(entity: entity)
    var next = order.startIndex
    while next < order.endIndex {
      let row = updates[order[next]].row
      let end = order[next...].firstIndex { updates[$0].row != row } ?? order.endIndex
      builder.beginRow(row.row, baseVersion: version(row))
      var values: [Int: PropertyValue] = [:]
      for index in order[next..<end] {
        for (ordinal, value) in updates[index].values { values[ordinal] = value }
      }
      for (ordinal, value) in values { builder.column(ordinal).append(value) }
      next = end
      if next == order.endIndex || updates[order[next]].row.group != row.group {
        result.append(builder.sealed(group: row.group, base: groups[row.group]))
      }
    }
    return result
  }
}

extension RowGroupBuilder {
  /// Returns new records as groups, all but the last one full.
  package static func groups(of rows: [NodeTable.NewRow], entity: EntityDescription) -> [RowGroup] {
    var groups = RowGroupListBuilder(entity: entity)
    for row in rows { groups.next().append(row.reference, version: 1, values: row.values) }
    return groups.finish()
  }
}

// MARK: Renewing

extension NodeTable {
  /// Returns the records of `newest`, in which those that are also in this table keep the rows that they have here.
  ///
  /// A record that has the same version in both is the same, except for its to-many relationships: objects that refer
  /// to it may have changed without it. O(records).
  ///
  /// - Parameters:
  ///   - scopes: the scopes that object ids are made with, indexed by entity ordinal.
  ///   - note: called with the change of each record that differs.
  func renewed(
    by newest: NodeTable,
    scopes: [ObjectIDScope],
    note: (RemoteChanges.Fate, ReferenceID) -> Void = { _, _ in }
  ) throws(PersistenceError) -> NodeTable {
    try renewed(by: newest, rows: liveRows, scopes: scopes, note: note)
  }

  /// Returns this table, in which the records of `rows` are as in `newest`, and those of `newest` that it does not have
  /// are added. A record of `rows` that `newest` does not have is deleted. O(rows, rows of the groups touched).
  func renewed(
    by newest: NodeTable,
    rows: some Sequence<RowID>,
    scopes: [ObjectIDScope],
    note: (RemoteChanges.Fate, ReferenceID) -> Void
  ) throws(PersistenceError) -> NodeTable {
    var renewed = self
    var updates = RowRenewal()
    var deletions: [RowID] = []
    for row in rows {
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

  /// Returns the same table, in which the records that both have are as in `newest`.
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

  /// Returns the records that `other` does not have, with their versions.
  private func groups(missingIn other: NodeTable) throws(PersistenceError) -> [RowGroup] {
    var missing = RowGroupListBuilder(entity: entity)
    for row in liveRows where try other.row(of: reference(row)) == nil {
      missing.next().append(row.row..<(row.row + 1), of: groups[row.group])
    }
    return missing.finish()
  }
}

extension PropertyValue {
  /// Returns whether both are the same to readers of the property: the objects of a relationship without an order may
  /// come in any.
  package func isSame(as other: PropertyValue, _ trait: PropertyTrait) -> Bool {
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
