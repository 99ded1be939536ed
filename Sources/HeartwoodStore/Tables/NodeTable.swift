public import HeartwoodModel

/// The records of one entity in an atomic store, column by column, in groups of rows.
///
/// It is a value: a copy is O(groups) and stays what it was while others go on. A change replaces the groups that it touches,
/// and in them the columns that it touches.
public struct NodeTable: Sendable {
  /// The entity whose records these are; subentities have tables of their own.
  public let entity: EntityDescription
  @usableFromInline
  package private(set) var groups: [RowGroup]
  /// How many records there are. O(1).
  public private(set) var count: Int
  /// The first row that no store has yet: it and those behind it may be in other rows in a later version of the table. Nil where
  /// all rows are a store's.
  package private(set) var firstUnsavedRow: RowID?
  private var indexes: ReferenceIndexes
  private let verifier: (any TableVerifier)?

  /// A table of `groups`, in which no reference may occur twice: ``checkReferences()`` tells.
  ///
  /// - Parameter verifier: what makes sure of the groups before one is read, where that has not been done.
  package init(entity: EntityDescription, groups: [RowGroup] = [], verifier: (any TableVerifier)? = nil) {
    self.entity = entity
    self.verifier = verifier
    self.groups = groups
    self.count = groups.reduce(0) { $0 + $1.liveCount }
    self.indexes = ReferenceIndexes(groups)
  }
}

// MARK: Looking up

extension NodeTable {
  /// Makes sure that the records may be read; to be called once before the first is.
  package func verify() throws(PersistenceError) {
    try verifier?.verify()
  }

  /// The row of the record that the store calls `reference`, or nil where there is none.
  ///
  /// The first call indexes the table, which is O(rows); the others are O(1), or O(log rows) where records were inserted since.
  ///
  /// - Throws: ``PersistenceError/Code/duplicateReference`` where two records have the same reference.
  package func row(of reference: ReferenceID) throws(PersistenceError) -> RowID? {
    do throws(ReferenceIndex.Duplicate) {
      return try indexes.row(of: reference, in: groups)
    } catch {
      throw duplicateReference(error)
    }
  }

  /// Makes sure that no two records have the same reference.
  package func checkReferences() throws(PersistenceError) {
    if let duplicate = findDuplicate() { throw duplicateReference(duplicate) }
  }

  /// Two records that have the same reference, the second as early as can be, or nil where there are none.
  package func firstDuplicate() -> (first: RowID, second: RowID)? {
    findDuplicate().map { ($0.first, $0.second) }
  }

  private func findDuplicate() -> ReferenceIndex.Duplicate? {
    do throws(ReferenceIndex.Duplicate) {
      try indexes.checkForDuplicates()
      return nil
    } catch {
      return error
    }
  }

  private func duplicateReference(_ duplicate: ReferenceIndex.Duplicate) -> PersistenceError {
    PersistenceError(
      .duplicateReference,
      "Records \(position(of: duplicate.first)) and \(position(of: duplicate.second)) have the same reference; each needs "
        + "one of its own.",
      context: .init(entity: entity.name)
    )
  }

  /// The place of a row among all rows, counted from 1.
  private func position(of row: RowID) -> Int {
    groups[..<row.group].reduce(row.row + 1) { $0 + $1.rowCount }
  }

  @inlinable @inline(__always)
  package func isLive(_ row: RowID) -> Bool {
    row.group < groups.count && row.row < groups[row.group].rowCount && groups[row.group].isLive(row.row)
  }

  /// The rows of all records, in order.
  package var liveRows: LiveRows { LiveRows(groups) }

  /// What the store calls the record in `row`.
  package func reference(_ row: RowID) -> ReferenceID { groups[row.group].references[row.row] }

  /// The version of the record in `row`.
  package func version(_ row: RowID) -> UInt64 { groups[row.group].versions[row.row] }
}

// MARK: Changing

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

  /// Adds records at the end, whose references no other record of the table has, and returns their rows. O(new records + rows of
  /// the last group).
  @discardableResult
  package mutating func insert(_ rows: [NewRow]) -> [RowID] {
    if rows.isEmpty { return [] }
    var ids: [RowID] = []
    ids.reserveCapacity(rows.count)
    let builder = RowGroupBuilder(entity: entity)
    var target = groups.count
    if let last = groups.last, last.rowCount < RowID.rowsPerGroup {
      target -= 1
      builder.append(0..<last.rowCount, of: last)
    }
    let start = (group: target, row: builder.rowCount)
    for row in rows {
      if builder.isFull {
        place(builder.sealed(), at: target)
        target += 1
      }
      ids.append(RowID(group: target, row: builder.rowCount))
      builder.append(row.reference, version: 1, values: row.values)
    }
    place(builder.sealed(), at: target)
    count += rows.count
    indexes.add(from: start, of: groups)
    _checkInvariants()
    return ids
  }

  /// Adds records that no store has yet; see ``insert(_:)``.
  @discardableResult
  package mutating func insertUnsaved(_ rows: [NewRow]) -> [RowID] {
    let ids = insert(rows)
    firstUnsavedRow = firstUnsavedRow ?? ids.first
    return ids
  }

  /// Takes note that `row` and those behind it are no store's yet.
  package mutating func noteUnsaved(from row: RowID) {
    firstUnsavedRow = firstUnsavedRow ?? row
  }

  private mutating func place(_ group: RowGroup, at ordinal: Int) {
    precondition(ordinal < RowID.maximumGroupCount, "A table holds at most 4,294,967,296 rows.")
    if ordinal < groups.count { groups[ordinal] = group } else { groups.append(group) }
  }

  /// Changes values of records and raises their versions. O(rows of the columns touched).
  package mutating func update(_ updates: [RowUpdate]) {
    for (ordinal, updates) in Dictionary(grouping: updates, by: { $0.row.group }) {
      groups[ordinal] = groups[ordinal].applying(updates)
    }
    _checkInvariants()
  }

  /// Gives records a version, whatever they had. O(rows of the groups touched).
  package mutating func setVersion(_ version: UInt64, of rows: [RowID]) {
    for (ordinal, rows) in Dictionary(grouping: rows, by: \.group) {
      groups[ordinal] = groups[ordinal].versioning(rows.map(\.row), version)
    }
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
