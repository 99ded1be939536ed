import Foundation
import HeartwoodFormats
import HeartwoodModel
import HeartwoodRecordText
import HeartwoodStore
import HeartwoodTesting
import TestSupport
import Testing

/// The files in `Formats/CSV/samples`, and what the specification says of them.
@Suite struct CSVSampleTests {
  struct CorruptSample: Sendable, CustomTestStringConvertible {
    let name: String
    let line: Int
    let column: Int
    let property: String?

    var testDescription: String { name }
  }

  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "../../../Formats/CSV",
    directoryHint: .isDirectory
  )

  private static func sample(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: folder.appending(path: "samples/\(name)")))
  }

  /// The rows of the table in the specification.
  private static func corruptSamples() throws -> [CorruptSample] {
    let text = try String(contentsOf: folder.appending(path: "README.md"), encoding: .utf8)
    return text.matches(of: /\| `([a-z0-9-]+\.csv)` \| (\d+):(\d+) \| (?:`(\w+)`)? \|/).compactMap { match in
      guard let line = Int(match.2), let column = Int(match.3) else { return nil }
      return CorruptSample(name: String(match.1), line: line, column: column, property: match.4.map(String.init))
    }
  }

  private func names(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: Self.folder.appending(path: folder).path).filter {
      $0.hasSuffix(".csv")
    }.sorted()
  }

  private func fixture(_ name: String) throws -> CSVFixture {
    let fixture = try CSVFixture(name == "everything.csv" ? CSVModels.everything : CSVModels.toDo)
    try fixture.write(try Self.sample(name))
    return fixture
  }

  @Test func everySampleIsInTheSpecification() throws {
    #expect(try names("samples/corrupt") == Self.corruptSamples().map(\.name).sorted())
    let specification = try String(contentsOf: Self.folder.appending(path: "README.md"), encoding: .utf8)
    for name in try names("samples") { #expect(specification.contains("| `\(name)` |")) }
  }

  @Test func corruptSamplesAreRefusedWhereTheSpecificationSays() throws {
    for sample in try Self.corruptSamples() {
      let error = try fixture("corrupt/\(sample.name)").openingError()
      #expect([error.context.line, error.context.column] == [sample.line, sample.column], "\(sample): \(error)")
      #expect(error.context.property == sample.property, "\(sample): \(error)")
    }
  }

  @Test func samplesAreKeptByteForByte() throws {
    for name in try names("samples") {
      let fixture = try fixture(name)
      _ = try fixture.open().save(ChangeSet())
      #expect(try fixture.bytes == Self.sample(name), "\(name)")
    }
  }

  @Test(.enabled(if: PythonReader.exists, "there is no python3 to run the independent reader"))
  func theIndependentReaderReadsThem() throws {
    for name in try names("samples") {
      let fixture = try fixture(name)
      var lines: [UInt8] = []
      for table in try fixture.open().contents().tables {
        try RecordJSON(entity: table.entity).write(table) { lines += $0.unsafeBytes }
      }
      let result = try runReader(on: name, fixture.model)
      #expect(result.status == 0, "\(result.errors)")
      #expect(result.output == Data(lines), "\(name): \(String(decoding: result.output, as: UTF8.self))")
    }
  }

  @Test(.enabled(if: PythonReader.exists, "there is no python3 to run the independent reader"))
  func theIndependentReaderRefusesCorruptOnesWhereTheSpecificationSays() throws {
    for sample in try Self.corruptSamples() {
      let result = try runReader(on: "corrupt/\(sample.name)", try fixture("corrupt/\(sample.name)").model)
      #expect(result.status == 1)
      #expect(result.errors.contains(":\(sample.line):\(sample.column): "), "\(sample): \(result.errors)")
      if let property = sample.property { #expect(result.errors.contains(" \(property): "), "\(result.errors)") }
    }
  }

  private func runReader(
    on name: String,
    _ model: ManagedObjectModel
  ) throws -> (status: Int32, output: Data, errors: String) {
    let folder = try ScratchFolder()
    let file = try folder.write(try model.encoded(), to: "model.json")
    return try PythonReader.run([file.path, Self.folder.appending(path: "samples/\(name)").path], of: "CSV")
  }

  @Test(arguments: ["windows.csv", "header.csv", "semicolons.csv", "quoted.csv", "words.csv"])
  func saysWhatTheFirstSampleSays(_ name: String) throws {
    #expect(try fixture(name).open().records == fixture("todo.csv").open().records)
  }

  @Test func memosOfAllKinds() throws {
    let memos = try fixture("texts.csv").open().values("memo")
    let texts = [
      "", "plain", "comma, inside", "say \"hi\"", "two\nlines", "\r\n", " space", "tab\t", "Grüße 世界 👩‍👩‍👧", "nil",
      "'apostrophe", "#number sign",
    ]
    #expect(memos == [.null] + texts.map(PropertyValue.string))
  }

  @Test func everyTypeIsWrittenAsTheSampleHasIt() throws {
    let source = try fixture("everything.csv").open()
    #expect(
      try source.records.map(\.reference.text) == [
        "1", "2", "803054FC-C497-4DD7-A078-CF592B994EB4", "name", "with space", "100%", "'1",
      ]
    )
    #expect(try source.values("small").prefix(3) == [.null, .integer(-32768), .integer(32767)])
    #expect(try source.values("text").prefix(3) == [.null, .string(""), .string("a")])
    #expect(try source.values("others").map(\.kept)[3].contains("string 100%"))
    let fixture = try CSVFixture(CSVModels.everything)
    try fixture.create(from: try source.contents())
    #expect(try fixture.bytes == Self.sample("everything.csv"))
  }
}
