import Foundation
import HeartwoodModel
import HeartwoodStore
import TestSupport
import Testing

@testable import HeartwoodFormats

@Suite struct GoldenFileTests {
  /// The files that hold the records of ``GoldenSample``, by the version of the format.
  static let versions = ["1", "3"]
  /// The version that is written now.
  private static let newest = "3"

  private static func fileName(_ version: String) -> String { "version-\(version).heartwood" }

  private static func golden(_ version: String) throws -> [UInt8] {
    try SampleFiles.bytes(fileName(version)) { try GoldenSample.store().writeGroups(of: GoldenSample.contents()) }
  }

  /// The lines that describe the records of the golden file.
  private static func lines() throws -> [UInt8] {
    try SampleFiles.bytes("version-1.jsonl") { try GoldenSample.contents().recordLines() }
  }

  @Test(arguments: versions)
  func theFileHoldsWhatItShould(version: String) throws {
    let store = try GoldenSample.store()
    let read = try store.read(Self.golden(version))
    let expected = try GoldenSample.contents()
    #expect(read.records == expected.records)
    #expect(read.metadata == expected.metadata)
    #expect(read.tables.map { $0.groups.map(\.rowCount) } == expected.tables.map { $0.groups.map(\.rowCount) })
    #expect(try read.recordLines() == Self.lines())
  }

  @Test(arguments: versions)
  func writingItGivesTheNewestFile(version: String) throws {
    let store = try GoldenSample.store()
    #expect(try store.writeGroups(of: store.read(Self.golden(version))) == Self.golden(Self.newest))
  }

  @Test(arguments: versions)
  func theFileExplainsItself(version: String) throws {
    let file = try SampleStore.input(Self.golden(version))
    #expect(try BinaryStore.readModel(from: file, options: StoreOptions()) == SampleModel.make())
    #expect(try BinaryStore.readFormatVersion(from: file, options: StoreOptions()) == version)
    #expect(try BinaryStore.readMetadata(from: file, options: StoreOptions()).identifier == GoldenSample.identifier)
    #expect(BinaryStore.recognizes(prefix: try file.bytes(from: 0, count: 512)))
  }

  @Test(.enabled(if: PythonReader.exists, "there is no python3 to run the independent reader"), arguments: versions)
  func theIndependentReaderReadsIt(version: String) throws {
    _ = try Self.golden(version)
    let result = try PythonReader.run([SampleFiles.folder.appending(path: Self.fileName(version)).path])
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output == Data(try Self.lines()), "\(String(decoding: result.output, as: UTF8.self))")
  }
}
