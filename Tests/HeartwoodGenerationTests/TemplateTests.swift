import HeartwoodGeneration
import Testing

@Suite("Templates")
struct TemplateTests {
  @Test(
    "Places are filled in",
    arguments: [
      ("a {{x}} b", "a 1 b"), ("{{#list}}{{n}},{{/list}}", "p,q,"), ("{{^list}}none{{/list}}", ""),
      ("{{#no}}x{{/no}}{{^no}}y{{/no}}", "y"), ("{{! words }}z", "z"), ("{{#list}}{{x}}{{/list}}", "11"),
      ("a\n  {{#list}}\n{{n}}\n  {{/list}}\nb\n", "a\np\nq\nb\n"),
      ("{{#list}}\n{{#yes}}\nk\n{{/yes}}\n{{/list}}\n", "k\nk\n"),
    ]
  )
  func rendered(_ text: String, _ expected: String) throws {
    let values: [String: TemplateValue] = [
      "x": .text("1"), "list": .list([["n": .text("p")], ["n": .text("q")]]), "no": .flag(false), "yes": .flag(true),
    ]
    #expect(try Template(text).render(values) == expected)
  }

  @Test(
    "What is wrong is said with the line",
    arguments: [
      ("a\n{{x", 2, "has no"), ("\n{{#a}}\n", 2, "is not closed"), ("{{/a}}", 1, "closes no section"),
      ("{{#a}}{{/b}}", 1, "closes no section"), ("\n\n{{what}}", 3, "is not known here"),
      ("{{list}}", 1, "is not text"),
    ]
  )
  func faults(_ text: String, _ line: Int, _ message: String) {
    let error = #expect(throws: TemplateError.self) { try Template(text).render(["list": .list([])]) }
    #expect(error?.line == line)
    #expect(error?.message.contains(message) == true)
  }
}
