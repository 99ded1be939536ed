public import HeartwoodFoundation
public import HeartwoodModel

/// Up to 65,536 records of one entity, column by column. It is immutable: an update makes a new group that shares the
/// columns that stayed the same.
///
/// A store that keeps columns in its file writes the parts of groups as they are (``StoreContents/rowGroups(of:)``),
/// and makes groups of them when it reads (``StoreLoader/setRowGroups(_:of:check:)``).
///
/// `@unchecked Sendable`: `unsafeViews` points to memory that is written in `init` only and freed in `deinit`; the
/// columns that the views point into exist as long as the group.
public final class RowGroup: @unchecked Sendable {
  /// The number of rows.
  public let rowCount: Int
  /// The references of the records.
  public let references: ReferenceColumn
  /// The version of each record, which counts its saves.
  public let versions: VersionColumn
  /// The columns, indexed by property ordinal.
  public let columns: [RecordColumn]
  /// A bit for each row, set if the record has not been deleted; nil if none has been.
  @usableFromInline
  package let liveness: BitSlice?
  /// The number of records that have not been deleted.
  package let liveCount: Int
  /// Views of the columns, indexed by property ordinal, valid as long as the group exists.
  @usableFromInline
  package let unsafeViews: UnsafePointer<ColumnView>
  /// The references of the records if all are UUIDs, valid as long as the group exists.
  private let unsafeUUIDs: ColumnView?
  /// The serial number of the entity for which a ``RowGroupBuilder`` made the columns, so that their parts fit each
  /// other; nil if they may be those of a file.
  let builtEntity: UInt32?

  package init(
    references: ReferenceColumn,
    versions: VersionColumn,
    columns: [RecordColumn],
    liveness: BitSlice? = nil,
    builtEntity: UInt32? = nil
  ) {
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
    self.builtEntity = builtEntity
  }

  deinit {
    unsafeViews.deallocate()
  }
}

extension RowGroup {
  /// The greatest number of rows in a group.
  public static let maximumRowCount = RowID.rowsPerGroup

  /// Makes a group of records of `entity` from their columns.
  ///
  /// The parts must have the lengths that the kinds of the columns and the number of rows require: that is checked
  /// here, in O(columns). Their contents are checked before the first record is read.
  ///
  /// - Parameters:
  ///   - entity: the entity of the records.
  ///   - references: the references of the records, one for each row. They belong to `entity`.
  ///   - versions: the version of each record, which counts its saves.
  ///   - columns: a column for each property of the entity, by ordinal; `RecordColumn.absent` for those that are
  ///     transient.
  /// - Throws: ``PersistenceError/Code/fileCorrupt`` with the property and the offset of the part that does not fit.
  public convenience init(
    of entity: EntityDescription,
    references: ReferenceColumn,
    versions: VersionColumn = .same(1),
    columns: [RecordColumn]
  ) throws(PersistenceError) {
    try Self.check(references, columns, of: entity)
    self.init(references: references, versions: versions, columns: columns)
  }

  private static func check(
    _ references: ReferenceColumn,
    _ columns: [RecordColumn],
    of entity: EntityDescription
  ) throws(PersistenceError) {
    func refuse(_ what: String, at offset: Int? = nil, property: String? = nil) -> PersistenceError {
      let context = PersistenceError.Context(byteOffset: offset, entity: entity.name, property: property)
      return PersistenceError(.fileCorrupt, "Records cannot be made from their columns: \(what).", context: context)
    }
    let rowCount = references.count
    guard (0...maximumRowCount).contains(rowCount) else {
      throw refuse("a group has at most \(maximumRowCount) rows, and not \(rowCount)")
    }
    if let fault = ColumnShape.fault(in: references) { throw refuse(fault.what, at: fault.offset) }
    guard columns.count == entity.properties.count else {
      throw refuse("there are \(columns.count) columns for \(entity.properties.count) properties")
    }
    for (property, column) in zip(entity.properties, columns) {
      guard column.kind == ColumnKind(property) else {
        throw refuse("\(column.kind) is not the layout of the property's values", property: property.name)
      }
      guard column.rowCount == rowCount else {
        throw refuse("the column has \(column.rowCount) rows, and not \(rowCount)", property: property.name)
      }
      if let fault = ColumnShape.fault(in: column) {
        throw refuse(fault.what, at: fault.offset, property: property.name)
      }
    }
  }

