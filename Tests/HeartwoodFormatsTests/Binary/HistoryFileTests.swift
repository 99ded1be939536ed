import Foundation
import HeartwoodModel
import HeartwoodStore
import TestSupport
import Testing

@testable import HeartwoodFormats

/// The history in the file: the samples, what is wrong with files, and what a reader does without looking at it.
@Suite struct HistoryFileTests {
  /// The files that hold ``HistorySample``, by the version of the format.
  static let files = ["2": "version-2.heartwood", "3": "version-3-history.heartwood"]
  private static let newest = "version-3-history.heartwood"

  private static func golden(_ name: String = newest) throws -> [UInt8] {
    try SampleFiles.bytes(name) { try HistorySample.store().writeGroups(of: HistorySample.contents()) }
  }

  private static func lines() throws -> [UInt8] {
    try SampleFiles.bytes("version-2.history.jsonl") { try HistorySample.contents().historyLines() }
  }

  @Test(arguments: files.values.sorted())
  func theFileHoldsWhatItShould(name: String) throws {
    let read = try HistorySample.store().read(Self.golden(name))
    let expected = try HistorySample.contents()
    #expect(read.records == expected.records)
    #expect(read.history?.purgedNumber == 2 && read.history?.lastNumber == 5)
    #expect(read.history?.pages.map(\.transactionCount) == [2, 1])
    #expect(try read.transactions().map(\.changes) == expected.transactions().map(\.changes))
    #expect(try read.historyLines() == Self.lines())
    #expect(try HistorySample.store().writeGroups(of: read) == Self.golden())
  }

  @Test(arguments: files.sorted { $0.key < $1.key })
  func theFileExplainsItself(version: String, name: String) throws {
    let file = try SampleStore.input(Self.golden(name))
    #expect(try BinaryStore.readFormatVersion(from: file, options: StoreOptions()) == version)
    #expect(try BinaryStore.readMetadata(from: file, options: StoreOptions()).identifier == HistorySample.identifier)
    #expect(try BinaryStore.readModel(from: file, options: StoreOptions()) == HistorySample.model())
  }

