package import HeartwoodFoundation
public import HeartwoodModel

/// References to records, one after another: each the name of a record and the entity that it belongs to.
public struct ReferenceColumn: Sendable {
  /// The layout of the names in memory and in the binary file.
  public enum Layout: UInt8, Sendable {
    /// Signed integers of 8 bytes.
    case integer = 0
    /// 16 bytes each.
    case uuid = 1
    /// Offsets and UTF-8 bytes.
    case string = 2
    /// Offsets and, for each, a byte that is one of the numbers above, followed by the name's bytes.
    case mixed = 3

    /// The number of bytes of each name; nil if there are offsets.
    var width: Int? {
      switch self {
      case .integer: 8
      case .uuid: 16
      case .string, .mixed: nil
      }
    }
  }

  /// The entity that each reference belongs to.
  public enum Entities: Sendable {
    /// All belong to the entity with this ordinal in the model.
    case same(UInt32)
    /// An ordinal of 4 bytes for each reference.
    case each(ByteSlice)
  }

  /// The layout of the names.
  public let layout: Layout
  /// The number of references.
  public let count: Int
  /// The names, one after another.
  public let values: ByteSlice
  /// 4 bytes for each reference and one more: the offset of its bytes in ``values``, and the end of the last one's.
  public let offsets: ByteSlice?
  /// The entities that the references belong to.
  public let entities: Entities

  /// Makes references from their parts: `count` values, or `count` + 1 ascending offsets into them. O(1): whether the
  /// parts fit each other is checked when a group is made from them.
  public init(layout: Layout, count: Int, values: ByteSlice, offsets: ByteSlice?, entities: Entities) {
    self.layout = layout
    self.count = count
    self.values = values
    self.offsets = offsets
    self.entities = entities
  }
}

extension ReferenceColumn {
  /// The name at `index`. O(1).
  public subscript(index: Int) -> ReferenceID {
    precondition(index >= 0 && index < count, "The row is not in the table.")
    precondition(layout.width.map { index < values.count / $0 } ?? true, "There are too few references.")
    switch layout {
    case .integer: return .integer(values.unsafeBase.loadUnaligned(fromByteOffset: index * 8, as: Int64.self))
    case .uuid: return .uuid(UUID(uuid: uuidBytes(index)))
    case .string: return .string(String(decoding: bytes(index), as: UTF8.self))
    case .mixed: return Self.decodeMixed(bytes(index))
    }
  }

  /// Returns the ordinal of the entity that the reference at `index` belongs to: its index in
  /// ``ManagedObjectModel/entities``. O(1).
  public func entityOrdinal(_ index: Int) -> Int {
    switch entities {
    case .same(let ordinal): return Int(ordinal)
    case .each(let ordinals):
      precondition(index >= 0 && index < count && index < ordinals.count / 4, "The row is not in the table.")
      return Int(ordinals.unsafeBase.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
    }
  }

  /// Returns the number at `index` of a column whose layout is ``Layout/integer``.
  @inline(__always)
  func number(_ index: Int) -> Int64 {
    precondition(layout == .integer && index >= 0 && index < count, "The row is not in the table.")
    return values.unsafeBase.loadUnaligned(fromByteOffset: index &* 8, as: Int64.self)
  }

  /// Returns the 16 bytes of the UUID at `index` of a column whose layout is ``Layout/uuid``.
  @inline(__always)
  package func uuidBytes(_ index: Int) -> uuid_t {
    precondition(layout == .uuid && index >= 0 && index < count, "The row is not in the table.")
    return values.unsafeBase.loadUnaligned(fromByteOffset: index &* 16, as: uuid_t.self)
  }

  /// Returns the bytes at `index` of a column that has offsets.
  package func bytes(_ index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: values.unsafeBytes[range(index)])
  }

  /// Returns the range of the bytes at `index` of a column that has offsets.
  func range(_ index: Int) -> Range<Int> {
    precondition(index >= 0 && index < count, "The row is not in the table.")
    guard let offsets else { return 0..<0 }
    precondition(index + 1 < offsets.count / 4, "There are too few offsets.")
    let start = Int(offsets.unsafeBase.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
    let end = Int(offsets.unsafeBase.loadUnaligned(fromByteOffset: index * 4 + 4, as: UInt32.self))
    precondition(end <= values.count, "An offset is past the end.")
    return start..<end
  }

  /// Returns the kind of the name at `index`, without reading the name.
  func kind(_ index: Int) -> StoreCapabilities.ReferenceKind {
    switch layout {
    case .integer: .integer
    case .uuid: .uuid
    case .string: .string
    case .mixed: Self.decodeMixed(bytes(index)).kind
    }
  }

  static func decodeMixed(_ bytes: UnsafeRawBufferPointer) -> ReferenceID {
    let name = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    switch bytes.first.flatMap(Layout.init(rawValue:)) {
    case .integer where name.count == 8: return .integer(name.loadUnaligned(as: Int64.self))
    case .uuid where name.count == 16: return .uuid(UUID(uuid: name.loadUnaligned(as: uuid_t.self)))
    default: return .string(String(decoding: name, as: UTF8.self))
    }
  }
}

// MARK: ReferenceColumnBuilder

/// Builds a column of references. It has the layout of its first reference and becomes mixed if one of another kind is
/// added.
package final class ReferenceColumnBuilder {
  // Exclusivity is checked by eye: no method calls another's code while it changes one of these.
  @exclusivity(unchecked) private var layout: ReferenceColumn.Layout?
  private let values = GrowableBytes()
  private let offsets = GrowableBytes()
  @exclusivity(unchecked) private var entities: ReferenceColumn.Entities?
  private let entityOrdinals = GrowableBytes()
  @exclusivity(unchecked) private var references = 0

  package init() {}

  /// The number of references. Computed, since other modules check exclusivity at each access to a stored property.
  @inline(__always)
  package private(set) var count: Int {
    get { references }
    set { references = newValue }
  }

  /// The number of bytes that the names take, to end a group before its offsets overflow.
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

  /// Appends a placeholder for a to-one relationship without a destination: it is never read, and does not determine
  /// the layout.
  package func appendPlaceholder() {
    if let layout { appendZeros(1, layout) }
    note(placeholderEntity, isPlaceholder: true)
  }

  private func appendZeros(_ placeholders: Int, _ layout: ReferenceColumn.Layout) {
    if let width = layout.width { return values.append(repeating: 0, count: placeholders * width) }
    for _ in 0..<placeholders { offsets.append(UInt32(truncatingIfNeeded: values.count)) }
  }

  /// Sets the layout of the names, also for the placeholders so far.
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

  /// Adds a byte with its kind to every reference so far.
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

  /// Returns the references as an immutable column; this becomes empty.
  package func sealed() -> ReferenceColumn {
    precondition(byteCount <= UInt32.max, "References take at most 4 GiB in one group; end the group when it is full.")
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
  /// - Parameter entityOrdinal: the entity that they all belong to, or nil for the entities in the other column.
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

  /// Appends UUIDs of one entity, stored in `bytes` one after another.
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
