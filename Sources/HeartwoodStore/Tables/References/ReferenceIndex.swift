import HeartwoodModel
import Synchronization

/// Finds the row of a reference. It is immutable.
struct ReferenceIndex: Sendable {
  private enum Kind {
    case byNumber(NumberIndex)
    case byHash(HashIndex)
  }

  private let kind: Kind

  /// Two rows with the same reference.
  struct Duplicate: Error, Sendable {
    let first: RowID
    let second: RowID
  }

  /// Indexes the rows of `parts`, which are consecutive groups. O(rows), on all processors.
  init(_ parts: [IndexedRows]) throws(Duplicate) {
    if let numbers = try NumberIndex(parts) {
      kind = .byNumber(numbers)
    } else {
      kind = .byHash(try HashIndex(parts))
    }
  }

  /// Returns the row of `reference` among the rows indexed, live or not. O(1) expected.
  ///
  /// - Parameter groups: the groups of the table, in any later version.
  @inline(__always)
  func row(of reference: ReferenceID, in groups: [RowGroup]) -> RowID? {
    switch kind {
    case .byNumber(let index):
      if case .integer(let number) = reference { index.row(of: number) } else { nil }
    case .byHash(let index): index.row(of: reference, in: groups)
    }
  }
}

/// Rows of one group, for an index.
struct IndexedRows: Sendable {
  /// The place of the group in its table.
  let group: Int
  let rows: Range<Int>
  let references: ReferenceColumn
  /// The liveness of the rows; deleted rows are left out.
  let liveness: BitSlice?
}

// MARK: ReferenceIndexes

/// Finds rows by reference in a growing table: an index of the rows that it began with, and further ones of those that
/// were added.
///
/// It is a value, and its parts never change: versions of a table share them. Each index covers at least twice the rows
/// of the next one, so there are few, and a row is indexed again O(log rows) times at most, however many saves insert it
/// and others.
struct ReferenceIndexes: Sendable {
  private struct Part {
    let index: LazyReferenceIndex
    let start: (group: Int, row: Int)
    let rowCount: Int
  }

  private var parts: [Part] = []

  init(_ groups: [RowGroup]) {
    add(from: (0, 0), of: groups)
  }

  /// Adds the rows from `start` up to the end of the table.
  mutating func add(from start: (group: Int, row: Int), of groups: [RowGroup]) {
    var start = start
    var rowCount = groups.dropFirst(start.group).reduce(-start.row) { $0 + $1.rowCount }
    while let last = parts.last, last.rowCount < rowCount * 2 {
      rowCount += last.rowCount
      start = last.start
      parts.removeLast()
    }
    parts.append(Part(index: LazyReferenceIndex(Self.rows(from: start, of: groups)), start: start, rowCount: rowCount))
  }

  private static func rows(from start: (group: Int, row: Int), of groups: [RowGroup]) -> [IndexedRows] {
    groups.indices.dropFirst(start.group).map { ordinal in
      let group = groups[ordinal]
      let first = ordinal == start.group ? start.row : 0
      return IndexedRows(
        group: ordinal,
        rows: first..<group.rowCount,
        references: group.references,
        liveness: group.liveness
      )
    }
  }

  /// Returns the live row of `reference` in `groups`, which are the table's.
  func row(of reference: ReferenceID, in groups: [RowGroup]) throws(ReferenceIndex.Duplicate) -> RowID? {
    // A reference that was deleted and inserted again is in two parts; the later one is used.
    for part in parts.reversed() {
      let row = try part.index.row(of: reference, in: groups)
      if let row, groups[row.group].isLive(row.row) { return row }
    }
    return nil
  }

  /// Returns the row of `reference`, though its record may be deleted. Records that were deleted when an index was
  /// begun are not found.
  func formerRow(of reference: ReferenceID, in groups: [RowGroup]) throws(ReferenceIndex.Duplicate) -> RowID? {
    for part in parts.reversed() {
      if let row = try part.index.row(of: reference, in: groups) { return row }
    }
    return nil
  }

  /// Checks that no reference occurs twice in the rows of one index. An index is made only if one may.
  func checkForDuplicates() throws(ReferenceIndex.Duplicate) {
    for part in parts { try part.index.checkForDuplicates() }
  }
}

/// An index that is made when it is first used.
private final class LazyReferenceIndex: Sendable {
  private final class Made: Sendable {
    let index: ReferenceIndex

    init(_ index: ReferenceIndex) {
      self.index = index
    }
  }

  /// Read without a lock: it is accessed for each object that a relationship refers to.
  private let made = AtomicLazyReference<Made>()
  /// The rows as they were when the index was begun: a version of the table that is older than the one that makes the
  /// index may still have records that were deleted since. Empty once the index is made.
  private let pending: Mutex<[IndexedRows]>

  init(_ rows: [IndexedRows]) {
    pending = Mutex(rows)
  }

  @inline(__always)
  func row(of reference: ReferenceID, in groups: [RowGroup]) throws(ReferenceIndex.Duplicate) -> RowID? {
    if let made = made.load() { return made.index.row(of: reference, in: groups) }
    return try make().index.row(of: reference, in: groups)
  }

  /// Makes the index, or waits for another thread that has begun to make it.
  private func make() throws(ReferenceIndex.Duplicate) -> Made {
    try pending.withLock { rows throws(ReferenceIndex.Duplicate) in
      if let made = made.load() { return made }
      let result = made.storeIfNil(Made(try ReferenceIndex(rows)))
      rows = []
      return result
    }
  }

