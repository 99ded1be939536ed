import Foundation
import Testing

/// The arrows between the modules, as the architecture has them: a module imports those listed for it and none of the others.
@Suite struct ImportTests {
  private static let allowed: [String: Set<String>] = [
    "HeartwoodModel": [],
    "HeartwoodStore": ["HeartwoodModel"],
    "HeartwoodFormats": ["HeartwoodModel", "HeartwoodStore", "CLibXML2"],
    "HeartwoodGraph": ["HeartwoodModel", "HeartwoodStore"],
    "Heartwood": ["HeartwoodModel", "HeartwoodStore", "HeartwoodFormats", "HeartwoodGraph"],
    "HeartwoodTesting": ["Heartwood", "HeartwoodModel", "HeartwoodStore", "HeartwoodGraph", "HeartwoodFormats"],
    // `Heartwood` is imported by the text of the classes that it makes.
    "HeartwoodGeneration": ["HeartwoodModel", "Heartwood"],
    "HeartwoodGenerate": ["HeartwoodFormats", "HeartwoodGeneration", "HeartwoodModel"],
    "HeartwoodTool": [
      "Heartwood", "HeartwoodGeneration", "HeartwoodTesting", "HeartwoodModel", "HeartwoodStore", "HeartwoodGraph",
      "HeartwoodFormats", "HeartwoodSQLite",
    ],
    "HeartwoodWrappers": ["HeartwoodModel", "HeartwoodStore", "CZlib"],
    "HeartwoodSQLite": ["HeartwoodModel", "HeartwoodStore", "HeartwoodFormats", "CZlib"],
    "HeartwoodMacros": ["Heartwood"],
    // It is run by the compiler, and built for that alone.
    "HeartwoodMacroExpansion": [],
    "HeartwoodMacroPlugin": ["HeartwoodMacroExpansion"],
    "CLibXML2": [],
    "CZlib": [],
  ]

  private static let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Sources")

  private static var modules: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: sources.path)) ?? []).filter { !$0.hasPrefix(".") }.sorted()
  }

  @Test func everyModuleHasItsArrows() {
    #expect(Set(Self.modules) == Set(Self.allowed.keys))
  }

  @Test(arguments: modules)
  func moduleImportsWhatItMay(_ module: String) throws {
    let allowed = try #require(Self.allowed[module], "Say in this test what \(module) may import.")
    let ours = Set(Self.allowed.keys)
    for file in try swiftFiles(in: module) {
      let imported = Self.imports(in: try String(contentsOf: file, encoding: .utf8)).filter(ours.contains)
      let wrong = imported.filter { !allowed.contains($0) }
      #expect(wrong.isEmpty, "\(module)/\(file.lastPathComponent) must not import \(wrong)")
    }
  }

  @Test func importsAreFoundWhateverTheyLookLike() {
    let source = """
      // import A
      import B
        public import C
      @_exported public import D
      package import struct E.Name
      @testable import F
      import G.Part  // why
      /// import H
      let important = 1
      import\tI;import J
      """
    #expect(Self.imports(in: source) == ["B", "C", "D", "E", "F", "G", "I", "J"])
  }

  private func swiftFiles(in module: String) throws -> [URL] {
    let folder = Self.sources.appending(path: module)
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    return paths.filter { $0.hasSuffix(".swift") }.map { folder.appending(path: $0) }
  }

  /// The modules that `source` imports, in order.
  private static func imports(in source: String) -> [String] {
    let declaration =
      #/
      ^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+
      (?:(?:struct|class|enum|protocol|typealias|func|let|var)\s+)?(\w+)
      /#
    let statements = source.split(separator: "\n").flatMap { $0.split(separator: ";") }
    return statements.compactMap { statement in
      (try? declaration.firstMatch(in: statement)).map { String($0.1) }
    }
  }
}
