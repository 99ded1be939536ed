/// Whether the parts of a column that came from a file fit together, so that reading any row stays inside them.
package enum ColumnCheck {
  /// What does not fit, in words, or nil where all does. O(rows).
  package static func fault(in column: Column) -> String? {
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

  /// What does not fit in a column of references, or nil where all does. O(count).
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
    return Int(previous) > limit ? "an offset lies past the end" : nil
  }
}
