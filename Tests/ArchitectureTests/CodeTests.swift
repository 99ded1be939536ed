import Foundation
import Testing

/// What the code must not do, as the text of the sources tells it.
@Suite struct CodeTests {
  private static let sources = Result { try SourceTree.files(in: "Sources") }

  /// What ends a process without a reason, or leaves something for later, and what is to be written instead.
  private static let forbidden = [
    "fatalError(": "ProgrammerError.stop(_:), which says what to do, or an error",
    "try!": "a throwing function, or a handled error",
    "as!": "a conditional cast",
    "assertionFailure()": "a text that says what holds",
    "TODO": "an issue",
    "FIXME": "an issue",
    "XXX": "an issue",
  ]

  /// The one place that ends a process, after it has said why.
  private static let end = "Sources/HeartwoodModel/ProgrammerError.swift"

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
      let text = try SourceTree.text(file)
      #expect(!text.contains(/\bprecondition(?:Failure)?\(/), "\(file): use ProgrammerError instead")
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
}
