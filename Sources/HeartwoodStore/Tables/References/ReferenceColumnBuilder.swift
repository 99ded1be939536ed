package import HeartwoodModel

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// A column of references that is being put together. It has the layout of its first reference and becomes mixed when one of
/// another kind comes.
package final class ReferenceColumnBuilder {
  // Exclusivity is checked by eye: no method calls another's code while it changes one of these.
  @exclusivity(unchecked) private var layout: ReferenceColumn.Layout?
  private let values = GrowableBytes()
  private let offsets = GrowableBytes()
  @exclusivity(unchecked) private var entities: ReferenceColumn.Entities?
  private let entityOrdinals = GrowableBytes()
  @exclusivity(unchecked) private var references = 0

  package init() {}

  /// How many references there are. Computed, since other modules check exclusivity at each look at a stored property.
  @inline(__always)
  package private(set) var count: Int {
    get { references }
    set { references = newValue }
  }

  /// How many bytes the names take, to end a group before its offsets overflow.
  var byteCount: Int { values.count }

  package func append(_ reference: ReferenceID, entityOrdinal: Int) {
    switch reference {
    case .integer(let number): appendFixed(number, .integer, entityOrdinal)
    case .uuid(let uuid): appendFixed(uuid.uuid, .uuid, entityOrdinal)
    case .string(var text):
      text.withUTF8 { append(bytes: UnsafeRawBufferPointer($0), .string) }
      note(entityOrdinal)
    }
  }

  /// Appends the 16 bytes of a UUID: the fast form of ``append(_:entityOrdinal:)``.
  @inline(__always)
  package func append(uuid: uuid_t, entityOrdinal: Int) {
    appendFixed(uuid, .uuid, entityOrdinal)
  }

  /// Appends what stands where a to-one relationship leads nowhere: nothing reads it, and it decides nothing.
  package func appendPlaceholder() {
    if let layout { appendZeros(1, layout) }
    note(placeholderEntity, isPlaceholder: true)
  }

  private func appendZeros(_ placeholders: Int, _ layout: ReferenceColumn.Layout) {
    if let width = layout.width { return values.append(repeating: 0, count: placeholders * width) }
    for _ in 0..<placeholders { offsets.append(UInt32(truncatingIfNeeded: values.count)) }
  }

  /// Settles how the names lie, those of the placeholders so far included.
  private func begin(_ first: ReferenceColumn.Layout) {
    layout = first
    appendZeros(count, first)
  }

  private var placeholderEntity: Int {
    if case .same(let ordinal) = entities { return Int(ordinal) }
    return 0
  }

  @inline(__always)
  private func appendFixed<Value: BitwiseCopyable>(
    _ value: Value,
    _ kind: ReferenceColumn.Layout,
    _ entityOrdinal: Int
  ) {
    if layout == kind {
      values.append(value)
    } else if layout == nil {
      begin(kind)
      values.append(value)
    } else {
      withUnsafeBytes(of: value) { append(bytes: $0, kind) }
    }
    note(entityOrdinal)
  }

  private func append(bytes: UnsafeRawBufferPointer, _ kind: ReferenceColumn.Layout) {
    if layout == nil { begin(kind) }
    if layout != kind { becomeMixed() }
    offsets.append(UInt32(truncatingIfNeeded: values.count))
    if layout == .mixed { values.append(kind.rawValue) }
    values.append(bytes)
  }

  /// Gives every reference so far a byte that tells its kind.
  private func becomeMixed() {
    guard let old = layout, old != .mixed else { return }
    let oldColumn = column(of: old)
    layout = .mixed
    for index in 0..<count {
      offsets.append(UInt32(truncatingIfNeeded: values.count))
      values.append(old.rawValue)
      if let width = old.width {
        values.append(UnsafeRawBufferPointer(rebasing: oldColumn.values.unsafeBytes[(index * width)...].prefix(width)))
      } else {
        values.append(oldColumn.bytes(index))
      }
    }
  }

  @inline(__always)
  private func note(_ entityOrdinal: Int, isPlaceholder: Bool = false) {
    let ordinal = UInt32(truncatingIfNeeded: entityOrdinal)
    switch entities {
    case .same(ordinal): break
    case nil: if !isPlaceholder { entities = .same(ordinal) }
    case .same(let other):
      for _ in 0..<count { entityOrdinals.append(other) }
      entities = .each(.empty)
      entityOrdinals.append(ordinal)
    case .each: entityOrdinals.append(ordinal)
    }
    count &+= 1
  }

  private func column(of layout: ReferenceColumn.Layout) -> ReferenceColumn {
    let hasOffsets = layout == .string || layout == .mixed
    if hasOffsets { offsets.append(UInt32(truncatingIfNeeded: values.count)) }
    return ReferenceColumn(
      layout: layout,
      count: count,
      values: values.sealed(),
      offsets: hasOffsets ? offsets.sealed() : nil,
      entities: .same(0)
    )
  }

  /// The references as a column that never changes; this becomes empty.
  package func sealed() -> ReferenceColumn {
    precondition(byteCount <= UInt32.max, "References take at most 4 GiB in one group; end the group where it is full.")
    if layout == nil { begin(.integer) }
    let names = column(of: layout ?? .integer)
    var owners = entities ?? .same(0)
    if case .each = owners { owners = .each(entityOrdinals.sealed()) }
    defer {
      layout = nil
      entities = nil
      count = 0
    }
    return ReferenceColumn(
      layout: names.layout,
      count: names.count,
      values: names.values,
      offsets: names.offsets,
      entities: owners
    )
  }
}

