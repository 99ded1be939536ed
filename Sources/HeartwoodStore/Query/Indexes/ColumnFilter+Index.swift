import HeartwoodFoundation
import HeartwoodModel

extension ColumnFilter {
  /// Up to this many single values are looked up in an index one after the other.
  private static let mostLookups = 64

  /// Returns the same test, which uses indexes if there are some.
  ///
  /// - Parameter plans: indexes of all records, by the property that they begin with.
  func indexed(_ plans: [Int: FetchIndexPlan]) -> ColumnFilter {
    switch self {
    case .not(let term): return .negated(term.indexed(plans))
    case .and(let terms): return .all(terms.map { $0.indexed(plans) })
    case .or(let terms): return .any(terms.map { $0.indexed(plans) })
    default:
      guard let plan = indexableOrdinal.flatMap({ plans[$0] }) else { return self }
      return .indexed(IndexAccess(plan: plan, tests: [[self]], membership: .literal(true), elementCount: 1), self)
    }
  }

  /// The property by whose order the rows that pass can be found; nil if that is not possible.
  var indexableOrdinal: Int? {
    switch self {
    case .isNull(let ordinal), .integers(let ordinal, _), .doubles(let ordinal, _), .decimals(let ordinal, _),
      .boolean(let ordinal, _, _):
      ordinal
    case .integerSet(let ordinal, let numbers): numbers.count <= Self.mostLookups ? ordinal : nil
    case .uuids(let ordinal, let uuids): uuids.count <= Self.mostLookups ? ordinal : nil
    case .reference(let ordinal, let test): test.count <= Self.mostLookups ? ordinal : nil
    case .text(let ordinal, let test): test.isIndexable(mostLookups: Self.mostLookups) ? ordinal : nil
    default: nil
    }
  }

  /// The number of values that pass; nil if they are not single ones.
  var pointCount: Int? {
    switch self {
    case .isNull: 1
    case .integers(_, let range): range.lower == range.upper ? 1 : nil
    case .doubles(_, let range): range.lower == range.upper ? 1 : nil
    case .decimals(_, let range): range.isPoint ? 1 : nil
    case .boolean(_, let whenTrue, let whenFalse): (whenTrue ? 1 : 0) + (whenFalse ? 1 : 0)
    case .integerSet(_, let numbers): numbers.count
    case .uuids(_, let uuids): uuids.count
    case .reference(_, let test): test.count
    case .text(_, let test): test.pointCount
    default: nil
    }
  }

  /// Returns the places, in the order of a column, of the rows that pass.
  func places(in order: OrderedRows, _ column: RecordColumn, _ view: ColumnView) -> [Range<Int>]? {
    switch self {
    case .isNull: return [0..<order.nullCount]
    case .boolean(_, let whenTrue, let whenFalse):
      let middle = order.first(from: order.nullCount) { view.unsafeBoolean($0) }
      return (whenFalse ? [order.nullCount..<middle] : []) + (whenTrue ? [middle..<order.rows.count] : [])
    case .decimals(_, let range):
      return [
        order.places({ range.isBelow(view.unsafePackedDecimal($0)) }, { range.isAbove(view.unsafePackedDecimal($0)) })
      ]
    case .reference(_, let test): return test.places(in: order, column)
    case .integers(_, let range):
      return [order.places({ view.unsafeInteger($0) < range.lower }, { view.unsafeInteger($0) > range.upper })]
    case .integerSet(_, let numbers):
      return numbers.map { number in
        order.places({ view.unsafeInteger($0) < number }, { view.unsafeInteger($0) > number })
      }
    case .doubles(_, let range): return range.places(in: order, view)
    case .uuids(_, let uuids):
      return uuids.compactMap { uuid in
        guard case .uuid(let uuid) = uuid else { return nil }
        return withUnsafeBytes(of: uuid.uuid) { bytes in
          order.places(
            { ByteOrder.compare(view.unsafeUUIDBytes($0), bytes) < 0 },
            { ByteOrder.compare(view.unsafeUUIDBytes($0), bytes) > 0 }
          )
        }
      }
    case .text(_, let test): return test.places(in: order, view)
    default: return nil
    }
  }
}

extension NumberRange.Doubles {
  /// A NaN comes after all numbers, and is in no range.
  fileprivate func places(in order: OrderedRows, _ view: ColumnView) -> [Range<Int>] {
    if lower.isNaN || upper.isNaN { return [] }
    return [order.places({ view.unsafeFloatingPoint($0) < lower }, { !(view.unsafeFloatingPoint($0) <= upper) })]
  }
}

extension TextFilter {
  fileprivate func isIndexable(mostLookups: Int) -> Bool {
    // The order is that of the bytes as they are.
    guard folding.isNone else { return false }
    switch condition {
    case .equals, .beginsWith, .order: return true
    case .isIn(let strings): return strings.count <= mostLookups
    case .contains, .endsWith, .wildcards: return false
    }
  }

  /// The number of strings that pass; nil if they are not listed one by one.
  fileprivate var pointCount: Int? {
    switch condition {
    case .equals: 1
    case .isIn(let strings): strings.count
    case .beginsWith, .order, .contains, .endsWith, .wildcards: nil
    }
  }

  fileprivate func places(in order: OrderedRows, _ view: ColumnView) -> [Range<Int>]? {
    switch condition {
    case .equals: return [Self.places(of: operand, in: order, view)]
    case .isIn(let strings): return strings.map { Self.places(of: $0, in: order, view) }
    case .beginsWith:
      return [
        order.places(
          { compare(view, $0) < 0 },
          { compare(view, $0) > 0 && !view.unsafeBytes($0).starts(with: operand) }
        )
      ]
    case .order(let before, let same, let behind):
      let equal = Self.places(of: operand, in: order, view)
      return (before ? [order.nullCount..<equal.lowerBound] : []) + (same ? [equal] : [])
        + (behind ? [equal.upperBound..<order.rows.count] : [])
    case .contains, .endsWith, .wildcards: return nil
    }
  }

  private func compare(_ view: ColumnView, _ row: Int) -> Int {
    operand.withUnsafeBytes { ByteOrder.compare(view.unsafeBytes(row), $0) }
  }

  private static func places(of string: [UInt8], in order: OrderedRows, _ view: ColumnView) -> Range<Int> {
    string.withUnsafeBytes { bytes in
      order.places(
        { ByteOrder.compare(view.unsafeBytes($0), bytes) < 0 },
        { ByteOrder.compare(view.unsafeBytes($0), bytes) > 0 }
      )
    }
  }
}

// MARK: Applying

extension RowGroupFilter {
  /// If an index finds more than one row in this many, testing all rows is faster than taking those one by one.
  private static let scanFactor = 16

  /// Keeps the rows that pass, found by an index if that is worth it.
  mutating func applyIndexed(_ access: IndexAccess, _ test: ColumnFilter, to rows: inout RowBitmap) {
    guard indexUse != .never, let finding = find(access, isNeeded: indexUse == .always) else {
      return apply(test, to: &rows)
    }
    if indexUse == .automatic, finding.count * Self.scanFactor > group.rowCount { return apply(test, to: &rows) }
    var found = rows.cleared
    for place in finding.places.joined() { found.insert(Int(finding.rows[place])) }
    rows.formIntersection { found.words[$0 / 64] }
  }
}
