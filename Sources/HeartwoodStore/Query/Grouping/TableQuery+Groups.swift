package import HeartwoodModel

extension TableQuery {
  /// Returns the records that pass, in groups, in the order of the first record of each.
  ///
  /// O(rows), on all processors.
  package func groups(by grouping: CompiledGrouping) -> TableGroups {
    let first = GroupWorker(grouping, QueryRecords(tables: tables, entityOrdinal: table.entity.ordinal), table)
    let shares = Self.shares(of: table.groups)
    if shares.count == 1 { return TableGroups([grouped(shares[0], first)], of: table) }
    // If nearly every record is a group of its own, merging costs as much as grouping.
    let begun = grouped(0..<1, first)
    if begun.hasManyGroups { return dividedGroups(first) }
    let partial = Parallel.map(shares.count) { number in
      number == 0 ? grouped(shares[0].dropFirst(), begun) : grouped(shares[number], first)
    }
    var whole = partial[0]
    for other in partial.dropFirst() { whole.merge(other) }
    return TableGroups([whole], of: table)
  }

  /// Returns the worker with the records of some groups of the table.
  private func grouped(_ groups: Range<Int>, _ worker: GroupWorker) -> GroupWorker {
    var worker = worker
    for ordinal in groups where progress?.isCancelled != true {
      worker.add(table.groups[ordinal], ordinal: ordinal, passing(inGroup: ordinal))
    }
    return worker
  }

