import Synchronization

/// The rows of a column in the order of their values: the index of one group of rows.
///
/// It is kept with the column, so it lives as long as any version of the table has the column, and a save that touches other columns or
/// other groups keeps it. Making it costs about as much as ten scans, so the first who asks gets none, and the second waits for it.
package final class ColumnOrder: Sendable {
  private enum State {
    case unused, asked
    case made(OrderedRows)
  }

  private let state = Mutex(State.unused)

  init() {}

  /// The rows in their order; nil where nobody has asked before, unless it `isNeeded`.
  func rows(of column: Column, isNeeded: Bool) -> OrderedRows? {
    state.withLock { state in
      switch state {
      case .made(let rows): return rows
      case .unused where !isNeeded:
        state = .asked
        return nil
      case .unused, .asked:
        let rows = OrderedRows(column)
        state = .made(rows)
        return rows
      }
    }
  }
}

/// Rows of one group in the order of the values of a column, whether their records were deleted or not.
struct OrderedRows: Sendable {
  /// First the rows without a value, then the others; those with the same value in their own order.
  let rows: [UInt16]
  /// How many rows have no value.
  let nullCount: Int

  init(_ column: Column) {
    let view = ColumnView(column)
    var nulls: [UInt16] = []
    var entries: [RowSort.Entry] = []
    entries.reserveCapacity(column.rowCount)
    for row in 0..<column.rowCount {
      if view.unsafeIsNull(row) {
        nulls.append(UInt16(truncatingIfNeeded: row))
      } else {
        entries.append(RowSort.Entry(lead: Self.lead(view, row), row: RowID(group: 0, row: row)))
      }
    }
    entries = RadixSort.sorted(entries)
    if column.kind == .bytes || column.kind == .uuid { Self.sortTies(of: &entries, view) }
    nullCount = nulls.count
    rows = nulls + entries.map { UInt16(truncatingIfNeeded: $0.row.row) }
    // The view points into the column.
    withExtendedLifetime(column) {}
  }

  private static func lead(_ view: ColumnView, _ row: Int) -> UInt64 {
    if view.kind == .uuid { return view.unsafeUUIDBytes(row).loadUnaligned(as: UInt64.self).bigEndian }
    return SortTerm.Leads(view: view, kind: view.kind, flip: 0).lead(row)
  }

  private static func sortTies(of entries: inout [RowSort.Entry], _ view: ColumnView) {
    func bytes(_ entry: RowSort.Entry) -> UnsafeRawBufferPointer {
      view.kind == .uuid ? view.unsafeUUIDBytes(entry.row.row) : view.unsafeBytes(entry.row.row)
    }
    RowSort.sortTies(of: &entries) { left, right in
      let order = ByteOrder.compare(bytes(left), bytes(right))
      return order != 0 ? order < 0 : left.row.rawValue < right.row.rawValue
    }
  }
}

// MARK: Searching

extension OrderedRows {
  /// The places of the rows whose values lie between two bounds.
  ///
  /// - Parameters:
  ///   - isBelow: whether the value of a row lies before the range.
  ///   - isAbove: whether it lies behind it.
  func places(_ isBelow: (Int) -> Bool, _ isAbove: (Int) -> Bool) -> Range<Int> {
    let lower = first(from: nullCount) { !isBelow($0) }
    return lower..<first(from: lower, isAbove)
  }

  /// The first place from `start` on whose row passes; all behind it do.
  func first(from start: Int, _ passes: (Int) -> Bool) -> Int {
    var (low, high) = (start, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if passes(Int(rows[middle])) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
