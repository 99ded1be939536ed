/// Reads a format string token by token.
struct PredicateLexer {
  let text: String
  // Not a view of the text with an index of its own: with optimization, Swift 6.3 reads the value that a stored index
  // had before it was advanced.
  private let scalars: [Unicode.Scalar]
  private var index = 0
  /// The place of ``index`` in UTF-8 code units.
  private var offset = 0

  init(_ text: String) {
    var text = text
    text.makeContiguousUTF8()
    self.text = text
    self.scalars = Array(text.unicodeScalars)
  }

  /// Reads the next token. At the end of the text, every call returns ``PredicateToken/Kind/end``.
  mutating func next() throws(FetchPredicateError) -> PredicateToken {
    while let scalar = peek, Self.isSpace(scalar) { advance() }
    let start = offset
    let kind = try readKind()
    return PredicateToken(kind: kind, place: start..<offset)
  }

  private var peek: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

  private var peekSecond: Unicode.Scalar? { index + 1 < scalars.count ? scalars[index + 1] : nil }

  private mutating func advance() {
    offset += UTF8.width(scalars[index])
    index += 1
  }

  private mutating func read(while isPart: (Unicode.Scalar) -> Bool) -> String {
    let start = offset
    while let scalar = peek, isPart(scalar) { advance() }
    let units = text.utf8
    let first = units.index(units.startIndex, offsetBy: start)
    return String(decoding: units[first..<units.index(first, offsetBy: offset - start)], as: UTF8.self)
  }

  /// Returns whether a scalar is white space. Unicode's tables are read only for scalars that are not ASCII.
  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case " ", "\t"..."\r": true
    default: !scalar.isASCII && scalar.properties.isWhitespace
    }
  }

  func error(_ message: String, from start: Int) -> FetchPredicateError {
    FetchPredicateError(.syntax, message, in: text, at: start..<max(start, offset))
  }
}

extension PredicateLexer {
  private mutating func readKind() throws(FetchPredicateError) -> PredicateToken.Kind {
    guard let scalar = peek else { return .end }
    switch scalar {
    case "0"..."9": return try readNumber()
    case "\"", "'": return .string(try readString())
    case "$": return .variable(try readName(after: "$", "a variable, such as $NAME"))
    case "@": return .collection(try readName(after: "@", "a collection operator, such as @count"))
    case "#": return try readKey()
    case "%": return try readArgument()
    case _ where PredicateKeyword.isWordStart(scalar): return .word(read(while: PredicateKeyword.isWordPart))
    default: return try readSymbol()
    }
  }

  private mutating func readName(
    after mark: Character,
    _ expectation: String
  ) throws(FetchPredicateError) -> String {
    let start = offset
    advance()
    let name = read(while: PredicateKeyword.isWordPart)
    if name.isEmpty { throw error("After \(mark), the name of \(expectation) is expected.", from: start) }
    return name
  }

  /// Reads a key after `#`: any word, or any text in quotation marks.
  private mutating func readKey() throws(FetchPredicateError) -> PredicateToken.Kind {
    if peekSecond == "\"" || peekSecond == "'" {
      advance()
      return .key(try readString())
    }
    return .key(try readName(after: "#", "a property, such as #size"))
  }

  private mutating func readString() throws(FetchPredicateError) -> String {
    let start = offset
    let quote = peek
    advance()
    var string = String.UnicodeScalarView()
    while let scalar = peek, scalar != quote {
      advance()
      string.append(scalar == "\\" ? try readEscape(start) : scalar)
    }
    guard peek == quote else { throw error("The string has no closing quotation mark.", from: start) }
    advance()
    return String(string)
  }

  private mutating func readEscape(_ start: Int) throws(FetchPredicateError) -> Unicode.Scalar {
    guard let scalar = peek else { throw error("The string has no closing quotation mark.", from: start) }
    advance()
    switch scalar {
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "u", "x": return try readCodePoint(digits: scalar == "u" ? 4 : 2)
    default: return scalar
    }
  }

  private mutating func readCodePoint(digits count: Int) throws(FetchPredicateError) -> Unicode.Scalar {
    let start = offset
    var digits = ""
    while digits.count < count, let scalar = peek, scalar.properties.isASCIIHexDigit {
      digits.unicodeScalars.append(scalar)
      advance()
    }
    guard digits.count == count, let code = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(code) else {
      throw error("\(count) hexadecimal digits of a Unicode scalar are expected here.", from: start)
    }
    return scalar
  }
}

// MARK: Numbers

extension PredicateLexer {
  private mutating func readNumber() throws(FetchPredicateError) -> PredicateToken.Kind {
    let start = offset
    let kind = try readRadixNumber() ?? readDecimalNumber()
    if let scalar = peek, PredicateKeyword.isWordPart(scalar) {
      _ = read(while: PredicateKeyword.isWordPart)
      throw error("This is neither a number nor a name. A name cannot begin with a digit.", from: start)
    }
    return kind
  }