  /// Checks that the columns are those of `entity`.
  func checkColumns(of entity: EntityDescription) throws(PersistenceError) {
    guard columns.map(\.kind) == entity.properties.map({ ColumnKind($0) }) else {
      throw PersistenceError(
        .entityUnknown,
        "The columns are those of another entity.",
        context: .init(entity: entity.name)
      )
    }
  }

  /// Returns whether the record in `row` has not been deleted.
  @inlinable @inline(__always)
  package func isLive(_ row: Int) -> Bool { liveness?[row] ?? true }

  /// The rows of records that have not been deleted, as runs of adjacent rows.
  package var liveRuns: [Range<Int>] {
    if let liveness { return liveness.setRuns(rowCount) }
    return rowCount > 0 ? [0..<rowCount] : []
  }

  /// Returns the reference of the record in `row`, without counting references to the column.
  package func reference(_ row: Int) -> ReferenceID {
    guard let unsafeUUIDs else { return references[row] }
    precondition(row >= 0 && row < rowCount, "The row is not in the table.")
    return .uuid(unsafeUUIDs.unsafeUUID(row))
  }

  /// Returns the reason why the value of a property in `row` cannot be read; nil if it can.
  package func unreadable(row: Int, ordinal: Int) -> PersistenceError? { columns[ordinal].unreadable?[row] }

  /// Returns the value of a property in `row`. A value that cannot be read is returned as an empty one: check
  /// ``unreadable(row:ordinal:)`` for text and data that are empty.
  ///
  /// - Parameter scopes: the scopes that object ids are made with, indexed by entity ordinal.
  package func value(row: Int, ordinal: Int, type: AttributeType?, scopes: [ObjectIDScope]) -> PropertyValue {
    precondition(row >= 0 && row < rowCount && columns.indices.contains(ordinal), "The row is not in the table.")
    guard let type else { return columns[ordinal].relationshipValue(row: row, scopes: scopes) }
    return unsafeViews[ordinal].unsafeAttributeValue(row, type)
  }
}

extension RecordColumn {
  /// Returns the value in `row`.
  ///
  /// - Parameters:
  ///   - type: the type of an attribute; nil for a relationship.
  ///   - scopes: the scopes that object ids are made with, indexed by entity ordinal.
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
  /// Returns the value in `row`, which must be a row of the column; that is not checked.
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

// MARK: Values

/// The values of a record one after another, for stores that write records row by row. Nothing is copied, and no
/// references are counted.
///
///     for row in 0..<group.rowCount {
///       if group.hasValue(name, in: row) { group.withBytes(name, in: row) { file.write(utf8: $0) } }
///       if group.hasValue(age, in: row) { file.write(group.integer(age, in: row)) }
///     }
///
/// Each call takes the ordinal of a property and a row. A row or an ordinal that the group does not have, and a column
/// of another kind, are programming errors that stop the program. A row without a value has an undefined one: call
/// ``hasValue(_:in:)`` first. O(1).
///
/// They are inlinable, because a save of many records makes a call for each value.
extension RowGroup {
  /// Returns whether a property has a value in `row`. A to-many relationship always has one; it may be empty.
  @inlinable
  public func hasValue(_ ordinal: Int, in row: Int) -> Bool { !view(ordinal, row).unsafeIsNull(row) }

  /// Returns a truth value.
  @inlinable
  public func boolean(_ ordinal: Int, in row: Int) -> Bool { view(ordinal, row, of: .bits).unsafeBoolean(row) }

  /// Returns an integer of any size.
  @inlinable
  public func integer(_ ordinal: Int, in row: Int) -> Int64 {
    let view = view(ordinal, row)
    precondition(view.kind == .int16 || view.kind == .int32 || view.kind == .int64, "The column has no integers.")
    return view.unsafeInteger(row)
  }

  /// Returns a number of 4 bytes.
  @inlinable
  public func float(_ ordinal: Int, in row: Int) -> Float { view(ordinal, row, of: .float).unsafeFloat(row) }

  /// Returns a number of 8 bytes, or a date: the seconds since 2001-01-01 00:00 UTC.
  @inlinable
  public func double(_ ordinal: Int, in row: Int) -> Double { view(ordinal, row, of: .double).unsafeDouble(row) }

