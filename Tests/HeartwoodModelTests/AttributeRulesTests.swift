import HeartwoodModel
import Testing

@Suite("Rules of attributes")
struct AttributeRulesTests {
  @Test(
    "A pattern matches strings as a whole, by Unicode scalars",
    arguments: [
      ("[a-z]*", "abc", true), ("[a-z]*", "abc1", false), ("[a-z]*", "", true), ("b", "abc", false),
      ("^b$", "b", true), ("^b$", "b\n", false), ("a|ab", "ab", true), (".", "\n", false),
      (".", "e\u{301}", false), ("..", "e\u{301}", true), ("é", "e\u{301}", false), (#"\d{2}"#, "42", true),
      ("", "", true), ("", "a", false),
    ]
  )
  func patterns(_ pattern: String, _ text: String, _ matches: Bool) throws {
    #expect(try TextPattern(pattern).matches(text) == matches)
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
