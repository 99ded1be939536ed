import Foundation
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodFormats

/// What a save does to the bytes of a file.
@Suite struct CSVSavingTests {
  private static let example = """
    #D35CF030-1EC1-4667-9666-70C8247A1010
    1, insertCurrent, 2, 2016-09-17 18:15:00 +0000, E899556C-BE1A-42A3-A634-F8411915C05F
    0, insertCurrent, 5, 2016-09-17 18:15:00 +0000, 803054FC-C497-4DD7-A078-CF592B994EB4
    1, insertCurrent, 3, 2016-09-17 18:15:00 +0000, 569485BA-A1E2-4E5B-88B5-6D5DB2C8AB8F
    0, insertCurrent, 1, 2016-09-17 18:15:00 +0000, 65A95220-A09F-4000-9F3C-EC8448D5DCB7
    0, addLast, 0, 2016-09-17 18:15:00 +0000, F7C54A12-8CA6-4A4A-9D45-1A92E23922F9
    1, insertCurrent, 4, 2016-09-17 18:15:00 +0000, 5CE1C138-32A3-4CE8-9917-84C941011C09

    """

  private static let header = "done,memo,sortOrder,creationDate,#"

  /// The example, and others that say the same in other ways. No writer would write them so.
  private static let files: [String: String] = [
    "example": example,
    "CRLF": example.split(separator: "\n").joined(separator: "\r\n") + "\r\n",
    "mixed line ends": example.split(separator: "\n").enumerated().map {
      $0.element + ($0.offset.isMultiple(of: 2) ? "\r\n" : "\n")
    }.joined(),
    "byte order mark": "\u{FEFF}" + example,
    "last line without an end": String(example.dropLast()),
    "no spaces": example.split(separator: ", ").joined(separator: ","),
    "blank lines": example.split(separator: "\n").joined(separator: "\n\n") + "\n\n",
    "header": example.replacing("1010\n", with: "1010\ndone,MEMO,sortOrder,creationdate,#\n"),
    "other words": example.replacing("\n1", with: "\nYES").replacing("+0000", with: "Z").replacing(
      " 18:",
      with: "T18:"
    ),
    "quotes": example.replacing("insertCurrent", with: "\"insertCurrent\"").replacing(" 5,", with: " \"+005\","),
    "small letters": example.replacing("E899556C", with: "e899556c").replacing("F7C54A12", with: "f7c54a12"),
    "semicolons": example.replacing(", ", with: ";"),
    "tabs": example.replacing(", ", with: "\t"),
    "padded identifier": example.replacing("1010\n", with: "1010,,,,\n"),
  ]

