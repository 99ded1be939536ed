public import HeartwoodModel
import Synchronization

/// The records of one entity in an atomic store, column by column, in groups of rows.
///
/// It is a value: a copy is O(groups) and does not change if other copies do. A change replaces the groups that it
/// touches, and in them the columns that it touches.
public struct NodeTable: Sendable {
  /// The entity whose records these are; subentities have tables of their own.
  public let entity: EntityDescription
  @usableFromInline
  package internal(set) var groups: [RowGroup]
  /// The number of records. O(1).
  public internal(set) var count: Int
  /// The first row that has not been saved in a store: it and those after it may be in other rows in a later version of
  /// the table. Nil if all rows have been saved.
  package internal(set) var firstUnsavedRow: RowID?
  /// The same for all versions of the table whose records stay in their rows. It changes when the records are forgotten
  /// and read again: a record may be in any row then.
  package internal(set) var epoch: UInt64 = 0
  /// The order of the records: that of the rows unless they are read as they are needed.
  var order = RecordOrder.rows
  var indexes: ReferenceIndexes
  private var verifier: (any TableVerifier)?

  /// Makes a table of `groups`, in which no reference may occur twice: ``checkReferences()`` checks that.
  ///
  /// - Parameters:
  ///   - count: the number of records once the table is verified; nil means that of the groups.
  ///   - verifier: checks the groups before one is read; nil if that has been done.
  package init(
    entity: EntityDescription,
    groups: [RowGroup] = [],
    count: Int? = nil,
    verifier: (any TableVerifier)? = nil
  ) {
    self.entity = entity
    self.verifier = verifier
    self.groups = groups
    self.count = count ?? groups.reduce(0) { $0 + $1.liveCount }
    self.indexes = ReferenceIndexes(groups)
  }
}

// MARK: Verifying

extension NodeTable {
  /// Whether the records may be read.
  package var isVerified: Bool { verifier == nil }

  /// Checks the records and returns the table from which they may be read. O(bytes) at the first call for the records
  /// of a file.
  package func verified() throws(PersistenceError) -> NodeTable {
    guard let verifier else { return self }
    guard let revised = try verifier.verify() else {
      var verified = self
      verified.verifier = nil
      return verified
    }
    return NodeTable(entity: entity, groups: revised)
  }
}

// MARK: Looking up

extension NodeTable {
  /// Returns the row of the record with `reference`, or nil if there is none.
  ///
  /// The first call indexes the table, which is O(rows); the others are O(1), or O(log rows) if records were inserted
  /// since.
  ///
  /// - Throws: ``PersistenceError/Code/duplicateReference`` if two records have the same reference.
  package func row(of reference: ReferenceID) throws(PersistenceError) -> RowID? {
    do throws(ReferenceIndex.Duplicate) {
      return try indexes.row(of: reference, in: groups)
    } catch {
      throw duplicateReference(error)
    }
  }

  /// Returns the row of a deleted record, if the table still has it.
  package func formerRow(of reference: ReferenceID) -> RowID? {
    // try?: a reference that occurs twice is thrown when its record is looked up; here it counts as deleted.
    try? indexes.formerRow(of: reference, in: groups)
  }

  /// Checks that no two records have the same reference.
  package func checkReferences() throws(PersistenceError) {
    if let duplicate = findDuplicate() { throw duplicateReference(duplicate) }
  }

  /// Returns two records that have the same reference, the second as early as possible, or nil if there are none.
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

  /// Returns the position of a row among all rows, counted from 1.
  private func position(of row: RowID) -> Int {
    groups[..<row.group].reduce(row.row + 1) { $0 + $1.rowCount }
  }

  @inlinable @inline(__always)
  package func isLive(_ row: RowID) -> Bool {
    row.group < groups.count && row.row < groups[row.group].rowCount && groups[row.group].isLive(row.row)
  }