  /// Groups the records where each processor takes all records with some of the keys, so that nothing is merged.
  private func dividedGroups(_ worker: GroupWorker) -> TableGroups {
    let passing = Parallel.map(table.groups.count) { self.passing(inGroup: $0) }
    let count = Parallel.powerOfTwoProcessorCount
    let parts = Parallel.map(count) { number in
      var part = worker
      for (ordinal, bitmap) in passing.enumerated() where progress?.isCancelled != true {
        part.add(table.groups[ordinal], ordinal: ordinal, bitmap, KeyPart(number: number, count: count))
      }
      return part
    }
    return TableGroups(parts, of: table)
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
  fileprivate private(set) var firstRows: [RowID] = []
  /// The numbers of the groups that were first met in each group of the table.
  fileprivate private(set) var found: [Int: Range<Int>] = [:]
  /// The rows of the last call, whose memory is reused.
  private var rows: GroupRows?

  init(_ grouping: CompiledGrouping, _ records: QueryRecords, _ table: NodeTable) {
    self.grouping = grouping
    self.records = records
    self.table = table
    self.encoder = RowKeyEncoder(grouping.keys, records)
    self.aggregates = grouping.aggregates.map(records.aggregate)
  }

  /// Whether so many groups have been found that other workers should not find the same ones.
  var hasManyGroups: Bool { encoder.dividesRows && rows.map { firstRows.count > $0.count / 8 } ?? false }

  /// Adds the rows of a group of the table that pass, or those of them whose keys are in a part of all keys.
  mutating func add(_ group: RowGroup, ordinal: Int, _ bitmap: RowBitmap, _ part: KeyPart? = nil) {
    if bitmap.isEmpty { return }
    var rows = rows ?? GroupRows(group, ordinal: ordinal, [])
    // Its arrays have no other owner then, so that they are changed in place.
    self.rows = nil
    rows.replace(group, ordinal: ordinal, bitmap)
    if let part { encoder.keep(part, of: &rows) }
    let start = firstRows.count
    encode(&rows)
    found[ordinal] = start..<firstRows.count
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

  fileprivate func group(_ number: Int) -> RecordGroup {
    RecordGroup(
      keys: grouping.keys.map { records.value($0, firstRows[number]) },
      accumulators: aggregates.map { $0.accumulator(number) }
    )
  }

  /// Returns how the values of an expression over the groups are found.
  fileprivate func source(of plan: CompiledExpression) -> GroupValueSource {
    guard case .variable(let place) = plan else { return .groups(plan) }
    guard place < grouping.keys.count else { return .aggregate(aggregates[place - grouping.keys.count]) }
    let key = grouping.keys[place]
    guard let property = key.ownProperty, !property.isToMany else { return .firstRow(key) }
    return .column(property.ordinal, property.attributeType)
  }

  /// Appends the value of an expression over a group.
  fileprivate func append(_ source: GroupValueSource, of number: Int, to values: inout [PropertyValue]) {
    switch source {
    case .column(let ordinal, let type):
      let row = firstRows[number]
      let scopes = records.tables.scopes
      values.append(table.groups[row.group].value(row: row.row, ordinal: ordinal, type: type, scopes: scopes))
    case .firstRow(let key): values.append(records.value(key, firstRows[number]))
    case .aggregate(let aggregate): values.append(aggregate.accumulator(number).result)
    case .groups(let plan): values += group(number).values(of: [plan])
    }
  }
}

/// How the values of an expression over groups are found.
private enum GroupValueSource {
  /// In the column of a property, at the first row of the group.
  case column(_ ordinal: Int, AttributeType?)
  /// By evaluating a key for the first row of the group.
  case firstRow(CompiledExpression)
  case aggregate(any RowAggregate)
  /// By evaluating the expression with the keys and aggregates of the group.
  case groups(CompiledExpression)
}

// MARK: TableGroups

/// The records of a table in groups, in the order of the first record of each.
package struct TableGroups: Sendable {
  /// A group of one of the workers.
  private struct Place {
    let worker: UInt32
    let number: UInt32
  }

  private static let groupsPerTask = 1 << 12
  private let workers: [GroupWorker]
  private let order: [Place]

  /// - Parameter workers: workers that have no group in common.
  fileprivate init(_ workers: [GroupWorker], of table: NodeTable) {
    self.workers = workers
    order = table.isOutOfOrder ? Self.sorted(workers, table) : Self.order(of: workers, table)
  }

  private static func sorted(_ workers: [GroupWorker], _ table: NodeTable) -> [Place] {
    workers.enumerated().flatMap { worker, part in
      part.firstRows.indices.map { (Place(worker: UInt32(worker), number: UInt32($0)), part.firstRows[$0]) }
    }.sorted { table.comes($0.1, before: $1.1) }.map(\.0)
  }

  /// The first rows of a worker are in their order. Those of several are brought into it group by group of the table.
  private static func order(of workers: [GroupWorker], _ table: NodeTable) -> [Place] {
    if workers.count == 1 { return workers[0].firstRows.indices.map { Place(worker: 0, number: UInt32($0)) } }
    return Parallel.map(table.groups.count) { ordinal in
      var places = [Place?](repeating: nil, count: table.groups[ordinal].rowCount)
      for (worker, part) in workers.enumerated() {
        for number in part.found[ordinal] ?? 0..<0 {
          places[part.firstRows[number].row] = Place(worker: UInt32(worker), number: UInt32(number))
        }
      }
      return places.compactMap(\.self)
    }.flatMap(\.self)
  }

  /// The number of groups. A query without keys has one group even if there are no records; the caller handles that.
  package var count: Int { order.count }

  /// Returns the groups, to which other records can be added. O(groups), on all processors.
  package func recordGroups() -> [RecordGroup] {
    tasks(0..<count) { places in places.map { workers[Int($0.worker)].group(Int($0.number)) } }
  }

  /// Returns the values of expressions over the groups in some places, one group after the other. O(values), on all
  /// processors.
  package func values(of plans: [CompiledExpression], in places: Range<Int>) -> [PropertyValue] {
    let sources = workers.map { worker in plans.map(worker.source) }
    return tasks(places.clamped(to: 0..<count)) { places in
      var values: [PropertyValue] = []
      values.reserveCapacity(places.count * plans.count)
      for place in places {
        let worker = Int(place.worker)
        for source in sources[worker] { workers[worker].append(source, of: Int(place.number), to: &values) }
      }
      return values
    }
  }

  /// Returns what `body` makes of the groups in some places, several thousand at a time.
  private func tasks<Element: Sendable>(
    _ places: Range<Int>,
    _ body: @Sendable (ArraySlice<Place>) -> [Element]
  ) -> [Element] {
    let count = (places.count + Self.groupsPerTask - 1) / Self.groupsPerTask
    let parts = Parallel.map(count) { task in
      let start = places.lowerBound + task * Self.groupsPerTask
      return body(order[start..<min(start + Self.groupsPerTask, places.upperBound)])
    }
    var all: [Element] = []
    all.reserveCapacity(parts.reduce(0) { $0 + $1.count })
    for part in parts { all += part }
    return all
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

  /// Keeps the rows for which `isKept` returns true, before they have codes.
  @inline(__always)
  mutating func keep(where isKept: (_ row: Int) -> Bool) {
    var count = 0
    rows.withUnsafeMutableBufferPointer { rows in
      for index in rows.indices {
        // The keys of neighbouring rows are unrelated: a branch on them would be mispredicted half of the time.
        let row = rows[index]
        rows[count] = row
        count &+= isKept(Int(row)) ? 1 : 0
      }
    }
    rows.removeLast(rows.count - count)
    codes.removeLast(codes.count - count)
  }

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
