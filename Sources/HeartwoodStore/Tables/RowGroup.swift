import HeartwoodFoundation
package import HeartwoodModel

/// Up to 65,536 records of one entity, column by column. It never changes: an update makes a new group that shares the columns
/// that stayed the same.
///
/// `@unchecked Sendable`: ``unsafeViews`` points to memory that is written in `init` only and freed in `deinit`; the columns that
/// the views point into are held as long as the group is.
@usableFromInline
package final class RowGroup: @unchecked Sendable {
  @usableFromInline
  package let rowCount: Int
  package let references: ReferenceColumn
  package let versions: VersionColumn
  /// The columns, indexed by property ordinal.
  package let columns: [Column]
  /// A bit for each row, set where the record has not been deleted; nil where all are there.
  @usableFromInline
  package let liveness: BitSlice?
  /// How many rows are records that have not been deleted.
  package let liveCount: Int
  /// Views of the columns, indexed by property ordinal, valid as long as the group is held.
  @usableFromInline
  package let unsafeViews: UnsafePointer<ColumnView>
  /// The names of the records where all are UUIDs, as long as the group is held.
  private let unsafeUUIDs: ColumnView?

  package init(references: ReferenceColumn, versions: VersionColumn, columns: [Column], liveness: BitSlice? = nil) {
    precondition(references.count <= RowID.rowsPerGroup, "A group has too many rows.")
    precondition(columns.allSatisfy { $0.rowCount == references.count }, "The columns differ in length.")
    self.rowCount = references.count
    self.references = references
    self.versions = versions
    self.columns = columns
    self.liveness = liveness
    self.liveCount = liveness?.setBitCount(references.count) ?? references.count
    let views = UnsafeMutablePointer<ColumnView>.allocate(capacity: max(1, columns.count))
    for (ordinal, column) in columns.enumerated() { (views + ordinal).initialize(to: ColumnView(column)) }
    self.unsafeViews = UnsafePointer(views)
    self.unsafeUUIDs = references.unsafeUUIDs
  }

  deinit {
    unsafeViews.deallocate()
  }
}

extension RowGroup {
  /// Whether the record in `row` has not been deleted.
  @inlinable @inline(__always)
  package func isLive(_ row: Int) -> Bool { liveness?[row] ?? true }

  /// The rows of records that have not been deleted, as runs of neighbours.
  package var liveRuns: [Range<Int>] {
    if let liveness { return liveness.setRuns(rowCount) }
    return rowCount > 0 ? [0..<rowCount] : []
  }

  /// What the store calls the record in `row`, without counting references to the column.
  package func reference(_ row: Int) -> ReferenceID {
    guard let unsafeUUIDs else { return references[row] }
    precondition(row >= 0 && row < rowCount, "The row is not in the table.")
    return .uuid(unsafeUUIDs.unsafeUUID(row))
  }

  /// Why the value of a property in `row` cannot be read; nil if it can.
  package func unreadable(row: Int, ordinal: Int) -> PersistenceError? { columns[ordinal].unreadable?[row] }

  /// The value of a property in `row`. One that cannot be read is empty: ask ``unreadable(row:ordinal:)`` about text and data that are.
  ///
  /// - Parameter scopes: what object ids are made with, indexed by entity ordinal.
  package func value(row: Int, ordinal: Int, type: AttributeType?, scopes: [ObjectIDScope]) -> PropertyValue {
    precondition(row >= 0 && row < rowCount && columns.indices.contains(ordinal), "The row is not in the table.")
    guard let type else { return columns[ordinal].relationshipValue(row: row, scopes: scopes) }
    return unsafeViews[ordinal].unsafeAttributeValue(row, type)
  }
}

extension Column {
  /// The value in `row`.
  ///
  /// - Parameters:
  ///   - type: the type of an attribute; nil for a relationship.
  ///   - scopes: what object ids are made with, indexed by entity ordinal.
  package func value(row: Int, type: AttributeType?, scopes: [ObjectIDScope]) -> PropertyValue {
    precondition(row >= 0 && row < rowCount, "The row is not in the table.")
    guard let type else { return relationshipValue(row: row, scopes: scopes) }
    return withExtendedLifetime(self) { ColumnView(self).unsafeAttributeValue(row, type) }
  }

  fileprivate func relationshipValue(row: Int, scopes: [ObjectIDScope]) -> PropertyValue {
    guard let references else { return .null }
    func id(_ index: Int) -> ManagedObjectID? {
      let ordinal = references.entityOrdinal(index)
      return scopes.indices.contains(ordinal)
        ? ManagedObjectID(scope: scopes[ordinal], reference: references[index]) : nil
    }
    if kind == .toMany { return .toMany(range(row).compactMap(id)) }
    guard validity?[row] ?? true else { return .null }
    return id(row).map(PropertyValue.toOne) ?? .null
  }
}

extension ColumnView {
  /// The value in `row`, which is one of the column's, and is not checked to be.
  package func unsafeAttributeValue(_ row: Int, _ type: AttributeType) -> PropertyValue {
    if unsafeIsNull(row) { return .null }
    switch type {
    case .integer16, .integer32, .integer64: return .integer(unsafeInteger(row))
    case .decimal: return .decimal(unsafeDecimal(row))
    case .double: return .double(unsafeDouble(row))
    case .float: return .float(unsafeFloat(row))
    case .string: return .string(unsafeString(row))
    case .boolean: return .boolean(unsafeBoolean(row))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: unsafeDouble(row)))
    case .binary, .transformable: return .binary(Data(unsafeBytes(row)))
    case .uuid: return .uuid(unsafeUUID(row))
    case .uri: return URL(string: unsafeString(row)).map(PropertyValue.uri) ?? .null
    case .undefined: return .null
    }
  }
}