  /// Reads a number that begins with `0x`, `0o` or `0b`.
  private mutating func readRadixNumber() throws(FetchPredicateError) -> PredicateToken.Kind? {
    guard peek == "0", let mark = peekSecond else { return nil }
    let radix: Int
    switch mark {
    case "x", "X": radix = 16
    case "o", "O": radix = 8
    case "b", "B": radix = 2
    default: return nil
    }
    let start = offset
    advance()
    advance()
    let digits = read { $0.properties.isASCIIHexDigit }
    if digits.isEmpty { throw error("Digits are expected after 0\(mark).", from: start) }
    return .integer(digits, radix: radix)
  }

  private mutating func readDecimalNumber() -> PredicateToken.Kind {
    var number = readDigits()
    var isInteger = true
    if peek == ".", let second = peekSecond, ("0"..."9").contains(second) {
      advance()
      number += "." + readDigits()
      isInteger = false
    }
    if peek == "e" || peek == "E", let second = peekSecond,
      ("0"..."9").contains(second) || second == "-" || second == "+"
    {
      advance()
      number += "e"
      if let sign = peek, sign == "-" || sign == "+" {
        advance()
        number.unicodeScalars.append(sign)
      }
      number += readDigits()
      isInteger = false
    }
    return isInteger ? .integer(number, radix: 10) : .decimal(number)
  }

  private mutating func readDigits() -> String { read { ("0"..."9").contains($0) } }
}

// MARK: Symbols and arguments

extension PredicateLexer {
  /// The symbols by their other spellings.
  private static let spellings: [String: PredicateToken.Symbol] = [
    "=": .equal, "<>": .notEqual, "=<": .lessOrEqual, "=>": .greaterOrEqual,
  ]

  private mutating func readSymbol() throws(FetchPredicateError) -> PredicateToken.Kind {
    let start = offset
    guard let first = peek else { return .end }
    if let second = peekSecond, Self.isSecond(second), let symbol = symbol("\(first)\(second)") {
      advance()
      advance()
      return .symbol(symbol)
    }
    advance()
    if let symbol = symbol(String(first)) { return .symbol(symbol) }
    throw error("This character has no meaning here. Write text in quotation marks.", from: start)
  }

  /// Returns whether a scalar can be the second of a symbol.
  private static func isSecond(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "=", "<", ">", "&", "|", "*": true
    default: false
    }
  }

  private func symbol(_ text: String) -> PredicateToken.Symbol? {
    PredicateToken.Symbol(rawValue: text) ?? Self.spellings[text]
  }

  private mutating func readArgument() throws(FetchPredicateError) -> PredicateToken.Kind {
    let start = offset
    advance()
    if peek == "@" {
      advance()
      return .argument(.any)
    }
    let letters = read { ("a"..."z").contains($0) || ("A"..."Z").contains($0) }
    switch letters {
    case "K": return .argument(.keyPath)
    case "s": return .argument(.any)
    case "f", "F", "g", "G", "e", "E", "a", "A", "lf", "Lf", "lg", "le": return .argument(.floatingPoint)
    case _ where Self.isIntegerConversion(letters): return .argument(.integer)
    default:
      throw error(
        "This is not a format argument. There are %@, %K, %d, %i, %u, %ld, %lld, %lu, %f and %s.",
        from: start
      )
    }
  }

  /// Returns whether the letters are an integer conversion of C's printf: a length, and a conversion.
  private static func isIntegerConversion(_ letters: String) -> Bool {
    guard let last = letters.last, "diuxXoDUOc".contains(last) else { return false }
    return ["", "h", "hh", "l", "ll", "q", "j", "z", "t"].contains(letters.dropLast())
  }
}

// MARK: PredicateToken

/// A word, number, string or symbol of a format string, and its place.
struct PredicateToken {
  enum Kind: Equatable {
    case end
    /// A name as it is written. Whether it is a reserved word depends on its place.
    case word(String)
    /// A name after `#`, which is never a reserved word.
    case key(String)
    case integer(String, radix: Int)
    case decimal(String)
    case string(String)
    /// A name after `$`.
    case variable(String)
    /// A name after `@`.
    case collection(String)
    /// `%@`, `%K` and other placeholders.
    case argument(Conversion)
    case symbol(Symbol)
  }

  /// The required kind of a format argument.
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

  /// The reserved word; nil if the token is none.
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
    // A name with other characters than ASCII is not a reserved word, even if it looks like one in uppercase.
    guard name.utf8.count <= Self.longest, name.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    self.init(rawValue: name.uppercased())
  }

  /// Whether the word is reserved only before a bracket or within square brackets, and a key elsewhere.
  var isKeyElsewhere: Bool {
    switch self {
    case .first, .last, .size, .subquery, .cast, .ternary, .function, .fetch, .anyKey, .caseInsensitive, .ci: true
    default: false
    }
  }

  /// Returns whether a key with this name needs no `#` in front.
  static func isPlainKey(_ name: String) -> Bool { isIdentifier(name) && PredicateKeyword(name) == nil }

  /// Returns whether the name is one word in a format string.
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
