/// A key path by which the results of a fetch are sorted, and the direction: Core Data's `NSSortDescriptor`.
///
///     let sorts = [
///       FetchSortDescriptor("list.name", comparison: .localizedStandard),
///       FetchSortDescriptor("due", ascending: false),
///     ]
///
/// The key path is checked when the descriptor is compiled for an entity (``CompiledSort``), not when it is made. The
/// type is not called `SortDescriptor` because Foundation has a type with that name.
public struct FetchSortDescriptor: Sendable, Hashable, Codable {
  /// How strings are sorted. Other values do not depend on it.
  public enum Comparison: String, Sendable, Hashable, CaseIterable, Codable {
    /// By their Unicode scalars.
    case value
    /// Uppercase and lowercase letters are the same.
    case caseInsensitive
    /// Uppercase and lowercase letters are the same, and so are letters with and without marks.
    case caseAndDiacriticInsensitive
    /// As people sort: by letters, then marks, then case, and digits by their numeric value.
    case localizedStandard
  }

  /// The key path from an object to the value. It may follow a to-many relationship only with a collection operator.
  public var keyPath: String
  /// Whether small values come first. `nil` counts as less than all other values, and NaN as greater.
  public var isAscending: Bool
  /// How strings are sorted.
  public var comparison: Comparison

  /// Sorts by the value at `keyPath`, such as `due` or `list.name`. Nothing is checked here.
  public init(_ keyPath: String, ascending isAscending: Bool = true, comparison: Comparison = .value) {
    self.keyPath = keyPath
    self.isAscending = isAscending
    self.comparison = comparison
  }

  /// The same descriptor in the opposite direction.
  public var reversed: FetchSortDescriptor {
    FetchSortDescriptor(keyPath, ascending: !isAscending, comparison: comparison)
  }
}

// MARK: CompiledSort

/// A sort descriptor that has been checked against an entity.
///
/// The order of values is total: `nil` comes first, then the values, then NaN.
public struct CompiledSort: Sendable {
  /// The value by which records are sorted.
  public let expression: CompiledExpression
  /// Whether the least value comes first.
  public let isAscending: Bool
  /// How strings are compared.
  public let comparison: FetchSortDescriptor.Comparison
  package let ordering: SortOrdering

  /// Compiles a sort descriptor for objects of an entity.
  ///
  /// - Throws: ``FetchPredicateError`` if the entity has no such key path, or if its values have no order.
  public init(
    _ descriptor: FetchSortDescriptor,
    for entity: EntityDescription,
    in model: ManagedObjectModel
  ) throws(FetchPredicateError) {
    let expression = FetchExpression(keyPath: descriptor.keyPath)
    self.init(descriptor, by: try PredicateCompiler.compileOrdered(expression, for: entity, in: model))
  }

  /// Sorts by the values of `expression`, and ignores the key path of the descriptor.
  init(_ descriptor: FetchSortDescriptor, by expression: CompiledExpression) {
    self.expression = expression
    self.isAscending = descriptor.isAscending
    self.comparison = descriptor.comparison
    self.ordering = SortOrdering(descriptor.comparison)
  }
}

extension [CompiledSort] {
  /// Returns whether the row `left` comes before the row `right`. Each row has one value for each descriptor.
  package func comes(_ left: [PropertyValue], before right: [PropertyValue]) -> Bool {
    for (index, sort) in enumerated() {
      let order = sort.ordering.compare(left[index], right[index])
      if order != 0 { return sort.isAscending ? order < 0 : order > 0 }
    }
    return false
  }
}

/// The order of values in a sort. Unlike the order in predicates, it is total: `nil` comes first and NaN last.
package struct SortOrdering: Sendable, Hashable {
  /// How strings are folded before they are compared.
  package let folding: TextFolding
  /// Whether strings are sorted as people do.
  package let isLocalized: Bool

  package init(_ comparison: FetchSortDescriptor.Comparison) {
    folding = TextFolding(comparison)
    isLocalized = comparison == .localizedStandard
  }

  /// Returns a negative number if `left` comes first, a positive one if `right` does, and 0 if they are equal.
  package func compare(_ left: PropertyValue, _ right: PropertyValue) -> Int {
    let (leftRank, rightRank) = (Self.rank(left), Self.rank(right))
    if leftRank != rightRank { return leftRank < rightRank ? -1 : 1 }
    var comparison = ScalarComparison([])
    switch (left, right) {
    case (.string, .string) where isLocalized: comparison = ScalarComparison(.localeSensitive)
    case (.string(let a), .string(let b)): return TextOrder.compare(folding.folded(a), folding.folded(b))
    default: break
    }
    return comparison.order(left, right) ?? 0
  }

  private static func rank(_ value: PropertyValue) -> Int {
    value.isNull ? 0 : value.isNaN ? 2 : 1
  }
}
