import HeartwoodTesting
import Testing

@testable import HeartwoodModel

@Suite("Rules of attributes")
struct AttributeRulesTests {
  @Test(
    "A pattern matches strings as a whole, by Unicode scalars",
    arguments: [
      ("[a-z]*", "abc", true), ("[a-z]*", "abc1", false), ("[a-z]*", "", true), ("b", "abc", false),
      ("^b$", "b", true), ("^b$", "b\n", false), ("a|ab", "ab", true), (".", "\n", false),
      (".", "e\u{301}", false), ("..", "e\u{301}", true), ("é", "e\u{301}", false), (#"\d{2}"#, "42", true),
      ("", "", true), ("", "a", false), (#"\w."#, "_é", true),
    ]
  )
  func patterns(_ pattern: String, _ text: String, _ matches: Bool) throws {
    #expect(try TextPattern(pattern).matches(text) == matches)
  }

  /// By going back to try again, as libraries do, these would take longer than anybody waits.
  @Test(
    "A match takes no longer than both lengths",
    arguments: [
      ("(a+)+b", String(repeating: "a", count: 2_000), false), (#"(\w+\s?)*!"#, "some ordinary words here", false),
      ("([a-zA-Z0-9]+[._-]?)+@[a-z]+", "john.smith.of.somewhere.example.org", false),
      (".*a.*b.*x", String(repeating: "ab", count: 10_000), false),
      ("(a*)*", String(repeating: "a", count: 2_000), true),
      ("(a|aa)+", String(repeating: "a", count: 2_000), true), ("(?:(?:(?:(?:){5000}){5000}){5000}){5000}", "", true),
      ("(?:(?:(?:a{0}){5000}){5000}){5000}", "a", false), ("\u{2126}|\u{3A9}", "\u{3A9}", true),
      ("(x{0,50}){0,50}", String(repeating: "x", count: 2_500), true),
      ("(a+)+e\u{301}?b", String(repeating: "a", count: 2_000), false), ("e\u{301}{2}", "e\u{301}e\u{301}", true),
      (#"(?<word>\p{L}+)+!"#, String(repeating: "é", count: 2_000), false),
      (".{0,20000}", String(repeating: "x", count: 20_000), true),
      (".{0,20000}", String(repeating: "x", count: 20_001), false),
    ]
  )
  func hostilePatterns(_ pattern: String, _ text: String, _ matches: Bool) throws {
    #expect(try TextPattern(pattern).matches(text) == matches)
  }

  /// They would have to be left to the library, which would take any time.
  @Test(
    "A pattern whose counts come to too many steps is refused",
    arguments: ["(a{0,200}){0,200}b", "(a+)+(a{10001})?b", "(a|aa){0,20000}b"]
  )
  func patternsOfTooManySteps(_ pattern: String) {
    let fault = #expect(throws: TextPattern.Fault.self) { try TextPattern(pattern) }
    #expect(fault?.message.hasPrefix("Its counts add up to more than 10000 steps") == true)
  }

  /// The library has faults of its own, which other seeds may find: so the usual ones are the same each time. HEARTWOOD_SEED says
  /// another.
  @Test("A pattern means what it means to the library", arguments: RandomPattern.seeds)
  func patternsMeanTheSame(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var compiled = 0
    for _ in 0..<1_500 {
      let (pattern, ignoresCase) = (RandomPattern.pattern(&generator, depth: 3), generator.chance(oneIn: 4))
      let library = try? Regex(PatternClass.writtenOut(in: pattern).text).matchingSemantics(.unicodeScalar).ignoresCase(
        ignoresCase
      )
      let own = try? TextPattern(pattern, ignoresCase: ignoresCase)
      #expect((library == nil) == (own == nil), "seed \(seed): \(pattern)")
      guard let library, let own else { continue }
      compiled += PatternParser.node(of: pattern) == nil ? 0 : 1
      for _ in 0..<8 {
        let text = RandomPattern.text(&generator)
        let expected = try library.wholeMatch(in: text) != nil
        #expect(own.matches(text) == expected, "seed \(seed): \(pattern) and \(text.debugDescription), \(ignoresCase)")
      }
    }
    #expect(compiled > 500, "seed \(seed)")
  }

  /// Without `\W` and `\D`: where they are repeated, the library takes a carriage return and a line feed for one, and `_` for no part of a word.
  private enum RandomPattern {
    static let seeds = SeededGenerator.seeds(usually: 1...2)

    private static let atoms = [
      "a", "b", "B", "é", "ß", ".", #"\d"#, #"\w"#, #"\s"#, #"\."#, "[ab]", "[^a]", "[a-c0-9]", #"\p{Lu}"#,
      #"[\d_]"#, "-", " ",
      #"\n"#, "1", "_", ",", "[]a]", "^", "$", "e\u{301}",
    ]
    private static let quantifiers = ["", "", "", "", "*", "+", "?", "{2}", "{1,}", "{0,2}", "*?", "++"]
    private static let letters = [
      "a", "b", "A", "B", "c", "1", "_", "-", ".", " ", "\n", "é", "ß", "SS", "\u{301}", ",", "٣", "\r",
    ]

    /// What repeats without end is repeated no further: by going back the library takes ages over it, even with six letters.
    static func pattern(_ generator: inout SeededGenerator, depth: Int) -> String {
      (0..<Int.random(in: 0...3, using: &generator)).map { _ in
        let atom =
          depth > 0 && generator.chance(oneIn: 3)
          ? group(&generator, depth: depth) : atoms.randomElement(using: &generator) ?? ""
        let isRepeated = ["*", "+", ",}", "{2}"].contains { atom.hasPrefix("(") && atom.contains($0) }
        return atom + ((isRepeated ? ["", "?"] : quantifiers).randomElement(using: &generator) ?? "")
      }
      .joined()
    }

    private static func group(_ generator: inout SeededGenerator, depth: Int) -> String {
      let start = generator.chance(oneIn: 2) ? "(" : "(?:"
      let first = pattern(&generator, depth: depth - 1)
      let second = generator.chance(oneIn: 2) ? "|" + pattern(&generator, depth: depth - 1) : ""
      return start + first + second + ")"
    }

    /// Without `_` before what is not ASCII: there it is no part of a word to the library, so that `\w.` is not `_é`.
    static func text(_ generator: inout SeededGenerator) -> String {
      (0..<Int.random(in: 0...6, using: &generator))
        .reduce(into: "") { text, _ in
          let letter = letters.randomElement(using: &generator) ?? ""
          text += text.hasSuffix("_") && !letter.utf8.allSatisfy { $0 < 0x80 } ? "-" : letter
        }
    }
  }

  @Test("A pattern can be matched by several threads at once")
  func concurrency() async throws {
    let pattern = try TextPattern("[0-9]*[02468]")
    let even = await withTaskGroup { group in
      for number in 0..<200 { group.addTask { pattern.matches("\(number)") } }
      return await group.reduce(into: 0) { count, matches in count += matches ? 1 : 0 }
    }
    #expect(even == 100)
  }

  @Test("An entity knows its attributes with rules, the inherited ones first; no store sees the transient ones")
  func ruledAttributes() throws {
    let rules = AttributeRules(maxLength: 3)
    let model = try ManagedObjectModel(entities: [
      .entity("Child", parent: "Base", .attribute("b", .string), .attribute("c", .string, rules: rules)),
      .entity(
        "Base",
        .attribute("t", .string, transient: true, rules: rules),
        .attribute("a", .string, rules: AttributeRules(pattern: "x"))
      ),
    ])
    let child = try #require(model.entity(named: "Child"))
    #expect(child.ruledAttributes.map(\.name) == ["a", "c"])
    #expect(child.ruledAttributes.map(\.ordinal) == [1, 3])
    #expect(child.ruledAttributes.map { $0.pattern == nil } == [false, true])
    #expect(model.entity(named: "Base")?.ruledAttributes.map(\.ordinal) == [1])
  }
}
