import Foundation
import Testing

/// What the README shows works.
@Suite struct ReadmeTests {
  private func readme() throws -> String {
    try String(contentsOf: Repository.root.appending(path: "README.md"), encoding: .utf8)
  }

  private func blocks(of language: String) throws -> [String] {
    try readme().matches(of: /```(\w+)\n((?:.|\n)*?)```/).filter { $0.1 == language }.map { String($0.2) }
  }

  @Test func theCommandsWork() throws {
    let folder = try WorkFolder()
    // A server is there for its owner alone.
    let lines = try blocks(of: "sh").flatMap { $0.split(separator: "\n") }
      .filter { $0.hasPrefix("heartwood ") && !$0.contains("://") }
    #expect(lines.count > 4)
    for line in lines {
      let outcome = try folder.heartwood.shell(String(line))
      #expect(outcome.status == 0, "\(line): \(outcome.errors)")
    }
  }

  @Test func theExampleIsTheOneThatIsCompiledHere() throws {
    let source = try String(
      contentsOf: Repository.root.appending(path: "Tests/HeartwoodToolTests/ReadmeExample.swift"),
      encoding: .utf8
    )
    #expect(try blocks(of: "swift").contains(source))
  }

  @Test func theExampleWorks() throws {
    let folder = try WorkFolder()
    #expect(try example(in: folder.url) == ["Read the guide for store authors"])
    #expect(try folder.heartwood("verify", "list.heartwood").text == "ok: 1 record\n")
  }

  @Test func theStoreOfTheExampleHasAsManyLinesAsItSays() throws {
    let source = try String(
      contentsOf: Repository.root.appending(path: "Examples/JSONLines/Sources/JSONLines/JSONLinesStore.swift"),
      encoding: .utf8
    )
    let lines = source.split(separator: "\n").map { $0.drop { $0 == " " } }
    let code = lines.count { !$0.isEmpty && !$0.hasPrefix("//") }
    #expect(try readme().contains(" \(code) lines of code"))
  }

  @Test func theLinksLeadSomewhere() throws {
    for link in try readme().matches(of: /\]\(([^)#]+)\)/).map({ String($0.1) }) where !link.contains("://") {
      #expect(FileManager.default.fileExists(atPath: Repository.root.appending(path: link).path), "\(link)")
    }
  }
}
