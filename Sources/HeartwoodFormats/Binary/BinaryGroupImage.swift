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
  /// - Parameters:
  ///   - ordinals: the properties that are kept.
  ///   - entityCount: how many entities the model has.
  init(_ group: RowGroup, ordinals: [Int], entityCount: Int) {
    var builder = BinaryImageBuilder(entityCount: entityCount)
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
  private let entityCount: Int
  private(set) var parts: [BinaryGroupImage.Part] = []

  init(entityCount: Int) {
    self.entityCount = entityCount
  }

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
    case .same(let ordinal): entry.entityIndex = Int(index(ofEntity: ordinal))
    case .each(let ordinals):
      entry.hasEntityIndices = true
      append(indices(ofEntities: ordinals))
    }
    append(references)
    return entry
  }

  /// The place of an entity's table. Where no record is named, the entity may be one that the model does not have.
  private func index(ofEntity ordinal: UInt32) -> UInt32 { ordinal < entityCount ? ordinal : 0 }

  /// The places of the tables, as they lie in memory where the model has all of the entities. O(bytes).
  private func indices(ofEntities ordinals: ByteSlice) -> ByteSlice {
    func ordinal(at place: Int) -> UInt32 {
      ordinals.unsafeBytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
    }
    let places = stride(from: 0, to: ordinals.count - 3, by: 4)
    if places.allSatisfy({ ordinal(at: $0) < entityCount }) { return ordinals }
    let indices = GrowableBytes(capacity: ordinals.count)
    for place in places { indices.append(index(ofEntity: ordinal(at: place))) }
    return indices.sealed()
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