  /// Returns whether `other` is the same version of the table. O(groups).
  package func isSame(as other: NodeTable) -> Bool {
    groups.count == other.groups.count && zip(groups, other.groups).allSatisfy { $0 === $1 }
  }

  /// Returns the first row of `other`, another version of the table, that is not in this one, whether its record was
  /// deleted or not; nil if this one has all.
  package func firstRowMissing(of other: NodeTable) -> RowID? {
    let common = min(groups.count, other.groups.count)
    for ordinal in 0..<common where groups[ordinal].rowCount < other.groups[ordinal].rowCount {
      return RowID(group: ordinal, row: groups[ordinal].rowCount)
    }
    return other.groups.count > common ? RowID(group: common, row: 0) : nil
  }

  /// The rows of all records, in order.
  package var liveRows: LiveRows { LiveRows(groups) }

  /// Returns the reference of the record in `row`.
  package func reference(_ row: RowID) -> ReferenceID { groups[row.group].references[row.row] }

  /// Returns the version of the record in `row`.
  package func version(_ row: RowID) -> UInt64 { groups[row.group].versions[row.row] }
}

// MARK: Epochs

extension NodeTable {
  private static let lastEpoch = Atomic<UInt64>(0)

  /// Returns a number that no epoch of any table has had.
  static func newEpoch() -> UInt64 { lastEpoch.wrappingAdd(1, ordering: .relaxed).newValue }
}

// MARK: Unreadable

extension NodeTable {
  /// Refuses a table whose records have values that could not be read. O(groups and properties).
  package func checkReadable() throws(PersistenceError) {
    for group in groups {
      for column in group.columns { try column.checkReadable(in: group) }
    }
  }

  /// Refuses a table whose records have values of one property that could not be read. O(groups).
  package func checkReadable(_ ordinal: Int) throws(PersistenceError) {
    for group in groups { try group.columns[ordinal].checkReadable(in: group) }
  }
}

extension RecordColumn {
  fileprivate func checkReadable(in group: RowGroup) throws(PersistenceError) {
    if let error = unreadable?.first(where: group.isLive) { throw error }
  }
}

extension StoreContents {
  /// Refuses contents some of which could not be read: they must not be taken for complete.
  package func checkReadable() throws(PersistenceError) {
    for table in tables { try table.checkReadable() }
  }
}

extension QueryTables {
  /// Refuses to evaluate properties of which some records have values that could not be read.
  package func checkReadable(_ properties: Set<CompiledProperty>) throws(PersistenceError) {
    for property in properties {
      for table in tables {
        guard let table, table.entity.properties.indices.contains(property.ordinal),
          table.entity.traits[property.ordinal].attributeType == property.attributeType
        else { continue }
        try table.checkReadable(property.ordinal)
      }
    }
  }
}

// MARK: Order

/// The order of the records of a table.
enum RecordOrder: Sendable, Equatable {
  /// The order of their rows.
  case rows
  /// The order of their numbers, which is that of their rows so far: records that are read next may have lower ones
  /// than `last`.
  case rowsAndNumbers(last: Int64)
  /// The order of their numbers. The rows are in the order in which the records were read.
  case numbers
}

extension NodeTable {
  /// Makes an empty table order its records by their numbers, in whatever order they are read.
  mutating func beginOrderByNumber() {
    order = .rowsAndNumbers(last: .min)
  }

  /// Updates the order for records that are added after the present ones. O(records) as long as these are in order.
  mutating func noteOrder(of inserted: [RowGroup]) {
    guard case .rowsAndNumbers(var last) = order else { return }
    for references in inserted.lazy.map(\.references) {
      for row in 0..<references.count {
        // Other references have no order.
        guard case .integer(let number) = references[row] else {
          order = .rows
          return
        }
        if number < last {
          order = .numbers
          return
        }
        last = number
      }
    }
    order = .rowsAndNumbers(last: last)
  }

