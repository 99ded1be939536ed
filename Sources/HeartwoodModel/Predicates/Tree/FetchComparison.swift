/// Two expressions and how they are compared.
public struct FetchComparison: Sendable, Hashable {
  /// What stands on the left.
  public var left: FetchExpression
  /// How the two are compared.
  public var comparator: Comparator
  /// What stands on the right.
  public var right: FetchExpression
  /// Which values of a collection on the left have to compare so.
  public var modifier: Modifier
  /// How strings are compared.
  public var options: Options

  /// A comparison of two expressions.
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
  /// How two values are compared. The raw value is how it is written.
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
    /// The left string is as the right one, in which `*` stands for any characters and `?` for one.
    case like = "LIKE"
    /// All of the left string matches the regular expression on the right.
    case matches = "MATCHES"
  }

  /// Which values of a collection on the left have to compare so. The raw value is how it is written.
  public enum Modifier: String, Sendable, Hashable, CaseIterable {
    /// The left side is one value.
    case direct = ""
    /// One value at least. It is false for an empty collection. `SOME` means the same.
    case any = "ANY"
    /// All values. It is true for an empty collection.
    case all = "ALL"
    /// No value. It is true for an empty collection.
    case none = "NONE"
  }

  /// How strings are compared. Without options, two strings are equal when they are the same Unicode scalars.
  public struct Options: OptionSet, Sendable, Hashable {
    /// The bits, one for each option.
    public let rawValue: Int

    /// The options with these bits.
    public init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// `[c]`: large and small letters are the same, by Unicode's full case folding.
    public static let caseInsensitive = Options(rawValue: 1)
    /// `[d]`: accents and other marks on letters do not count, and canonically equivalent strings are the same.
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// `[n]`: the strings have been normalized by the application, so that they are compared as they are.
    public static let normalized = Options(rawValue: 4)
    /// `[l]`: `<`, `>` and the like order strings as people do: by letters, then marks, then case, and digits by their number.
    public static let localeSensitive = Options(rawValue: 8)
  }
}
