import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Finds the row of a reference: a table of slots, each holding a row and some bits of its hash, probed in order.
///
/// It never changes once it is made. It holds rows, not references, so a look-up compares with the table's own column.
struct HashIndex: Sendable {
  /// 8 bytes a slot: the upper half bits of the hash, the lower half the row; ``emptySlot`` where there is none.
  private let slots: ByteSlice
  private let geometry: SlotGeometry
  fileprivate static let emptySlot = UInt64.max

  /// Indexes the rows of `parts`, which are groups that follow each other. O(rows), on all processors.
  init(_ parts: [IndexedRows]) throws(ReferenceIndex.Duplicate) {
    geometry = SlotGeometry(rowCount: parts.reduce(0) { $0 + $1.rows.count })
    let table = GrowableBytes(capacity: geometry.slotCount * 8)
    table.append(repeating: 0xFF, count: geometry.slotCount * 8)
    let filler = SlotFiller(
      slots: table.unsafeMutableBytes,
      geometry: geometry,
      parts: parts
    )
    if let duplicate = filler.fill() { throw duplicate }
    slots = table.sealed()
  }

  /// The row of `reference` among the rows indexed, live or not. O(1) expected.
  ///
  /// - Parameter groups: those of the table, in any later version.
  func row(of reference: ReferenceID, in groups: [RowGroup]) -> RowID? {
    let hash = Self.hash(reference)
    var slot = geometry.firstSlot(hash)
    while true {
      let entry = slots.unsafeBase.load(fromByteOffset: slot &* 8, as: UInt64.self)
      if entry == Self.emptySlot { return nil }
      if entry &>> 32 == hash &>> 32 {
        let row = RowID(rawValue: UInt32(truncatingIfNeeded: entry))
        if groups[row.group].references[row.row] == reference { return row }
      }
      slot = geometry.slot(after: slot)
    }
  }
}

/// How the slots are laid out: parts of equal size, so that each can be filled without a look at the others.
struct SlotGeometry: Sendable {
  let slotCount: Int
  let partCount: Int
  private let partMask: Int

  /// At most half of the slots are taken, and so is about half of each part, since hashes fall at random.
  init(rowCount: Int) {
    var slots = 16
    while slots < rowCount * 2 { slots *= 2 }
    slotCount = slots
    // Below this many rows the threads cost more than they gain, and a part might fill up by chance.
    partCount = rowCount < 1 << 15 ? 1 : Parallel.powerOfTwoProcessorCount
    partMask = slotCount / partCount - 1
  }

  @inline(__always)
  func firstSlot(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (slotCount &- 1) }

  /// The next slot of the same part.
  @inline(__always)
  func slot(after slot: Int) -> Int { slot & ~partMask | (slot &+ 1) & partMask }

  @inline(__always)
  func part(of slot: Int) -> Int { slot / (partMask &+ 1) }
}

// MARK: Hashing

extension HashIndex {
  static func hash(_ reference: ReferenceID) -> UInt64 {
    switch reference {
    case .integer(let number): return mixed(UInt64(bitPattern: number), 0)
    case .uuid(let uuid): return withUnsafeBytes(of: uuid.uuid) { mixed(uuid: $0) }
    case .string(let text):
      var hasher = Hasher()
      text.hashBytes(into: &hasher)
      return mixed(UInt64(bitPattern: Int64(hasher.finalize())), 1)
    }
  }

  /// The hash of the reference in `row`, which is not made for it.
  @inline(__always)
  static func hash(of references: ReferenceColumn, _ row: Int) -> UInt64 {
    guard references.layout == .uuid else { return hash(references[row]) }
    return withUnsafeBytes(of: references.uuidBytes(row)) { mixed(uuid: $0) }
  }

  @inline(__always)
  private static func mixed(uuid bytes: UnsafeRawBufferPointer) -> UInt64 {
    mixed(bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
  }

  /// Keyed for each process, so that nobody can choose references that collide.
  @inline(__always)
  static func mixed(_ first: UInt64, _ second: UInt64) -> UInt64 {
    let product = (first ^ key.0).multipliedFullWidth(by: second ^ key.1 | 1)
    let folded = product.high ^ product.low ^ (second &* 0x9E37_79B9_7F4A_7C15)
    // The last slot of all ones means "empty"; no hash has these upper bits.
    let result = folded ^ (folded &>> 29)
    return result &>> 32 == 0xFFFF_FFFF ? result ^ 1 &<< 40 : result
  }

  private static let key = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max) | 1)
}

/// Fills the slots of an index: each processor takes the references whose hash falls into its part of the table.
///
/// `@unchecked Sendable`: two calls never write to the same slot, because each stays in its own part.
private struct SlotFiller: @unchecked Sendable {
  let slots: UnsafeMutableRawBufferPointer
  let geometry: SlotGeometry
  let parts: [IndexedRows]

  /// Returns the duplicate that comes first, where there is one.
  func fill() -> ReferenceIndex.Duplicate? {
    let duplicates = Parallel.map(geometry.partCount) { fill(part: $0) }
    return duplicates.compactMap(\.self).min { $0.second.rawValue < $1.second.rawValue }
  }

  private func fill(part: Int) -> ReferenceIndex.Duplicate? {
    for indexed in parts {
      let references = indexed.references
      for row in indexed.rows where indexed.liveness?[row] ?? true {
        let hash = HashIndex.hash(of: references, row)
        let slot = geometry.firstSlot(hash)
        guard geometry.part(of: slot) == part else { continue }
        let id = RowID(group: indexed.group, row: row)
        if let other = insert(references, id, hash, slot) { return .init(first: other, second: id) }
      }
    }
    return nil
  }

  private func reference(_ id: RowID) -> ReferenceID {
    parts[id.group - parts[0].group].references[id.row]
  }

  /// Puts a row into its slot; returns the row that has the same reference, where there is one.
  @inline(__always)
  private func insert(_ references: ReferenceColumn, _ id: RowID, _ hash: UInt64, _ firstSlot: Int) -> RowID? {
    var slot = firstSlot
    while true {
      let entry = slots.load(fromByteOffset: slot &* 8, as: UInt64.self)
      if entry == HashIndex.emptySlot { break }
      if entry &>> 32 == hash &>> 32 {
        let other = RowID(rawValue: UInt32(truncatingIfNeeded: entry))
        if reference(other) == references[id.row] { return other }
      }
      slot = geometry.slot(after: slot)
    }
    slots.storeBytes(of: hash & ~0xFFFF_FFFF | UInt64(id.rawValue), toByteOffset: slot &* 8, as: UInt64.self)
    return nil
  }
}
