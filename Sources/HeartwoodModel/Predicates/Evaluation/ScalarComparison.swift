#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How two values compare in a predicate. This is the meaning that every other way of evaluation has to have too.
package struct ScalarComparison: Sendable {
  let folding: TextFolding
  /// Whether strings are ordered as people do.
  let isLocaleSensitive: Bool

  package init(_ options: FetchComparison.Options) {
    folding = TextFolding(options)
    isLocaleSensitive = options.contains(.localeSensitive)
  }

  /// Whether both are nothing, the same number whatever its kind, the same text once it is folded, or equal otherwise.
  func areEqual(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    switch (left, right) {
    case (.string(let a), .string(let b)):
      return folding.isNone ? a.utf8.elementsEqual(b.utf8) : folding.folded(a) == folding.folded(b)
    case (.string, _), (_, .string): return false
    default:
      guard let a = NumericValue(left), let b = NumericValue(right) else { return left == right }
      return NumericValue.compare(a, b) == 0 || (a.isNaN && b.isNaN)
    }
  }

  /// Below 0 where `left` is less, 0 where neither is; nil where they have no order: nothing, a NaN, or values of two kinds.
  func order(_ left: PropertyValue, _ right: PropertyValue) -> Int? {
    switch (left, right) {
    case (.string(let a), .string(let b)):
      if isLocaleSensitive { return TextOrder.compare(a, b) }
      return TextOrder.compare(folding.folded(a), folding.folded(b))
    case (.date(let a), .date(let b)):
      let (first, second) = (a.timeIntervalSinceReferenceDate, b.timeIntervalSinceReferenceDate)
      return NumericValue.compare(.double(first), .double(second))
    case (.uuid(let a), .uuid(let b)): return TextOrder.compare(Array(a.uuidString.utf8), Array(b.uuidString.utf8))
    default:
      guard let a = NumericValue(left), let b = NumericValue(right) else { return nil }
      return NumericValue.compare(a, b)
    }
  }
}

// MARK: Comparators

extension ScalarComparison {
  /// Whether `comparator` holds between two values, also where one is a collection.
  package func holds(
    _ left: PlanValue,
    _ comparator: FetchComparison.Comparator,
    _ right: PlanValue,
    pattern: PlanPattern?
  ) -> Bool {
    switch (comparator, left, right) {
    case (.between, _, .many(let bounds)):
      guard bounds.count == 2 else { return false }
      return holds(left.scalar, .greaterThanOrEqualTo, bounds[0].scalar, nil)
        && holds(left.scalar, .lessThanOrEqualTo, bounds[1].scalar, nil)
    case (.in, _, .many(let elements)): return elements.contains { areEqual($0.scalar, left.scalar) }
    case (.contains, .many(let elements), _): return elements.contains { areEqual($0.scalar, right.scalar) }
    default: return holds(left.scalar, comparator, right.scalar, pattern)
    }
  }

  private func holds(
    _ left: PropertyValue,
    _ comparator: FetchComparison.Comparator,
    _ right: PropertyValue,
    _ pattern: PlanPattern?
  ) -> Bool {
    switch comparator {
    case .equalTo: return areEqual(left, right)
    case .notEqualTo: return !areEqual(left, right)
    case .lessThan: return order(left, right).map { $0 < 0 } ?? false
    case .lessThanOrEqualTo: return order(left, right).map { $0 <= 0 } ?? false
    case .greaterThan: return order(left, right).map { $0 > 0 } ?? false
    case .greaterThanOrEqualTo: return order(left, right).map { $0 >= 0 } ?? false
    case .between: return false
    case .in: return holds(right, .contains, left, nil)
    case .contains, .beginsWith, .endsWith, .like, .matches:
      guard case .string(let text) = left, case .string(let part) = right else { return false }
      return holds(text, comparator, part, pattern)
    }
  }

  private func holds(
    _ text: String,
    _ comparator: FetchComparison.Comparator,
    _ part: String,
    _ pattern: PlanPattern?
  ) -> Bool {
    switch comparator {
    case .like, .matches:
      return (pattern ?? PlanPattern(part, comparator, folding: folding))?.matches(text) ?? false
    case .beginsWith: return folding.folded(text).starts(with: folding.folded(part))
    case .endsWith: return folding.folded(text).reversed().starts(with: folding.folded(part).reversed())
    default: return ByteSearcher(folding.folded(part)).isFound(in: folding.folded(text))
    }
  }
}
