import Foundation
import Testing

/// What the compiler accepts and what it refuses: the checks of isolation that the library promises.
///
/// A line of a snippet that must not compile says what the compiler says there: `// error: text`.
@Suite struct CompilerTests {
  private static let snippets = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Snippets")

  @Test(arguments: [
    "Allowed", "ReturnedObject", "CapturedObject", "MovedObject", "SentObject", "ViewContextElsewhere",
    "ContainerMisuse", "ContainerObjects", "PerformAndWait",
  ])
  func compilerSaysWhatTheSnippetSays(_ name: String) throws {
    let snippet = Self.snippets.appending(path: name + ".swift")
    let source = try String(contentsOf: snippet, encoding: .utf8)
    let expected = Self.expectations(in: source)
    #expect(expected.isEmpty == (name == "Allowed"))
    let found = try Compiler().errors(in: [snippet])
    for (line, text) in expected {
      #expect(
        found.contains { $0.line == line && $0.text.contains(text) },
        "\(name):\(line) should be refused with “\(text)”; the compiler says: \(found)"
      )
    }
    for error in found {
      #expect(expected[error.line] != nil, "\(name):\(error.line) is refused: \(error.text)")
    }
  }

  /// What the compiler should say, by line.
  private static func expectations(in source: String) -> [Int: String] {
    let mark = "// error: "
    var expectations: [Int: String] = [:]
    for (index, line) in source.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if let range = line.range(of: mark) { expectations[index + 1] = String(line[range.upperBound...]) }
    }
    return expectations
  }
}
