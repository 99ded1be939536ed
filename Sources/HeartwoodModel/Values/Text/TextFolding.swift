/// Makes strings that differ in case, or in marks on letters, the same.
///
/// Case is Unicode's full case folding of each scalar. Marks are the nonspacing ones that modify a letter: accents, dots, Hebrew and
/// Arabic points. Signs that make another letter stay: the voicing of kana, nukta and virama of the scripts of India. A letter with such
/// a sign is one scalar where there is one for it, and so is a syllable of Hangul, so that no part of them is found or compared alone.
package struct TextFolding: Sendable, Hashable {
  package let ignoresCase: Bool
  package let ignoresMarks: Bool

  package init(ignoresCase: Bool, ignoresMarks: Bool) {
    self.ignoresCase = ignoresCase
    self.ignoresMarks = ignoresMarks
  }

  package init(_ options: FetchComparison.Options) {
    let isNormalized = options.contains(.normalized)
    ignoresCase = options.contains(.caseInsensitive) && !isNormalized
    ignoresMarks = options.contains(.diacriticInsensitive) && !isNormalized
  }

  package static let none = TextFolding(ignoresCase: false, ignoresMarks: false)
  package static let caseAndMarks = TextFolding(ignoresCase: true, ignoresMarks: true)

  /// Whether strings stay as they are.
  package var isNone: Bool { !ignoresCase && !ignoresMarks }
}

extension TextFolding {
  /// The folded UTF-8 bytes of `text`.
  package func folded(_ text: String) -> [UInt8] {
    if isNone { return Array(text.utf8) }
    var text = text
    return text.withUTF8 { bytes in
      var folded: [UInt8] = []
      append(UnsafeRawBufferPointer(bytes), to: &folded)
      return folded
    }
  }

  /// Appends the folded form of UTF-8 bytes. Bytes that are no UTF-8 become replacement characters.
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
      // A letter that makes another with what follows has no case.
      if !letters.add(letter: scalar, to: &folded) { appendFoldedCase(scalar, to: &folded) }
    } else if !Self.isMark(scalar, combiningClass) {
      letters.add(mark: scalar, combiningClass)
    }
  }

  /// Whether a scalar is left where marks are ignored.
  static func stays(_ scalar: Unicode.Scalar) -> Bool {
    let combiningClass = scalar.properties.canonicalCombiningClass.rawValue
    return combiningClass == 0 || !isMark(scalar, combiningClass)
  }

  /// Whether the scalar only modifies the letter before it.
  private static func isMark(_ scalar: Unicode.Scalar, _ combiningClass: UInt8) -> Bool {
    // 6 to 9 are the signs that make another letter: Han reading, nukta, kana voicing, virama.
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

  /// Its capital is I, but Unicode does not fold it to i.
  private static let dotlessI: Unicode.Scalar = "ı"

  /// `byte` as a small letter where it is an ASCII capital.
  @inline(__always)
  static func lowercased(_ byte: UInt8) -> UInt8 {
    byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
  }
}
