import Heartwood

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How values of one type compare in predicates and in sorts, in the plainest way.
enum PlainOrder {
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
