import Testing

/// Errors say what happened, where and what to do in fields of their own.
@Suite struct ErrorTextTests {
  /// What a problem is not to have: a path, for which the context has a place.
  private static var path: Regex<Substring> { #/\\\((?:\w+[.?])*(?:\w*[pP]ath|directory|folder|url|URL)\)/# }
  /// What a problem is not to end with: advice, for which there is `recovery`.
  private static var advice: Regex<Substring> {
    #/[.:;] (?:Open|Choose|Give|Restore|Correct|Make|Remove|Save|Add|Set|Try|Use|Keep|Put|Change|Rename|Convert|Copy|Move|Migrate|Close) /#
  }

  @Test func problemsHaveNeitherPathsNorAdvice() throws {
    var count = 0
    for file in try SourceTree.modules.flatMap({ try SourceTree.files(in: "Sources/\($0)") }) {
      for problem in try Self.problems(in: SourceTree.text(file)) {
        count += 1
        #expect(problem.firstMatch(of: Self.path) == nil, "\(file): \(problem): a path belongs into the context")
        #expect(problem.firstMatch(of: Self.advice) == nil, "\(file): \(problem): advice is a recovery")
      }
    }
    #expect(count > 100, "they are found")
  }

  @Test func theyAreFound() {
    let source = #"""
      throw PersistenceError(
        .fileExists,
        "There is \(path)" + " already. Choose another.",
        recovery: "Move \(path) away. Give it another name.",
        context: .init(path: path)
      )
      PersistenceError(code, message)
      """#
    let problems = Self.problems(in: source)
    #expect(problems.count == 1)
    #expect(problems.first?.firstMatch(of: Self.path) != nil && problems.first?.firstMatch(of: Self.advice) != nil)
    #expect("It is at \\(file.path), and \\(location.path)".matches(of: Self.path).count == 2)
    #expect("\\(name) is not \\(pathCount) long".firstMatch(of: Self.path) == nil)
  }

  /// The texts that errors are made with: what stands between the code and the next label.
  private static func problems(in source: String) -> [String] {
    source.matches(of: /PersistenceError(?:\.of)?\(([^"]*?,)?\s*"/).map { match in
      let rest = source[match.range.lowerBound...].prefix(1_000)
      let end = ["recovery:", "context:", "underlyingError:"].compactMap { rest.firstRange(of: $0)?.lowerBound }
      return String(rest[..<(end.min() ?? rest.firstRange(of: ")\n")?.lowerBound ?? rest.endIndex)])
    }
  }
}
