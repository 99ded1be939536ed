import HeartwoodModel
import Testing

@Suite struct TextFoldingTests {
  private static let all = [
    TextFolding(ignoresCase: true, ignoresMarks: false), TextFolding(ignoresCase: false, ignoresMarks: true),
    .caseAndMarks,
  ]

  @Test(
    arguments: [
      ("ABC", "abc"), ("straße", "STRASSE"), ("ﬁn", "FIN"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("İ", "i\u{307}"),
      ("\u{212A}", "k"), ("ẞ", "ss"),
      ("Ǆ", "ǆ"), ("ǅ", "ǆ"), ("Ꭰ", "ꭰ"), ("ſ", "S"), ("\u{345}", "ι"), ("𐐀", "𐐨"), ("ϑ", "Θ"),
    ]
  )
  func foldsCase(_ left: String, _ right: String) {
    let folding = TextFolding(ignoresCase: true, ignoresMarks: false)
    #expect(folding.folded(left) == folding.folded(right))
  }

  @Test(arguments: [("ı", "i"), ("ı", "I"), ("é", "e"), ("ø", "o"), ("か", "が"), ("a", "b")])
  func keepsCaseApart(_ left: String, _ right: String) {
    let folding = TextFolding(ignoresCase: true, ignoresMarks: false)
    #expect(folding.folded(left) != folding.folded(right))
  }

  @Test(
    arguments: [
      ("é", "e"), ("e\u{301}", "é"), ("ệ", "e"), ("Ångström", "Angstrom"), ("\u{212B}", "A"), ("ñ", "n"),
      ("שָׁלוֹם", "שלום"), ("مُحَمَّد", "محمد"),
      ("が", "か\u{3099}"), ("ёлка", "елка"), ("ȧ\u{323}", "a\u{323}\u{307}"), ("각", "\u{1100}\u{1161}\u{11A8}"),
      ("가", "\u{1100}\u{1161}"), ("가\u{11A8}", "각"), ("か\u{301}\u{3099}", "が"), ("क़", "क\u{93C}"),
      ("\u{DDD}", "\u{DD9}\u{DCF}\u{DCA}"), ("\u{DDC}\u{DCA}", "\u{DDD}"),
    ]
  )
  func foldsMarks(_ left: String, _ right: String) {
    let folding = TextFolding(ignoresCase: false, ignoresMarks: true)
    #expect(folding.folded(left) == folding.folded(right))
  }

  @Test(arguments: [("が", "か"), ("A", "a"), ("ø", "o"), ("क़", "क"), ("हिन्दी", "हनद"), ("각", "가")])
  func keepsLettersApart(_ left: String, _ right: String) {
    let folding = TextFolding(ignoresCase: false, ignoresMarks: true)
    #expect(folding.folded(left) != folding.folded(right))
  }

  @Test(arguments: [
    "가각힣", "ガぱ", "\u{958}", "\u{CCB}", "\u{DDD}", "\u{1109A}", "\u{1D160}", "漢字", "\u{1100}\u{301}\u{1161}",
  ])
  func leavesNoParts(_ text: String) {
    let folding = TextFolding(ignoresCase: false, ignoresMarks: true)
    let composed = text == "\u{1100}\u{301}\u{1161}" ? "가" : text
    #expect(String(decoding: folding.folded(text), as: UTF8.self).unicodeScalars.elementsEqual(composed.unicodeScalars))
  }

  /// Marks that stay are ordered by their class, and those of one class keep their order, however many there are.
  @Test func ordersMarksThatStay() {
    let folding = TextFolding(ignoresCase: false, ignoresMarks: true)
    func repeated(_ marks: String) -> String { String(repeating: marks, count: 1_000) }
    let mixed = repeated("\u{94D}\u{93C}\u{3099}\u{A3C}\u{9CD}")
    let ordered = repeated("\u{93C}\u{A3C}") + repeated("\u{3099}") + repeated("\u{94D}\u{9CD}")
    let expected = Array("ट\(ordered)ट\u{93C}\u{94D}".utf8)
    #expect(folding.folded("ट\(mixed)ट\u{94D}\u{93C}") == expected)
    #expect(folding.folded("ट\(ordered)ट\u{93C}\u{94D}") == expected)
  }

  @Test(arguments: all)
  func changesNothingTheSecondTime(_ folding: TextFolding) {
    for code in UInt32(0)...0x1_FFFF {
      guard let scalar = Unicode.Scalar(code) else { continue }
      let once = String(decoding: folding.folded(String(scalar)), as: UTF8.self)
      #expect(Array(once.utf8) == folding.folded(once), "U+\(String(code, radix: 16))")
    }
  }

  @Test func foldsWhatTheStandardLibraryCallsEquivalent() {
    let folding = TextFolding(ignoresCase: false, ignoresMarks: true)
    for base in "AEIOUaeiouYyNnCcSsZzΑαΩω".unicodeScalars {
      for mark in ["\u{300}", "\u{301}", "\u{302}", "\u{303}", "\u{308}", "\u{30C}", "\u{323}", "\u{327}", "\u{345}"] {
        #expect(folding.folded(String(base) + mark) == folding.folded(String(base)))
      }
    }
    var found = 0
    for code in UInt32(0xC0)...0x17F {
      guard let scalar = Unicode.Scalar(code), let plain = folding.folded(String(scalar)).first, plain < 0x80 else {
        continue
      }
      let letter = String(decoding: [plain], as: UTF8.self)
      let marks = (UInt32(0x300)...0x338).compactMap(Unicode.Scalar.init)
      #expect(marks.contains { letter + String($0) == String(scalar) }, "U+\(String(code, radix: 16))")
      found += 1
    }
    #expect(found > 150)
  }

  @Test(arguments: [
    ("file9", "file10"), ("a", "B"), ("e", "é"), ("é", "f"), ("a", "A"), ("", "a"), ("2", "10"), ("x01", "x2"),
    ("ab", "abc"),
  ])
  func ordersAsPeopleDo(_ first: String, _ second: String) {
    #expect(TextOrder.compare(first, second) < 0)
    #expect(TextOrder.compare(second, first) > 0)
    #expect(TextOrder.compare(first, first) == 0)
  }

  @Test(
    arguments: [
      ("*", "", true), ("", "", true), ("", "a", false), ("?", "é", true), ("?", "", false), ("a*c", "abbc", true),
      ("a*c", "abcb", false),
      ("*a*b*", "xxaxxbxx", true), ("**a", "bba", true), ("a?c", "a😀c", true), ("\\*", "*", true), ("\\*", "x", false),
      ("*é", "caf\u{e9}", true),
      ("*?é", "é", false), ("a\\", "a", true), ("*ab", "aab", true), ("*\u{1F600}", "\u{1F601}\u{1F600}", true),
    ]
  )
  func matchesWildcards(_ pattern: String, _ text: String, _ expected: Bool) {
    #expect(WildcardPattern(pattern, folding: .none).matches(text) == expected)
  }
}
