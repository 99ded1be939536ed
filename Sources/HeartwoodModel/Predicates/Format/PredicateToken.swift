/// A word, number, string or symbol of a format string, and where it stands.
struct PredicateToken {
  enum Kind: Equatable {
    case end
    /// A name as it is written; reserved words are told apart where one can stand.
    case word(String)
    /// A name behind `#`, which is no reserved word.
    case key(String)
    case integer(String, radix: Int)
    case decimal(String)
    case string(String)
    /// A name behind `$`.
    case variable(String)
    /// A name behind `@`.
    case collection(String)
    /// `%@`, `%K` and the like.
    case argument(Conversion)
    case symbol(Symbol)
  }

  /// What a format argument has to be.
  enum Conversion: Equatable {
    case any, keyPath, integer, floatingPoint
  }

  enum Symbol: String {
    case opening = "(", closing = ")", openingBrace = "{", closingBrace = "}"
    case openingBracket = "[", closingBracket = "]", comma = ",", dot = ".", colon = ":", assign = ":="
    case equal = "==", notEqual = "!=", less = "<", lessOrEqual = "<=", greater = ">", greaterOrEqual = ">="
    case plus = "+", minus = "-", times = "*", slash = "/", power = "**"
    case and = "&&", or = "||", not = "!"
  }

  let kind: Kind
  let place: Range<Int>

  /// The reserved word that this is, or nil.
  var keyword: PredicateKeyword? {
    if case .word(let name) = kind { PredicateKeyword(name) } else { nil }
  }
}

/// The reserved words of the format language.
enum PredicateKeyword: String, CaseIterable {
  case and = "AND", or = "OR", not = "NOT", `in` = "IN"
  case any = "ANY", someOf = "SOME", all = "ALL", noneOf = "NONE"
  case like = "LIKE", matches = "MATCHES", contains = "CONTAINS", beginsWith = "BEGINSWITH", endsWith = "ENDSWITH"
  case between = "BETWEEN"
  case null = "NULL", `nil` = "NIL", itself = "SELF", `true` = "TRUE", yes = "YES", `false` = "FALSE", no = "NO"
  case truePredicate = "TRUEPREDICATE", falsePredicate = "FALSEPREDICATE"
  case first = "FIRST", last = "LAST", size = "SIZE"
  case subquery = "SUBQUERY", cast = "CAST", ternary = "TERNARY", function = "FUNCTION", fetch = "FETCH"
  case anyKey = "ANYKEY", caseInsensitive = "CASEINSENSITIVE", ci = "CI"
}

extension PredicateKeyword {
  private static let longest = 15

  init?(_ name: String) {
    // What is no ASCII is no reserved word, though its capitals may look like one's.
    guard name.utf8.count <= Self.longest, name.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    self.init(rawValue: name.uppercased())
  }

  /// Whether the word means something only before a bracket or within square brackets, and is a key elsewhere.
  var isKeyElsewhere: Bool {
    switch self {
    case .first, .last, .size, .subquery, .cast, .ternary, .function, .fetch, .anyKey, .caseInsensitive, .ci: true
    default: false
    }
  }

  /// Whether a key of this name needs no mark in front.
  static func isPlainKey(_ name: String) -> Bool { isIdentifier(name) && PredicateKeyword(name) == nil }

  /// Whether the name is one word in a format string.
  static func isIdentifier(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, isWordStart(first) else { return false }
    return name.unicodeScalars.allSatisfy(isWordPart)
  }

  static func isWordStart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "_": true
    default: !scalar.isASCII && scalar.properties.isXIDStart
    }
  }

  static func isWordPart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "_", "0"..."9": true
    default: !scalar.isASCII && scalar.properties.isXIDContinue
    }
  }
}
