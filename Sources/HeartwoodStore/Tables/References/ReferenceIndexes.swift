import HeartwoodModel
import Synchronization

/// Finds rows by reference in a table that grows: an index of the rows that it began with, and further ones of those that came.
///
/// It is a value, and its parts never change: versions of a table share them. Each index covers at least twice the rows of the
/// next one, so there are few, and a row is indexed anew O(log rows) times at most, however many saves insert it and others.
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

  /// Takes the rows from `start` up to the end of the table.
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

  /// The live row of `reference` in `groups`, which are the table's.
  func row(of reference: ReferenceID, in groups: [RowGroup]) throws(ReferenceIndex.Duplicate) -> RowID? {
    // A reference that was deleted and came back is in two parts; the later one counts.
    for part in parts.reversed() {
      let row = try part.index.row(of: reference, in: groups)
      if let row, groups[row.group].isLive(row.row) { return row }
    }
    return nil
  }

  /// The row of `reference`, though its record may be gone. Those that were gone when an index was begun are not found.
  func formerRow(of reference: ReferenceID, in groups: [RowGroup]) throws(ReferenceIndex.Duplicate) -> RowID? {
    for part in parts.reversed() {
      if let row = try part.index.row(of: reference, in: groups) { return row }
    }
    return nil
  }

  /// Makes sure that no reference occurs twice in the rows of one index. An index is made only where one may.
  func checkForDuplicates() throws(ReferenceIndex.Duplicate) {
    for part in parts { try part.index.checkForDuplicates() }
  }
}

/// An index that is made when it is first asked for.
private final class LazyReferenceIndex: Sendable {
  private final class Made: Sendable {
    let index: ReferenceIndex

    init(_ index: ReferenceIndex) {
      self.index = index
    }
  }

  /// Read without a lock: it is looked at for each object that a relationship leads to.
  private let made = AtomicLazyReference<Made>()
  /// The rows as they were when the index was begun: a version of the table that is older than the one which asks may still have
  /// records that were deleted since. Empty once the index is made.
  private let pending: Mutex<[IndexedRows]>

  init(_ rows: [IndexedRows]) {
    pending = Mutex(rows)
  }

  @inline(__always)
  func row(of reference: ReferenceID, in groups: [RowGroup]) throws(ReferenceIndex.Duplicate) -> RowID? {
    if let made = made.load() { return made.index.row(of: reference, in: groups) }
    return try make().index.row(of: reference, in: groups)
  }

  /// Whoever asks first makes it, and others wait.
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
