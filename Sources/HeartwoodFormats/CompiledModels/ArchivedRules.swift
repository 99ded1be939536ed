import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The validation predicates that Xcode makes of an attribute's bounds, turned into those bounds again.
enum ArchivedRules {
  /// The attributes of the source by which it gives the rules of `predicate`; nil where it has none for such a predicate.
  static func attributes(of node: ArchiveNode, _ type: AttributeType) -> [(name: String, text: String)]? {
    ArchivedPredicate.predicate(node).flatMap { attributes(of: $0, type) }
  }

  private static func attributes(of predicate: FetchPredicate, _ type: AttributeType) -> [(name: String, text: String)]?
  {
    switch predicate {
    case .comparison(let comparison): return attribute(of: comparison, type).map { [$0] }
    case .and(let terms):
      let rules = terms.compactMap { attributes(of: $0, type) }
      return rules.count == terms.count ? rules.flatMap(\.self) : nil
    default: return nil
    }
  }

  private static func attribute(of comparison: FetchComparison, _ type: AttributeType) -> (name: String, text: String)?
  {
    guard comparison.modifier == .direct, case .constant(let bound) = comparison.right, comparison.options.isEmpty
    else {
      return nil
    }
    switch (comparison.left, comparison.comparator) {
    case (.selfObject, .matches):
      if case .string(let pattern) = bound, type == .string { return ("regularExpressionString", pattern) }
      return nil
    case (.selfObject, .greaterThanOrEqualTo) where type.hasRange: return self.bound("min", bound, type)
    case (.selfObject, .lessThanOrEqualTo) where type.hasRange: return self.bound("max", bound, type)
    case (.key("length"), .greaterThanOrEqualTo) where type == .string: return self.bound("min", bound, .integer64)
    case (.key("length"), .lessThanOrEqualTo) where type == .string: return self.bound("max", bound, .integer64)
    default: return nil
    }
  }

  private static func bound(_ end: String, _ value: PropertyValue, _ type: AttributeType) -> (
    name: String, text: String
  )? {
    switch value {
    case .date(let date) where type == .date: (end + "DateTimeInterval", "\(date.timeIntervalSinceReferenceDate)")
    case .integer(let number) where type != .date: (end + "ValueString", "\(number)")
    case .double(let number) where type != .date: (end + "ValueString", "\(number)")
    case .decimal(let number) where type != .date: (end + "ValueString", "\(number)")
    default: nil
    }
  }
}
