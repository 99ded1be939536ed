import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodFormats

/// What is refused, where, and that nothing is written.
@Suite struct CSVErrorTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var text: String
    var line: Int
    var column: Int
    var property: String?
    var message: String
    var code = PersistenceError.Code.fileMalformed

    var testDescription: String { message }
  }

  private static let good = "1, a, 2, 2016-09-17 18:15:00 +0000, E899556C-BE1A-42A3-A634-F8411915C05F\n"
  private static let identifier = CSVFixture.identifier + "\n"

  /// The identifier, a good record and a bad line.
  private static func bad(
    _ line: String,
    _ column: Int,
    _ message: String,
    in property: String? = nil,
    code: PersistenceError.Code = .fileMalformed
  ) -> Case {
    Case(text: identifier + good + line, line: 3, column: column, property: property, message: message, code: code)
  }

  private static let end = "803054FC-C497-4DD7-A078-CF592B994EB4\n"

  static let cases: [Case] = [
    bad("1, a, 2, \(end)", 1, "The record has 4 fields where 5 are expected."),
    bad("1, a, 2, , x, \(end)", 1, "The record has 6 fields where 5 are expected."),
    bad("hello\n", 1, "The record has 1 field where 5 are expected."),
    bad("   \n", 1, "The record has 1 field where 5 are expected."),
    bad("1, a, two, , \(end)", 7, "The field must be an integer.", in: "sortOrder"),
    bad("1, Grüße 👩‍👩‍👧, 2.0, , \(end)", 17, "The field must be an integer.", in: "sortOrder"),
    bad("1, a, 2147483648, , \(end)", 7, "The number must be from -2147483648 to 2147483647.", in: "sortOrder"),
    bad(
      "1, a, -99999999999999999999, , \(end)",
      7,
      "The number must be from -2147483648 to 2147483647.",
      in: "sortOrder"
    ),
    bad("1, a, \"\", , \(end)", 7, "The field must be an integer.", in: "sortOrder"),
    bad("maybe, a, 2, , \(end)", 1, "The field must be 1 or 0", in: "done"),
    bad("2, a, 2, , \(end)", 1, "The field must be 1 or 0", in: "done"),
    bad("1, a, 2, 17.09.2016, \(end)", 10, "The field must be a date", in: "creationDate"),
    bad("1, a, 2, 2016-02-30 18:15:00 +0000, \(end)", 10, "The field must be a date", in: "creationDate"),
    bad("1, a, 2, 2016-09-17 18:15:00, \(end)", 10, "The field must be a date", in: "creationDate"),
    bad("1, a, 2, , not-a-uuid\n", 12, "The reference must be a UUID"),
    bad("1, a, 2, , 803054FC-C497-4DD7-A078-CF592B994EBX\n", 12, "The reference must be a UUID"),
    bad("1, a, 2, , 803054FC-C497-4DD7-A078-CF592B994EB\n", 12, "The reference must be a UUID"),
    bad("1, a, 2, , \n", 12, "The reference is missing"),
    bad("1, a, 2, ,\n", 11, "The reference is missing"),
    bad("1, a \"b\", 2, , \(end)", 6, "There is a quote in a field that does not begin with one."),
    bad("1, \"a\"b, 2, , \(end)", 7, "Something follows the closing quote"),
    bad("1, \"a\n\n, 2, , \(end)", 4, "The quote that begins the field has no closing quote."),
    bad("1, \"a\"\"", 4, "The quote that begins the field has no closing quote."),
    bad("1, a\rb, 2, , \(end)", 5, "There is a carriage return without a line feed"),
    bad("1, a, 2, , 1\r", 13, "There is a carriage return without a line feed"),
    bad(
      "1, a, 2, , E899556C-BE1A-42A3-A634-F8411915C05F\n",
      12,
      "The record has the same reference as the one in line 2.",
      code: .duplicateReference
    ),
    bad(
      "1, \"x\ny\", 2, , 7\n\n1, a, 2, , 7\n1, a, 2, , 7\n",
      0,
      "The record has the same reference as the one in line 4.",
      code: .duplicateReference
    ).at(line: 6, column: 12),
    Case(text: "\n", line: 1, column: 1, message: "The first line must be # and the UUID of the store"),
    Case(text: good, line: 1, column: 1, message: "The first line must be # and the UUID of the store"),
    Case(text: "\u{FEFF}" + good, line: 1, column: 1, message: "The first line must be # and the UUID of the store"),
    Case(text: "#D35CF030\n" + good, line: 1, column: 2, message: "The text after # in the first line must be a UUID"),
    Case(text: "\u{FEFF}#X\n", line: 1, column: 2, message: "The text after # in the first line must be a UUID"),
    Case(
      text: CSVFixture.identifier + " todo\n" + good,
      line: 1,
      column: 39,
      message: "Something follows the UUID in the first line."
    ),
  ]

  @Test(arguments: cases, [nil, 1, 7, 64])
  func badFileIsRefusedWithItsPlace(_ test: Case, chunkSize: Int?) throws {
    let fixture = try CSVFixture(CSVModels.toDo, chunkSize: chunkSize)
    try fixture.write(test.text)
    let error = try fixture.openingError()
    #expect(error.code == test.code)
    #expect(error.message.hasPrefix(test.message), "\(error)")
    #expect([error.context.line, error.context.column] == [test.line, test.column], "\(error)")
    #expect(error.context.property == test.property)
    #expect(error.context.path == CSVFixture.path)
    #expect(error.context.storeType == .csv)
    #expect(error.context.byteOffset.map { $0 <= test.text.utf8.count } == true)
    #expect(try fixture.text == test.text)
    #expect(fixture.files.paths == [CSVFixture.path])
  }

  @Test func errorTextsShowNoValues() throws {
    for test in Self.cases {
      let fixture = try CSVFixture(CSVModels.toDo)
      try fixture.write(test.text)
      let text = try fixture.openingError().description
      for secret in ["803054FC", "E899556C", "maybe", "17.09", "Grüße", "two", "not-a-uuid"] {
        #expect(!text.contains(secret), "\(text)")
      }
    }
  }

  @Test(
    arguments: [
      ([0xFF], 4), ([0x61, 0xC3, 0x28], 5), ([0xED, 0xA0, 0x80], 4), ([0xC3, 0xBC, 0xF0, 0x9F], 5),
      (Array("\"a\"\"b\"\"c".utf8) + [0xFF, 0x22], 12),
    ] as [([UInt8], Int)],
    [nil, 16]
  )
  func bytesThatAreNotUTF8(_ sample: (bytes: [UInt8], column: Int), chunkSize: Int?) throws {
    let fixture = try CSVFixture(CSVModels.toDo, chunkSize: chunkSize)
    let start = Self.identifier + Self.good + "1, "
    try fixture.write(Array(start.utf8) + sample.bytes + Array(", 2, , 7\n1, oops\n".utf8))
    let error = try fixture.openingError()
    #expect(error.message.hasPrefix("A byte is not UTF-8."), "\(error)")
    #expect([error.context.line, error.context.column] == [3, sample.column], "\(error)")
    let valid = String(decoding: sample.bytes, as: UTF8.self).prefix { $0 != "\u{FFFD}" }.utf8.count
    #expect(error.context.byteOffset == start.utf8.count + valid)
  }

  @Test(arguments: [nil, 1, 100, 1000])
  func firstErrorOfTheFileWins(chunkSize: Int?) throws {
    let fixture = try CSVFixture(CSVModels.toDo, chunkSize: chunkSize)
    var lines = (1...200).map { "1, a, 2, , \($0)" }
    for bad in [180, 50, 120] { lines[bad] = "1, a, x, , \(bad)" }
    lines[51] = "broken"
    lines[52] = "1, \"open, 3, , 7"
    try fixture.write(Self.identifier + lines.joined(separator: "\n"))
    let error = try fixture.openingError()
    #expect(error.context.line == 52)
    #expect(error.context.property == "sortOrder")
  }

  @Test(
    arguments: [
      (.date, .date(Date(timeIntervalSinceReferenceDate: .infinity))),
      (.date, .date(Date(timeIntervalSinceReferenceDate: .nan))),
      (.date, .date(Date(timeIntervalSinceReferenceDate: 1e12))),
      (.date, .date(Date(timeIntervalSinceReferenceDate: -63_113_904_001))),
    ] as [(AttributeType, PropertyValue)]
  )
  func valueThatTheFormCannotHold(_ type: AttributeType, _ value: PropertyValue) throws {
    let fixture = try CSVFixture(CSVModels.one(type))
    let engine = try fixture.open(", 1", ", 2")
    let before = try fixture.bytes
    let error = try #require(throws: PersistenceError.self) { try engine.update(1, "value", value) }
    #expect(error.code == .valueUnsupported)
    #expect(error.context.property == "value")
    #expect(try fixture.bytes == before)
    #expect(fixture.files.paths == [CSVFixture.path])
    #expect(try engine.values("value") == [.null, .null])
  }

  @Test(arguments: [(30, false), (31, true), (500, true)])
  func recordThatWouldBeTooLongToRead(_ length: Int, _ isRefused: Bool) throws {
    let fixture = try CSVFixture(CSVModels.one(.string))
    let text = String(repeating: "é", count: length / 2) + String(repeating: "x", count: length % 2)
    let engine = try fixture.open("a, 1", "\(text), 2")
    // Quotes, a comma, a space, the reference and the longest line end take nine bytes more: two, two, three and two.
    let check = CSVContentsCheck(schema: try CSVSchema(fixture.setup), maximumRecordLength: 39)
    let table = try engine.contents().table(of: try fixture.entity)
    var code: PersistenceError.Code?
    do { try check.check(table) } catch { code = (error as? PersistenceError)?.code }
    #expect(code == (isRefused ? .valueUnsupported : nil))
  }

  @Test func severalEntitiesAreRefused() throws {
    let fixture = try CSVFixture(CSVModels.toDo, CSVModels.one(.string))
    #expect(try fixture.openingError().code == .capabilityMissing)
    #expect(fixture.files.paths.isEmpty)
  }

  @Test func metadataOfTheUserIsRefused() throws {
    let engine = try CSVFixture(CSVModels.toDo).open("1, a, 2, , 7")
    let error = #expect(throws: PersistenceError.self) { try engine.setUserInfo(["a": "b"]) }
    #expect(error?.code == .capabilityMissing)
  }
}

extension CSVErrorTests.Case {
  fileprivate func at(line: Int, column: Int) -> Self {
    var copy = self
    (copy.line, copy.column) = (line, column)
    return copy
  }
}
