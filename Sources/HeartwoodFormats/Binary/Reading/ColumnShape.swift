import HeartwoodStore

/// Whether a column's parts lie exactly as the format has them: no byte too many, offsets from 0 to the end, unused bits zero.
enum ColumnShape {
  /// What is otherwise, or nil. O(1). A column without a fault here has no part that is too short.
  static func fault(in column: Column) -> ColumnFault? {
    let rows = column.rowCount
    if let validity = column.validity?.bytes, let fault = bitsFault(validity, count: rows) { return fault }
    switch column.kind {
    case .absent: return nil
    case .bits: return bitsFault(column.values, count: rows)
    case .bytes: return offsetsFault(column.offsets, count: rows, end: column.values.count, in: column.values)
    case .toOne:
      guard let references = column.references else { return ColumnFault("there are no references", in: .empty) }
      guard references.count == rows else { return ColumnFault("there are too few references", in: references.values) }
      return fault(in: references)
    case .toMany:
      guard let references = column.references else { return ColumnFault("there are no references", in: .empty) }
      return offsetsFault(column.offsets, count: rows, end: references.count, in: references.values)
        ?? fault(in: references)
    default: return lengthFault(column.values, rows * (column.kind.width ?? 0))
    }
  }

  /// What is otherwise in references, or nil. O(1).
  static func fault(in references: ReferenceColumn) -> ColumnFault? {
    if case .each(let ordinals) = references.entities, let fault = lengthFault(ordinals, references.count * 4) {
      return fault
    }
    switch references.layout {
    case .integer: return lengthFault(references.values, references.count * 8)
    case .uuid: return lengthFault(references.values, references.count * 16)
    case .string, .mixed:
      return offsetsFault(
        references.offsets,
        count: references.count,
        end: references.values.count,
        in: references.values
      )
    }
  }

  private static func lengthFault(_ bytes: ByteSlice, _ length: Int) -> ColumnFault? {
    bytes.count == length ? nil : ColumnFault("there are \(bytes.count) bytes in place of \(length)", in: bytes)
  }

  private static func bitsFault(_ bytes: ByteSlice, count: Int) -> ColumnFault? {
    if let fault = lengthFault(bytes, BitSlice.byteCount(count)) { return fault }
    guard count % 8 != 0, let last = bytes.unsafeBytes.last, last >> UInt8(count % 8) != 0 else { return nil }
    return ColumnFault("bits behind the last row are set", in: bytes, at: bytes.count - 1)
  }

  private static func offsetsFault(_ offsets: ByteSlice?, count: Int, end: Int, in values: ByteSlice) -> ColumnFault? {
    guard let offsets else { return ColumnFault("there are no offsets", in: values) }
    if let fault = lengthFault(offsets, (count + 1) * 4) { return fault }
    let first = offsets.unsafeBytes.loadUnaligned(as: UInt32.self)
    let last = offsets.unsafeBytes.loadUnaligned(fromByteOffset: count * 4, as: UInt32.self)
    if first != 0 { return ColumnFault("the first offset is not 0", in: offsets) }
    return Int(last) == end ? nil : ColumnFault("the last offset is not the end", in: offsets, at: count * 4)
  }
}
