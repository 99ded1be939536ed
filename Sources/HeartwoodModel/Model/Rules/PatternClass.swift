/// The classes of scalars that have a letter of their own in patterns (`\w`, `\d`) and mean another set in ICU than in the library: `²` is a digit there,
/// and a combining mark is no part of a word. Both are written out for the library as ICU defines them.
enum PatternClass {
  /// `\w` without the brackets around it: ICU's `[\p{Alphabetic}\p{Mark}\p{Decimal_Number}\p{Connector_Punctuation}\u200c\u200d]`.
  private static let word = #"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200C\u200D"#

  /// What the library is given for a backslash with `letter`.
  ///
  /// - Parameter isInBrackets: whether it stands in a class in brackets.
  /// - Returns: nil if the library means the same by it.
  static func text(of letter: Character, isInBrackets: Bool) -> String? {
    switch letter {
    case "w": isInBrackets ? word : "[\(word)]"
    case "W": "[^\(word)]"
    case "d": #"\p{Nd}"#
    case "D": #"\P{Nd}"#
    default: nil
    }
  }

  /// A pattern with its classes written out, to be matched by the library, and whether it asks where words begin and end.
  static func writtenOut(in pattern: String) -> (text: String, hasBoundaries: Bool) {
    var writer = Writer(rest: pattern[...])
    let text = writer.text()
    return (text, writer.hasBoundaries)
  }

  private struct Writer {
    var rest: Substring
    private(set) var hasBoundaries = false
    private var written = ""
    private var depth = 0

    init(rest: Substring) { self.rest = rest }

    mutating func text() -> String {
      while let next = rest.popFirst() {
        switch next {
        case "\\": writeEscape()
        case "[":
          depth += 1
          written.append(next)
          // A bracket that closes right behind the opening one is a letter.
          if rest.first == "^", let caret = rest.popFirst() { written.append(caret) }
          if rest.first == "]", let bracket = rest.popFirst() { written.append(bracket) }
        case "]":
          depth = max(0, depth - 1)
          written.append(next)
        default: written.append(next)
        }
      }
      return written
    }

    private mutating func writeEscape() {
      guard let letter = rest.popFirst() else { return written.append("\\") }
      if letter == "Q" { return writeQuotation() }
      if depth == 0, letter == "b" || letter == "B" { hasBoundaries = true }
      written += PatternClass.text(of: letter, isInBrackets: depth > 0) ?? "\\\(letter)"
    }

    /// What stands between `\Q` and `\E` is no pattern.
    private mutating func writeQuotation() {
      written += "\\Q"
      while !rest.isEmpty, !written.hasSuffix("\\E") { rest.popFirst().map { written.append($0) } }
    }
  }
}

/// Tells where words begin and end in a text, as ICU does without its option for Unicode's own word boundaries: between a scalar that `\w` takes and one
/// that it does not take, or an end of the text. Combining marks and format characters go with the scalar before them, so no boundary is in front of
/// them.
struct WordBoundaries {
  private var isAfterWord = false

  /// Whether there is a boundary in front of `next`, or at the end of the text. To be asked for each scalar in turn.
  mutating func isBoundary(before next: Unicode.Scalar?) -> Bool {
    guard let next else { return isAfterWord }
    if next.goesWithTheOneBefore { return false }
    let isInWord = next.isOfWords
    defer { isAfterWord = isInWord }
    return isInWord != isAfterWord
  }
}

extension Unicode.Scalar {
  private static let (nonJoiner, joiner): (UInt32, UInt32) = (0x200C, 0x200D)

  /// Whether `\w` takes the scalar.
  var isOfWords: Bool {
    if isASCII { return properties.isAlphabetic || ("0"..."9").contains(self) || self == "_" }
    if properties.isAlphabetic { return true }
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .connectorPunctuation: return true
    default: return value == Self.nonJoiner || value == Self.joiner
    }
  }

  fileprivate var goesWithTheOneBefore: Bool {
    if isASCII { return false }
    return properties.isGraphemeExtend || properties.generalCategory == .format
  }
}