// MARK: Runs of references

extension ReferenceColumnBuilder {
  /// Appends the references in `rows` of another column.
  ///
  /// - Parameter entityOrdinal: the entity that they all belong to, or nil for those that the other column names.
  package func append(_ rows: Range<Int>, of source: ReferenceColumn, entityOrdinal: Int? = nil) {
    precondition(rows.lowerBound >= 0 && rows.upperBound <= source.count, "The rows are not in the table.")
    guard !rows.isEmpty else { return }
    if layout == nil { begin(source.layout) }
    guard layout == source.layout else {
      for row in rows { append(source[row], entityOrdinal: entityOrdinal ?? source.entityOrdinal(row)) }
      return
    }
    appendNames(rows, of: source)
    noteEntities(rows, of: source, entityOrdinal)
  }

  /// Appends UUIDs of one entity, which lie in `bytes` one after another.
  package func append(uuids bytes: UnsafeRawBufferPointer, entityOrdinal: Int) {
    let width = MemoryLayout<uuid_t>.size
    guard layout == nil || layout == .uuid else {
      for offset in stride(from: 0, to: bytes.count, by: width) {
        append(uuid: bytes.loadUnaligned(fromByteOffset: offset, as: uuid_t.self), entityOrdinal: entityOrdinal)
      }
      return
    }
    if layout == nil { begin(.uuid) }
    values.append(bytes)
    note(entityOrdinal, count: bytes.count / width)
  }

  private func appendNames(_ rows: Range<Int>, of source: ReferenceColumn) {
    if let width = source.layout.width {
      let bytes = (rows.lowerBound * width)..<(rows.upperBound * width)
      return values.append(UnsafeRawBufferPointer(rebasing: source.values.unsafeBytes[bytes]))
    }
    guard let sourceOffsets = source.offsets else { return }
    let start = source.range(rows.lowerBound).lowerBound
    offsets.append(offsets: sourceOffsets, in: rows, movedBy: values.count - start)
    let end = source.range(rows.upperBound - 1).upperBound
    values.append(UnsafeRawBufferPointer(rebasing: source.values.unsafeBytes[start..<end]))
  }

  private func noteEntities(_ rows: Range<Int>, of source: ReferenceColumn, _ entityOrdinal: Int?) {
    let common: Int? =
      if case .same(let ordinal) = source.entities { entityOrdinal ?? Int(ordinal) } else { entityOrdinal }
    guard let common else {
      for row in rows { note(source.entityOrdinal(row)) }
      return
    }
    note(common, count: rows.count)
  }

  private func note(_ entityOrdinal: Int, count references: Int) {
    guard references > 0 else { return }
    note(entityOrdinal)
    if case .same = entities {
      count += references - 1
    } else {
      for _ in 1..<references { note(entityOrdinal) }
    }
  }
}
