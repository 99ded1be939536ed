import HeartwoodModel

/// Which record of one table is compared with which of another.
struct RecordMatching: Sendable {
  private var counterparts: RowValues<RowID?>
  private var isMatched: RowValues<Bool>
  private let first: NodeTable
  private let second: NodeTable

  private init(_ first: NodeTable, _ second: NodeTable) {
    self.first = first
    self.second = second
    counterparts = RowValues(of: first) { _ in nil }
    isMatched = RowValues(of: second) { _ in false }
  }

  /// The row in the second table whose record is compared with that in `row` of the first; nil where there is none.
  func counterpart(of row: RowID) -> RowID? { counterparts[row] }

  /// The rows of the second table that have no counterpart.
  var unmatchedRows: [RowID] { second.liveRows.filter { !isMatched[$0] } }

  private mutating func match(_ row: RowID, with other: RowID) {
    counterparts[row] = other
    isMatched[other] = true
  }
}

extension RecordMatching {
  /// Matches records that have the same reference. O(records).
  static func byReference(_ first: NodeTable, _ second: NodeTable) throws(PersistenceError) -> RecordMatching {
    var matching = RecordMatching(first, second)
    for row in first.liveRows {
      if let other = try second.row(of: first.reference(row)) { matching.match(row, with: other) }
    }
    return matching
  }

  /// Matches records that have the same key: in the order of the records where several have it, and those that have the same
  /// keys of the earlier `passes` first. O(records).
  static func byKeys(
    _ entity: SharedEntity,
    _ first: NodeTable,
    _ second: NodeTable,
    passes: [(first: RecordKeys, second: RecordKeys)]
  ) -> RecordMatching {
    var matching = RecordMatching(first, second)
    for pass in passes {
      var candidates: [Int: [RowID]] = [:]
      for row in matching.unmatchedRows.reversed() {
        if let key = pass.second[row, of: entity.second] { candidates[key, default: []].append(row) }
      }
      for row in first.liveRows where matching.counterpart(of: row) == nil {
        guard let key = pass.first[row, of: entity.first], let other = candidates[key]?.popLast() else { continue }
        matching.match(row, with: other)
      }
    }
    return matching
  }
}
