import HeartwoodFoundation
import HeartwoodModel

/// Applies column tests to one group of rows.
struct RowGroupFilter {
  let group: RowGroup
  let ordinal: Int
  let entityOrdinal: Int
  let evaluator: PredicateEvaluator<QueryTables>
  let indexUse: IndexUse
  /// Bytes for strings that have to be folded; the memory is reused.
  private var scratch: [UInt8] = []

  init(_ group: RowGroup, ordinal: Int, entityOrdinal: Int, tables: QueryTables, indexUse: IndexUse) {
    self.indexUse = indexUse
    self.group = group
    self.ordinal = ordinal
    self.entityOrdinal = entityOrdinal
    self.evaluator = PredicateEvaluator(tables)
  }

  /// Keeps the rows that pass `test`.
  mutating func apply(_ test: ColumnFilter, to rows: inout RowBitmap) {
    switch test {
    case .literal(let flag): if !flag { rows.removeAll() }
    case .not(let term):
      var passing = rows
      apply(term, to: &passing)
      rows.subtract(passing)
    case .and(let terms):
      for term in terms where !rows.isEmpty { apply(term, to: &rows) }
    case .or(let terms): applyAny(terms, to: &rows)
    case .isNull(let ordinal): keepNulls(ordinal, true, in: &rows)
    case .integers(let ordinal, let range): apply(range, ordinal, to: &rows)
    case .integerSet(let ordinal, let numbers): apply(numbers, ordinal, to: &rows)
    case .doubles(let ordinal, let range): apply(range, ordinal, to: &rows)
    case .decimals(let ordinal, let range): apply(range, ordinal, to: &rows)
    case .boolean(let ordinal, let whenTrue, let whenFalse): applyBoolean(ordinal, whenTrue, whenFalse, to: &rows)
    case .text(let ordinal, let test): test.apply(to: &rows, group.unsafeViews[ordinal], &scratch)
    case .reference(let ordinal, let test): test.apply(to: &rows, group.columns[ordinal])
    case .related(let ordinal, let test): test.apply(to: &rows, group.columns[ordinal])
    case .uuids(let ordinal, let uuids): apply(uuids, ordinal, to: &rows)
    case .count(let ordinal, let range): applyCount(ordinal, range, to: &rows)
    case .rows(let ids):
      let group = self.ordinal
      rows.filter { ids.contains(RowID(group: group, row: $0)) }
    case .general(let plan): apply(plan, to: &rows)
    case .indexed(let access, let test): applyIndexed(access, test, to: &rows)
    }
  }

  /// Each term is tested only on the rows that passed no earlier one.
  private mutating func applyAny(_ terms: [ColumnFilter], to rows: inout RowBitmap) {
    var passed = rows.cleared
    for term in terms where !rows.isEmpty {
      var passing = rows
      apply(term, to: &passing)
      passed.formUnion(passing)
      rows.subtract(passing)
    }
    rows = passed
  }

  private func apply(_ plan: CompiledPredicate, to rows: inout RowBitmap) {
    rows.filter { row in
      evaluator.matches(plan, .init(entityOrdinal: entityOrdinal, row: RowID(group: ordinal, row: row)))
    }
  }
}

// MARK: Kernels

extension RowGroupFilter {
  /// Keeps the rows that have no value, or those that have one.
  private func keepNulls(_ ordinal: Int, _ areNull: Bool, in rows: inout RowBitmap) {
    let column = group.columns[ordinal]
    if column.kind == .toMany {
      if areNull { rows.removeAll() }
      return
    }
    let rowCount = group.rowCount
    if let validity = column.validity {
      rows.formIntersection {
        areNull ? ~validity.word(at: $0, count: rowCount) : validity.word(at: $0, count: rowCount)
      }
    } else if (column.kind == .absent) != areNull {
      rows.removeAll()
    }
  }

