import Foundation
import HeartwoodStore
import TestSupport
import Testing

@testable import HeartwoodFormats

/// The files in `Formats/Binary/samples/corrupt`, each of which a reader must refuse.
@Suite struct CorruptFileTests {
  struct Sample: Sendable, CustomTestStringConvertible {
    let name: String
    let code: PersistenceError.Code
    let reason: String
    var base = Base.tiny
    let make: @Sendable ([UInt8], inout BinaryFileEditor) -> [UInt8]

    var testDescription: String { name }

    /// The whole file that the sample was made from.
    enum Base { case tiny, history, saves }

    var store: SampleStore {
      get throws {
        switch base {
        case .tiny: try TinySample.store()
        case .history: try HistorySample.store()
        case .saves: try GoldenSample.store()
        }
      }
    }

    fileprivate var wholeFile: [UInt8] {
      get throws {
        switch base {
        case .tiny: try TinySample.file()
        case .history: try HistorySample.store().writeGroups(of: HistorySample.contents())
        case .saves: try AppendedSampleTests.golden()
        }
      }
    }
  }

  private typealias Section = TinySample.Section

  static let samples = [
    Sample(name: "save-cut-short", code: .fileCorrupt, reason: "bytes", base: .saves) { bytes, _ in
      Array(bytes.dropLast(64))
    },
    Sample(name: "save-flipped-bit", code: .fileCorrupt, reason: "save 3", base: .saves) { bytes, _ in
      guard let log = try? BinaryFile(SampleStore.input(bytes)).log else { return bytes }
      var bytes = bytes
      bytes[log.blocks[2].range.lowerBound + 80] ^= 1
      return bytes
    },
    Sample(name: "save-without-slot", code: .fileCorrupt, reason: "newest save", base: .saves) { bytes, _ in
      var bytes = bytes
      for offset in BinarySlot.offsets { bytes[offset + 8] ^= 1 }
      return bytes
    },
    Sample(name: "cut-short", code: .fileCorrupt, reason: "last bytes") { bytes, _ in Array(bytes[..<1024]) },
    Sample(name: "cut-in-header", code: .fileCorrupt, reason: "header") { bytes, _ in Array(bytes[..<40]) },
    Sample(name: "longer", code: .fileCorrupt, reason: "last bytes") { bytes, _ in
      bytes + [UInt8](repeating: 0, count: 64)
    },
    Sample(name: "transferred-as-text", code: .fileCorrupt, reason: "took it for text") { bytes, _ in
      Array(bytes[..<4] + bytes[5...])
    },
    Sample(name: "flipped-bit-in-values", code: .fileCorrupt, reason: "part of the records") { bytes, editor in
      changed(bytes, editor.offset(ofSection: Section.names))
    },
    Sample(name: "flipped-bit-in-model", code: .fileCorrupt, reason: "the model") { bytes, editor in
      changed(bytes, editor.offset(ofSection: Section.model) + 10)
    },
    Sample(name: "padding-not-zero", code: .fileCorrupt, reason: "not zero") { bytes, editor in
      changed(bytes, editor.offset(ofSection: Section.names) + editor.sections[Section.names].count)
    },
    Sample(name: "other-identifier", code: .fileCorrupt, reason: "different stores") { _, editor in
      editor.header[16] ^= 1
      return editor.assembled()
    },
    Sample(name: "offsets-descend", code: .fileCorrupt, reason: "offsets descend") { _, editor in
      editor.sections[Section.nameOffsets].set(UInt32(9), at: 4)
      return editor.assembled()
    },
    Sample(name: "not-utf-8", code: .fileCorrupt, reason: "UTF-8") { _, editor in
      editor.sections[Section.names][0] = 0xFF
      return editor.assembled()
    },
    Sample(name: "reference-to-other-entity", code: .fileCorrupt, reason: "not a destination of") { _, editor in
      editor.tables[0].groups[0].columns[4].entityIndex = 1
      return editor.assembled()
    },
    Sample(name: "too-many-rows", code: .fileCorrupt, reason: "group of rows") { _, editor in
      editor.tables[0].groups[0].rowCount = 4_294_967_295
      return editor.assembled()
    },
    Sample(name: "too-many-sections", code: .fileCorrupt, reason: "4294967295 sections") { _, editor in
      editor.editDirectory = { $0.set(UInt32.max, at: 0) }
      return editor.assembled()
    },
    Sample(name: "overlapping-sections", code: .fileCorrupt, reason: "does not begin where") { _, editor in
      editor.editSections = { $0[3] = $0[2] }
      return editor.assembled()
    },
    Sample(name: "newer-reader-needed", code: .fileCorrupt, reason: "directory ends too early") { _, editor in
      editor.header.set(UInt32(2), at: 8)
      editor.header.set(UInt32(2), at: 12)
      return editor.assembled()
    },
    Sample(name: "last-reader-needed", code: .fileFormatUnsupported, reason: "version 4294967295") { _, editor in
      editor.header.set(UInt32.max, at: 8)
      editor.header.set(UInt32.max, at: 12)
      return editor.assembled()
    },
    Sample(name: "history-flipped-bit", code: .fileCorrupt, reason: "page of the history", base: .history) {
      bytes,
      editor in changed(bytes, editor.offset(ofSection: editor.sections.count - 1) + 9)
    },
    Sample(name: "history-too-many", code: .fileCorrupt, reason: "4294967295 transactions", base: .history) {
      _,
      editor in
      editor.history?.transactionCounts[0] = 4_294_967_295
      return editor.assembled()
    },
    Sample(name: "history-longer-part", code: .fileCorrupt, reason: "longer than the whole", base: .history) {
      _,
      editor in
      editor.editPage(0) { $0.set(UInt64.max, at: 0) }
      return editor.assembled()
    },
    Sample(name: "history-not-utf-8", code: .fileCorrupt, reason: "UTF-8", base: .history) { _, editor in
      editor.editPage(1) { $0[20] = 0xFF }
      return editor.assembled()
    },
    Sample(name: "metadata-copies-differ", code: .fileCorrupt, reason: "checksum of the metadata") { _, editor in
      editor.editMetadata { copy, bytes in bytes[100] ^= UInt8(copy) }
      return editor.assembled()
    },
    Sample(name: "metadata-flipped-bit", code: .fileCorrupt, reason: "checksum of the metadata") { bytes, editor in
      changed(bytes, editor.offset(ofSection: Section.metadata) + 100)
    },
    Sample(name: "metadata-no-copy-holds", code: .fileCorrupt, reason: "checksum of the metadata") { bytes, editor in
      let place = editor.offset(ofSection: Section.metadata)
      editor.sections[0][0] = 0xFF
      return changed(changed(editor.assembled(), place + 100), place + 1200)
    },
    Sample(name: "core-data", code: .fileFormatUnsupported, reason: "Apple's Core Data") { _, _ in
      [UInt8]("CoreData".utf8) + [0, 0, 0, 1, 8, 4, 8, 0] + [UInt8](repeating: 0, count: 48)
    },
  ]

