/// A comparison of two expressions.
///
///     let comparison = FetchComparison(.key("title"), .contains, .value(.string("milk")), options: .caseInsensitive)
///     let predicate = FetchPredicate.comparison(comparison)  // title CONTAINS[c] "milk"
///
/// Whether the types of both sides fit the comparator is checked when the predicate is compiled for an entity.
public struct FetchComparison: Sendable, Hashable {
  /// The left side.
  public var left: FetchExpression
  /// The operator.
  public var comparator: Comparator
  /// The right side.
  public var right: FetchExpression
  /// The number of values that must meet the comparison, if the left side is a collection.
  public var modifier: Modifier
  /// How strings are compared.
  public var options: Options

  /// Makes a comparison without checking it.
  public init(
    _ left: FetchExpression,
    _ comparator: Comparator,
    _ right: FetchExpression,
    modifier: Modifier = .direct,
    options: Options = []
  ) {
    self.left = left
    self.comparator = comparator
    self.right = right
    self.modifier = modifier
    self.options = options
  }
}

extension FetchComparison {
  /// A comparison operator. The raw value is its spelling in format strings.
  public enum Comparator: String, Sendable, Hashable, CaseIterable {
    case equalTo = "=="
    case notEqualTo = "!="
    case lessThan = "<"
    case lessThanOrEqualTo = "<="
    case greaterThan = ">"
    case greaterThanOrEqualTo = ">="
    /// The left value is not less than the first and not greater than the second of two values on the right.
    case between = "BETWEEN"
    /// The left value is in the collection, or in the string, on the right.
    case `in` = "IN"
    /// The right value is in the collection, or in the string, on the left.
    case contains = "CONTAINS"
    /// The left string begins with the right one.
    case beginsWith = "BEGINSWITH"
    /// The left string ends with the right one.
    case endsWith = "ENDSWITH"
    /// The left string matches the pattern on the right, in which `*` stands for any characters and `?` for one.
    case like = "LIKE"
    /// The whole left string matches the regular expression on the right.
    case matches = "MATCHES"
  }

  /// The number of values that must meet the comparison, if the left side is a collection. The raw value is the
  /// spelling in format strings.
  public enum Modifier: String, Sendable, Hashable, CaseIterable {
    /// The left side is one value.
    case direct = ""
    /// At least one value meets the comparison. It is false for an empty collection. `SOME` means the same.
    case any = "ANY"
    /// All values meet the comparison. It is true for an empty collection.
    case all = "ALL"
    /// No value meets the comparison. It is true for an empty collection.
    case none = "NONE"
  }

  /// How strings are compared. Without options, two strings are equal if their Unicode scalars are the same.
  public struct Options: OptionSet, Sendable, Hashable {
    /// One bit for each option.
    public let rawValue: Int

    /// Makes a set of options from its bits.
    public init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// `[c]`: uppercase and lowercase letters are the same, by Unicode's full case folding.
    public static let caseInsensitive = Options(rawValue: 1)
    /// `[d]`: accents and other marks on letters are ignored, and canonically equivalent strings are the same.
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// `[n]`: the application has normalized the strings, so that they are compared as they are.
    public static let normalized = Options(rawValue: 4)
    /// `[l]`: `<`, `>` and the like order strings as people do: by letters, then marks, then case, and digits by their
    /// numeric value.
    public static let localeSensitive = Options(rawValue: 8)
  }
}
