import Heartwood

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What comparisons and orders mean, in the plainest words: value by value, with nothing compiled and nothing indexed.
enum ReferenceMeaning {
  /// The types whose values have an order.
  static let orderedTypes: Set<AttributeType> = [
    .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .date,
  ]

  /// Whether both are nothing, or equal. Zeros are equal, and so are values that are not a number.
  static func areEqual(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    switch (left, right) {
    case (.double(let a), .double(let b)): a == b || (a.isNaN && b.isNaN)
    case (.float(let a), .float(let b)): a == b || (a.isNaN && b.isNaN)
    case (.date(let a), .date(let b)):
      a.timeIntervalSinceReferenceDate == b.timeIntervalSinceReferenceDate || (isNaN(left) && isNaN(right))
    case (.decimal(let a), .decimal(let b)): a == b || (a.isNaN && b.isNaN)
    case (.string(let a), .string(let b)): Array(a.unicodeScalars) == Array(b.unicodeScalars)
    default: left == right
    }
  }

  /// Whether `left` comes before `right` in a comparison: never where one is nothing or not a number.
  static func isLess(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    switch (left, right) {
    case (.integer(let a), .integer(let b)): a < b
    case (.double(let a), .double(let b)): a < b
    case (.float(let a), .float(let b)): a < b
    case (.decimal(let a), .decimal(let b)): !a.isNaN && !b.isNaN && a < b
    case (.date(let a), .date(let b)): a.timeIntervalSinceReferenceDate < b.timeIntervalSinceReferenceDate
    case (.string(let a), .string(let b)): a.unicodeScalars.lexicographicallyPrecedes(b.unicodeScalars)
    default: false
    }
  }

  /// Whether a comparison holds.
  static func holds(
    _ left: PropertyValue,
    _ comparator: FetchComparison.Comparator,
    _ right: PropertyValue
  ) -> Bool {
    switch comparator {
    case .equalTo: areEqual(left, right)
    case .notEqualTo: !areEqual(left, right)
    case .lessThan: isLess(left, right)
    case .greaterThan: isLess(right, left)
    case .lessThanOrEqualTo: isLess(left, right) || (areEqual(left, right) && !left.isNull && !isNaN(left))
    case .greaterThanOrEqualTo: isLess(right, left) || (areEqual(left, right) && !left.isNull && !isNaN(left))
    case .beginsWith: texts(left, right).map { $0.starts(with: $1) } ?? false
    case .endsWith: texts(left, right).map { $0.reversed().starts(with: $1.reversed()) } ?? false
    case .contains: texts(left, right).map(contains) ?? false
    default: false
    }
  }

  private static func texts(
    _ left: PropertyValue,
    _ right: PropertyValue
  ) -> ([Unicode.Scalar], [Unicode.Scalar])? {
    guard case .string(let a) = left, case .string(let b) = right else { return nil }
    return (Array(a.unicodeScalars), Array(b.unicodeScalars))
  }

  private static func contains(_ text: [Unicode.Scalar], _ part: [Unicode.Scalar]) -> Bool {
    text.indices.contains { text[$0...].starts(with: part) } || part.isEmpty
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

// MARK: Sorting

extension ReferenceMeaning {
  /// Whether `left` is sorted before `right`: nothing first, what is not a number last.
  static func isSortedBefore(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    let ranks = [left, right].map { $0.isNull ? 0 : isNaN($0) ? 2 : 1 }
    return ranks[0] == ranks[1] ? isLess(left, right) : ranks[0] < ranks[1]
  }

  /// `elements` by `keys`, the first first; those that all keys leave alike stay in their order.
  static func sorted<Element>(
    _ elements: [Element],
    by keys: [(ascending: Bool, value: (Element) -> PropertyValue)]
  ) -> [Element] {
    elements.enumerated().sorted { left, right in
      for key in keys {
        let (a, b) = (key.value(left.element), key.value(right.element))
        if isSortedBefore(a, b) { return key.ascending }
        if isSortedBefore(b, a) { return !key.ascending }
      }
      return left.offset < right.offset
    }.map(\.element)
  }
}