  private func fixture(_ name: String, chunkSize: Int? = nil) throws -> CSVFixture {
    let fixture = try CSVFixture(CSVModels.toDo, chunkSize: chunkSize)
    try fixture.write(try #require(Self.files[name]))
    return fixture
  }

  private func lines(_ fixture: CSVFixture) throws -> [Substring] {
    try fixture.text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(Substring.init)
  }

  @Test(arguments: files.keys.sorted())
  func saysTheSame(_ name: String) throws {
    let expected = try fixture("example").open().records
    #expect(try fixture(name).open().records == expected)
  }

  @Test(arguments: files.keys.sorted())
  func saveWithoutChangesKeepsEveryByte(_ name: String) throws {
    let fixture = try fixture(name)
    let before = try fixture.bytes
    _ = try fixture.open().save(ChangeSet())
    #expect(try fixture.bytes == before)
  }

  @Test(arguments: files.keys.sorted(), 0..<6)
  func changeOfARecordChangesItsLineOnly(_ name: String, _ index: Int) throws {
    let fixture = try fixture(name)
    let before = try lines(fixture)
    let engine = try fixture.open()
    try engine.update(index, "memo", .string("changed"))
    let after = try lines(fixture)
    let changed = zip(before, after).filter { $0 != $1 }
    #expect(after.count == before.count)
    #expect(changed.count == 1)
    #expect(changed.first?.1.contains("changed") == true)
    #expect(try fixture.open().records == engine.records)
    #expect(try engine.values("memo")[index] == .string("changed"))
  }

  @Test(arguments: files.keys.sorted(), 0..<6)
  func deletionRemovesTheLineOnly(_ name: String, _ index: Int) throws {
    let fixture = try fixture(name)
    var expected = try lines(fixture)
    let engine = try fixture.open()
    let reference = try engine.records[index].reference.text
    expected.removeAll { $0.uppercased().contains(reference) }
    try engine.delete(index)
    #expect(try lines(fixture) == expected)
    #expect(try fixture.open().records == engine.records)
  }

  /// The line that becomes the first would tell readers something else of how the others are separated.
  @Test(
    arguments: [
      (["1,a,0,,1", "0, b,1,,2", "1, c,2,,3"], ["0,\" b\",1,,2", "1, c,2,,3"]),
      (["1, a, 0, , 1", "0,b,1,,2", "1, c, 2, , 3"], ["0, b, 1, , 2", "1, c, 2, , 3"]),
      ([header, "1, a, 0, , 1", "0,b,1,,2", "1, c, 2, , 3"], [header, "0, b, 1, , 2", "1, c, 2, , 3"]),
      (["1;a;0;;1", "0;v,w,x,y,z;1;;2", "1;c;2;;3"], ["0;\"v,w,x,y,z\";1;;2", "1;c;2;;3"]),
      (["1\ta\t0\t\t1", "0\tv;w;x;y;z\t1\t\t2"], ["0\t\"v;w;x;y;z\"\t1\t\t2"]),
    ] as [([String], [String])]
  )
  func deletionOfTheFirstRecordLeavesTheOthersWhatTheySay(_ before: [String], _ after: [String]) throws {
    let fixture = try CSVFixture(CSVModels.toDo)
    try fixture.write(([CSVFixture.identifier] + before + [""]).joined(separator: "\n"))
    let engine = try fixture.open()
    try engine.delete(0)
    #expect(try fixture.text == ([CSVFixture.identifier] + after + [""]).joined(separator: "\n"))
    #expect(try fixture.open().records == engine.records)
  }

  @Test(arguments: files.keys.sorted())
  func insertedRecordsAreAddedAtTheEnd(_ name: String) throws {
    let fixture = try fixture(name)
    let before = try fixture.bytes
    let engine = try fixture.open()
    try engine.insert(.uuid(UUID()), [.boolean(true), .string("new"), .integer(7), .null])
    #expect(try fixture.bytes.starts(with: before))
    #expect(try fixture.bytes.last == UInt8(ascii: "\n") || name == "last line without an end")
    #expect(try fixture.open().records == engine.records)
    #expect(try engine.records.count == 7)
  }

  @Test func savesFollowEachOther() throws {
    let fixture = try fixture("example")
    let before = try lines(fixture)
    let engine = try fixture.open()
    try engine.delete(1, 4)
    try engine.insert(.uuid(UUID()), [.boolean(true), .string("first"), .integer(7), .null])
    try engine.update(1, "sortOrder", .integer(-1))
    try engine.insert(.uuid(UUID()), [.boolean(true), .string("second\n\"line\""), .integer(8), .null])
    try engine.update(4, "memo", .null)
    try engine.delete(5)
    let after = try lines(fixture)
    #expect(after.count == 7)
    #expect([after[1], after[3], after[4]] == [before[1], before[4], before[6]])
    #expect(after[2] == "1, insertCurrent, -1, 2016-09-17 18:15:00 +0000, 569485BA-A1E2-4E5B-88B5-6D5DB2C8AB8F")
    #expect(after[5].hasPrefix("1, , 7, , "))
    #expect(try fixture.open().records == engine.records)
  }

  @Test func newStoreIsWrittenAsTheExample() throws {
    let source = try fixture("example").open()
    let fixture = try CSVFixture(CSVModels.toDo)
    try fixture.create(from: try source.contents())
    #expect(try fixture.text == Self.example)
  }

  @Test func emptyStoreIsTheIdentifier() throws {
    let fixture = try CSVFixture(CSVModels.toDo)
    let engine = try fixture.open()
    _ = try engine.save(ChangeSet())
    #expect(try fixture.text == "#\(engine.metadata.identifier.uuidString)\n")
    #expect(try fixture.open().metadata.identifier == engine.metadata.identifier)
  }

  @Test(arguments: ["#D35CF030-1EC1-4667-9666-70C8247A1010", "#D35CF030-1EC1-4667-9666-70C8247A1010\r\n\r\n"])
  func recordsAreAddedToAFileWithoutAny(_ text: String) throws {
    let fixture = try CSVFixture(CSVModels.toDo)
    try fixture.write(text)
    let engine = try fixture.open()
    try engine.insert(.integer(1), [.boolean(true), .string("a"), .integer(7), .null])
    try engine.insert(.integer(2), [.boolean(false), .string("b"), .integer(8), .null])
    let isEnded = text.utf8.last == UInt8(ascii: "\n")
    let expected = isEnded ? text + "1, a, 7, , 1\r\n0, b, 8, , 2\r\n" : text + "\n1, a, 7, , 1\n0, b, 8, , 2"
    #expect(try fixture.text == expected)
    #expect(try fixture.open().records == engine.records)
  }

  /// The line before the records is blank, or ends otherwise than the first.
  @Test(arguments: ["\n\n", "\r\n\r\n", "\r\n\n", "\r\n\(header)\n", "\n\n\(header)\r\n"])
  func recordsAreAddedWhereAllHaveBeenDeleted(_ beforeRecords: String) throws {
    let fixture = try CSVFixture(CSVModels.toDo)
    try fixture.write(CSVFixture.identifier + beforeRecords + "1, a, 0, , 1")
    let engine = try fixture.open()
    try engine.delete(0)
    for number in 2...4 as ClosedRange<Int64> {
      try engine.insert(.integer(number), [.boolean(true), .string("b"), .integer(number), .null])
      #expect(try fixture.open().records == engine.records)
    }
    #expect(try engine.records.count == 3)
  }

  @Test func identifierComesFromTheFirstLine() throws {
    let engine = try fixture("example").open()
    #expect(engine.metadata.identifier.uuidString == "D35CF030-1EC1-4667-9666-70C8247A1010")
    #expect(engine.metadata.storeType == .csv)
  }

  @Test(arguments: files.values.sorted())
  func isRecognizedByItsBeginning(_ text: String) {
    #expect(CSVStore.recognizes(prefix: Array(text.utf8.prefix(512))))
  }

  @Test(arguments: ["", "#", "a,b,c\n", "# comment\n", "#D35CF030-1EC1-4667-9666-70C8247A101\n", "SQLite format 3\0"])
  func otherFilesAreNotRecognized(_ text: String) {
    #expect(!CSVStore.recognizes(prefix: Array(text.utf8)))
  }
}
