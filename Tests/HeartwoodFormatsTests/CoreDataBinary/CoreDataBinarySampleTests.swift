import Foundation
import HeartwoodModel
import HeartwoodStore
import TestSupport
import Testing

@testable import HeartwoodFormats

/// The file in `Formats/CoreDataBinary/samples`.
@Suite struct CoreDataBinarySampleTests {
  private static let folder = FormatFolder("CoreDataBinary")
  private static let golden = "version-1.coredata"

  private static func goldenFile() throws -> StoreFile {
    let contents = try GoldenSample.contents()
    let file = StoreFile(CoreDataBinaryStore.self, contents.model)
    try file.write(try folder.bytes(golden) { try file.create(contents) })
    return file
  }

  @Test func everySampleIsInTheSpecification() throws {
    let specification = try Self.folder.specification
    for name in try Self.folder.names("samples") { #expect(specification.contains("| `\(name)` |"), "\(name)") }
  }

  @Test func theGoldenFileHoldsWhatItShould() throws {
    let file = try Self.goldenFile()
    let bytes = try file.bytes
    let contents = try file.open().contents()
    #expect(ContentsComparison.firstDifference(try GoldenSample.contents(), contents) == nil)
    #expect(try file.create(contents) == bytes)
    #expect(try CoreDataBinaryStore.readModel(from: file.input, options: file.options) == SampleModel.make())
  }

  @Test(.enabled(if: PythonReader.exists, "there is no python3 to run the independent reader"))
  func theIndependentReaderReadsIt() throws {
    _ = try Self.goldenFile()
    let path = Self.folder.url.appending(path: "samples/\(Self.golden)").path
    let result = try PythonReader.run([path], of: "CoreDataBinary")
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      result.output == Data(try FormatFolder("Binary").bytes("version-1.jsonl")),
      "\(String(decoding: result.output, as: UTF8.self))"
    )
  }
}
