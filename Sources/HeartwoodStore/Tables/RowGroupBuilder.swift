import HeartwoodFoundation
public import HeartwoodModel

/// Builds a group of rows: each row begins with its reference, and then every column gets a value. See
/// ``RowGroupListBuilder``, which builds one group after the other, for an example.
public final class RowGroupBuilder {
  /// A group ends when the bytes of one column exceed this, long before its offsets of 32 bits overflow. So a single
  /// value may be as long as the rest of 32 bits.
  public static let columnByteLimit = 1 << 30

  /// The entity of the records.
  public let entity: EntityDescription
  package let references = ReferenceColumnBuilder()
  /// The columns, indexed by property ordinal.
  public let columns: [ColumnBuilder]
  /// The columns whose rows differ in size: only these can become too long before there are too many rows.
  private let growingColumns: [ColumnBuilder]
  /// The versions of the first rows, begun when one is not 1; rows after the last have version 1.
  private let versions = GrowableBytes()
  /// The liveness of the first rows, begun when one is deleted; rows after the last are live.
  @exclusivity(unchecked) private var liveness = GrowableBits()

  /// Makes a builder without rows for `entity`.
  public init(entity: EntityDescription) {
    self.entity = entity
    self.columns = entity.properties.map { ColumnBuilder(kind: ColumnKind($0)) }
    self.growingColumns = columns.filter { $0.kind.width == nil && $0.kind != .bits }
  }

  /// The number of rows that have begun.
  public var rowCount: Int { references.count }

  /// The number of bytes that the values of the largest column take.
  var greatestByteCount: Int { growingColumns.reduce(references.byteCount) { max($0, $1.byteCount) } }

  /// Whether the next row belongs to another group, because this one has ``RowGroup/maximumRowCount`` rows or a column
  /// of more than ``columnByteLimit`` bytes. O(columns).
  public var isFull: Bool {
    rowCount >= RowID.rowsPerGroup || greatestByteCount > Self.columnByteLimit
  }

  /// Appends a record: its values are indexed by property ordinal and fit their types.
  package func append(_ reference: ReferenceID, version: UInt64, values: [PropertyValue]) {
    precondition(values.count == columns.count, "A record has a value for each property of its entity.")
    beginRow(reference, version: version)
    for (column, value) in zip(columns, values) { column.append(value) }
  }

  /// Begins a record. One value must then be appended directly to each column, and null to those of transient
  /// properties.
  @inline(__always)
  public func beginRow(_ reference: ReferenceID, version: UInt64) {
    if version != 1 || versions.count > 0 {
      fillVersions()
      versions.append(version)
    }
    references.append(reference, entityOrdinal: entity.ordinal)
  }

  /// Appends the rows in `rows` of another group of the same entity, deleted ones included.
  package func append(_ rows: Range<Int>, of group: RowGroup) {
    appendVersions(rows, of: group)
    appendLiveness(rows, of: group)
    references.append(rows, of: group.references, entityOrdinal: entity.ordinal)
    for (column, source) in zip(columns, group.columns) { column.append(rows, of: source) }
  }

  private func appendVersions(_ rows: Range<Int>, of group: RowGroup) {
    if case .same(1) = group.versions { return }
    fillVersions()
    for row in rows { versions.append(group.versions[row]) }
  }

  private func appendLiveness(_ rows: Range<Int>, of group: RowGroup) {
    guard let source = group.liveness else { return }
    liveness.append(repeating: true, count: rowCount - liveness.count)
    liveness.append(rows, of: source)
  }

  private func fillVersions() {
    for _ in (versions.count / 8)..<rowCount { versions.append(UInt64(1)) }
  }

  /// Returns the rows as an immutable group; this becomes empty. Every column must have a value for each row.
  /// O(columns).
  public func sealed() -> RowGroup {
    let versionsDiffer = versions.count > 0
    if versionsDiffer { fillVersions() }
    let rowCount = rowCount
    if liveness.count > 0 { liveness.append(repeating: true, count: rowCount - liveness.count) }
    let liveRows = liveness.count > 0 ? liveness.sealed() : nil
    return RowGroup(
      references: references.sealed(),
      versions: versionsDiffer ? .each(versions.sealed()) : .same(1),
      columns: columns.map { $0.sealed() },
      liveness: liveRows?.setBitCount(rowCount) == rowCount ? nil : liveRows,
      builtEntity: entity.serialNumber
    )
  }
}

