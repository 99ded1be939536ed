import Heartwood
import HeartwoodFoundation

/// Compares values of one type as predicates and sorts do, as simply as possible.
enum PlainOrder {
  /// The types whose values are ordered in every store.
  static let orderedTypes: Set<AttributeType> = [
    .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .date,
  ]

  /// Returns whether both values are null, both are NaN, or both are the same value.
  static func areEqual(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    if isNaN(left) || isNaN(right) { return isNaN(left) && isNaN(right) }
    if case .string(let a) = left, case .string(let b) = right {
      return a.unicodeScalars.elementsEqual(b.unicodeScalars)
    }
    return left == right
  }

  /// Returns whether the left value is less than the right one; nil if they have no order, as null and NaN.
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

  /// Returns whether the comparison is true.
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

  /// Returns whether a text begins with, ends with or contains a part.
  ///
  /// - Parameter ignoresCase: whether the comparison ignores the case of ASCII letters. If so, the part contains no
  ///   other letters.
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

  /// Returns `elements` sorted by `keys`, the first key first. The sort is stable.
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

  /// Returns whether the left value comes first in a sort: null before all other values, and NaN after them.
  static func comes(_ left: PropertyValue, before right: PropertyValue) -> Bool {
    func rank(_ value: PropertyValue) -> Int { value.isNull ? 0 : isNaN(value) ? 2 : 1 }
    if rank(left) != rank(right) { return rank(left) < rank(right) }
    return isLess(left, right) ?? false
  }

  /// Returns the value, or zero for negative zero: the two are equal, so their order in a sort is not defined.
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
