/// What the values of an attribute have to keep to beyond their type, before they may be saved.
///
/// Which rules an attribute can have depends on its type: least and greatest values are for numbers and dates, lengths and a
/// pattern are for strings, predicates for all. A ``ManagedObjectModel`` checks that. No value, `nil`, keeps to every rule: whether there has to be
/// one is ``AttributeDescription/isOptional``.
///
/// Rules are not part of version hashes: a store can be opened with a model whose rules have changed, and keeps what it has.
public struct AttributeRules: Sendable, Hashable {
  /// The least value, of the attribute's type, or `null` for any. A NaN is below it.
  public var minValue: PropertyValue
  /// The greatest value, of the attribute's type, or `null` for any. A NaN is above it.
  public var maxValue: PropertyValue
  /// The least length of a string, in UTF-16 code units as in Core Data, or nil for any.
  public var minLength: Int?
  /// The greatest length of a string, in UTF-16 code units as in Core Data, or nil for any.
  public var maxLength: Int?
  /// The regular expression that a string matches as a whole, or nil for any string.
  ///
  /// It is written as Swift's `Regex` reads it, and matched by Unicode scalars. Words and digits (`\w`, `\d`, `\b`) are those of ICU, without its
  /// option for Unicode's own word boundaries: `.*\bNeil\b.*` matches `O'Neil`. It has at most 1,000 bytes and 50 opening
  /// brackets, and its counts come to at most 10,000 steps. A match takes a time that grows with both lengths, unless the pattern looks back or
  /// ahead: then it is the author's concern, since nested repetitions can take time that grows exponentially.
  public var pattern: String?
  /// Conditions that values have to meet, for attributes of any type.
  public var predicates: [ValidationPredicate]

  /// Rules that are not checked yet: a ``ManagedObjectModel`` does that. Without arguments there are none.
  public init(
    minValue: PropertyValue = .null,
    maxValue: PropertyValue = .null,
    minLength: Int? = nil,
    maxLength: Int? = nil,
    pattern: String? = nil,
    predicates: [ValidationPredicate] = []
  ) {
    self.minValue = minValue
    self.maxValue = maxValue
    self.minLength = minLength
    self.maxLength = maxLength
    self.pattern = pattern
    self.predicates = predicates
  }

  /// Whether every value keeps to the rules.
  public var isEmpty: Bool { self == AttributeRules() }
}

extension AttributeType {
  /// Whether values of the type can have a least and a greatest one.
  package var hasRange: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .decimal, .double, .float, .date: true
    default: false
    }
  }
}
