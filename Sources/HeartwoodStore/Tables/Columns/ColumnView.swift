public import HeartwoodFoundation

/// A view of a column's values through plain pointers, so that reading one does not count references.
///
/// It is the fast way to read a value and checks nothing: the caller keeps the ``RowGroup`` that the view came from,
/// and passes a row of that group. The parts were checked when the group was made.
@usableFromInline
package struct ColumnView: BitwiseCopyable {
  @usableFromInline
  package let kind: ColumnKind
  @usableFromInline
  let validity: UnsafeRawPointer?
  @usableFromInline
  let offsets: UnsafeRawPointer?
  @usableFromInline
  let values: UnsafeRawPointer

  init(_ column: RecordColumn) {
    kind = column.kind
    validity = column.validity?.bytes.unsafeBase
    offsets = column.offsets?.unsafeBase
    values = column.values.unsafeBase
  }

  /// Makes a view of UUIDs that lie one after another.
  init(uuids values: ByteSlice) {
    kind = .uuid
    validity = nil
    offsets = nil
    self.values = values.unsafeBase
  }

  /// Returns whether `row` has no value.
  @inlinable @inline(__always)
  package func unsafeIsNull(_ row: Int) -> Bool {
    guard let validity else { return kind == .absent }
    return validity.load(fromByteOffset: row &>> 3, as: UInt8.self) &>> (UInt8(truncatingIfNeeded: row) & 7) & 1 == 0
  }

  @inlinable @inline(__always)
  package func unsafeBoolean(_ row: Int) -> Bool {
    values.load(fromByteOffset: row &>> 3, as: UInt8.self) &>> (UInt8(truncatingIfNeeded: row) & 7) & 1 == 1
  }

  /// Returns the integer in `row` of a column of any integer kind.
  @inlinable @inline(__always)
  package func unsafeInteger(_ row: Int) -> Int64 {
    switch kind {
    case .int16: Int64(values.loadUnaligned(fromByteOffset: row &* 2, as: Int16.self))
    case .int32: Int64(values.loadUnaligned(fromByteOffset: row &* 4, as: Int32.self))
    default: values.loadUnaligned(fromByteOffset: row &* 8, as: Int64.self)
    }
  }

  /// Returns 1 if the boolean in `row` is true, else 0.
  @inline(__always)
  func unsafeBit(_ row: Int) -> UInt8 {
    values.load(fromByteOffset: row &>> 3, as: UInt8.self) &>> (UInt8(truncatingIfNeeded: row) & 7) & 1
  }

  @inline(__always)
  func unsafeInt16(_ row: Int) -> Int16 { values.loadUnaligned(fromByteOffset: row &* 2, as: Int16.self) }

  @inline(__always)
  func unsafeInt32(_ row: Int) -> Int32 { values.loadUnaligned(fromByteOffset: row &* 4, as: Int32.self) }

  @inlinable @inline(__always)
  package func unsafeDouble(_ row: Int) -> Double {
    values.loadUnaligned(fromByteOffset: row &* 8, as: Double.self)
  }

  @inlinable @inline(__always)
  package func unsafeFloat(_ row: Int) -> Float {
    values.loadUnaligned(fromByteOffset: row &* 4, as: Float.self)
  }

  /// Returns the number in `row` of a column of floats or doubles.
  @inline(__always)
  func unsafeFloatingPoint(_ row: Int) -> Double { kind == .float ? Double(unsafeFloat(row)) : unsafeDouble(row) }

  @inline(__always)
  func unsafePackedDecimal(_ row: Int) -> PackedDecimal {
    values.loadUnaligned(fromByteOffset: row &* PackedDecimal.width, as: PackedDecimal.self)
  }

  package func unsafeDecimal(_ row: Int) -> Decimal { unsafePackedDecimal(row).decimal ?? .nan }

  @inlinable @inline(__always)
  package func unsafeUUID(_ row: Int) -> UUID {
    UUID(uuid: values.loadUnaligned(fromByteOffset: row &* 16, as: uuid_t.self))
  }

  /// Returns the 16 bytes of the UUID in `row`, valid as long as the group exists.
  @inline(__always)
  func unsafeUUIDBytes(_ row: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: values + row &* 16, count: 16)
  }

  /// Returns the bytes in `row` of a column of bytes, valid as long as the group exists.
  @inlinable @inline(__always)
  package func unsafeBytes(_ row: Int) -> UnsafeRawBufferPointer {
    guard let offsets else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    let start = Int(offsets.loadUnaligned(fromByteOffset: row &* 4, as: UInt32.self))
    let end = Int(offsets.loadUnaligned(fromByteOffset: row &* 4 &+ 4, as: UInt32.self))
    return UnsafeRawBufferPointer(start: values + start, count: end &- start)
  }

  @inlinable @inline(__always)
  package func unsafeString(_ row: Int) -> String {
    String(decoding: unsafeBytes(row), as: UTF8.self)
  }
}

