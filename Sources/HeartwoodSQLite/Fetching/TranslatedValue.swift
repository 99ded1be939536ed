import HeartwoodModel

/// An expression in SQL, and what it gives.
struct TranslatedValue {
  /// What values of one kind have in common: they can be compared, and compare in SQL as they do in predicates.
  enum Kind: Equatable {
    case number, text, date, uuid
    /// The key of a record, of the topmost entity with this number.
    case record(root: Int)
  }

  let text: String
  let kind: Kind
  /// Whether it may be no number, which is NULL in SQL and a value in predicates.
  var mayBeNaN = false
}

extension TranslatedValue.Kind {
  /// The kind of an attribute's values; nil for those that a file holds otherwise than they compare.
  init?(_ type: AttributeType) {
    switch type {
    case .integer16, .integer32, .integer64, .double, .float, .boolean: self = .number
    case .string: self = .text
    case .date: self = .date
    case .uuid: self = .uuid
    case .decimal, .uri, .binary, .transformable, .undefined: return nil
    }
  }
}

/// Where something in a fetch has no counterpart in SQL that means just the same.
struct Untranslatable: Error {}