extension ColumnBuilder {
  /// Appends a value that fits the column's type.
  public func append(_ value: PropertyValue) {
    if kind == .absent { return appendNull() }
    switch value {
    case .null: appendNull()
    case .integer(let number): append(integer: number)
    case .decimal(let number): append(decimal: number)
    case .double(let number): append(double: number)
    case .float(let number): append(float: number)
    case .string(var text): text.withUTF8 { append(bytes: UnsafeRawBufferPointer($0)) }
    case .boolean(let flag): append(boolean: flag)
    case .date(let date): append(double: date.timeIntervalSinceReferenceDate)
    case .binary(let data): data.withUnsafeBytes { append(bytes: $0) }
    case .uuid(let uuid): append(uuid: uuid.uuid)
    case .uri(let uri):
      var text = uri.absoluteString
      text.withUTF8 { append(bytes: UnsafeRawBufferPointer($0)) }
    case .toOne(let id): append(toOne: id.reference, entityOrdinal: id.entity.ordinal)
    case .toMany(let ids): append(toMany: ids.map { ($0.reference, $0.entity.ordinal) })
    }
  }
}

// MARK: RowGroupListBuilder

/// Builds groups of rows one after the other, all but the last one full: the fast way to create the records of a file
/// that has them row by row.
///
///     var rows = RowGroupListBuilder(entity: toDo)
///     for line in lines {
///       let row = rows.next()
///       row.beginRow(.integer(line.number), version: 1)
///       row.columns[memo].append(text: line.memo)
///       row.columns[done].append(boolean: line.isDone)
///     }
///     try loader.setRowGroups(rows.finish(), of: toDo)
public struct RowGroupListBuilder {
  private let builder: RowGroupBuilder
  private var groups: [RowGroup] = []

  /// Makes a builder without rows for `entity`.
  public init(entity: EntityDescription) {
    builder = RowGroupBuilder(entity: entity)
  }

  /// The number of groups that are full.
  var fullGroupCount: Int { groups.count }

  /// The number of rows. O(groups).
  var rowCount: Int { groups.reduce(builder.rowCount) { $0 + $1.rowCount } }

  /// Appends the records of a group of the same entity that was built, and not made of the columns of a file. O(bytes).
  ///
  ///     // Many small groups become few full ones.
  ///     for group in groups { rows.append(group) }
  public mutating func append(_ group: RowGroup) {
    precondition(group.builtEntity != nil, "The columns of a file are not checked yet, so none are copied.")
    append(liveRowsOf: group)
  }

  /// Appends the records of a group that is built or verified, except for deleted ones.
  mutating func append(liveRowsOf group: RowGroup) {
    for run in group.liveRuns {
      var rest = run
      while !rest.isEmpty {
        let builder = next()
        let room = rest.prefix(RowID.rowsPerGroup - builder.rowCount)
        builder.append(room, of: group)
        rest = rest.dropFirst(room.count)
      }
    }
  }

  /// Returns the builder for the next row. It is the same object at each call. Every column must have a value for each
  /// of the rows before.
  public mutating func next() -> RowGroupBuilder {
    if builder.isFull { groups.append(builder.sealed()) }
    return builder
  }

  /// Returns the groups; this has no rows afterwards.
  public mutating func finish() -> [RowGroup] {
    if builder.rowCount > 0 { groups.append(builder.sealed()) }
    defer { groups = [] }
    return groups
  }
}

// MARK: TableBuilder

/// Builds a table record by record.
package final class TableBuilder {
  private let entity: EntityDescription
  private var rows: RowGroupListBuilder

  package init(entity: EntityDescription) {
    self.entity = entity
    rows = RowGroupListBuilder(entity: entity)
  }

  /// The number of rows that have been appended. O(groups).
  var rowCount: Int { rows.rowCount }

  func append(_ draft: NodeDraft, version: UInt64 = 1) throws(PersistenceError) {
    try append(draft.reference, version: version, values: draft.values)
  }

  /// Appends a record: its values are indexed by property ordinal and fit their types.
  package func append(
    _ reference: ReferenceID,
    version: UInt64 = 1,
    values: [PropertyValue]
  ) throws(PersistenceError) {
    rows.next().append(reference, version: version, values: values)
    try checkCount()
  }

  /// Appends the records of `group` that have not been deleted, one after the other.
  package func append(liveRowsOf group: RowGroup) throws(PersistenceError) {
    rows.append(liveRowsOf: group)
    try checkCount()
  }

  private func checkCount() throws(PersistenceError) {
    guard rows.fullGroupCount < RowID.maximumGroupCount else {
      throw PersistenceError(
        .capabilityMissing,
        "An atomic store keeps at most \(RowID.maximumGroupCount * RowID.rowsPerGroup) records of an entity.",
        context: .init(entity: entity.name)
      )
    }
  }

  package func finish() -> NodeTable { NodeTable(entity: entity, groups: rows.finish()) }
}

// MARK: TableVerifier

/// Checks records that lie in a file, before one of them is read.
package protocol TableVerifier: Sendable {
  /// Checks checksums and bounds; after the first success it returns at once.
  ///
  /// - Returns: the groups with the changes that the file has for them; nil if there are none.
  func verify() throws(PersistenceError) -> [RowGroup]?
}
