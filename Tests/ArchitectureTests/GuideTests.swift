import Foundation
import Testing

/// The guide for authors of stores says what the example does.
@Suite struct GuideTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
  }

  @Test func codeOfTheGuideIsCodeOfTheExample() throws {
    let example =
      try text("Examples/JSONLines/Sources/JSONLines/JSONLinesStore.swift")
      + text("Examples/JSONLines/Tests/JSONLinesTests/JSONLinesStoreTests.swift")
    let parts = try text("Sources/HeartwoodStore/HeartwoodStore.docc/WriteAStore.md").components(
      separatedBy: "```swift\n"
    )
    let blocks = parts.dropFirst().compactMap { $0.components(separatedBy: "```").first }
    #expect(blocks.count == 6)
    for block in blocks { #expect(example.contains(block), "The example has no such code:\n\(block)") }
  }
}
