public import HeartwoodModel

/// The records of one entity in an atomic store, column by column, in groups of rows.
///
/// It is a value: a copy is O(groups) and stays what it was while others go on. A change replaces the groups that it touches,
/// and in them the columns that it touches.
public struct NodeTable: Sendable {
  /// The entity whose records these are; subentities have tables of their own.
  public let entity: EntityDescription
  @usableFromInline
  package internal(set) var groups: [RowGroup]
  /// How many records there are. O(1).
  public internal(set) var count: Int
  /// The first row that no store has yet: it and those behind it may be in other rows in a later version of the table. Nil where
  /// all rows are a store's.
  package internal(set) var firstUnsavedRow: RowID?
  /// In what order the records are; in that of the rows unless they are read as they are needed.
  var order = RecordOrder.rows
  var indexes: ReferenceIndexes
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

  /// The row of a record that is gone, where the table still knows it.
  package func formerRow(of reference: ReferenceID) -> RowID? {
    // try?: a reference that occurs twice is thrown by whoever looks for the record; it is gone for this one.
    try? indexes.formerRow(of: reference, in: groups)
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
      "Records \(position(of: duplicate.first)) and \(position(of: duplicate.second)) have the same reference.",
      recovery: "Give each one of its own.",
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

  /// Whether `other` is just this version of the table. O(groups).
  package func isSame(as other: NodeTable) -> Bool {
    groups.count == other.groups.count && zip(groups, other.groups).allSatisfy { $0 === $1 }
  }

  /// The first row of `other`, another version of the table, that is not in this one, whether its record was deleted or not; nil where
  /// all are.
  package func firstRowMissing(of other: NodeTable) -> RowID? {
    let common = min(groups.count, other.groups.count)
    for ordinal in 0..<common where groups[ordinal].rowCount < other.groups[ordinal].rowCount {
      return RowID(group: ordinal, row: groups[ordinal].rowCount)
    }
    return other.groups.count > common ? RowID(group: common, row: 0) : nil
  }

  /// The rows of all records, in order.
  package var liveRows: LiveRows { LiveRows(groups) }

  /// What the store calls the record in `row`.
  package func reference(_ row: RowID) -> ReferenceID { groups[row.group].references[row.row] }

  /// The version of the record in `row`.
  package func version(_ row: RowID) -> UInt64 { groups[row.group].versions[row.row] }
}
