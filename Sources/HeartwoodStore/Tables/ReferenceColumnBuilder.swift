package import FoundationEssentials
package import HeartwoodModel

/// A column of references that is being put together. It begins with the layout of its first reference and becomes mixed when
/// one of another kind comes.
package final class ReferenceColumnBuilder {
  private var layout: ReferenceColumn.Layout?
  private let values = GrowableBytes()
  private let offsets = GrowableBytes()
  private var entities: ReferenceColumn.Entities?
  private let entityOrdinals = GrowableBytes()
  package private(set) var count = 0

  package init() {}

  /// How many bytes the names take, to end a group before its offsets overflow.
  package var byteCount: Int { values.count }

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

  /// Appends what stands where a to-one relationship leads nowhere: nothing reads it.
  package func appendPlaceholder() {
    switch layout ?? .uuid {
    case .integer: appendFixed(Int64(0), .integer, placeholderEntity)
    case .uuid: appendFixed(UUID.zeroBytes, .uuid, placeholderEntity)
    case .string, .mixed:
      offsets.append(UInt32(truncatingIfNeeded: values.count))
      note(placeholderEntity)
    }
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
      layout = kind
      values.append(value)
    } else {
      withUnsafeBytes(of: value) { append(bytes: $0, kind) }
    }
    note(entityOrdinal)
  }

  private func append(bytes: UnsafeRawBufferPointer, _ kind: ReferenceColumn.Layout) {
    if layout == nil { layout = kind }
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
      switch old {
      case .integer, .uuid:
        let width = old == .integer ? 8 : 16
        values.append(
          UnsafeRawBufferPointer(rebasing: oldColumn.values.unsafeBytes[(index * width)..<((index + 1) * width)])
        )
      case .string, .mixed: values.append(oldColumn.bytes(index))
      }
    }
  }

  @inline(__always)
  private func note(_ entityOrdinal: Int) {
    let ordinal = UInt32(truncatingIfNeeded: entityOrdinal)
    switch entities {
    case .same(ordinal): break
    case nil: entities = .same(ordinal)
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
    let names = column(of: layout ?? .uuid)
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

extension UUID {
  /// The bytes of the UUID that names nothing.
  static let zeroBytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
}
