import Foundation
import ParserTrials
import Testing

/// Replays what the fuzzer begins with and what it has found.
@Suite struct ParserTrialTests {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test(arguments: ParserTrial.allCases)
  func seedsAreTaken(_ trial: ParserTrial) throws {
    let seeds = try trial.seeds(under: Self.root)
    #expect(!seeds.isEmpty)
    for seed in seeds { #expect(try trial.run(seed.bytes), "\(seed.name)") }
  }

  @Test(arguments: ParserTrial.allCases)
  func findingsAreAnswered(_ trial: ParserTrial) throws {
    for finding in try trial.findings(under: Self.root) {
      #expect(throws: Never.self, "\(finding.name)") { try trial.run(finding.bytes) }
    }
  }

  @Test func everyFolderIsThatOfAParser() throws {
    let names = Set(ParserTrial.allCases.map(\.rawValue))
    for folder in ["Seeds", "Findings"] {
      let path = Self.root.appending(path: "Tests/ParserTrialsTests/\(folder)").path
      for name in try FileManager.default.contentsOfDirectory(atPath: path) where !name.hasSuffix(".md") {
        #expect(names.contains(name), "\(folder)/\(name)")
      }
    }
  }

  /// The fuzzer and the campaigns have the names of the parsers written out.
  @Test(arguments: [
    ("Scripts/fuzz", "parsers=\"", "\""), (".github/workflows/campaigns.yml", "parser: [", "]"),
  ])
  func everyParserIsFuzzed(_ path: String, _ start: String, _ end: Character) throws {
    let text = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    let list = try #require(text.firstRange(of: start)).upperBound
    let names = text[list...].prefix { $0 != end }.matches(of: /[\w-]+/).map { String($0.0) }
    #expect(names == ParserTrial.allCases.map(\.rawValue), "\(path)")
  }

  @Test func whatCannotBeExplainedIsAFlaw() throws {
    struct Surprise: Error {}
    #expect(!ParserTrial.isExplained(Surprise()))
    #expect(throws: ParserTrial.Flaw.self) { try ParserTrial.csv.expect(false, "no") }
  }
}