  private static func changed(_ bytes: [UInt8], _ place: Int) -> [UInt8] {
    var bytes = bytes
    bytes[place] ^= 1
    return bytes
  }

  private static func file(_ sample: Sample) throws -> [UInt8] {
    try SampleFiles.bytes("corrupt/\(sample.name).heartwood") {
      let bytes = try sample.wholeFile
      var editor = try BinaryFileEditor(sample.base == .saves ? TinySample.file() : bytes)
      return sample.make(bytes, &editor)
    }
  }

  @Test(arguments: samples)
  func isRefused(sample: Sample) throws {
    let error = try #require(DamageTests.refusal(of: try Self.file(sample), by: try sample.store))
    #expect(error.code == sample.code)
    #expect(error.context.byteOffset != nil)
    #expect(error.message.contains(sample.reason), "\(error.message)")
  }

  @Test func everyFileIsTestedAndExplained() throws {
    for sample in Self.samples { _ = try Self.file(sample) }
    let folder = SampleFiles.folder.appending(path: "corrupt")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".heartwood") }
    #expect(names.sorted() == Self.samples.map { $0.name + ".heartwood" }.sorted())
    let text = try String(contentsOf: folder.appending(path: "README.md"), encoding: .utf8)
    for name in names { #expect(text.contains("`\(name)`"), "\(name) is not explained") }
  }

  @Test(.enabled(if: PythonReader.exists, "there is no python3 to run the independent reader"), arguments: samples)
  func theIndependentReaderRefusesIt(sample: Sample) throws {
    _ = try Self.file(sample)
    let path = SampleFiles.folder.appending(path: "corrupt/\(sample.name).heartwood").path
    let result = try PythonReader.run(["--check", path])
    #expect(result.status == 1 && result.errors.contains("at byte") && result.output.isEmpty, "\(result.errors)")
  }
}

extension BinaryFileEditor {
  /// Where a section begins while nothing has been edited.
  fileprivate func offset(ofSection index: Int) -> Int {
    sections[..<index].reduce(BinaryFormat.headerLength) { offset, section in
      offset + section.count + BinaryFormat.paddingLength(section.count)
    }
  }
}
