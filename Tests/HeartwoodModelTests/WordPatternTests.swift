import Testing

@testable import HeartwoodModel

/// What patterns about words match, held against a table that ICU 72 has given (`uregex_matches`, no flags).
@Suite("Words in patterns")
struct WordPatternTests {
  static let patterns = [
    #".*\bNeil\b.*"#,
    #".*\bfoo\b.*"#,
    #".*\Bfoo.*"#,
    #".*foo\B.*"#,
    #"\w+"#,
    #"\W+"#,
    #".*\w\b.*"#,
    #"\b\w+\b\W+\b\w+\b"#,
    #".*\b14\b.*"#,
    #".*.\B.*"#,
    #"\b.*"#,
    #".*\b"#,
    #".*\B"#,
    #"[\w']+"#,
    #"[^\W\d]+"#,
    #"\d+"#,
    #"\D+"#,
    #"(o\b|o\B|\w)*"#,
    #".*(\b|x)o.*"#,
    #".*\b[.,:/-]\b.*"#,
    #"(\b\w+\b.?)*"#,
    #"(?i).*\bNEIL\b.*"#,
    #".*\bfoo(\b)+(?:\W.*)?"#,
  ]

  /// Texts, and which of the patterns match each: a 1 or a 0 for each pattern.
  static let expected: [(text: String, matches: String)] = [
    ("foo", "01001010011101101100101"),
    ("a foo b", "01000010011100001000101"),
    ("foo.bar", "01000011011100001001101"),
    ("bar.foo", "01000011011100001001101"),
    ("foo:bar", "01000011011100001001101"),
    ("foo'bar", "01000011011101001000101"),
    ("O'Neil", "10000011011101001000110"),
    ("foo-bar", "01000011011100001001101"),
    ("foo,bar", "01000011011100001001101"),
    ("foo_bar", "00011010011101101100100"),
    ("3.14", "00000011111100000001100"),
    ("3,000", "00000011011100000001100"),
    ("foo/bar", "01000011011100001001101"),
    ("foo\u{2019}s", "01000011011100001000101"),
    ("cafe\u{301}", "00001010011101101100100"),
    ("cafe\u{301} noir", "00000011011100001000100"),
    ("\u{301}foo", "01001010010101101100001"),
    ("e\u{301}a", "00001010011101101100100"),
    ("foo\u{301}", "00011010011101101100100"),
    ("foo\u{301}bar", "00011010011101101100100"),
    ("-\u{301}foo", "01000010010100001000001"),
    ("foo -\u{301}", "01000010011010001000001"),
    ("foo\u{200D}bar", "00011010011101101100100"),
    ("foo\u{AD}bar", "00010010011100001000000"),
    ("\u{AD}foo", "01000010010100001000001"),
    ("foo\u{200C}", "00011010011101101100100"),
    ("\u{B2}", "00000100010010001000000"),
    ("\u{663}", "00001010001101010100100"),
    ("\u{BD}", "00000100010010001000000"),
    ("", "00000000000010000100100"),
    ("_", "00001010001101101100100"),
    (" ", "00000100010010001000000"),
    ("\u{65E5}\u{672C}", "00001010011101101100100"),
    ("\u{65E5}\u{672C} \u{8A9E}", "00000011011100001000100"),
    ("\u{E44}\u{E17}\u{E22}", "00001010011101101100100"),
    ("a\u{20DD}", "00001010011101101100100"),
    ("\u{2167}", "00001010001101101100100"),
    ("stra\u{DF}e", "00001010011101101100100"),
    ("\u{1F600}foo", "01000010010100001000001"),
    ("foo\u{1F600}", "01000010011010001000101"),
    ("o'neil", "00000011011101001010110"),
    ("\u{915}\u{93F}", "00001010011101101100100"),
    ("a\u{203F}b", "00001010011101101100100"),
    ("a\u{301}\u{301} \u{301}b", "00000010011100001000000"),
    ("14", "00001010111101010100100"),
    ("x14", "00001010011101000100100"),
    ("3 14 x", "00000010111100000000100"),
  ]

  @Test("Words begin and end where ICU has them", arguments: patterns.indices)
  func matchesAsICU(_ index: Int) throws {
    let pattern = try TextPattern(Self.patterns[index])
    for (text, matches) in Self.expected {
      let isExpected = matches.dropFirst(index).first == "1"
      #expect(pattern.matches(text) == isExpected, "\(Self.patterns[index]) in \(text.debugDescription)")
    }
  }

  @Test(
    "A pattern that asks for words and is the library's to match is refused",
    arguments: [#"(a)\b\1"#, #"(?=a)\b"#, #"\B(?>a)"#, #"\ba++"#, #"\bx{0,20000}"#]
  )
  func boundariesAreNotLeftToTheLibrary(_ pattern: String) {
    let fault = #expect(throws: TextPattern.Fault.self) { try TextPattern(pattern) }
    #expect(fault?.message.hasPrefix("It combines word boundaries") == true)
  }

  @Test(
    "A class that is written out matches what the letter does",
    arguments: [
      (#"[^\w]"#, "²", true), (#"[\W_]"#, "_", true), (#"[\W_]"#, "a", false), (#"\\w"#, #"\w"#, true),
      (#"\Q\w\E\w"#, #"\wa"#, true), (#"[\D]"#, "½", true), (#"[\da-c]"#, "b", true), (#"[^\d]"#, "٣", false),
    ]
  )
  func writesClassesOut(_ pattern: String, _ text: String, _ isMatch: Bool) throws {
    #expect(try TextPattern(pattern).matches(text) == isMatch)
  }
}
