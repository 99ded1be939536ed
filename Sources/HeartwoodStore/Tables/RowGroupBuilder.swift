import FoundationEssentials
package import HeartwoodModel

/// A group of rows that is being put together. Each row appends a reference, and a value to every column.
package final class RowGroupBuilder {
  /// A group ends when the bytes of one column pass this, long before its offsets of 32 bits overflow.
  package static let columnByteLimit = 1 << 30

  package let entity: EntityDescription
  package let references = ReferenceColumnBuilder()
  /// The columns, indexed by property ordinal.
  package let columns: [ColumnBuilder]
  private let versions = GrowableBytes()
  private var versionsDiffer = false
  private var liveness = GrowableBits()
  private var hasDeadRows = false

  package init(entity: EntityDescription) {
    self.entity = entity
    self.columns = entity.properties.map { ColumnBuilder(kind: ColumnKind($0)) }
  }

  package var rowCount: Int { references.count }

  /// Whether the next row belongs into another group.
  package var isFull: Bool {
    rowCount >= RowID.rowsPerGroup || references.byteCount > Self.columnByteLimit
      || columns.contains { $0.byteCount > Self.columnByteLimit }
  }

  /// Appends a record: its values are indexed by property ordinal and fit their types.
  package func append(_ reference: ReferenceID, version: UInt64, values: [PropertyValue]) {
    references.append(reference, entityOrdinal: entity.ordinal)
    noteVersion(version)
    for (column, value) in zip(columns, values) { column.append(value) }
  }

  /// Appends the rows in `rows` of another group of the same entity, deleted ones included.
  package func append(_ rows: Range<Int>, of group: RowGroup) {
    for row in rows {
      references.append(group.references[row], entityOrdinal: entity.ordinal)
      noteVersion(group.versions[row], isLive: group.isLive(row))
    }
    for (column, source) in zip(columns, group.columns) { column.append(rows, of: source) }
  }

  private func noteVersion(_ version: UInt64, isLive: Bool = true) {
    if version != 1 { versionsDiffer = true }
    versions.append(version)
    if !isLive { hasDeadRows = true }
    liveness.append(isLive)
  }

  /// The rows as a group that never changes; this becomes empty. Rows appended to the columns directly have version 1.
  package func sealed() -> RowGroup {
    defer {
      versionsDiffer = false
      hasDeadRows = false
      liveness = GrowableBits()
      versions.removeAll()
    }
    return RowGroup(
      references: references.sealed(),
      versions: versionsDiffer ? .each(versions.sealed()) : .same(1),
      columns: columns.map { $0.sealed() },
      liveness: hasDeadRows ? liveness.sealed() : nil
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
