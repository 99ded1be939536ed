import Foundation
import HeartwoodModelFiles
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@Suite("Finding the model of a store")
struct ModelVersionTests {
  private static func contents(_ type: String) -> String {
    "<model><entity name=\"A\"><attribute name=\"a\" attributeType=\"\(type)\"/></entity><entity name=\"B\"/>"
      + "<configuration name=\"C\"><memberEntity name=\"A\"/></configuration></model>"
  }

  private func metadata(_ entities: [EntityDescription]) -> StoreMetadata {
    let hashes = Dictionary(entities.map { ($0.name, $0.versionHash) }, uniquingKeysWith: { first, _ in first })
    return StoreMetadata(storeType: .binary, modelVersionHashes: hashes)
  }

  @Test("The version of a bundle that a store was written with is found")
  func version() throws {
    let folder = try ScratchFolder()
    for (name, type) in [("1", "String"), ("2", "Date"), ("3", "Date")] {
      try folder.write(Self.contents(type), to: "M.xcdatamodeld/\(name).xcdatamodel/contents")
    }
    let list = "<plist><dict><key>_XCCurrentVersionName</key><string>3.xcdatamodel</string></dict></plist>"
    try folder.write(list, to: "M.xcdatamodeld/.xccurrentversion")
    let bundle = folder.url.appending(path: "M.xcdatamodeld")
    let old = try ManagedObjectModel(contentsOf: bundle, version: "1")
    let new = try ManagedObjectModel(contentsOf: bundle)
    #expect(try DataModelFile.version(at: bundle, compatibleWith: metadata(old.entities)) == "1")
    #expect(try DataModelFile.version(at: bundle, compatibleWith: metadata(new.entities)) == "3")
    #expect(try DataModelFile.version(at: bundle, compatibleWith: metadata([])) == nil)
    let configuration = metadata(old.entities.filter { $0.name == "A" })
    #expect(try DataModelFile.version(at: bundle, compatibleWith: configuration) == nil)
    #expect(try DataModelFile.version(at: bundle, compatibleWith: configuration, configuration: "C") == "1")
    #expect(!old.isConfiguration(withName: "D", compatibleWithStoreMetadata: configuration))
    #expect(!new.isConfiguration(withName: "C", compatibleWithStoreMetadata: configuration))
  }

  @Test("The model of a store is put together of several")
  func merging() throws {
    let first = try ManagedObjectModel(entities: [.entity("A", .attribute("a", .string)), .entity("X")])
    let second = try ManagedObjectModel(entities: [.entity("A", .attribute("a", .date)), .entity("B")])
    let wanted = metadata([first.entities[0], second.entities[1]])
    let merged = try #require(ManagedObjectModel.merging([second, first], forStoreMetadata: wanted))
    #expect(merged.isConfiguration(withName: nil, compatibleWithStoreMetadata: wanted))
    #expect(ManagedObjectModel.merging([second], forStoreMetadata: wanted) == nil)
  }

  @Test("Texts for people are read in every form of such files")
  func localization() throws {
    let folder = try ScratchFolder()
    let text = "/* a\n comment */ \"Entity/A\" = \"Ein \\\"Ding\\\"\\n\";\n// more\n\"k\" = \"\\U00e9\";"
    let expected = ["Entity/A": "Ein \"Ding\"\n", "k": "é"]
    let list = "<plist><dict><key>k</key><string>v</string></dict></plist>"
    #expect(try ModelLocalization(contentsOf: folder.write(text, to: "a.strings")).dictionary == expected)
    let wide = try #require(text.data(using: .utf16))
    #expect(try ModelLocalization(contentsOf: folder.write(wide, to: "b.strings")).dictionary == expected)
    #expect(try ModelLocalization(contentsOf: folder.write(list, to: "c.strings")).dictionary == ["k": "v"])
  }

  @Test(
    "What is no such file is refused with the line",
    arguments: [
      ("\n\"a\" \"b\";", 2), ("\"a\" = b;", 1), ("\"a\" = \"b\"", 1), ("\"a", 1), ("/* \n", 1),
      ("\n\"\\Uxyz\" = \"\";", 2),
      ("\"a\" = \"\\", 1),
    ]
  )
  func faultyTexts(_ text: String, _ line: Int) throws {
    let folder = try ScratchFolder()
    let file = try folder.write(text, to: "a.strings")
    let error = #expect(throws: ModelFileError.self) { try ModelLocalization(contentsOf: file) }
    #expect(error?.line == line)
  }
}
