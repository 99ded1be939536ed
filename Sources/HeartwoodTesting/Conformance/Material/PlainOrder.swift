import Heartwood
import HeartwoodFoundation

/// How values of one type compare in predicates and in sorts, in the plainest way.
enum PlainOrder {
  /// The types whose values have an order in every store.
  static let orderedTypes: Set<AttributeType> = [
    .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .date,
  ]

  /// Whether both are nothing, both no number, or the same value.
  static func areEqual(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    if isNaN(left) || isNaN(right) { return isNaN(left) && isNaN(right) }
    if case .string(let a) = left, case .string(let b) = right {
      return a.unicodeScalars.elementsEqual(b.unicodeScalars)
    }
    return left == right
  }

  /// Whether the left value comes before the right one; nil where they have no order, as nothing and what is no number have none.
  static func isLess(_ left: PropertyValue, _ right: PropertyValue) -> Bool? {
    if isNaN(left) || isNaN(right) { return nil }
    switch (left, right) {
    case (.integer(let a), .integer(let b)): return a < b
    case (.decimal(let a), .decimal(let b)): return a < b
    case (.double(let a), .double(let b)): return a < b
    case (.float(let a), .float(let b)): return a < b
    case (.boolean(let a), .boolean(let b)): return !a && b
    case (.date(let a), .date(let b)): return a < b
    case (.uuid(let a), .uuid(let b)): return a.uuidString < b.uuidString
    case (.string(let a), .string(let b)): return a.unicodeScalars.lexicographicallyPrecedes(b.unicodeScalars)
    default: return nil
    }
  }

  /// Whether the comparison holds.
  static func holds(_ left: PropertyValue, _ comparator: FetchComparison.Comparator, _ right: PropertyValue) -> Bool {
    switch comparator {
    case .equalTo: return areEqual(left, right)
    case .notEqualTo: return !areEqual(left, right)
    case .beginsWith, .endsWith, .contains:
      guard case .string(let text) = left, case .string(let part) = right else { return false }
      return has(text, comparator, part, ignoresCase: false)
    default: break
    }
    guard let isBefore = isLess(left, right), let isBehind = isLess(right, left) else { return false }
    switch comparator {
    case .lessThan: return isBefore
    case .lessThanOrEqualTo: return !isBehind
    case .greaterThan: return isBehind
    case .greaterThanOrEqualTo: return !isBefore
    default: return false
    }
  }

  /// Whether a text begins with, ends with or contains a part.
  ///
  /// - Parameter ignoresCase: whether large and small letters of ASCII are the same; the part has no others then.
  static func has(
    _ text: String,
    _ comparator: FetchComparison.Comparator,
    _ part: String,
    ignoresCase: Bool
  ) -> Bool {
    func scalars(_ text: String) -> [Unicode.Scalar] {
      text.unicodeScalars.map { scalar in
        ignoresCase && ("A"..."Z").contains(scalar) ? Unicode.Scalar(scalar.value + 32) ?? scalar : scalar
      }
    }
    let (whole, wanted) = (scalars(text), scalars(part))
    guard wanted.count <= whole.count else { return false }
    switch comparator {
    case .beginsWith: return whole.starts(with: wanted)
    case .endsWith: return whole.suffix(wanted.count).elementsEqual(wanted)
    default: return (0...(whole.count - wanted.count)).contains { whole[$0...].starts(with: wanted) }
    }
  }

  /// `elements` by `keys`, the first first; those that all keys leave alike stay in their order.
  static func sorted<Element>(
    _ elements: [Element],
    by keys: [(ascending: Bool, value: (Element) -> PropertyValue)]
  ) -> [Element] {
    elements.enumerated().sorted { left, right in
      for key in keys {
        let (a, b) = (key.value(left.element), key.value(right.element))
        if comes(a, before: b) { return key.ascending }
        if comes(b, before: a) { return !key.ascending }
      }
      return left.offset < right.offset
    }.map(\.element)
  }

  /// Whether the left value comes first in a sort: nothing before all others, what is no number behind them.
  static func comes(_ left: PropertyValue, before right: PropertyValue) -> Bool {
    func rank(_ value: PropertyValue) -> Int { value.isNull ? 0 : isNaN(value) ? 2 : 1 }
    if rank(left) != rank(right) { return rank(left) < rank(right) }
    return isLess(left, right) ?? false
  }

  /// The value, or zero for the zero below it: the two are equal, so no sort tells which comes first.
  static func withoutSignOfZero(_ value: PropertyValue) -> PropertyValue {
    switch value {
    case .double(let number) where number.isZero: .double(0)
    case .float(let number) where number.isZero: .float(0)
    case .date(let date) where date.timeIntervalSinceReferenceDate.isZero:
      .date(Date(timeIntervalSinceReferenceDate: 0))
    default: value
    }
  }

  static func isNaN(_ value: PropertyValue) -> Bool {
    switch value {
    case .double(let number): number.isNaN
    case .float(let number): number.isNaN
    case .decimal(let number): number.isNaN
    case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
    default: false
    }
  }
}