  @Test(
    .enabled(if: PythonReader.exists, "there is no python3 to run the independent reader"),
    arguments: files.values.sorted()
  )
  func theIndependentReaderReadsIt(name: String) throws {
    let (_, lines) = try (Self.golden(name), Self.lines())
    let path = SampleFiles.folder.appending(path: name).path
    let result = try PythonReader.run(["--history", path])
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output == Data(lines), "\(String(decoding: result.output, as: UTF8.self))")
    #expect(try PythonReader.run(["--check", path]).status == 0)
  }

  @Test func theHeaderTellsWhetherThereIsAHistory() throws {
    var contents = try HistorySample.contents()
    contents.history = nil
    let bytes = try HistorySample.store().write(contents)
    #expect(bytes[8..<16] == [3, 0, 0, 0, 3, 0, 0, 0] && bytes[32..<36] == [0, 0, 0, 0])
    contents.history = StoreHistory()
    let empty = try HistorySample.store().write(contents)
    #expect(empty[8..<16] == [3, 0, 0, 0, 3, 0, 0, 0] && empty[32..<36] == [1, 0, 0, 0])
    #expect(try HistorySample.store().read(empty).history?.lastNumber == 0)
  }

  // MARK: Damage

  @Test func aBitOfEveryByteFlipped() throws {
    let (store, bytes) = (try HistorySample.store(), try Self.golden())
    for place in bytes.indices {
      var changed = bytes
      changed[place] ^= 1 << UInt8(place % 8)
      let error = DamageTests.refusal(of: changed, by: store)
      #expect(error?.context.byteOffset != nil, "byte \(place)")
    }
  }

  @Test func damagedPagesAreNoticedWhenTheyAreRead() throws {
    var bytes = try Self.golden()
    let file = try BinaryFile(SampleStore.input(bytes))
    let first = try #require(file.directory.history?.firstSection)
    bytes[file.directory.sections[first].offset + 9] ^= 1
    let history = try #require(try BinaryFile(SampleStore.input(bytes)).history())
    #expect(history.transactionCount == 3, "counting reads no page")
    let scopes = try HistorySample.contents().scopes
    let reader = HistoryReader(history, storeID: HistorySample.identifier, scopes: scopes, path: nil)
    let last = PersistentHistoryToken([HistorySample.identifier: 4])
    #expect(try reader.transactions(.fetchHistory(after: last)).count == 1, "the other page is whole")
    for _ in 0..<2 {
      let error = #expect(throws: PersistenceError.self) { try reader.transactions(.fetchHistory(after: nil)) }
      #expect(error?.code == .fileCorrupt && error?.message.contains("page of the history") == true)
      #expect(error?.context.byteOffset == file.directory.sections[first].offset)
    }
  }

  typealias Deception = DeceptionTests.Deception

  /// Files whose checksums hold and that are wrong all the same.
  static let deceptions: [Deception] = [
    Deception("the directory ends too early") { $0.history = nil },
    Deception("history is described incorrectly") { $0.history?.purgedNumber = -1 },
    Deception("history is described incorrectly") { $0.history?.transactionCounts += [1] },
    Deception("sections belong to no table") { $0.history?.transactionCounts.removeLast() },
    Deception("cannot have 0 transactions") { $0.history?.transactionCounts[0] = 0 },
    Deception("cannot have 4294967295 transactions") { $0.history?.transactionCounts[1] = 4_294_967_295 },
    Deception("cannot have 2 transactions") { $0.history?.purgedNumber = .max },
    Deception("ends inside of a transaction") { $0.history?.transactionCounts[0] = 3 },
    Deception("bytes follow the last transaction") { $0.history?.transactionCounts[0] = 1 },
    Deception("longer than the whole") { $0.editPage(1) { $0.set(UInt64.max, at: 0) } },
    Deception("longer than the whole") { $0.editPage(1) { $0.removeLast() } },
    Deception("has no date") { $0.editPage(1) { $0.set(Double.infinity.bitPattern, at: 8) } },
    Deception("ends inside of a transaction") { $0.editPage(1) { $0.set(UInt32.max, at: 16) } },
    Deception("not UTF-8") { $0.editPage(1) { $0[20] = 0xFF } },
    Deception("longer than the whole") { $0.editRun { $0.set(UInt64.max, at: 0) } },
    Deception("described incorrectly") { $0.editRun { $0[8] = 3 } },
    Deception("described incorrectly") { $0.editRun { $0[8] = 0 } },
    Deception("described incorrectly") { $0.editRun { $0[9] = 4 } },
    Deception("described incorrectly") { $0.editRun { $0[10] = 1 } },
    Deception("described incorrectly") { $0.editRun { $0.set(UInt32(0), at: 12) } },
    Deception("ends inside of a transaction") { $0.editRun { $0.set(UInt32.max, at: 12) } },
    Deception("bytes follow the last change") { $0.editRun { $0.set(UInt32(2), at: 12) } },
    Deception("unknown type") { $0.editTombstone { $0[$1] = 1 } },
    Deception("unknown type") { $0.editTombstone { $0[$1] = 18 } },
    Deception("named twice") { $0.editRun { $0.replaceName("integer16", with: "integer32") } },
  ]

  @Test(arguments: deceptions)
  func isRefused(deception: Deception) throws {
    let bytes = try Self.golden()
    var editor = try BinaryFileEditor(bytes)
    #expect(editor.assembled() == bytes, "what is not edited stays the same")
    deception.edit(&editor)
    let error = try #require(DamageTests.refusal(of: editor.assembled(), by: try HistorySample.store()))
    #expect(error.code == .fileCorrupt)
    #expect(error.context.byteOffset != nil)
    #expect(error.message.contains(deception.reason), "\(error.message)")
  }
}

extension BinaryFileEditor {
  /// Changes the bytes of a page of the history.
  mutating func editPage(_ page: Int, _ edit: (inout [UInt8]) -> Void) {
    guard let first = history?.firstSection else { return }
    edit(&sections[first + page])
  }

  /// Changes the first run of the second page: the deletion of the records with a value of each type.
  fileprivate mutating func editRun(_ edit: (inout [UInt8]) -> Void) {
    editPage(1) { page in
      let start = 8 + 8 + (4 + "app".utf8.count) + 4
      var run = Array(page[start...])
      edit(&run)
      page.replaceSubrange(start..., with: run)
    }
  }

  /// Changes the first value of the first tombstone.
  fileprivate mutating func editTombstone(_ edit: (inout [UInt8], Int) -> Void) {
    let names = AttributeType.allCases.reduce(4 + "Everything".utf8.count) { $0 + 4 + $1.rawValue.utf8.count }
    editRun { edit(&$0, 8 + 4 + 4 + 4 + names + (4 + "é".utf8.count)) }
  }
}

extension [UInt8] {
  /// Replaces a name by one of the same length.
  fileprivate mutating func replaceName(_ name: String, with other: String) {
    let place = indices.first { self[$0...].starts(with: name.utf8) }
    if let place { replaceSubrange(place..<(place + name.utf8.count), with: other.utf8) }
  }
}
