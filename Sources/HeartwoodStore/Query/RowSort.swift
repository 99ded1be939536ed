import HeartwoodModel

/// Sorts rows of one table.
///
/// Each row gets a number from its first sort key, so that numbers have the order of keys. Rows are sorted by these
/// numbers; if two have the same number and the keys may still differ, or there are further keys, the keys themselves
/// are compared.
struct RowSort: Sendable {
  /// A row and the number of its first sort key.
  struct Entry: Sendable {
    var lead: UInt64
    var row: RowID
  }

  /// The greatest number of rows that are selected; more are found by sorting all.
  static let largestSelection = 10_000

  let terms: [SortTerm]
  let table: NodeTable
  /// Whether rows with equal keys are not in the order of their row numbers.
  private let isOutOfOrder: Bool

  /// Returns nil if there is nothing to sort by.
  init?(_ sorts: [CompiledSort], _ tables: QueryTables, _ table: NodeTable) {
    if sorts.isEmpty { return nil }
    self.terms = sorts.map { SortTerm($0, tables, table) }
    self.table = table
    self.isOutOfOrder = table.isOutOfOrder
  }

  /// Whether rows with the same number have equal keys.
  private var isLeadEnough: Bool { terms.count == 1 && terms[0].isLeadExact }

  /// Returns whether `left` comes before `right`.
  @inline(__always)
  private func comes(_ left: Entry, before right: Entry) -> Bool {
    left.lead != right.lead ? left.lead < right.lead : comesByKeys(left.row, before: right.row)
  }

  private func comesByKeys(_ left: RowID, before right: RowID) -> Bool {
    if !isLeadEnough {
      for term in terms {
        let order = term.compare(left, right, in: table)
        if order != 0 { return order < 0 }
      }
    }
    return isOutOfOrder ? table.comes(left, before: right) : left.rawValue < right.rawValue
  }
}

// MARK: All rows

extension RowSort {
  /// Returns the entries of the rows of a group, in its order.
  func keys(of rows: RowBitmap, inGroup ordinal: Int) -> [Entry] {
    var entries: [Entry] = []
    entries.reserveCapacity(rows.count)
    let leads = terms[0].leads(ofGroup: ordinal, in: table)
    rows.forEach { entries.append(Entry(lead: leads.lead($0), row: RowID(group: ordinal, row: $0))) }
    return entries
  }

  /// Returns all rows of the entries of each group, sorted.
  func sorted(_ groups: [[Entry]]) -> [RowID] {
    var entries = RadixSort.sorted(groups.flatMap(\.self))
    if !isLeadEnough || isOutOfOrder { Self.sortTies(of: &entries) { comesByKeys($0.row, before: $1.row) } }
    return entries.map(\.row)
  }

  /// Sorts entries with the same number by `comes`.
  static func sortTies(of entries: inout [Entry], _ comes: (Entry, Entry) -> Bool) {
    var start = 0
    while start < entries.count {
      var end = start + 1
      while end < entries.count, entries[end].lead == entries[start].lead { end += 1 }
      if end - start > 1 { entries[start..<end].sort(by: comes) }
      start = end
    }
  }
}

// MARK: The first rows

extension RowSort {
  /// Returns the first `count` of the rows of a group, in no order.
  func first(_ count: Int, of rows: RowBitmap, inGroup ordinal: Int) -> [Entry] {
    guard count > 0 else { return [] }
    let leads = terms[0].leads(ofGroup: ordinal, in: table)
    var kept: [Entry] = []
    // A heap: once there are enough rows, the last one of them is on top.
    rows.forEach { row in
      let entry = Entry(lead: leads.lead(row), row: RowID(group: ordinal, row: row))
      if kept.count < count {
        kept.append(entry)
        if kept.count == count { makeHeap(&kept) }
      } else if comes(entry, before: kept[0]) {
        kept[0] = entry
        siftDown(&kept, 0)
      }
    }
    return kept
  }

  /// Returns the first `count` rows of the selections of all groups, sorted.
  func first(_ count: Int, of groups: [[Entry]]) -> [RowID] {
    groups.flatMap(\.self).sorted(by: comes).prefix(count).map(\.row)
  }

  private func makeHeap(_ entries: inout [Entry]) {
    for index in stride(from: entries.count / 2 - 1, through: 0, by: -1) { siftDown(&entries, index) }
  }

  private func siftDown(_ entries: inout [Entry], _ start: Int) {
    var parent = start
    while true {
      var last = parent
      for child in [parent * 2 + 1, parent * 2 + 2]
      where child < entries.count && comes(entries[last], before: entries[child]) {
        last = child
      }
      if last == parent { return }
      entries.swapAt(parent, last)
      parent = last
    }
  }
}

// MARK: RadixSort

/// Sorts entries by their numbers, digit by digit; entries with the same number keep their order.
enum RadixSort {
  private static let digitBits = 11
  private static let digitCount = 1 << digitBits

  /// Returns the entries in the order of their numbers. O(entries × digits in which the numbers differ).
  static func sorted(_ entries: [RowSort.Entry]) -> [RowSort.Entry] {
    guard let first = entries.first else { return [] }
    var (least, greatest) = (first.lead, first.lead)
    var isSorted = true
    var previous = first.lead
    for entry in entries {
      least = min(least, entry.lead)
      greatest = max(greatest, entry.lead)
      isSorted = isSorted && entry.lead >= previous
      previous = entry.lead
    }
    if isSorted { return entries }
    let bits = UInt64.bitWidth - (greatest - least).leadingZeroBitCount
    var source = entries
    var target = entries
    for shift in stride(from: 0, to: bits, by: digitBits) {
      pass(source, into: &target, by: UInt64(shift), over: least)
      swap(&source, &target)
    }
    return source
  }

  /// Sorts by one digit.
  private static func pass(
    _ source: [RowSort.Entry],
    into target: inout [RowSort.Entry],
    by shift: UInt64,
    over least: UInt64
  ) {
    let mask = UInt64(digitCount - 1)
    var places = [Int](repeating: 0, count: digitCount)
    source.withUnsafeBufferPointer { source in
      places.withUnsafeMutableBufferPointer { places in
        for entry in source { places[Int(truncatingIfNeeded: (entry.lead &- least) &>> shift & mask)] &+= 1 }
        var next = 0
        for digit in 0..<digitCount {
          let count = places[digit]
          places[digit] = next
          next &+= count
        }
        target.withUnsafeMutableBufferPointer { target in
          for entry in source {
            let digit = Int(truncatingIfNeeded: (entry.lead &- least) &>> shift & mask)
            target[places[digit]] = entry
            places[digit] &+= 1
          }
        }
      }
    }
  }
}
