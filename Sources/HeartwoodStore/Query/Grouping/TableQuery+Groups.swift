package import HeartwoodModel

extension TableQuery {
  /// Returns the records that pass, in groups, in the order of the first record of each.
  ///
  /// O(rows), on all processors; an additional O(groups) if there are many groups.
  package func groups(by grouping: CompiledGrouping) -> [RecordGroup] {
    let records = QueryRecords(tables: tables, entityOrdinal: table.entity.ordinal)
    let shares = Self.shares(of: table.groups)
    let partial = Parallel.map(shares.count) { number in
      var worker = GroupWorker(grouping, records, table)
      for ordinal in shares[number] where progress?.isCancelled != true {
        worker.add(table.groups[ordinal], ordinal: ordinal, passing(inGroup: ordinal))
      }
      return worker
    }
    guard var whole = partial.first else { return [] }
    for other in partial.dropFirst() { whole.merge(other) }
    return whole.groups()
  }

  /// Divides the groups of a table into one range for each processor, with about as many rows in each. What is first met
  /// in one range then comes before what is first met in the next.
  private static func shares(of groups: [RowGroup]) -> [Range<Int>] {
    let count = max(1, min(Parallel.powerOfTwoProcessorCount, groups.count))
    let total = groups.reduce(0) { $0 + $1.rowCount }
    var (shares, start, rows): ([Range<Int>], Int, Int) = ([], 0, 0)
    for (ordinal, group) in groups.enumerated() where shares.count < count - 1 {
      rows += group.rowCount
      guard rows * count >= total * (shares.count + 1) else { continue }
      shares.append(start..<(ordinal + 1))
      start = ordinal + 1
    }
    return shares + [start..<groups.count]
  }
}

/// Groups records by the values of expressions, and computes aggregates of them.
private struct GroupWorker: Sendable {
  private let grouping: CompiledGrouping
  private let records: QueryRecords
  private let table: NodeTable
  private var encoder: RowKeyEncoder
  private var aggregates: [any RowAggregate]
  /// The row of the first record of each group.
  private var firstRows: [RowID] = []
  /// The rows of the last call, whose memory is reused.
  private var rows: GroupRows?

  init(_ grouping: CompiledGrouping, _ records: QueryRecords, _ table: NodeTable) {
    self.grouping = grouping
    self.records = records
    self.table = table
    self.encoder = RowKeyEncoder(grouping.keys, records)
    self.aggregates = grouping.aggregates.map(records.aggregate)
  }

  mutating func add(_ group: RowGroup, ordinal: Int, _ bitmap: RowBitmap) {
    if bitmap.isEmpty { return }
    var rows = rows ?? GroupRows(group, ordinal: ordinal, [])
    // Its arrays have no other owner then, so that they are changed in place.
    self.rows = nil
    rows.replace(group, ordinal: ordinal, bitmap)
    encode(&rows)
    for index in aggregates.indices {
      aggregates[index].grow(to: firstRows.count)
      aggregates[index].add(rows)
    }
    self.rows = rows
  }

  /// Numbers the rows, and keeps the first row of each group.
  private mutating func encode(_ rows: inout GroupRows) {
    encoder.encode(&rows)
    if firstRows.count < Int(encoder.codeCount) {
      for (row, code) in zip(rows.rows, rows.codes) where Int(code) == firstRows.count {
        firstRows.append(RowID(group: rows.ordinal, row: Int(row)))
      }
    }
    if table.isOutOfOrder { lookForFirst(among: rows) }
  }

  /// Keeps rows that come before the ones that were kept earlier.
  private mutating func lookForFirst(among rows: GroupRows) {
    for (row, code) in zip(rows.rows, rows.codes) { keep(RowID(group: rows.ordinal, row: Int(row)), of: Int(code)) }
  }

  /// Keeps a row of a group if it comes first.
  private mutating func keep(_ row: RowID, of group: Int) {
    if table.comes(row, before: firstRows[group]) { firstRows[group] = row }
  }

