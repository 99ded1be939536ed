import Foundation
import HeartwoodFormats
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import TestSupport
import Testing

@testable import HeartwoodFormats

/// The files in `Formats/XML/samples`, and what the specification says of them.
@Suite struct XMLSampleTests {
  struct CorruptSample: Sendable, CustomTestStringConvertible {
    let name: String
    let line: Int
    let column: Int

    var testDescription: String { name }
  }

  private static let folder = FormatFolder("XML")

  private static func corruptSamples() throws -> [CorruptSample] {
    try folder.specification.matches(of: /\| `([a-z0-9-]+\.xml)` \| (\d+):(\d+) \|/).compactMap { match in
      guard let line = Int(match.2), let column = Int(match.3) else { return nil }
      return CorruptSample(name: String(match.1), line: line, column: column)
    }
  }

  /// The model of the corrupt samples.
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      .entity(
        "Thing",
        .attribute("name", .string, optional: true),
        .attribute("size", .integer16, optional: true),
        .toOne("next", "Thing", inverse: nil)
      ),
      .entity("Other"),
    ])
  }

  @Test func everySampleIsInTheSpecification() throws {
    #expect(try Self.folder.names("samples/corrupt") == Self.corruptSamples().map(\.name).sorted())
    let specification = try Self.folder.specification
    for name in try Self.folder.names("samples") { #expect(specification.contains("| `\(name)` |"), "\(name)") }
  }

  @Test func corruptSamplesAreRefusedWhereTheSpecificationSays() throws {
    let file = StoreFile(XMLStore.self, try Self.model())
    for sample in try Self.corruptSamples() {
      let refusal = try file.refusal(of: Self.folder.bytes("corrupt/\(sample.name)"))
      let error = try #require(refusal, "\(sample.name)")
      #expect([error.context.line, error.context.column] == [sample.line, sample.column], "\(sample.name): \(error)")
    }
  }

  // MARK: The golden file

  private static let golden = GoldenFile(storeClass: XMLStore.self, folder: folder, name: "version-1.xml")

  @Test func theGoldenFileHoldsWhatItShould() throws {
    try Self.golden.checkContents()
    #expect(XMLStore.recognizes(prefix: Array(try Self.golden.file().bytes.prefix(512))))
  }

  @Test(.enabled(if: PythonReader.exists, "there is no python3 to run the independent reader"))
  func theIndependentReaderReadsIt() throws {
    try Self.golden.checkIndependentReader()
  }

  // MARK: Changed files

  @Test func changedFilesGiveRecordsOrAnErrorWithAPlace() throws {
    let file = try Self.golden.file()
    let original = try file.bytes
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<1_000 {
      let bytes = Array(generator.mutated(Data(original)))
      guard let error = try file.refusal(of: bytes), error.code == .fileMalformed else { continue }
      #expect(error.context.line != nil || bytes.isEmpty, "seed \(seed): \(error)")
    }
  }
}

/// What a file may not do to its reader.
@Suite struct XMLLimitTests {
  private func file(_ options: StoreOptions = StoreOptions()) throws -> StoreFile {
    let entity = EntityDefinition.entity(
      "Thing",
      .attribute("name", .string, optional: true),
      .toMany("all", "Thing", inverse: nil)
    )
    return StoreFile(XMLStore.self, try ManagedObjectModel(entities: [entity]), options: options)
  }

  private func text(_ objects: String, prologue: String = "") -> [UInt8] {
    let info = """
      <database><databaseInfo><version>134481920</version><UUID>B4FC79D0-E654-43EF-9020-A5273B3F104A</UUID>\
      <metadata><plist version="1.0"><dict></dict></plist></metadata></databaseInfo>
      """
    return Array("<?xml version=\"1.0\"?>\n\(prologue)\n\(info)\n\(objects)\n</database>".utf8)
  }

  @Test func entitiesAreNeitherExpandedNorFetched() throws {
    let bomb = (1...20).reduce("<!ENTITY e0 \"lol\">") { $0 + "<!ENTITY e\($1) \"&e\($1 - 1);&e\($1 - 1);\">" }
    let documents = [
      text("", prologue: "<!DOCTYPE database [\(bomb)]>"),
      text("", prologue: "<!DOCTYPE database [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>"),
      text("", prologue: "<!DOCTYPE database [<!ENTITY % x SYSTEM \"file:///etc/passwd\"> %x;]>"),
      text("", prologue: "<!DOCTYPE database [<!ATTLIST object id CDATA \"z1\">]>"),
      text("<object type=\"THING\" id=\"z1\"><attribute name=\"name\" type=\"string\">&x;</attribute></object>"),
      text("<object type=\"THING\" id=\"&x;\"></object>", prologue: "<!DOCTYPE database SYSTEM \"file:///none.dtd\">"),
    ]
    let file = try file()
    for document in documents {
      #expect(try file.refusal(of: document)?.code == .fileMalformed, "\(String(decoding: document, as: UTF8.self))")
    }
    #expect(try file.read(text("", prologue: "<!DOCTYPE database SYSTEM \"file:///etc/passwd\">")).count == 0)
  }

  @Test func limitsCanBeSet() throws {
    let value =
      "<object type=\"THING\" id=\"z1\"><attribute name=\"name\" type=\"string\">0123456789</attribute></object>"
    var options = StoreOptions()
    options[.xmlTextLimit] = 36
    #expect(try file(options).refusal(of: text(value)) == nil)
    options[.xmlTextLimit] = 9
    #expect(try file(options).refusal(of: text(value)) != nil)
    options = StoreOptions()
    options[.xmlNestingLimit] = 4
    #expect(try file(options).refusal(of: text(value))?.message.contains("nested") == true)
    options = StoreOptions()
    options[.xmlAttributeLimit] = 1
    #expect(try file(options).refusal(of: text(value))?.message.contains("attributes") == true)
  }

  @Test func aTagWithVeryManyAttributesIsRefusedSoon() throws {
    let attributes = (0..<300_000).map { "a\($0)=\"\"" }.joined(separator: " ")
    let error = try file().refusal(of: text("<object type=\"THING\" id=\"z1\" \(attributes)></object>"))
    #expect(error?.message.contains("attributes") == true)
  }

  @Test func longListsOfReferencesAreRead() throws {
    let count = 200_000
    let references = (0..<count).map { "z\($0)" }.joined(separator: " ")
    let relationship =
      "<relationship name=\"all\" type=\"0/0\" destination=\"THING\" idrefs=\"\(references)\"></relationship>"
    let contents = try file().read(text("<object type=\"THING\" id=\"z1\">\(relationship)</object>"))
    #expect(contents.records.first?.values.last?.objectIDs.count == count)
  }

  @Test(arguments: ["UTF-16", "ISO-8859-1"]) func otherEncodingsAreRead(_ name: String) throws {
    let value = "<object type=\"THING\" id=\"z1\"><attribute name=\"name\" type=\"string\">Grüße</attribute></object>"
    let document = String(decoding: text(value), as: UTF8.self).replacing("?>", with: " encoding=\"\(name)\"?>")
    let data = try #require(document.data(using: name == "UTF-16" ? .utf16 : .isoLatin1))
    #expect(try file().read([UInt8](data)).records.first?.values.first == .string("Grüße"))
  }
}
