package import HeartwoodModel

extension NodeTable {
  /// Adds records at the end, whose references no other record of the table has, and returns their rows.
  ///
  /// Full groups are taken as they are. O(rows of the last groups of both).
  ///
  /// - Parameter limit: the last group is filled up where it has fewer rows than these. A small number keeps it cheap to add records one
  ///   by one, and makes more groups.
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

  private mutating func append(_ group: RowGroup, _ rows: inout RowRuns) {
    precondition(groups.count < RowID.maximumGroupCount, "A table holds at most 4,294,967,296 rows.")
    rows.append(0..<group.rowCount, group: groups.count)
    groups.append(group)
  }

  /// Fills up the last group and puts what is left into another one.
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
      // Bytes are counted anew for each part, so that no column grows beyond what its offsets can tell.
      let part = next..<min(group.rowCount, next + room(in: builder, for: group))
      rows.append(builder.rowCount..<(builder.rowCount + part.count), group: place)
      builder.append(part, of: group)
      next = part.upperBound
    }
    put(builder.sealed(), at: place)
  }

  /// How many rows of `group` go behind those of `builder`: all that are left where both are small.
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
  /// Adds records that no store has yet.
  @discardableResult
  package mutating func insertUnsaved(_ rows: [NewRow]) -> RowRuns {
    let rows = insert(rows)
    if let first = rows.first { noteUnsaved(from: first) }
    return rows
  }

  /// Takes note that `row` and those behind it are no store's yet.
  package mutating func noteUnsaved(from row: RowID) {
    firstUnsavedRow = firstUnsavedRow ?? row
  }

  /// Gives records a version, whatever they had. O(rows of the groups touched).
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

  /// Changes values of records and raises their versions. Of several values for the same property of the same row the last one
  /// counts.
  package mutating func update(_ updates: [RowUpdate]) {
    update(grouped(updates))
  }

  /// Changes of records that the table has, group by group.
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
  /// New records as groups, all but the last one full.
  package static func groups(of rows: [NodeTable.NewRow], entity: EntityDescription) -> [RowGroup] {
    var groups = RowGroupListBuilder(entity: entity)
    for row in rows { groups.next().append(row.reference, version: 1, values: row.values) }
    return groups.finish()
  }
}
