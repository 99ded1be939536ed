import Foundation
import Testing

/// The sources as text.
enum SourceTree {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The folders of `Sources`, each a module.
  static var modules: [String] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Sources").path)
    return (names ?? []).filter { !$0.hasPrefix(".") }.sorted()
  }

  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: root.appending(path: path).path) }

  /// The Swift files below a folder, by their paths in the package.
  static func files(in folder: String) throws -> [String] {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
    return paths.filter { $0.hasSuffix(".swift") && !$0.contains(".build/") }.sorted().map { "\(folder)/\($0)" }
  }

  static func lines(of path: String) throws -> [Substring] {
    try text(path).split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// A line without its comment.
  static func code(_ line: Substring) -> Substring {
    line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line
  }

  /// What stands in backticks in a cell of a table: names and paths.
  static func names(_ cell: String) -> [String] { cell.matches(of: /`([\w\/]+)`/).map { String($0.1) } }

  /// The rows of the table under a heading of a document, as cells.
  static func table(under heading: String, in path: String) throws -> [[String]] {
    let lines = try lines(of: path)
    let start = try #require(lines.firstIndex { $0.hasPrefix("#") && $0.hasSuffix(" \(heading)") }, "\(heading)")
    let section = lines[(start + 1)...].prefix { !$0.hasPrefix("#") }
    return section.drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }.dropFirst(2).map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }
}
