package import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A group of rows that is being put together. Each row appends a reference, and a value to every column.
package final class RowGroupBuilder {
  /// A group ends when the bytes of one column pass this, long before its offsets of 32 bits overflow.
  package static let columnByteLimit = 1 << 30

  package let entity: EntityDescription
  package let references = ReferenceColumnBuilder()
  /// The columns, indexed by property ordinal.
  package let columns: [ColumnBuilder]
  /// The columns whose rows differ in size: only these can become too long before there are too many rows.
  private let growingColumns: [ColumnBuilder]
  /// The versions of the first rows, begun when one is not 1; rows behind the last have version 1.
  private let versions = GrowableBytes()
  /// Which of the first rows are live, begun when one is not; rows behind the last are.
  @exclusivity(unchecked) private var liveness = GrowableBits()

  package init(entity: EntityDescription) {
    self.entity = entity
    self.columns = entity.properties.map { ColumnBuilder(kind: ColumnKind($0)) }
    self.growingColumns = columns.filter { $0.kind.width == nil && $0.kind != .bits }
  }

  package var rowCount: Int { references.count }

  /// The most bytes that values of one column take.
  var greatestByteCount: Int { growingColumns.reduce(references.byteCount) { max($0, $1.byteCount) } }

  /// Whether the next row belongs into another group.
  package var isFull: Bool {
    rowCount >= RowID.rowsPerGroup || greatestByteCount > Self.columnByteLimit
  }

  /// Appends a record: its values are indexed by property ordinal and fit their types.
  package func append(_ reference: ReferenceID, version: UInt64, values: [PropertyValue]) {
    precondition(values.count == columns.count, "A record has a value for each property of its entity.")
    beginRow(reference, version: version)
    for (column, value) in zip(columns, values) { column.append(value) }
  }

  /// Begins a record, to whose columns values are appended directly: one to each.
  @inline(__always)
  package func beginRow(_ reference: ReferenceID, version: UInt64) {
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

  /// The rows as a group that never changes; this becomes empty. Rows appended to the columns directly have version 1.
  package func sealed() -> RowGroup {
    let versionsDiffer = versions.count > 0
    if versionsDiffer { fillVersions() }
    let rowCount = rowCount
    if liveness.count > 0 { liveness.append(repeating: true, count: rowCount - liveness.count) }
    let liveRows = liveness.count > 0 ? liveness.sealed() : nil
    return RowGroup(
      references: references.sealed(),
      versions: versionsDiffer ? .each(versions.sealed()) : .same(1),
      columns: columns.map { $0.sealed() },
      liveness: liveRows?.setBitCount(rowCount) == rowCount ? nil : liveRows
    )
  }
}

extension ColumnBuilder {
  /// Appends a value that fits the column's type.
  package func append(_ value: PropertyValue) {
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