  func checkForDuplicates() throws(ReferenceIndex.Duplicate) {
    guard made.load() == nil, DuplicateScan.mayRepeat(pending.withLock { $0 }) else { return }
    _ = try make()
  }
}

// MARK: NumberIndex

/// Finds the row of a reference that is a number, if all are and lie close together, as the keys of a database do: a
/// slot for each number from the least to the greatest, with its row.
///
/// Nothing is hashed and no reference is compared, and it is made several times as fast as an index by hash.
struct NumberIndex: Sendable {
  /// The greatest number of slots a row: as much memory as an index by hash takes.
  private static let greatestSlotsPerRow = 4
  private static let emptySlot = UInt32.max

  private let least: Int64
  private let slotCount: UInt64
  /// The rows, 4 bytes each.
  private let slots: ByteSlice

  /// Indexes the rows of `parts`; nil if the references are not numbers that lie close together. O(rows).
  init?(_ parts: [IndexedRows]) throws(ReferenceIndex.Duplicate) {
    guard let bounds = Self.bounds(parts) else { return nil }
    let span = UInt64(bitPattern: bounds.greatest &- bounds.least)
    let rowCount = parts.reduce(0) { $0 + $1.rows.count }
    guard span < UInt64(rowCount * Self.greatestSlotsPerRow) else { return nil }
    least = bounds.least
    slotCount = span + 1
    let memory = GrowableBytes(capacity: Int(slotCount) * 4)
    memory.append(repeating: 0xFF, count: Int(slotCount) * 4)
    if let duplicate = Self.fill(memory.unsafeMutableBytes, parts, from: bounds.least) { throw duplicate }
    slots = memory.sealed()
  }

  /// Returns the least and the greatest number; nil if there is none, or if there are other references among them.
  private static func bounds(_ parts: [IndexedRows]) -> (least: Int64, greatest: Int64)? {
    guard parts.allSatisfy({ $0.references.layout == .integer }) else { return nil }
    var bounds: (least: Int64, greatest: Int64)?
    for part in parts {
      forEachNumber(part) { number, _ in
        let known = bounds ?? (number, number)
        bounds = (min(known.least, number), max(known.greatest, number))
      }
    }
    return bounds
  }

  private static func forEachNumber(_ part: IndexedRows, _ body: (Int64, RowID) -> Void) {
    for row in part.rows where part.liveness?[row] ?? true {
      body(part.references.number(row), RowID(group: part.group, row: row))
    }
  }

  /// Returns the first duplicate, if there is one. The distance of each number from the least is at most the number of
  /// slots.
  private static func fill(
    _ slots: UnsafeMutableRawBufferPointer,
    _ parts: [IndexedRows],
    from least: Int64
  ) -> ReferenceIndex.Duplicate? {
    var duplicate: ReferenceIndex.Duplicate?
    for part in parts {
      forEachNumber(part) { number, row in
        let offset = Int(number &- least) &* 4
        let other = slots.load(fromByteOffset: offset, as: UInt32.self)
        if other == emptySlot {
          slots.storeBytes(of: row.rawValue, toByteOffset: offset, as: UInt32.self)
        } else if duplicate == nil {
          duplicate = .init(first: RowID(rawValue: other), second: row)
        }
      }
    }
    return duplicate
  }

  /// Returns the row of `number`. O(1).
  @inline(__always)
  func row(of number: Int64) -> RowID? {
    // The difference of a number below the least is a very great one.
    let slot = UInt64(bitPattern: number &- least)
    guard slot < slotCount else { return nil }
    let row = slots.unsafeBase.load(fromByteOffset: Int(slot) &* 4, as: UInt32.self)
    return row == Self.emptySlot ? nil : RowID(rawValue: row)
  }
}

// MARK: ReferenceSet

/// A set of references. Numbers that lie close together, as the keys of a database do, take a bit each and are not
/// hashed.
struct ReferenceSet {
  /// The greatest number of bits a reference: about as much memory as a set takes.
  private static let greatestBitsPerReference = 256

  private var least: Int64 = 0
  /// A bit for each number from the least on; empty if references are hashed.
  private var words: [UInt64] = []
  private var others: Set<ReferenceID> = []

  /// Makes an empty set for references that are among `references`. O(n).
  init(for references: [ReferenceID]) {
    guard let bounds = Self.bounds(references) else { return }
    let span = UInt64(bitPattern: bounds.greatest &- bounds.least)
    guard span < UInt64(references.count * Self.greatestBitsPerReference) else { return }
    least = bounds.least
    words = Array(repeating: 0, count: Int(span / 64) + 1)
  }

  /// Returns the least and the greatest number; nil if there is none, or if there are other references among them.
  private static func bounds(_ references: [ReferenceID]) -> (least: Int64, greatest: Int64)? {
    guard case .integer(let first) = references.first else { return nil }
    var bounds = (least: first, greatest: first)
    for reference in references {
      guard case .integer(let number) = reference else { return nil }
      bounds = (min(bounds.least, number), max(bounds.greatest, number))
    }
    return bounds
  }

  /// Adds `reference`; returns false if it was in the set before.
  mutating func insert(_ reference: ReferenceID) -> Bool {
    guard case .integer(let number) = reference, !words.isEmpty else { return others.insert(reference).inserted }
    let place = Int(number &- least)
    let bit = UInt64(1) << UInt64(place % 64)
    if words[place / 64] & bit != 0 { return false }
    words[place / 64] |= bit
    return true
  }
}