  /// Whether the order of the rows differs from that of the records.
  package var isOutOfOrder: Bool {
    if case .numbers = order { true } else { false }
  }

  /// Returns a number that is less for a record that comes before another one of the table.
  package func place(of row: RowID) -> UInt64 {
    isOutOfOrder ? place(of: reference(row), in: row) : UInt64(row.rawValue)
  }

  /// Returns the same for a record that has `reference` and is in `row` in this version of the table or a later one.
  package func place(of reference: ReferenceID, in row: RowID) -> UInt64 {
    guard isOutOfOrder, case .integer(let number) = reference else { return UInt64(row.rawValue) }
    return UInt64(bitPattern: number) ^ 1 << 63
  }

  /// Returns the same, comparable with the places of records in other versions of the table.
  package func lastingPlace(of row: RowID) -> UInt64 {
    guard order != .rows, case .integer(let number) = reference(row) else { return UInt64(row.rawValue) }
    return UInt64(bitPattern: number) ^ 1 << 63
  }

  /// Returns whether a record comes before another one, whatever their values.
  func comes(_ left: RowID, before right: RowID) -> Bool {
    isOutOfOrder ? place(of: left) < place(of: right) : left.rawValue < right.rawValue
  }

  /// Returns rows, which are given from the first on, in the order of their records.
  func ordered(_ rows: [RowID]) -> [RowID] {
    guard isOutOfOrder else { return rows }
    return RadixSort.sorted(rows.map { RowSort.Entry(lead: place(of: $0), row: $0) }).map(\.row)
  }
}

// MARK: Memory

extension NodeTable {
  /// The number of bytes that the records take in memory, those of a mapped file included. O(groups).
  package var byteCount: Int { groups.reduce(0) { $0 + $1.byteCount } }
}

extension RowGroup {
  fileprivate var byteCount: Int {
    columns.reduce(references.byteCount + versions.byteCount + (liveness?.bytes.count ?? 0)) { $0 + $1.byteCount }
  }
}

extension RecordColumn {
  fileprivate var byteCount: Int {
    (validity?.bytes.count ?? 0) + (offsets?.count ?? 0) + values.count + (references?.byteCount ?? 0)
  }
}

extension ReferenceColumn {
  fileprivate var byteCount: Int {
    let names = values.count + (offsets?.count ?? 0)
    return if case .each(let ordinals) = entities { names + ordinals.count } else { names }
  }
}

extension VersionColumn {
  fileprivate var byteCount: Int {
    if case .each(let versions) = self { versions.count } else { 0 }
  }
}

// MARK: Invariants

extension NodeTable {
  /// Stops a debug build if the parts of the table do not fit together. O(rows); does nothing in a release build.
  @inline(__always)
  package func _checkInvariants() {
    #if DEBUG
      for group in groups { group._checkInvariants(of: entity) }
      assert(count == groups.reduce(0) { $0 + $1.liveCount }, "The table's count of records is wrong.")
      assert(groups.count <= RowID.maximumGroupCount, "The table has too many groups.")
    #endif
  }
}

extension RowGroup {
  #if DEBUG
    fileprivate func _checkInvariants(of entity: EntityDescription) {
      assert(columns.map(\.kind) == entity.properties.map { ColumnKind($0) }, "The columns are not the entity's.")
      for column in columns { assert(ColumnCheck.fault(in: column) == nil, ColumnCheck.fault(in: column) ?? "") }
      assert(ColumnCheck.fault(in: references) == nil, ColumnCheck.fault(in: references) ?? "")
      if case .each(let versions) = versions { assert(versions.count >= rowCount * 8, "There are too few versions.") }
      if let liveness {
        assert(liveness.bytes.count >= BitSlice.byteCount(rowCount), "There are too few liveness bits.")
      }
      assert(liveCount == liveRuns.reduce(0) { $0 + $1.count }, "The group's count of records is wrong.")
    }
  #endif
}
