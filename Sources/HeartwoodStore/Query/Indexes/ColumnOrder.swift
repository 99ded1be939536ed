import HeartwoodFoundation
import HeartwoodModel
import Synchronization

/// The rows of a column in the order of their values: the index of one group of rows; and the compound and partial
/// indexes that begin with the column.
///
/// It is kept with the column, so it exists as long as any version of the table has the column, and a save that touches
/// other columns or other groups keeps it. Making it costs about as much as ten scans, so the first request gets none,
/// and the second one makes it.
package final class ColumnOrder: Sendable {
  private enum State<Rows: Sendable>: Sendable {
    case unused, asked
    case made(Rows)

    /// Returns the rows; nil for the first request, unless they are needed.
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
    /// The orders of the other columns of the index and its conditions, which identify the versions of these columns.
    let others: [ColumnOrder]
    var state = State<CompoundOrder>.unused
  }

  private let state = Mutex(State<OrderedRows>.unused)
  private let compounds = Mutex<[FetchIndexPlan: Compound]>([:])

  init() {}

  /// Returns the rows in their order; nil for the first request, unless it `isNeeded`.
  func rows(of column: RecordColumn, isNeeded: Bool) -> OrderedRows? {
    state.withLock { $0.rows(isNeeded: isNeeded) { OrderedRows(column) } }
  }

  /// Returns the rows of a group in the order of an index that begins with the column; nil for the first request,
  /// unless it `isNeeded`.
  ///
  /// - Parameter members: returns the rows that are in the index.
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
      // The orders of single columns have locks of their own, which are taken only after this one.
      let rows = compound.state.rows(isNeeded: isNeeded) { CompoundOrder(plan, group, members()) }
      compounds[plan] = compound
      return rows
    }
  }
}

/// Rows of one group in the order of the values of a column, whether their records were deleted or not.
struct OrderedRows: Sendable {
  /// The rows without a value, followed by the others; rows with the same value in their own order.
  let rows: [UInt16]
  /// The number of rows without a value.
  let nullCount: Int

  init(_ column: RecordColumn) {
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
    // The order of values contains pointers into the column.
    withExtendedLifetime(column) {}
  }