  /// Returns a decimal number.
  public func decimal(_ ordinal: Int, in row: Int) -> Decimal { view(ordinal, row, of: .decimal).unsafeDecimal(row) }

  /// Returns a UUID.
  @inlinable
  public func uuid(_ ordinal: Int, in row: Int) -> UUID { view(ordinal, row, of: .uuid).unsafeUUID(row) }

  /// Calls `body` with binary data, or with the UTF-8 bytes of a text or of a URI. The bytes stay where they are as long
  /// as the group exists.
  @inlinable
  public func withBytes<Result, Failure: Error>(
    _ ordinal: Int,
    in row: Int,
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let bytes = view(ordinal, row, of: .bytes).unsafeBytes(row)
    precondition(isInside(bytes, ordinal), "The column has not been checked: a value is past its end.")
    defer { withExtendedLifetime(self) {} }
    return try body(bytes.bytes)
  }

  /// Returns the destinations of a relationship, in order, each with the index of its entity in
  /// ``ManagedObjectModel/entities``; none if it has none. O(destinations).
  public func destinations(_ ordinal: Int, in row: Int) -> [(reference: ReferenceID, entityOrdinal: Int)] {
    guard hasValue(ordinal, in: row), let references = columns[ordinal].references else { return [] }
    let places = columns[ordinal].kind == .toMany ? columns[ordinal].range(row) : row..<(row + 1)
    return places.map { (references[$0], references.entityOrdinal($0)) }
  }

  @inlinable @inline(__always)
  func view(_ ordinal: Int, _ row: Int) -> ColumnView {
    precondition(row >= 0 && row < rowCount && ordinal >= 0 && ordinal < columns.count, "The row is not in the table.")
    return unsafeViews[ordinal]
  }

  @inlinable @inline(__always)
  func view(_ ordinal: Int, _ row: Int, of kind: ColumnKind) -> ColumnView {
    let view = view(ordinal, row)
    precondition(view.kind == kind, "The column is of another kind than the value.")
    return view
  }

  /// Returns whether bytes that the offsets of a column name are among its values.
  @usableFromInline
  func isInside(_ bytes: UnsafeRawBufferPointer, _ ordinal: Int) -> Bool {
    guard bytes.count != 0 else { return true }
    guard bytes.count > 0, let start = bytes.baseAddress else { return false }
    let offset = start - columns[ordinal].values.unsafeBase
    return offset >= 0 && offset + bytes.count <= columns[ordinal].values.count
  }
}

// MARK: Changes

extension RowGroup {
  /// Returns the group with some values changed and the versions of the changed rows raised by one. Columns that no row
  /// changes are shared.
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

  /// Returns the group with another version of the records in `rows`; all columns are shared.
  func versioning(_ rows: [Int], _ version: UInt64) -> RowGroup {
    RowGroup(
      references: references,
      versions: versions.setting(version, in: rows, rowCount: rowCount),
      columns: columns,
      liveness: liveness
    )
  }

  /// Returns the group without the records in `rows`; all columns are shared.
  func deleting(_ rows: [Int]) -> RowGroup {
    var bits = GrowableBits()
    if let liveness {
      bits.append(0..<rowCount, of: liveness)
    } else {
      bits.append(repeating: true, count: rowCount)
    }
    return RowGroup(references: references, versions: versions, columns: columns, liveness: bits.sealed(clearing: rows))
  }

  /// The number of bytes that the values of the largest column take.
  var greatestByteCount: Int {
    columns.reduce(references.values.count) { max($0, $1.values.count, $1.references?.values.count ?? 0) }
  }
}

extension RecordColumn {
  /// Returns the column with other values in some of `rows`, which ascend.
  fileprivate func replacing(_ change: UpdatedColumn, in rows: [UInt16]) -> RecordColumn {
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

  /// Begins the next run of rows; returns false if there is none.
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

/// The place of a record in its table: a group and a row in it. It stays the same for as long as the table exists, even
/// if other rows are added or deleted.
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

  /// A place that no table has a row at.
  package static let none = RowID(rawValue: .max)

  /// The greatest number of groups that a table has.
  package static let maximumGroupCount = 1 << 16
}

// MARK: RowRuns

/// Rows of a table as runs of adjacent rows, in order.
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
