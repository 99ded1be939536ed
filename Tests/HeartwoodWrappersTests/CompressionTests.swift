import Foundation
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodWrappers

@Suite struct CompressionTests {
  private static let type: StoreType = "CompressedCSV"
  private var fixture: WrapperFixture

  init() throws {
    fixture = try WrapperFixture(CompressedStore<CSVStore>.self, CSVStore.self, CompressedStore<BinaryStore>.self)
  }

  @Test func gunzipMakesTheFileInside() throws {
    let folder = try ScratchFolder()
    let texts = (0..<30).map { String(repeating: "note \($0) ", count: 10_000) }
    try fixture.write(texts, Self.type)
    let bytes = try fixture.bytes
    #expect(bytes.count < 200_000)
    try folder.write(Data(bytes), to: "store.csv.gz")
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", "gzip -dc '\(folder.url.path)/store.csv.gz' > '\(folder.url.path)/store.csv'"]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    try fixture.setBytes(Array(try Data(contentsOf: folder.url.appending(path: "store.csv"))))
    #expect(try fixture.read("CSV") == texts)

    // And a file that gzip wrote is read.
    process.terminationHandler = nil
    let other = Process()
    other.executableURL = URL(filePath: "/bin/sh")
    other.arguments = ["-c", "gzip -c '\(folder.url.path)/store.csv' > '\(folder.url.path)/other.gz'"]
    try other.run()
    other.waitUntilExit()
    try fixture.setBytes(Array(try Data(contentsOf: folder.url.appending(path: "other.gz"))))
    #expect(try fixture.read(Self.type) == texts)
    #expect(try fixture.registry.type(ofFileAt: WrapperFixture.path, in: fixture.files) == Self.type)
  }

  @Test func theSameContentIsTheSameBytes() throws {
    try fixture.write(["a", "b"], Self.type)
    let first = try fixture.bytes
    let coordinator = try fixture.coordinator(Self.type)
    let store = try #require(coordinator.persistentStores.first)
    try coordinator.convert(store, to: URL(filePath: "/copy"), type: Self.type)
    #expect(fixture.files.contents(ofFileAtPath: "/copy") == first)
  }

  @Test func damageIsToldWithItsPlace() throws {
    try fixture.write(["some text", "more text"], Self.type)
    let good = try fixture.bytes
    for place in good.indices {
      var bad = good
      bad[place] ^= 0x10
      try fixture.setBytes(bad)
      // Some bits of a header mean nothing; whatever is read must be what was written.
      guard let texts = try? fixture.read(Self.type) else { continue }
      #expect(texts == ["some text", "more text"], "byte \(place)")
    }
    for length in 1..<good.count {
      try fixture.setBytes(Array(good.prefix(length)))
      let error = try fixture.readingError(Self.type)
      #expect(error.code == .fileCorrupt, "length \(length): \(error)")
    }
  }

  @Test func aFileThatExpandsTooMuchIsRefused() throws {
    try fixture.write([String(repeating: "a", count: 100_000)], Self.type)
    var narrow = fixture
    narrow.options[.maximumExpandedLength] = 50_000
    #expect(try narrow.readingError(Self.type).code == .valueUnsupported)
  }

  /// The limit is that of all members together, also where one after the other is expanded, as those of others are.
  @Test func aFileThatExpandsTooMuchIsToldTheLimit() throws {
    try fixture.write(["some text"], Self.type)
    var member = try fixture.bytes
    let length = Int(member[20]) | Int(member[21]) << 8
    // With another name of the extra field it is a member of somebody else's.
    member[12] = UInt8(ascii: "X")
    try fixture.setBytes(member + member)
    var narrow = fixture
    narrow.options[.maximumExpandedLength] = length + 1
    let error = try narrow.readingError(Self.type)
    #expect(error.code == .valueUnsupported)
    #expect(error.message.contains("more than \(length + 1) bytes"))
  }

  /// What it holds is not what counts against the limit of an application.
  @Test func aMemberThatHoldsMoreThanItTellsIsDamaged() throws {
    try fixture.write(["some text"], Self.type)
    var member = try fixture.bytes
    member.replaceSubrange(20..<24, with: [0, 0, 0, 0])
    try fixture.setBytes(Self.emptyMember + member)
    let error = try fixture.readingError(Self.type)
    #expect(error.code == .fileCorrupt)
    #expect(error.context.byteOffset == Self.emptyMember.count)
  }

  /// What lies behind it would be lost, without a checksum that covers the length.
  @Test func aMemberThatIsShorterThanItTellsIsDamaged() throws {
    try fixture.write(["some text"], Self.type)
    let member = try fixture.bytes
    var empty = Self.emptyMember
    empty[16] = UInt8(truncatingIfNeeded: empty.count + member.count)
    empty[17] = UInt8(truncatingIfNeeded: (empty.count + member.count) >> 8)
    try fixture.setBytes(empty + member)
    let error = try fixture.readingError(Self.type)
    #expect(error.code == .fileCorrupt)
    #expect(error.context.byteOffset == 0)
  }

  @Test func zerosBehindTheEndAreReadOver() throws {
    try fixture.write(["a", "b"], Self.type)
    try fixture.setBytes(fixture.bytes + [UInt8](repeating: 0, count: 512))
    #expect(try fixture.read(Self.type) == ["a", "b"])
    try fixture.setBytes(fixture.bytes + [1])
    #expect(try fixture.readingError(Self.type).code == .fileCorrupt)
  }

  @Test func aFileOfNothingIsCutShort() throws {
    try fixture.setBytes([])
    let file = try StoreInput(try fixture.files.openFile(atPath: WrapperFixture.path))
    let error = #expect(throws: PersistenceError.self) { try GzipCompression(options: StoreOptions()).decode(file) }
    #expect(error?.code == .fileCorrupt)
  }

  /// A member of 34 bytes that tells how long it is, with nothing in it.
  private static let emptyMember: [UInt8] = [
    0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 0xFF, 12, 0, 0x48, 0x57, 8, 0, 34, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0,
    0,
  ]

  @Test func membersWithNothingInThemAreRead() throws {
    try fixture.write(["a", "b"], Self.type)
    let empty = (0..<1000).flatMap { _ in Self.emptyMember }
    try fixture.setBytes(fixture.bytes + empty)
    #expect(try fixture.read(Self.type) == ["a", "b"])
  }

  @Test func aMemberTakesNoMoreMemoryThanItMayNeed() {
    #expect(GzipMember.room(behind: 0, limit: 0) == 1)
    #expect(GzipMember.room(behind: 7, limit: 10) == 4)
    #expect(GzipMember.room(behind: 0, limit: .max) == 1 << 18)
    #expect(GzipMember.room(behind: 0, limit: -1) == 1)
  }

  @Test(arguments: [0, 10, -1]) func levelsThatAreNoneAreRefused(_ level: Int) throws {
    var fixture = fixture
    fixture.options[.compressionLevel] = level
    #expect(throws: PersistenceError.self) { try fixture.coordinator(Self.type) }
  }
}