  /// Returns, for each row, the first place in the order of a row with the same value.
  func ranks(of column: RecordColumn) -> [UInt16] {
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
  /// Returns the places of the rows whose values lie between two bounds.
  ///
  /// - Parameters:
  ///   - isBelow: returns whether the value of a row lies before the range.
  ///   - isAbove: returns whether it lies after it.
  func places(_ isBelow: (Int) -> Bool, _ isAbove: (Int) -> Bool) -> Range<Int> {
    let lower = first(from: nullCount) { !isBelow($0) }
    return lower..<first(from: lower, isAbove)
  }

  /// Returns the first place from `start` on whose row passes; all rows after it must pass too.
  func first(from start: Int, _ passes: (Int) -> Bool) -> Int {
    var (low, high) = (start, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if passes(Int(rows[middle])) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

// MARK: CompoundOrder

/// Rows of one group in the order of an index of several properties, or of some records only.
///
/// The value of a property in a row is represented by its rank: the first place of a row with the same value in the
/// order of the column alone. Ranks of up to four properties are combined to one number, so searching compares numbers,
/// whatever the properties are.
struct CompoundOrder: Sendable {
  let rows: [UInt16]
  /// The combined number of each row, ascending.
  private let keys: [UInt64]
  private let elements: [FetchIndexPlan.Element]
  private static let bitsOfRank = 16
  /// The greatest number of places that are looked up one by one.
  private static let mostLookups = 64

  /// - Parameter members: the rows that are in the index.
  init(_ plan: FetchIndexPlan, _ group: RowGroup, _ members: RowBitmap) {
    elements = plan.elements
    var entries: [RowSort.Entry] = []
    members.forEach { entries.append(RowSort.Entry(lead: 0, row: RowID(group: 0, row: $0))) }
    for (level, element) in plan.elements.enumerated() {
      let column = group.columns[element.ordinal]
      guard let ranks = column.order.rows(of: column, isNeeded: true)?.ranks(of: column) else { continue }
      for index in entries.indices {
        entries[index].lead |= Self.key(ranks[entries[index].row.row], element, level)
      }
    }
    entries = RadixSort.sorted(entries)
    rows = entries.map { UInt16(truncatingIfNeeded: $0.row.row) }
    keys = entries.map(\.lead)
  }

  /// Returns a rank's part of the combined number.
  private static func key(_ rank: UInt16, _ element: FetchIndexPlan.Element, _ level: Int) -> UInt64 {
    UInt64(element.isAscending ? rank : .max - rank) << shift(level)
  }

  private static func shift(_ level: Int) -> UInt64 {
    UInt64((FetchIndexPlan.mostElements - 1 - level) * bitsOfRank)
  }

  /// Returns whether the rows at two places have the same values in the first properties of the index.
  func areAlike(_ left: Int, _ right: Int, inFirst count: Int) -> Bool {
    (keys[left] ^ keys[right]) >> Self.shift(count - 1) == 0
  }
}

// MARK: Searching

extension CompoundOrder {
  /// Returns the places of the rows whose first properties have values in given ranges; nil if there would be too many
  /// to look up.
  ///
  /// - Parameter ranges: for each property, ranges of places in the order of its column. For all properties but the
  ///   last one, each range has a single value.
  func places(_ ranges: [[Range<Int>]]) -> [Range<Int>]? {
    guard let last = ranges.last else { return [rows.indices] }
    var prefixes: [UInt64] = [0]
    for (level, ranges) in ranges.dropLast().enumerated() {
      guard prefixes.count * ranges.count <= Self.mostLookups else { return nil }
      prefixes = prefixes.flatMap { prefix in
        ranges.map { prefix | Self.key(UInt16(truncatingIfNeeded: $0.lowerBound), elements[level], level) }
      }
    }
    guard prefixes.count * last.count <= Self.mostLookups else { return nil }
    return prefixes.flatMap { prefix in last.map { places(prefix, $0, level: ranges.count - 1) } }
  }

  private func places(_ prefix: UInt64, _ range: Range<Int>, level: Int) -> Range<Int> {
    let element = elements[level]
    let first = Self.key(UInt16(truncatingIfNeeded: range.lowerBound), element, level)
    let last = Self.key(UInt16(truncatingIfNeeded: range.upperBound - 1), element, level)
    let rest = (1 << Self.shift(level)) - 1 as UInt64
    let lower = firstPlace { $0 >= prefix | min(first, last) }
    return lower..<max(lower, firstPlace { $0 > prefix | max(first, last) | rest })
  }

  private func firstPlace(_ passes: (UInt64) -> Bool) -> Int {
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if passes(keys[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

// MARK: ValueOrder

/// The order of the values of one column, which indexes and sorts share.
///
/// To-one relationships have one too, so that they can be found: by the bytes of the names of their objects.
///
/// It reads through pointers into the column: the caller keeps the column, and passes rows of it that have a value.
struct ValueOrder {
  private let leads: SortTerm.Leads
  private let view: ColumnView
  private let references: ReferenceColumn?

  init(_ column: RecordColumn) {
    view = ColumnView(column)
    references = column.references
    leads = SortTerm.Leads(view: view, kind: column.kind, flip: 0)
  }

  func isNull(_ row: Int) -> Bool { view.unsafeIsNull(row) }

  /// Returns a number that is less if the row comes first.
  func lead(_ row: Int) -> UInt64 {
    references.map { SortTerm.Leads.prefix($0.unsafeName(row)) } ?? leads.value(view, row)
  }

  /// Whether rows with the same number have the same value.
  var isLeadExact: Bool {
    switch view.kind {
    case .bits, .int16, .int32, .int64, .float, .double: true
    case .absent, .bytes, .decimal, .uuid, .toOne, .toMany: false
    }
  }

  /// Returns a number below 0 if the row `left` comes first, 0 if both have the same value.
  func compare(_ left: Int, _ right: Int) -> Int {
    if let references {
      let order = ByteOrder.compare(references.unsafeName(left), references.unsafeName(right))
      return order != 0 ? order : references.entityOrdinal(left) - references.entityOrdinal(right)
    }
    switch view.kind {
    case .bytes: return ByteOrder.compare(view.unsafeBytes(left), view.unsafeBytes(right))
    case .uuid: return ByteOrder.compare(view.unsafeUUIDBytes(left), view.unsafeUUIDBytes(right))
    case .decimal: return PackedDecimal.compare(view.unsafePackedDecimal(left), view.unsafePackedDecimal(right))
    default:
      let (first, second) = (lead(left), lead(right))
      return first < second ? -1 : first == second ? 0 : 1
    }
  }
}

extension ReferenceColumn {
  /// Returns the bytes of the name at `index`, valid as long as the column exists.
  func unsafeName(_ index: Int) -> UnsafeRawBufferPointer {
    guard let width = layout.width else { return bytes(index) }
    precondition(index >= 0 && index < count, "The row is not in the table.")
    return UnsafeRawBufferPointer(start: values.unsafeBase + index * width, count: width)
  }

  /// Returns the bytes for `reference` in the column; nil if it cannot contain references of that kind.
  func nameBytes(of reference: ReferenceID) -> [UInt8]? {
    let (kind, bytes): (Layout, [UInt8]) =
      switch reference {
      case .integer(let number): (.integer, withUnsafeBytes(of: number) { Array($0) })
      case .uuid(let uuid): (.uuid, withUnsafeBytes(of: uuid.uuid) { Array($0) })
      case .string(let text): (.string, Array(text.utf8))
      }
    if layout == .mixed { return [kind.rawValue] + bytes }
    return kind == layout ? bytes : nil
  }
}