// MARK: Changes

extension RowGroup {
  /// The group with some values changed and the versions of the changed rows raised by one. Columns that no row changes are shared.
  func applying(_ update: UpdatedGroup) -> RowGroup {
    RowGroup(
      references: references,
      versions: versions.raising(update.rows, rowCount: rowCount),
      columns: zip(columns, update.columns).map { column, change in
        change.map { column.replacing($0, in: update.rows) } ?? column
      },
      liveness: liveness
    )
  }

  /// The group with another version of the records in `rows`; all columns are shared.
  func versioning(_ rows: [Int], _ version: UInt64) -> RowGroup {
    RowGroup(
      references: references,
      versions: versions.setting(version, in: rows, rowCount: rowCount),
      columns: columns,
      liveness: liveness
    )
  }

  /// The group without the records in `rows`; all columns are shared.
  func deleting(_ rows: [Int]) -> RowGroup {
    var bits = GrowableBits()
    if let liveness {
      bits.append(0..<rowCount, of: liveness)
    } else {
      bits.append(repeating: true, count: rowCount)
    }
    return RowGroup(references: references, versions: versions, columns: columns, liveness: bits.sealed(clearing: rows))
  }

  /// The most bytes that values of one column take.
  var greatestByteCount: Int {
    columns.reduce(references.values.count) { max($0, $1.values.count, $1.references?.values.count ?? 0) }
  }
}

extension Column {
  /// The column with other values in some of `rows`, which ascend.
  fileprivate func replacing(_ change: UpdatedColumn, in rows: [UInt16]) -> Column {
    let count = change.values.rowCount
    if count == rowCount { return change.values }
    let builder = ColumnBuilder(kind: kind)
    var next = 0
    while next < count {
      let first = Int(rows[change.place(next)])
      var end = next + 1
      while end < count, Int(rows[change.place(end)]) == first + end - next { end += 1 }
      if builder.rowCount < first { builder.append(builder.rowCount..<first, of: self) }
      builder.append(next..<end, of: change.values)
      next = end
    }
    if builder.rowCount < rowCount { builder.append(builder.rowCount..<rowCount, of: self) }
    return builder.sealed()
  }
}

// MARK: LiveRows

/// The rows of a table whose records have not been deleted, in order.
package struct LiveRows: Sequence, IteratorProtocol, Sendable {
  private let groups: [RowGroup]
  private var group = -1
  /// The runs of the group that have not begun yet, the next one last.
  private var runs: [Range<Int>] = []
  private var row = 0
  private var end = 0

  init(_ groups: [RowGroup]) {
    self.groups = groups
  }

  package mutating func next() -> RowID? {
    while row == end {
      guard beginRun() else { return nil }
    }
    defer { row &+= 1 }
    return RowID(group: group, row: row)
  }

  /// Begins the next run of rows; false where there is none.
  private mutating func beginRun() -> Bool {
    while runs.isEmpty {
      guard group + 1 < groups.count else { return false }
      group += 1
      runs = groups[group].liveRuns.reversed()
    }
    let run = runs.removeLast()
    (row, end) = (run.lowerBound, run.upperBound)
    return true
  }
}

// MARK: RowID

/// The place of a record in its table: a group and a row in it. It stays the same for as long as the table lives, also when
/// other rows come and go.
@usableFromInline
package struct RowID: Sendable, Hashable {
  package static let rowsPerGroup = 1 << 16

  @usableFromInline
  package let rawValue: UInt32

  @inlinable @inline(__always)
  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  @inlinable @inline(__always)
  package init(group: Int, row: Int) {
    self.rawValue = UInt32(truncatingIfNeeded: group &<< 16 | row)
  }

  @inlinable @inline(__always)
  package var group: Int { Int(rawValue &>> 16) }

  @inlinable @inline(__always)
  package var row: Int { Int(rawValue & 0xFFFF) }

  /// A place where no table has a row.
  package static let none = RowID(rawValue: .max)

  /// The greatest number of groups that a table has.
  package static let maximumGroupCount = 1 << 16
}

// MARK: RowRuns

/// Rows of a table as runs of neighbours, in order.
package struct RowRuns: Sendable {
  private var runs: [(first: RowID, count: Int)] = []
  package private(set) var count = 0

  package init() {}

  package var first: RowID? { runs.first?.first }

  /// Appends the rows in `rows` of the group at `group`.
  mutating func append(_ rows: Range<Int>, group: Int) {
    guard !rows.isEmpty else { return }
    runs.append((RowID(group: group, row: rows.lowerBound), rows.count))
    count += rows.count
  }

  /// Appends the rows of `other`.
  mutating func append(_ other: RowRuns) {
    runs += other.runs
    count += other.count
  }
}

extension RowRuns: Sequence {
  package func makeIterator() -> Iterator { Iterator(runs: runs) }

  package struct Iterator: IteratorProtocol {
    fileprivate let runs: [(first: RowID, count: Int)]
    private var run = 0
    private var offset = 0

    fileprivate init(runs: [(first: RowID, count: Int)]) {
      self.runs = runs
    }

    package mutating func next() -> RowID? {
      guard run < runs.count else { return nil }
      let (first, count) = runs[run]
      defer {
        offset &+= 1
        if offset == count { (run, offset) = (run + 1, 0) }
      }
      return RowID(group: first.group, row: first.row + offset)
    }
  }
}
