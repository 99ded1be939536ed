import HeartwoodStore

/// What a group of rows looks like in a file: its entry in the directory, and the bytes of its sections.
struct BinaryGroupImage: Sendable {
  struct Part: Sendable {
    let bytes: ByteSlice
    let checksum: UInt64
  }

  let group: RowGroup
  let entry: BinaryDirectory.Group
  let parts: [Part]
}

extension BinaryGroupImage {
  /// The image of a group without deleted rows, whose columns have the shape of the format. O(bytes), for the checksums.
  ///
  /// - Parameter ordinals: the properties that are kept.
  init(_ group: RowGroup, ordinals: [Int]) {
    var builder = BinaryImageBuilder()
    builder.append(group.references)
    let versions = group.writtenVersions
    if let versions { builder.append(versions) }
    let columns = ordinals.map { builder.append(group.columns[$0]) }
    self.group = group
    self.entry = BinaryDirectory.Group(
      rowCount: group.rowCount,
      referenceLayout: group.references.layout,
      hasVersions: versions != nil,
      columns: columns
    )
    self.parts = builder.parts
  }
}

/// Puts the sections of a group in the order that the format has.
private struct BinaryImageBuilder {
  private(set) var parts: [BinaryGroupImage.Part] = []

  mutating func append(_ bytes: ByteSlice) {
    parts.append(.init(bytes: bytes, checksum: XXH64.hash(bytes)))
  }

  mutating func append(_ references: ReferenceColumn) {
    if let offsets = references.offsets { append(offsets) }
    append(references.values)
  }

  mutating func append(_ column: Column) -> BinaryDirectory.GroupColumn {
    var entry = BinaryDirectory.GroupColumn()
    if let validity = column.writtenValidity {
      entry.hasValidity = true
      append(validity)
    }
    if let offsets = column.offsets { append(offsets) }
    guard let references = column.references else {
      append(column.values)
      return entry
    }
    entry.referenceLayout = references.layout
    entry.referenceCount = references.count
    switch references.entities {
    case .same(let ordinal): entry.entityIndex = Int(ordinal)
    case .each(let ordinals):
      entry.hasEntityIndices = true
      append(ordinals)
    }
    append(references)
    return entry
  }
}

extension RowGroup {
  /// The versions, or nil where all are 1.
  fileprivate var writtenVersions: ByteSlice? {
    switch versions {
    case .same(1): return nil
    case .same(let version):
      let bytes = GrowableBytes(capacity: rowCount * 8)
      for _ in 0..<rowCount { bytes.append(version) }
      return bytes.sealed()
    case .each(let bytes):
      return (0..<rowCount).allSatisfy { versions[$0] == 1 } ? nil : bytes
    }
  }
}

extension Column {
  /// The validity bits, or nil where every row has a value, or where rows always have one.
  fileprivate var writtenValidity: ByteSlice? {
    guard kind != .toMany, let validity else { return nil }
    let bytes = validity.bytes.unsafeBytes
    let wholeCount = rowCount / 8
    let isFull =
      bytes[..<wholeCount].allSatisfy { $0 == 0xFF }
      && (wholeCount * 8..<rowCount).allSatisfy { validity[$0] }
    return isFull ? nil : validity.bytes
  }
}
