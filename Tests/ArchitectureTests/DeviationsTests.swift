import Foundation
import Testing

/// The table of what differs from Core Data is held by tests that are there.
@Suite struct DeviationsTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The cells of each row.
  private func rows() throws -> [[String]] {
    let text = try String(contentsOf: Self.root.appending(path: "Documentation/Deviations.md"), encoding: .utf8)
    return text.split(separator: "\n").filter { $0.hasPrefix("|") }.dropFirst(2).map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  /// The names and the code of all files with tests, those of the conformance kit included.
  private func testCode() throws -> String {
    try ["Tests", "Sources/HeartwoodTesting"].map { folder in
      let names = FileManager.default.enumerator(atPath: Self.root.appending(path: folder).path)
      return try (names?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".swift") }.map { path in
        let file = Self.root.appending(path: folder).appending(path: path)
        let name = file.deletingPathExtension().lastPathComponent
        return try "// \(name) \n" + String(contentsOf: file, encoding: .utf8)
      }.joined()
    }.joined()
  }

  @Test func everyRowIsThereOnce() throws {
    let rows = try rows()
    #expect(rows.count > 30)
    for row in rows { #expect(row.count == 5 || row.count == 4, "\(row)") }
    let counts = Dictionary(grouping: rows) { $0.prefix(4).joined(separator: "|") }.mapValues(\.count)
    for (row, count) in counts { #expect(count == 1, "\(row)") }
  }

  @Test func everyTestThatIsNamedExists() throws {
    let code = try testCode()
    for name in try rows().compactMap(\.last).flatMap({ $0.matches(of: /`(\w+)(?:\.(\w+))?`/) }) {
      #expect(code.contains(" \(name.1) "), "\(name.0)")
      if let test = name.2 { #expect(code.contains("func \(test)("), "\(name.0)") }
    }
  }
}
