import HeartwoodFoundation
import HeartwoodModel

/// Finds the row of a reference: a table of slots, each with a row and some bits of its hash, probed in order.
///
/// It is immutable. It contains rows, not references, so a look-up compares with the table's own column.
struct HashIndex: Sendable {
  /// 8 bytes a slot: the upper half bits of the hash, the lower half the row; ``emptySlot`` if there is none.
  private let slots: ByteSlice
  private let geometry: SlotGeometry
  fileprivate static let emptySlot = UInt64.max

  /// Indexes the rows of `parts`, which are consecutive groups. O(rows), on all processors.
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

  /// Returns the row of `reference` among the rows indexed, live or not. O(1) expected.
  ///
  /// - Parameter groups: the groups of the table, in any later version.
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

/// The layout of the slots: parts of equal size, so that each can be filled independently of the others.
struct SlotGeometry: Sendable {
  let slotCount: Int
  let partCount: Int
  private let partMask: Int

  /// At most half of the slots are used, and so is about half of each part, since hashes are distributed at random.
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

  /// Returns the next slot of the same part.
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

  /// Returns the hash of the reference in `row`, without creating the reference.
  @inline(__always)
  static func hash(of references: ReferenceColumn, _ row: Int) -> UInt64 {
    guard references.layout == .uuid else { return hash(references[row]) }
    return withUnsafeBytes(of: references.uuidBytes(row)) { mixed(uuid: $0) }
  }

  @inline(__always)
  private static func mixed(uuid bytes: UnsafeRawBufferPointer) -> UInt64 {
    mixed(bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
  }

  /// Returns a hash of both numbers, keyed for each process, so that no attacker can choose references that collide.
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

  /// Returns the first duplicate, if there is one.
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

  /// Puts a row into its slot; returns the row that has the same reference, if there is one.
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

// MARK: DuplicateScan

/// Checks whether references may occur twice, several times as fast as building an index of them.
///
/// The hashes of all references are distributed to buckets by their upper bits. A bucket is so small that the table in
/// which its hashes are looked up stays in the processor's cache, which an index of many rows does not.
///
/// `@unchecked Sendable`: each part writes to places of its own, which were counted before.
struct DuplicateScan: @unchecked Sendable {
  /// The approximate number of hashes in a bucket.
  private static let bucketSize = 2048
  private static let greatestBucketCount = 1 << 16

  private let parts: [IndexedRows]
  private let bucketShift: UInt64
  private let bucketCount: Int

  private init(_ parts: [IndexedRows], rowCount: Int) {
    self.parts = parts
    var bits: UInt64 = 1
    while 1 << bits < min(rowCount / Self.bucketSize, Self.greatestBucketCount) { bits += 1 }
    bucketCount = 1 << bits
    bucketShift = 64 - bits
  }

  /// Returns false if all references of `parts` differ; true if two are the same, or, very rarely, have the same hash.
  /// O(rows), on all processors.
  static func mayRepeat(_ parts: [IndexedRows]) -> Bool {
    let rowCount = parts.reduce(0) { $0 + $1.rows.count }
    return rowCount > 1 && DuplicateScan(parts, rowCount: rowCount).mayRepeat()
  }

  private func mayRepeat() -> Bool {
    let counts = Parallel.map(parts.count) { count(parts[$0]) }
    var places = counts
    var ends: [Int] = []
    var total = 0
    for bucket in 0..<bucketCount {
      for part in parts.indices {
        places[part][bucket] = total
        total += counts[part][bucket]
      }
      ends.append(total)
    }
    let memory = GrowableBytes(capacity: total * 8)
    // Every place is written before it is read: as many hashes are distributed as were counted.
    memory.appendUnsafely(capacity: total * 8) { $0.count }
    let hashes = Hashes(memory.unsafeMutableBytes)
    let begins = places
    _ = Parallel.map(parts.count) { deal(parts[$0], begins[$0], to: hashes) }
    let finalEnds = ends
    let repeats = Parallel.map(Parallel.powerOfTwoProcessorCount) { worker in
      anyBucketRepeats(from: worker, ends: finalEnds, hashes)
    }
    return withExtendedLifetime(memory) { repeats.contains(true) }
  }

  /// The hashes of all references, bucket by bucket.
  private struct Hashes: @unchecked Sendable {
    // `@unchecked Sendable`: see the type around it. The memory is held until the scan ends.
    let bytes: UnsafeMutableRawBufferPointer

    init(_ bytes: UnsafeMutableRawBufferPointer) {
      self.bytes = bytes
    }

    @inline(__always)
    subscript(index: Int) -> UInt64 {
      get { bytes.load(fromByteOffset: index &* 8, as: UInt64.self) }
      nonmutating set { bytes.storeBytes(of: newValue, toByteOffset: index &* 8, as: UInt64.self) }
    }
  }
}

// MARK: Dealing

extension DuplicateScan {
  @inline(__always)
  private func forEachHash(_ part: IndexedRows, _ body: (UInt64) -> Void) {
    let references = part.references
    for row in part.rows where part.liveness?[row] ?? true { body(HashIndex.hash(of: references, row)) }
  }

  @inline(__always)
  private func bucket(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash &>> bucketShift) }

  private func count(_ part: IndexedRows) -> [Int] {
    var counts = [Int](repeating: 0, count: bucketCount)
    forEachHash(part) { counts[bucket($0)] &+= 1 }
    return counts
  }

  private func deal(_ part: IndexedRows, _ begins: [Int], to hashes: Hashes) {
    var places = begins
    forEachHash(part) { hash in
      let bucket = bucket(hash)
      hashes[places[bucket]] = hash
      places[bucket] &+= 1
    }
  }
}

// MARK: Looking

extension DuplicateScan {
  /// Checks the buckets of one worker: `worker` and every bucket that comes a multiple of the number of processors
  /// later.
  private func anyBucketRepeats(from worker: Int, ends: [Int], _ hashes: Hashes) -> Bool {
    var slots: [UInt64] = []
    for bucket in stride(from: worker, to: bucketCount, by: Parallel.powerOfTwoProcessorCount) {
      let range = (bucket == 0 ? 0 : ends[bucket - 1])..<ends[bucket]
      if repeats(range, of: hashes, &slots) { return true }
    }
    return false
  }

  private func repeats(_ range: Range<Int>, of hashes: Hashes, _ slots: inout [UInt64]) -> Bool {
    var capacity = 16
    while capacity < range.count * 2 { capacity *= 2 }
    slots.removeAll(keepingCapacity: true)
    slots.append(contentsOf: repeatElement(0, count: capacity))
    for index in range {
      // Zero means an empty slot; if it makes two hashes equal, the references are compared unnecessarily.
      let hash = hashes[index] | 1
      var slot = Int(truncatingIfNeeded: hash &>> 1) & (capacity - 1)
      while slots[slot] != 0 {
        if slots[slot] == hash { return true }
        slot = (slot + 1) & (capacity - 1)
      }
      slots[slot] = hash
    }
    return false
  }
}
