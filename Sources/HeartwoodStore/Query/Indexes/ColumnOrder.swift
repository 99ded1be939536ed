import HeartwoodModel
import Synchronization

/// The rows of a column in the order of their values: the index of one group of rows; and the compound and partial indexes that begin
/// with the column.
///
/// It is kept with the column, so it lives as long as any version of the table has the column, and a save that touches other columns or
/// other groups keeps it. Making it costs about as much as ten scans, so the first who asks gets none, and the second waits for it.
package final class ColumnOrder: Sendable {
  private enum State<Rows: Sendable>: Sendable {
    case unused, asked
    case made(Rows)

    /// The rows; nil where nobody has asked before, unless they are needed.
    mutating func rows(isNeeded: Bool, _ make: () -> Rows) -> Rows? {
      switch self {
      case .made(let rows): return rows
      case .unused where !isNeeded:
        self = .asked
        return nil
      case .unused, .asked:
        let rows = make()
        self = .made(rows)
        return rows
      }
    }
  }

  /// An index that begins with the column.
  private struct Compound: Sendable {
    /// What tells the versions of the other columns of the index and its conditions.
    let others: [ColumnOrder]
    var state = State<CompoundOrder>.unused
  }

  private let state = Mutex(State<OrderedRows>.unused)
  private let compounds = Mutex<[FetchIndexPlan: Compound]>([:])

  init() {}

  /// The rows in their order; nil where nobody has asked before, unless it `isNeeded`.
  func rows(of column: Column, isNeeded: Bool) -> OrderedRows? {
    state.withLock { $0.rows(isNeeded: isNeeded) { OrderedRows(column) } }
  }

  /// The rows of a group in the order of an index that begins with the column; nil where nobody has asked before, unless it `isNeeded`.
  ///
  /// - Parameter members: gives the rows that are in the index.
  func rows(
    of plan: FetchIndexPlan,
    in group: RowGroup,
    isNeeded: Bool,
    _ members: () -> RowBitmap
  ) -> CompoundOrder? {
    let others = (plan.elements.dropFirst().map(\.ordinal) + plan.conditionOrdinals).map { group.columns[$0].order }
    return compounds.withLock { compounds in
      var compound = compounds[plan] ?? Compound(others: others)
      if !compound.others.elementsEqual(others, by: ===) { compound = Compound(others: others) }
      // The orders of single columns have locks of their own, which are taken behind this one only.
      let rows = compound.state.rows(isNeeded: isNeeded) { CompoundOrder(plan, group, members()) }
      compounds[plan] = compound
      return rows
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
    let values = ValueOrder(column)
    var nulls: [UInt16] = []
    var entries: [RowSort.Entry] = []
    entries.reserveCapacity(column.rowCount)
    for row in 0..<column.rowCount {
      if values.isNull(row) {
        nulls.append(UInt16(truncatingIfNeeded: row))
      } else {
        entries.append(RowSort.Entry(lead: values.lead(row), row: RowID(group: 0, row: row)))
      }
    }
    entries = RadixSort.sorted(entries)
    if !values.isLeadExact {
      RowSort.sortTies(of: &entries) { left, right in
        let order = values.compare(left.row.row, right.row.row)
        return order != 0 ? order < 0 : left.row.rawValue < right.row.rawValue
      }
    }
    nullCount = nulls.count
    rows = nulls + entries.map { UInt16(truncatingIfNeeded: $0.row.row) }
    // The order of values points into the column.
    withExtendedLifetime(column) {}
  }

  /// For each row the first place that a row with the same value has in the order.
  func ranks(of column: Column) -> [UInt16] {
    let values = ValueOrder(column)
    var ranks = [UInt16](repeating: 0, count: rows.count)
    var rank = nullCount
    for place in nullCount..<rows.count {
      let row = Int(rows[place])
      if place > nullCount, values.compare(Int(rows[place - 1]), row) != 0 { rank = place }
      ranks[row] = UInt16(truncatingIfNeeded: rank)
    }
    withExtendedLifetime(column) {}
    return ranks
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
