import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The validation predicates that Xcode makes of an attribute's bounds, turned into those bounds again, and made of them.
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

// MARK: Writing

extension ArchivedRules {
  /// The validation predicates of an attribute, bounds first.
  static func predicates(of attribute: AttributeDescription) -> [ValidationPredicate] {
    let rules = attribute.rules
    let length = FetchExpression.key("length")
    let comparisons: [FetchComparison?] = [
      bound(.selfObject, .greaterThanOrEqualTo, rules.minValue),
      bound(.selfObject, .lessThanOrEqualTo, rules.maxValue),
      rules.minLength.map { FetchComparison(length, .greaterThanOrEqualTo, .constant(.integer(Int64($0)))) },
      rules.maxLength.map { FetchComparison(length, .lessThanOrEqualTo, .constant(.integer(Int64($0)))) },
      rules.pattern.map { FetchComparison(.selfObject, .matches, .constant(.string($0))) },
    ]
    return comparisons.compactMap(\.self).map { comparison in
      let predicate = FetchPredicate.comparison(comparison)
      return ValidationPredicate(predicate, warning: "\(attribute.name) does not meet \(predicate).")
    } + rules.predicates
  }

  private static func bound(
    _ subject: FetchExpression,
    _ comparator: FetchComparison.Comparator,
    _ value: PropertyValue
  ) -> FetchComparison? {
    value.isNull ? nil : FetchComparison(subject, comparator, .constant(value))
  }
}
