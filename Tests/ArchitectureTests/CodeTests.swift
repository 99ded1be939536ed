import Foundation
import Testing

/// What the code must not do, and how long its parts may be, as the text of the sources tells it.
@Suite struct CodeTests {
  private static let sources = Result { try SourceTree.files(in: "Sources") }

  // MARK: What is not there

  /// What ends a process without a reason, or leaves something for later, and what is to be written instead.
  private static let forbidden = [
    "fatalError(": "Misuse.stop(_:), which says what to do, or an error",
    "try!": "a throwing function, or a handled error",
    "as!": "a conditional cast",
    "assertionFailure()": "a text that says what holds",
    "TODO": "an issue",
    "FIXME": "an issue",
    "XXX": "an issue",
  ]

  /// The one place that ends a process, after it has said why.
  private static let end = "Sources/HeartwoodModel/Misuse.swift"

  @Test(arguments: forbidden.keys.sorted())
  func codeHasNone(_ text: String) throws {
    for file in try Self.sources.get() where file != Self.end {
      for (number, line) in try SourceTree.lines(of: file).enumerated() {
        #expect(!line.contains(text), "\(file):\(number + 1): \(text): write \(Self.forbidden[text] ?? "") instead")
      }
    }
  }

  /// How many lines before and after a declaration may hold the reason for it.
  private static let distance = 12

  @Test(arguments: ["@unchecked Sendable", "nonisolated(unsafe)"])
  func whatIsNotCheckedIsExplained(_ promise: String) throws {
    for file in try Self.sources.get() {
      let lines = try SourceTree.lines(of: file)
      for (number, line) in lines.enumerated() where SourceTree.code(line).contains(promise) {
        let near = lines[max(0, number - Self.distance)..<min(lines.count, number + Self.distance)]
        // A comment names what is promised and says why that holds.
        let isExplained = near.contains { line in
          line.firstRange(of: "//").map { line[$0.upperBound...].contains("`\(promise)`: ") } ?? false
        }
        #expect(isExplained, "\(file):\(number + 1): say why it may be \(promise), in a comment “`\(promise)`: …”")
      }
    }
  }

  /// What a user of the graph does wrong is told in optimized builds too.
  @Test func mistakesInTheUseOfTheGraphAreTold() throws {
    for file in try SourceTree.files(in: "Sources/HeartwoodGraph") {
      #expect(!(try SourceTree.text(file).contains("precondition")), "\(file): use Misuse instead")
    }
  }

  @Test func everyTrapSaysWhatToDo() throws {
    for file in try Self.sources.get() {
      let text = try SourceTree.text(file)
      #expect(!text.contains("preconditionFailure()"), "\(file)")
      for match in text.matches(of: /\bprecondition\([^\n]*\)\n/) {
        #expect(match.0.contains("\""), "\(file): \(match.0)")
      }
    }
  }

  // MARK: Measure

  /// Files that may be longer, each with the reason.
  private static let longFiles: [String: String] = [:]
  private static let mostLines = 800

  @Test(arguments: ["Sources", "Tests", "Examples", "Benchmarks"])
  func filesAreShort(_ folder: String) throws {
    for file in try SourceTree.files(in: folder) where Self.longFiles[file] == nil {
      let count = try SourceTree.lines(of: file).count - 1
      #expect(count <= Self.mostLines, "\(file) has \(count) lines")
    }
  }

  /// Functions that may be longer, each with the reason.
  private static let longFunctions: [String: String] = [:]
  private static let mostFunctionLines = 60

  @Test(arguments: ["Sources", "Tests", "Examples", "Benchmarks"])
  func functionsAreShort(_ folder: String) throws {
    for file in try SourceTree.files(in: folder) {
      for (name, count) in Self.functions(in: try SourceTree.lines(of: file)) where Self.longFunctions[name] == nil {
        #expect(count <= Self.mostFunctionLines, "\(file): \(name) has \(count) lines")
      }
    }
  }

  @Test func functionsAreFoundAndCounted() {
    let source = """
      protocol P {
        func a()
        func b() throws
      }
      extension P {
        public static func c() -> Int { 1 }
        @inlinable func d(
          _ x: Int
        ) -> Int {
          x
        }
        init() {
          self.x = 1
        }
      }
      """
    let functions = Self.functions(in: source.split(separator: "\n", omittingEmptySubsequences: false))
    #expect(functions.map(\.name) == ["c", "d", "init"])
    #expect(functions.map(\.count) == [1, 5, 3])
  }

  /// The functions with a body in formatted lines: their names, and how many lines each has.
  private static func functions(in lines: [Substring]) -> [(name: String, count: Int)] {
    let declaration =
      #/^(\ *)(?:@\w+(?:\([^)]*\))?\ |[a-z]+(?:\(\w+\))?\ )*?(?:func\ ([^\s(<]+)|(init|subscript|deinit)\b)/#
    return lines.indices.compactMap { start in
      guard let match = try? declaration.prefixMatch(in: lines[start]) else { return nil }
      let name = String(match.2 ?? match.3 ?? "")
      if lines[start].hasSuffix("}") { return (name, 1) }
      guard let end = end(ofDeclarationAt: start, indent: String(match.1), in: lines) else { return nil }
      return (name, end - start + 1)
    }
  }

  /// The line of the closing brace; nil for a requirement, which has none.
  private static func end(ofDeclarationAt start: Int, indent: String, in lines: [Substring]) -> Int? {
    var hasBody = lines[start].hasSuffix("{")
    for number in lines.indices.dropFirst(start + 1) {
      let line = lines[number]
      if line == indent + "}" { return hasBody ? number : nil }
      let isAtIndent = line.hasPrefix(indent) && !line.dropFirst(indent.count).hasPrefix(" ")
      // The declaration goes on in a line that begins as it did with its closing parenthesis, or with what is thrown or returned.
      if isAtIndent, !line.isEmpty, !hasBody, !line.dropFirst(indent.count).hasPrefix(")"),
        !line.dropFirst(indent.count).hasPrefix("where"), !line.dropFirst(indent.count).hasPrefix("{")
      {
        return nil
      }
      if isAtIndent, line.hasSuffix("{") { hasBody = true }
      if isAtIndent, line.hasSuffix("}"), hasBody || line.contains("{") { return number }
    }
    return nil
  }
}
