import Foundation
import HeartwoodModelFiles
import HeartwoodTesting
import TestSupport
import Testing

/// The files around models: lists of versions, and texts for people.
@Suite("Changed lists of versions and texts")
struct ListMutationTests {
  private static func lists() throws -> [Data] {
    let members: [String: Any] = [
      "_XCCurrentVersionName": "A.xcdatamodel", "NSManagedObjectModel_CurrentVersionName": "A",
      "Other": [1, 2.5, true, Date(timeIntervalSinceReferenceDate: 0), Data([1, 2, 3]), ["key": "text é 日本"]],
    ]
    return try [.xml, .binary].map {
      try PropertyListSerialization.data(fromPropertyList: members, format: $0, options: 0)
    }
  }

  /// Reads what is changed in many ways, and expects a result or an error with a message.
  private func mutate(_ data: Data, _ read: (Data) throws(ModelFileError) -> Void) {
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for length in stride(from: 0, to: data.count, by: 3) { expectAnswer(data.prefix(length), seed, read) }
    for _ in 0..<500 { expectAnswer(generator.mutated(data), seed, read) }
  }

  private func expectAnswer(_ data: Data, _ seed: UInt64, _ read: (Data) throws(ModelFileError) -> Void) {
    do throws(ModelFileError) { try read(data) } catch {
      #expect(!error.message.isEmpty && !error.file.isEmpty, "seed \(seed)")
    }
  }

  @Test("A changed list of versions gives a version or an error, never a trap")
  func versions() throws {
    let folder = try ScratchFolder()
    for name in ["A", "B"] {
      try folder.write("<model><entity name=\"E\"/></model>", to: "M.xcdatamodeld/\(name).xcdatamodel/contents")
      try folder.write("", to: "M.momd/\(name).mom")
    }
    for (bundle, list) in [("M.xcdatamodeld", ".xccurrentversion"), ("M.momd", "VersionInfo.plist")] {
      for data in try Self.lists() {
        let url = folder.url.appending(path: bundle)
        try folder.write(data, to: "\(bundle)/\(list)")
        #expect(try DataModelFile.currentVersion(at: url) == "A")
        mutate(data) { changed throws(ModelFileError) in
          _ = try? changed.write(to: url.appending(path: list))
          _ = try DataModelFile.currentVersion(at: url)
        }
      }
    }
  }

  @Test("Changed texts give texts or an error, never a trap")
  func texts() throws {
    let folder = try ScratchFolder()
    let source = "/* a */ \"Entity/A\" = \"Ein \\\"Ding\\\"\\n\\U00e9\";\n// b\n\"k\" = \"v\";\n"
    let wide = try #require(source.data(using: .utf16))
    for data in try [Data(source.utf8), wide] + Self.lists() {
      mutate(data) { changed throws(ModelFileError) in
        let file = folder.url.appending(path: "M.strings")
        _ = try? changed.write(to: file)
        _ = try ModelLocalization(contentsOf: file)
      }
    }
  }

  @Test("A list that is nested very deep is an error", arguments: ["array", "dict"])
  func depth(_ element: String) throws {
    let folder = try ScratchFolder()
    let begin = element == "dict" ? "<dict><key>k</key>" : "<array>"
    let deep = String(repeating: begin, count: 50_000) + String(repeating: "</\(element)>", count: 50_000)
    for name in ["A", "B"] { try folder.write("<model/>", to: "M.xcdatamodeld/\(name).xcdatamodel/contents") }
    try folder.write("<plist>\(deep)</plist>", to: "M.xcdatamodeld/.xccurrentversion")
    let error = #expect(throws: ModelFileError.self) {
      try DataModelFile.currentVersion(at: folder.url.appending(path: "M.xcdatamodeld"))
    }
    #expect(error?.file.hasSuffix(".xccurrentversion") == true)
  }
}