  private func apply(_ range: NumberRange.Integers, _ ordinal: Int, to rows: inout RowBitmap) {
    keepNulls(ordinal, false, in: &rows)
    let column = group.columns[ordinal]
    switch column.kind {
    case .int16: applyRange(range, Int16.self, column, to: &rows)
    case .int32: applyRange(range, Int32.self, column, to: &rows)
    case .int64: applyRange(range, Int64.self, column, to: &rows)
    default: rows.removeAll()
    }
  }

  @inline(__always)
  private func applyRange<Number: FixedWidthInteger & BitwiseCopyable>(
    _ range: NumberRange.Integers,
    _ type: Number.Type,
    _ column: RecordColumn,
    to rows: inout RowBitmap
  ) {
    let (lower, upper) = (Number(clamping: range.lower), Number(clamping: range.upper))
    // If the type cannot hold a bound, all of its numbers are on the same side of it.
    guard range.lower <= Int64(Number.max), range.upper >= Int64(Number.min) else { return rows.removeAll() }
    let base = column.values.unsafeBase
    rows.filterDensely { row in
      let number = base.loadUnaligned(fromByteOffset: row &* MemoryLayout<Number>.size, as: Number.self)
      return number >= lower && number <= upper
    }
  }

  private func apply(_ numbers: Set<Int64>, _ ordinal: Int, to rows: inout RowBitmap) {
    keepNulls(ordinal, false, in: &rows)
    let view = group.unsafeViews[ordinal]
    rows.filter { numbers.contains(view.unsafeInteger($0)) }
  }

  private func apply(_ range: NumberRange.Doubles, _ ordinal: Int, to rows: inout RowBitmap) {
    keepNulls(ordinal, false, in: &rows)
    let column = group.columns[ordinal]
    let base = column.values.unsafeBase
    let (lower, upper) = (range.lower, range.upper)
    switch column.kind {
    case .double:
      rows.filterDensely { row in
        let number = base.loadUnaligned(fromByteOffset: row &* 8, as: Double.self)
        return number >= lower && number <= upper
      }
    case .float:
      rows.filterDensely { row in
        let number = Double(base.loadUnaligned(fromByteOffset: row &* 4, as: Float.self))
        return number >= lower && number <= upper
      }
    default: rows.removeAll()
    }
  }

  private func apply(_ range: DecimalRange, _ ordinal: Int, to rows: inout RowBitmap) {
    keepNulls(ordinal, false, in: &rows)
    guard group.columns[ordinal].kind == .decimal else { return rows.removeAll() }
    let view = group.unsafeViews[ordinal]
    rows.filter { range.contains(view.unsafePackedDecimal($0)) }
  }

  private func applyBoolean(_ ordinal: Int, _ whenTrue: Bool, _ whenFalse: Bool, to rows: inout RowBitmap) {
    keepNulls(ordinal, false, in: &rows)
    if whenTrue && whenFalse { return }
    let column = group.columns[ordinal]
    guard column.kind == .bits, whenTrue || whenFalse else { return rows.removeAll() }
    let values = BitSlice(column.values)
    let rowCount = group.rowCount
    rows.formIntersection { whenTrue ? values.word(at: $0, count: rowCount) : ~values.word(at: $0, count: rowCount) }
  }

  private func apply(_ uuids: Set<ReferenceID>, _ ordinal: Int, to rows: inout RowBitmap) {
    keepNulls(ordinal, false, in: &rows)
    guard group.columns[ordinal].kind == .uuid else { return rows.removeAll() }
    let view = group.unsafeViews[ordinal]
    rows.filter { uuids.contains(.uuid(view.unsafeUUID($0))) }
  }

  private func applyCount(_ ordinal: Int, _ range: NumberRange.Integers, to rows: inout RowBitmap) {
    let column = group.columns[ordinal]
    rows.filter { row in
      let count = Int64(column.range(row).count)
      return count >= range.lower && count <= range.upper
    }
  }
}
