import HeartwoodModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Matches the records of one table with those of another.
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

  /// Returns the row of the second table that matches `row` of the first; nil if there is none.
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

  /// Matches records that have the same key. If several records have the same key, those with the same keys in the
  /// earlier `passes` are matched first, and the others in the order of the records. O(records).
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

// MARK: RecordKeys

/// A number for each record of a store, the same for records that look the same: by their attributes, and by what the
/// records that they refer to look like.
struct RecordKeys: Sendable {
  /// The columns of an entity that keys are computed from. Two stores are compared with the same list, so that
  /// positions in it mean the same in both.
  struct Columns: Sendable {
    let entity: EntityDescription
    let attributes: [Int]
    let relationships: [(ordinal: Int, isOrdered: Bool)]
  }

  private let contents: StoreContents
  private let columns: [Columns]
  /// By entity ordinal.
  private var keys: [Int: RowValues<Int>]

  /// Computes keys from attributes alone. O(values).
  init(_ contents: StoreContents, _ columns: [Columns]) {
    self.contents = contents
    self.columns = columns
    keys = [:]
    for columns in columns {
      keys[columns.entity.ordinal] = RowValues(of: contents.table(of: columns.entity)) { row in
        var hasher = Hasher()
        hasher.combine(columns.entity.name)
        let node = contents.node(row, of: columns.entity)
        for ordinal in columns.attributes { hasher.combine(node[ordinal]) }
        return hasher.finalize()
      }
    }
  }

  subscript(row: RowID, of entity: EntityDescription) -> Int? { keys[entity.ordinal]?[row] }

  /// Returns keys that also distinguish records whose relationships refer to records with different keys. O(values).
  func refined() throws(PersistenceError) -> RecordKeys {
    // Looking a record up builds the index of its table, which may find a fault in it.
    for table in contents.tables { try table.checkReferences() }
    var result = self
    for columns in columns where !columns.relationships.isEmpty {
      result.keys[columns.entity.ordinal] = RowValues(of: contents.table(of: columns.entity)) { row in
        var hasher = Hasher()
        hasher.combine(self[row, of: columns.entity])
        let node = contents.node(row, of: columns.entity)
        for (ordinal, isOrdered) in columns.relationships {
          let keys = node[ordinal].objectIDs.map(key)
          hasher.combine(isOrdered ? keys : keys.sorted())
        }
        return hasher.finalize()
      }
    }
    return result
  }

  private func key(_ id: ManagedObjectID) -> Int {
    // try?: a reference that occurs twice identifies no record, and reading the contents throws the error.
    guard let row = try? contents.table(of: id.entity).row(of: id.reference) else { return 0 }
    return self[row, of: id.entity] ?? 0
  }
}

extension StoreContents {
  /// Returns the record in `row` of the table of `entity`.
  func node(_ row: RowID, of entity: EntityDescription) -> AtomicStoreCacheNode {
    AtomicStoreCacheNode(group: tables[entity.ordinal].groups[row.group], row: row.row, entity: entity, scopes: scopes)
  }
}

// MARK: RowPairs

/// Adjacent rows of a group of one table and as many of a group of another, which are compared with each other.
struct RowPairs: Sendable {
  let left: RowGroup
  let leftRow: Int
  let right: RowGroup
  let rightRow: Int
  let count: Int
  /// The position of the first record in the whole table, counted from 1.
  let position: Int
}

extension RowPairs {
  /// Pairs the records of two tables with the same number of records. Their groups and gaps may differ.
  static func all(_ left: NodeTable, _ right: NodeTable) -> [RowPairs] {
    var lefts = runs(of: left)[...]
    var rights = runs(of: right)[...]
    var pairs: [RowPairs] = []
    var position = 1
    while let (leftGroup, leftRows) = lefts.first, let (rightGroup, rightRows) = rights.first {
      let count = min(leftRows.count, rightRows.count)
      pairs.append(
        RowPairs(
          left: leftGroup,
          leftRow: leftRows.lowerBound,
          right: rightGroup,
          rightRow: rightRows.lowerBound,
          count: count,
          position: position
        )
      )
      position += count
      skip(count, of: &lefts)
      skip(count, of: &rights)
    }
    return pairs
  }

