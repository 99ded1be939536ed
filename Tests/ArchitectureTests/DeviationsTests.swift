import Foundation
import Testing

/// The table of what differs from Core Data is held by tests that are there.
@Suite struct DeviationsTests {
  /// The cells of each row.
  private func rows() throws -> [[String]] {
    try SourceTree.lines(of: "Documentation/Deviations.md").filter { $0.hasPrefix("|") }.dropFirst(2).map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  /// The words of all files with tests, those of the conformance kit and the names of the files included, and those behind `func`.
  private func testWords() throws -> (all: Set<String>, functions: Set<String>) {
    let files = try SourceTree.files(in: "Tests") + SourceTree.files(in: "Sources/HeartwoodTesting")
    var (all, functions): (Set<String>, Set<String>) = ([], [])
    for file in files {
      all.insert(URL(filePath: file).deletingPathExtension().lastPathComponent)
      var last = ""
      for word in try Self.words(of: SourceTree.text(file)) {
        all.insert(word)
        if last == "func" { functions.insert(word) }
        last = word
      }
    }
    return (all, functions)
  }

  private static func words(of text: String) -> [String] {
    let parts = text.utf8.split { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        false
      default: true
      }
    }
    return parts.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func everyRowIsThereOnce() throws {
    let rows = try rows()
    #expect(rows.count > 30)
    for row in rows { #expect(row.count == 5 || row.count == 4, "\(row)") }
    let counts = Dictionary(grouping: rows) { $0.prefix(4).joined(separator: "|") }.mapValues(\.count)
    for (row, count) in counts { #expect(count == 1, "\(row)") }
  }

  @Test func everyTestThatIsNamedExists() throws {
    let words = try testWords()
    for name in try rows().compactMap(\.last).flatMap({ $0.matches(of: /`(\w+)(?:\.(\w+))?`/) }) {
      #expect(words.all.contains(String(name.1)), "\(name.0)")
      if let test = name.2 { #expect(words.functions.contains(String(test)), "\(name.0)") }
    }
  }
}
