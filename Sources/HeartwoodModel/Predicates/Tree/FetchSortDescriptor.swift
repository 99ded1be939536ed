/// By which value the results of a fetch are sorted, and in which direction: what Core Data knows as `NSSortDescriptor`.
///
/// It is not called `SortDescriptor`, because Foundation has a type of that name.
public struct FetchSortDescriptor: Sendable, Hashable, Codable {
  /// How strings are ordered. It makes no difference for other values.
  public enum Comparison: String, Sendable, Hashable, CaseIterable, Codable {
    /// By their Unicode scalars.
    case value
    /// Large and small letters are the same.
    case caseInsensitive
    /// Large and small letters are the same, and so are letters with marks and without.
    case caseAndDiacriticInsensitive
    /// As people order them: by letters, then marks, then case, and digits by the number that they make.
    case localizedStandard
  }

  /// The key path, from the object, to the value. It leads through no to-many relationship but by a collection operator.
  public var keyPath: String
  /// Whether small values come first. `nil` is before all others, and a NaN behind them.
  public var isAscending: Bool
  /// How strings are ordered.
  public var comparison: Comparison

  /// Sorts by the value that `keyPath` leads to, such as `due` or `list.name`.
  public init(_ keyPath: String, ascending isAscending: Bool = true, comparison: Comparison = .value) {
    self.keyPath = keyPath
    self.isAscending = isAscending
    self.comparison = comparison
  }

  /// The opposite direction.
  public var reversed: FetchSortDescriptor {
    FetchSortDescriptor(keyPath, ascending: !isAscending, comparison: comparison)
  }
}

// MARK: CompiledSort

/// A sort descriptor that has been checked against an entity.
///
/// The order of values is total: nil comes first, then the values, then numbers that are no number.
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

  /// Sorts by the values of `expression`, whatever the key path is.
  init(_ descriptor: FetchSortDescriptor, by expression: CompiledExpression) {
    self.expression = expression
    self.isAscending = descriptor.isAscending
    self.comparison = descriptor.comparison
    self.ordering = SortOrdering(descriptor.comparison)
  }
}

extension [CompiledSort] {
  /// Whether one row of values, one for each descriptor, comes before another.
  package func comes(_ left: [PropertyValue], before right: [PropertyValue]) -> Bool {
    for (index, sort) in enumerated() {
      let order = sort.ordering.compare(left[index], right[index])
      if order != 0 { return sort.isAscending ? order < 0 : order > 0 }
    }
    return false
  }
}

/// The order of values in a sort. Unlike that of comparisons in predicates, it is total: `nil` comes first, a NaN last.
package struct SortOrdering: Sendable, Hashable {
  /// What strings are folded by before they are compared.
  package let folding: TextFolding
  /// Whether strings are ordered as people do.
  package let isLocalized: Bool

  package init(_ comparison: FetchSortDescriptor.Comparison) {
    folding = TextFolding(
      ignoresCase: comparison == .caseInsensitive || comparison == .caseAndDiacriticInsensitive,
      ignoresMarks: comparison == .caseAndDiacriticInsensitive
    )
    isLocalized = comparison == .localizedStandard
  }

  /// Below 0 where `left` comes first, 0 where neither does.
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
