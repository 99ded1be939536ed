import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ColumnTest {
  /// Up to this many single values are looked up in an index one after the other.
  private static let mostLookups = 64

  /// The same test, which looks into indexes where there are some.
  ///
  /// - Parameter ordinals: the properties that have an index.
  func indexed(_ ordinals: Set<Int>) -> ColumnTest {
    switch self {
    case .not(let term): return .negated(term.indexed(ordinals))
    case .and(let terms): return .all(terms.map { $0.indexed(ordinals) })
    case .or(let terms): return .any(terms.map { $0.indexed(ordinals) })
    default:
      guard let ordinal = indexableOrdinal, ordinals.contains(ordinal) else { return self }
      return .indexed(ordinal, self)
    }
  }

  /// The property by whose order the rows that pass can be found; nil where that is not possible.
  private var indexableOrdinal: Int? {
    switch self {
    case .isNull(let ordinal), .integers(let ordinal, _), .doubles(let ordinal, _): ordinal
    case .integerSet(let ordinal, let numbers): numbers.count <= Self.mostLookups ? ordinal : nil
    case .uuids(let ordinal, let uuids): uuids.count <= Self.mostLookups ? ordinal : nil
    case .text(let ordinal, let test): test.isIndexable(mostLookups: Self.mostLookups) ? ordinal : nil
    default: nil
    }
  }

  /// The places of the rows that pass in the order of a column.
  func places(in order: OrderedRows, _ view: ColumnView) -> [Range<Int>]? {
    switch self {
    case .isNull: return [0..<order.nullCount]
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
  /// What is no number comes behind all others, and is in no range.
  fileprivate func places(in order: OrderedRows, _ view: ColumnView) -> [Range<Int>] {
    if lower.isNaN || upper.isNaN { return [] }
    func value(_ row: Int) -> Double { view.kind == .float ? Double(view.unsafeFloat(row)) : view.unsafeDouble(row) }
    return [order.places({ value($0) < lower }, { !(value($0) <= upper) })]
  }
}

extension TextTest {
  fileprivate func isIndexable(mostLookups: Int) -> Bool {
    // The order is that of the bytes as they are.
    guard folding.isNone else { return false }
    switch condition {
    case .equals, .beginsWith, .order: return true
    case .isIn(let strings): return strings.count <= mostLookups
    case .contains, .endsWith, .wildcards: return false
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

extension GroupTester {
  /// From one row in so many on, testing all rows is faster than picking those of an index one by one.
  private static let scanFactor = 16

  /// Keeps the rows that pass, found by the order of a column where that is worth it.
  mutating func applyIndexed(_ ordinal: Int, _ test: ColumnTest, to rows: inout RowBitmap) {
    guard indexUse != .never else { return apply(test, to: &rows) }
    let column = group.columns[ordinal]
    guard let order = column.order.rows(of: column, isNeeded: indexUse == .always),
      let places = test.places(in: order, group.unsafeViews[ordinal])
    else { return apply(test, to: &rows) }
    let count = places.reduce(0) { $0 + $1.count }
    if indexUse == .automatic, count * Self.scanFactor > group.rowCount { return apply(test, to: &rows) }
    var found = rows.cleared
    for place in places.joined() { found.insert(Int(order.rows[place])) }
    rows.formIntersection { found.words[$0 / 64] }
  }
}
