/// Makes strings equal that differ only in case, or in marks on letters.
///
/// Case is ignored by Unicode's full case folding of each scalar. The ignored marks are nonspacing marks that modify a
/// letter: accents, dots, Hebrew and Arabic points. Signs that make another letter are kept: the voicing of kana, nukta
/// and virama of Indic scripts. A letter with such a sign is one scalar if Unicode has one for it, and so is a Hangul
/// syllable, so that no part of them is found or compared alone.
///
/// A store whose database can call functions tests conditions on texts with it, and so finds the same records as the
/// framework does:
///
///     let folding = TextFolding(comparison.options)
///     if !folding.isNone { sql = "fold(\(column)) = ?"; argument = folding.folded(text) }
public struct TextFolding: Sendable, Hashable {
  /// Whether strings are equal that differ only in case.
  public let ignoresCase: Bool
  /// Whether strings are equal that differ only in marks on letters.
  public let ignoresMarks: Bool

  /// Makes a folding.
  public init(ignoresCase: Bool, ignoresMarks: Bool) {
    self.ignoresCase = ignoresCase
    self.ignoresMarks = ignoresMarks
  }

  /// Makes the folding of both sides of a comparison with `options`.
  public init(_ options: FetchComparison.Options) {
    let isNormalized = options.contains(.normalized)
    ignoresCase = options.contains(.caseInsensitive) && !isNormalized
    ignoresMarks = options.contains(.diacriticInsensitive) && !isNormalized
  }

  /// Makes the folding of strings that are sorted by a comparison. One that is localized has none:
  /// ``TextOrder`` compares the strings themselves.
  public init(_ comparison: FetchSortDescriptor.Comparison) {
    ignoresCase = comparison == .caseInsensitive || comparison == .caseAndDiacriticInsensitive
    ignoresMarks = comparison == .caseAndDiacriticInsensitive
  }

  /// Leaves strings as they are.
  public static let none = TextFolding(ignoresCase: false, ignoresMarks: false)
  /// Makes strings equal that differ only in case and in marks.
  public static let caseAndMarks = TextFolding(ignoresCase: true, ignoresMarks: true)

  /// Whether strings stay the same.
  public var isNone: Bool { !ignoresCase && !ignoresMarks }
}

extension TextFolding {
  /// Returns the folded UTF-8 bytes of `text`. Two texts are equal if these bytes are. O(n).
  public func folded(_ text: String) -> [UInt8] {
    if isNone { return Array(text.utf8) }
    var text = text
    return text.withUTF8 { bytes in
      var folded: [UInt8] = []
      append(UnsafeRawBufferPointer(bytes), to: &folded)
      return folded
    }
  }

  /// Returns the folded form of the bytes of a text in UTF-8. Invalid bytes become replacement characters. O(n).
  public func folded(utf8 bytes: RawSpan) -> [UInt8] {
    var folded: [UInt8] = []
    bytes.withUnsafeBytes { append($0, to: &folded) }
    return folded
  }

  /// Appends the folded form of UTF-8 bytes. Invalid bytes become replacement characters.
  package func append(_ bytes: UnsafeRawBufferPointer, to folded: inout [UInt8]) {
    folded.reserveCapacity(folded.count + bytes.count)
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    var letters = LetterComposition()
    while true {
      switch decoder.decode(&iterator) {
      case .emptyInput: return letters.flush(to: &folded)
      case .error: append("\u{FFFD}", &letters, to: &folded)
      case .scalarValue(let scalar): append(scalar, &letters, to: &folded)
      }
    }
  }

  @inline(__always)
  private func append(_ scalar: Unicode.Scalar, _ letters: inout LetterComposition, to folded: inout [UInt8]) {
    if scalar.isASCII {
      letters.flush(to: &folded)
      folded.append(
        ignoresCase ? Self.lowercased(UInt8(truncatingIfNeeded: scalar.value)) : UInt8(truncatingIfNeeded: scalar.value)
      )
    } else {
      appendBeyondASCII(scalar, &letters, to: &folded)
    }
  }

  @inline(never)
  private func appendBeyondASCII(_ scalar: Unicode.Scalar, _ letters: inout LetterComposition, to folded: inout [UInt8])
  {
    guard ignoresMarks else { return appendFoldedCase(scalar, to: &folded) }
    guard let parts = CanonicalDecompositions.decomposition(of: scalar) else {
      return appendWithoutMarks(scalar, &letters, to: &folded)
    }
    for part in parts { appendWithoutMarks(part, &letters, to: &folded) }
  }

