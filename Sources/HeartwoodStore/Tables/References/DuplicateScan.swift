/// Tells whether references may occur twice, several times as fast as an index of them is made.
///
/// The hashes of all references are dealt into buckets by their upper bits. A bucket is so small that the table in which its
/// hashes are looked for stays in the processor's cache, which an index of many rows does not.
///
/// `@unchecked Sendable`: each part writes to places of its own, which were counted before.
struct DuplicateScan: @unchecked Sendable {
  /// About how many hashes a bucket has.
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

  /// False where all references of `parts` differ; true where two are the same, or, once in a great while, have the same hash.
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
    // Every place is written before it is read: as many hashes are dealt as were counted.
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
  /// Looks at every bucket whose turn it is: `worker` and each one that comes as many later as there are processors.
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
      // Zero means an empty slot; two references of these hashes are then looked at closely for nothing.
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
