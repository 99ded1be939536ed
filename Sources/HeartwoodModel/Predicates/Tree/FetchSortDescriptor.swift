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