extension ReferenceColumn {
  /// The references as a column of UUIDs, if all of them are stored so: the fast way to read them, which checks
  /// nothing. The caller keeps the ``RowGroup``.
  package var unsafeUUIDs: ColumnView? { layout == .uuid ? ColumnView(uuids: values) : nil }
}

// MARK: ColumnCheck

/// Checks that the parts of a column that came from a file fit together, so that reading any row stays within them.
package enum ColumnCheck {
  /// Returns a description of the fault, or nil if there is none. O(rows).
  package static func fault(in column: RecordColumn) -> String? {
    if let validity = column.validity, validity.bytes.count < BitSlice.byteCount(column.rowCount) {
      return "there are too few validity bits"
    }
    switch column.kind {
    case .absent: return nil
    case .bits:
      return column.values.count < BitSlice.byteCount(column.rowCount) ? "there are too few bits" : nil
    case .int16, .int32, .int64, .float, .double, .decimal, .uuid:
      return fixedFault(column.values, width: column.kind.width ?? 0, count: column.rowCount)
    case .bytes: return offsetsFault(column.offsets, count: column.rowCount, limit: column.values.count)
    case .toOne:
      guard let references = column.references else { return "there are no references" }
      return references.count == column.rowCount ? fault(in: references) : "there are too few references"
    case .toMany:
      guard let references = column.references else { return "there are no references" }
      return offsetsFault(column.offsets, count: column.rowCount, limit: references.count) ?? fault(in: references)
    }
  }

  /// Returns a description of the fault in a column of references, or nil if there is none. O(count).
  package static func fault(in references: ReferenceColumn) -> String? {
    if case .each(let ordinals) = references.entities,
      let fault = fixedFault(ordinals, width: 4, count: references.count)
    {
      return fault
    }
    switch references.layout {
    case .integer: return fixedFault(references.values, width: 8, count: references.count)
    case .uuid: return fixedFault(references.values, width: 16, count: references.count)
    case .string, .mixed:
      return offsetsFault(references.offsets, count: references.count, limit: references.values.count)
    }
  }

  private static func fixedFault(_ values: ByteSlice, width: Int, count: Int) -> String? {
    let (needed, overflow) = count.multipliedReportingOverflow(by: width)
    return overflow || values.count < needed ? "there are too few values" : nil
  }

  private static func offsetsFault(_ offsets: ByteSlice?, count: Int, limit: Int) -> String? {
    guard let offsets, offsets.count >= (count + 1) * 4 else { return "there are too few offsets" }
    let base = offsets.unsafeBase
    var previous: UInt32 = 0
    var descends = false
    for index in 0...count {
      let offset = base.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self)
      descends = descends || offset < previous
      previous = offset
    }
    if descends { return "the offsets descend" }
    return Int(previous) > limit ? "an offset is past the end" : nil
  }
}