  /// Adds the groups of another worker, which are identified by the first row of each.
  mutating func merge(_ other: GroupWorker) {
    var codes: [UInt32] = []
    codes.reserveCapacity(other.firstRows.count)
    var start = 0
    while start < other.firstRows.count {
      let ordinal = other.firstRows[start].group
      let end = other.firstRows[start...].firstIndex { $0.group != ordinal } ?? other.firstRows.count
      let numbers = other.firstRows[start..<end].map { Int32(truncatingIfNeeded: $0.row) }
      var rows = GroupRows(table.groups[ordinal], ordinal: ordinal, numbers)
      encode(&rows)
      codes += rows.codes
      start = end
    }
    for (code, row) in zip(codes, other.firstRows) { keep(row, of: Int(code)) }
    for index in aggregates.indices {
      aggregates[index].grow(to: firstRows.count)
      aggregates[index].merge(other.aggregates[index], codes)
    }
  }

  private static let groupsPerTask = 1 << 12

  func groups() -> [RecordGroup] {
    // A query without keys has one group even if there are no records; the caller handles that.
    let order =
      table.isOutOfOrder
      ? firstRows.indices.sorted { table.comes(firstRows[$0], before: firstRows[$1]) } : Array(firstRows.indices)
    let tasks = (order.count + Self.groupsPerTask - 1) / Self.groupsPerTask
    return Parallel.map(tasks) { task in
      order[(task * Self.groupsPerTask)..<min(order.count, (task + 1) * Self.groupsPerTask)].map(group)
    }.flatMap(\.self)
  }

  private func group(_ number: Int) -> RecordGroup {
    RecordGroup(
      keys: grouping.keys.map { records.value($0, firstRows[number]) },
      accumulators: aggregates.map { $0.accumulator(number) }
    )
  }
}

// MARK: GroupRows

/// Some rows of one group of a table, each with the number of its record group.
struct GroupRows: Sendable {
  private(set) var group: RowGroup
  /// The place of the group in its table.
  private(set) var ordinal: Int
  private(set) var rows: [Int32]
  /// The codes of the rows, in the same order.
  var codes: [UInt32]

  init(_ group: RowGroup, ordinal: Int, _ rows: [Int32]) {
    self.group = group
    self.ordinal = ordinal
    self.rows = rows
    self.codes = Array(repeating: 0, count: rows.count)
  }

  /// Replaces the rows with others, in the same memory.
  mutating func replace(_ group: RowGroup, ordinal: Int, _ bitmap: RowBitmap) {
    self.group = group
    self.ordinal = ordinal
    rows.removeAll(keepingCapacity: true)
    rows.reserveCapacity(group.rowCount)
    bitmap.forEach { rows.append(Int32(truncatingIfNeeded: $0)) }
    if codes.count > rows.count { codes.removeLast(codes.count - rows.count) }
    if codes.count < rows.count { codes.append(contentsOf: repeatElement(0, count: rows.count - codes.count)) }
    codes.withUnsafeMutableBufferPointer { $0.update(repeating: 0) }
  }

  var count: Int { rows.count }

  /// Sets the codes to those that `body` returns for the rows.
  @inline(__always)
  mutating func setCodes(_ body: (_ row: Int) -> UInt32) {
    rows.withUnsafeBufferPointer { rows in
      codes.withUnsafeMutableBufferPointer { codes in
        for index in 0..<rows.count { codes[index] = body(Int(rows[index])) }
      }
    }
  }

  /// Calls `body` with the code and the row of each row that has a value of the property.
  @inline(__always)
  func forEachValue(of ordinal: Int, _ body: (_ code: Int, _ row: Int) -> Void) {
    let view = group.unsafeViews[ordinal]
    rows.withUnsafeBufferPointer { rows in
      codes.withUnsafeBufferPointer { codes in
        for index in 0..<rows.count {
          let row = Int(rows[index])
          if !view.unsafeIsNull(row) { body(Int(codes[index]), row) }
        }
      }
    }
  }
}