  private func appendWithoutMarks(
    _ scalar: Unicode.Scalar,
    _ letters: inout LetterComposition,
    to folded: inout [UInt8]
  ) {
    let combiningClass = scalar.properties.canonicalCombiningClass.rawValue
    if combiningClass == 0 {
      // A letter that composes with what follows has no case.
      if !letters.add(letter: scalar, to: &folded) { appendFoldedCase(scalar, to: &folded) }
    } else if !Self.isMark(scalar, combiningClass) {
      letters.add(mark: scalar, combiningClass)
    }
  }

  /// Returns whether a scalar is kept if marks are ignored.
  static func stays(_ scalar: Unicode.Scalar) -> Bool {
    let combiningClass = scalar.properties.canonicalCombiningClass.rawValue
    return combiningClass == 0 || !isMark(scalar, combiningClass)
  }

  /// Returns whether the scalar only modifies the letter before it.
  private static func isMark(_ scalar: Unicode.Scalar, _ combiningClass: UInt8) -> Bool {
    // 6 to 9 are the classes of signs that make another letter: Han reading, nukta, kana voicing, virama.
    !(6...9).contains(combiningClass) && scalar.properties.generalCategory == .nonspacingMark
  }

  private func appendFoldedCase(_ scalar: Unicode.Scalar, to folded: inout [UInt8]) {
    guard ignoresCase, scalar != Self.dotlessI, scalar.properties.changesWhenCaseFolded || scalar.properties.isCased
    else {
      return folded.append(contentsOf: UTF8.encode(scalar).map(Array.init) ?? [])
    }
    for lower in scalar.properties.lowercaseMapping.unicodeScalars {
      for upper in lower.properties.uppercaseMapping.unicodeScalars {
        folded.append(contentsOf: upper.properties.lowercaseMapping.utf8)
      }
    }
  }

  /// Its uppercase letter is I, but Unicode does not fold it to i.
  private static let dotlessI: Unicode.Scalar = "ı"

  /// Returns `byte` in lowercase if it is an uppercase ASCII letter.
  @inline(__always)
  static func lowercased(_ byte: UInt8) -> UInt8 {
    byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
  }
}

// MARK: TextOrder

/// Orders strings as people do, in every language: by letters, then by marks, then by case, and digits by their numeric
/// value. It is the order of ``FetchSortDescriptor/Comparison/localizedStandard``.
public enum TextOrder {
  /// Returns a negative number if `left` comes first, 0 if both are the same, and a positive number if `right` comes
  /// first. O(n).
  public static func compare(_ left: String, _ right: String) -> Int {
    let byLetters = compareWithNumbers(key(left, .caseAndMarks), key(right, .caseAndMarks))
    if byLetters != 0 { return byLetters }
    let byMarks = compare(key(left, caseOnly), key(right, caseOnly))
    if byMarks != 0 { return byMarks }
    // Lowercase letters come before uppercase letters, although these have lower codes.
    return compare(Array(right.utf8), Array(left.utf8))
  }

  private static let caseOnly = TextFolding(ignoresCase: true, ignoresMarks: false)

  private static func key(_ text: String, _ folding: TextFolding) -> [UInt8] { folding.folded(text) }

  /// Compares the bytes, one after the other.
  static func compare(_ left: [UInt8], _ right: [UInt8]) -> Int {
    for (a, b) in zip(left, right) where a != b { return a < b ? -1 : 1 }
    return left.count < right.count ? -1 : left.count == right.count ? 0 : 1
  }

  private static func compareWithNumbers(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var (i, j) = (0, 0)
    while i < left.count, j < right.count {
      if isDigit(left[i]), isDigit(right[j]) {
        let (a, b) = (number(left, &i), number(right, &j))
        let order = a.count != b.count ? (a.count < b.count ? -1 : 1) : compare(Array(a), Array(b))
        if order != 0 { return order }
      } else if left[i] != right[j] {
        return left[i] < right[j] ? -1 : 1
      } else {
        i += 1
        j += 1
      }
    }
    return (left.count - i) - (right.count - j)
  }

  /// Returns the digits from `place` on without leading zeros, and moves `place` after them.
  private static func number(_ bytes: [UInt8], _ place: inout Int) -> ArraySlice<UInt8> {
    let start = place
    while place < bytes.count, isDigit(bytes[place]) { place += 1 }
    return bytes[start..<place].drop { $0 == UInt8(ascii: "0") }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}

// MARK: TerminalWidth

/// The number of terminal cells that characters take.
package enum TerminalWidth {
  package static func of(_ text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + of($1) } }

  package static func of(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: 0
    default: isWide(scalar) ? 2 : 1
    }
  }

  /// The blocks of characters that Unicode calls wide. Emoji are wide, too.
  private static let wideBlocks: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
    0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD,
  ]

  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value >= 0x1100
      && (wideBlocks.contains { $0.contains(scalar.value) } || scalar.properties.isEmojiPresentation)
  }
}