  private typealias Run = (group: RowGroup, rows: Range<Int>)

  private static func runs(of table: NodeTable) -> [Run] {
    table.groups.flatMap { group in group.liveRuns.map { (group, $0) } }
  }

  private static func skip(_ count: Int, of runs: inout ArraySlice<Run>) {
    guard let rows = runs.first?.rows, rows.count > count else {
      runs.removeFirst()
      return
    }
    runs[runs.startIndex].rows = rows.dropFirst(count)
  }
}

// MARK: Comparing

extension RowPairs {
  /// Returns the offset of the first row whose references differ, or nil if all are the same.
  func firstReferenceDifference() -> Int? {
    let a = left.references
    let b = right.references
    if let width = a.layout.width, a.layout == b.layout, hasSameBytes(a.values, b.values, width: width) { return nil }
    return (0..<count).first { a[leftRow + $0] != b[rightRow + $0] }
  }

  /// Returns whether a column is byte for byte the same in both. If it is not, the values may still be the same.
  func hasSameBytes(_ ordinal: Int) -> Bool {
    let a = left.columns[ordinal]
    let b = right.columns[ordinal]
    guard a.kind == b.kind, a.validity == nil, b.validity == nil else { return false }
    if a.kind == .absent { return true }
    if let width = a.kind.width { return hasSameBytes(a.values, b.values, width: width) }
    if a.kind == .bits { return hasSameBits(BitSlice(a.values), BitSlice(b.values)) }
    return a.kind == .bytes && hasSameBytes(a, b)
  }

  private func hasSameBits(_ a: BitSlice, _ b: BitSlice) -> Bool {
    (0..<count).allSatisfy { a[leftRow + $0] == b[rightRow + $0] }
  }

  private func hasSameBytes(_ a: RecordColumn, _ b: RecordColumn) -> Bool {
    let first = (a.range(leftRow).lowerBound, b.range(rightRow).lowerBound)
    let hasSameLengths = (0..<count).allSatisfy { offset in
      a.range(leftRow + offset).upperBound - first.0 == b.range(rightRow + offset).upperBound - first.1
    }
    guard hasSameLengths else { return false }
    let length = a.range(leftRow + count - 1).upperBound - first.0
    return Self.areEqual(a.values, first.0, b.values, first.1, length)
  }

  private func hasSameBytes(_ a: ByteSlice, _ b: ByteSlice, width: Int) -> Bool {
    Self.areEqual(a, leftRow * width, b, rightRow * width, count * width)
  }

  private static func areEqual(_ a: ByteSlice, _ start: Int, _ b: ByteSlice, _ other: Int, _ length: Int) -> Bool {
    // The slices check that the bytes exist.
    guard let a = ByteSlice(a.region, offset: a.offset + start, count: length),
      let b = ByteSlice(b.region, offset: b.offset + other, count: length)
    else { return false }
    return length == 0 || memcmp(a.unsafeBase, b.unsafeBase, length) == 0
  }
}

// MARK: RowValues

/// A value for each row of a table, deleted rows included.
struct RowValues<Value: Sendable>: Sendable {
  private var groups: [[Value]]

  /// Calls `value` for each row, group by group on all processors.
  init(of table: NodeTable, _ value: @Sendable (RowID) -> Value) {
    let groups = table.groups
    self.groups = Parallel.map(groups.count) { group in
      (0..<groups[group].rowCount).map { value(RowID(group: group, row: $0)) }
    }
  }

  subscript(row: RowID) -> Value {
    get { groups[row.group][row.row] }
    set { groups[row.group][row.row] = newValue }
  }
}
