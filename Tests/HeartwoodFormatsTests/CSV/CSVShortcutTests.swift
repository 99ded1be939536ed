import Foundation
import HeartwoodFormats
import HeartwoodModel
import HeartwoodStore
import Testing

/// Fields that look like a UUID or a date from afar and are none.
@Suite struct CSVShortcutTests {
  private static let entity = EntityDefinition.entity(
    "Thing",
    .attribute("name", .string, optional: true),
    .attribute("date", .date, optional: true),
    .attribute("uuid", .uuid, optional: true),
    .attribute("note", .string, optional: true)
  )
  private static let columns: [CSVStore.Column] = [
    .reference(), .property("name"), .property("date"), .property("uuid"), .property("note"),
  ]
  private static let ordinary = "E899556C-BE1A-42A3-A634-F8411915C05F, a, 2016-09-17 18:15:00 +0000, , b"

  struct Case: Sendable, CustomTestStringConvertible {
    var line: String
    var reference: ReferenceID
    var values: [PropertyValue]

    var testDescription: String { line }
  }

  static let cases: [Case] = [
    // The hyphens of a UUID in a string, and a separator 36 bytes behind its beginning.
    Case(
      line: "'abcdefg-hijk-x, nineteen characters, , , ",
      reference: .string("abcdefg-hijk-x"),
      values: [.string("nineteen characters"), .null, .null, .null]
    ),
    // The hyphens and the space of a date behind a date that is missing, and the end of the line where a date would end.
    Case(
      line: "7, a, , , -ab-cd xxxxxxxxxxxxxx",
      reference: .integer(7),
      values: [.string("a"), .null, .null, .string("-ab-cd xxxxxxxxxxxxxx")]
    ),
    // The hyphens of a UUID behind one that is missing, and the end of the line where a UUID would end.
    Case(
      line: "-8, b, , , 012345-7890-yyyyyyyyyyyyyyyyyyyyyy",
      reference: .integer(-8),
      values: [.string("b"), .null, .null, .string("012345-7890-yyyyyyyyyyyyyyyyyyyyyy")]
    ),
  ]

  private func fixture(chunkSize: Int?) throws -> CSVFixture {
    try CSVFixture(Self.entity, layout: CSVStore.Layout(columns: Self.columns), chunkSize: chunkSize)
  }

  @Test(arguments: cases, [nil, 60] as [Int?])
  func isReadAsWhatItIs(_ example: Case, chunkSize: Int?) throws {
    let engine = try fixture(chunkSize: chunkSize).open(example.line, Self.ordinary)
    let records = try engine.records
    #expect(records.count == 2)
    #expect(records.first == CSVRecord(reference: example.reference, values: example.values))
  }

  /// What is wrong is told as it is without shortcuts.
  @Test(
    arguments: [
      ("E899556C-BE1A-42A3-A634-F8411915C05G, a, , , b", 1, "The reference must be a UUID"),
      ("7, a, 2016-13-17 18:15:00 +0000, , b", 7, "The field must be a date"),
      ("7, a, 2016-09-17, x,15:00 +0000, , b", 1, "The record has 7 fields where 5 are expected."),
      ("7, a, 2016-09-17\"18:15:00 +0000, , b", 17, "There is a quote in a field that does not begin with one."),
    ] as [(String, Int, String)]
  )
  func isRefusedForWhatItIs(line: String, column: Int, message: String) throws {
    let error = try fixture(chunkSize: nil).openingError(Self.ordinary, line)
    #expect(error.context.line == 3)
    #expect(error.context.column == column)
    #expect(error.message.contains(message), "\(error.message)")
  }

  @Test func bytesThatAreNotUTF8AreFoundInside() throws {
    let fixture = try fixture(chunkSize: nil)
    var bytes = Array("\(CSVFixture.identifier)\n\(Self.ordinary)\n".utf8)
    let place = CSVFixture.identifier.utf8.count + 1 + 10
    bytes[place] = 0xFF
    try fixture.write(bytes)
    let error = try fixture.openingError()
    #expect(error.context.byteOffset == place)
    #expect(error.message.contains("not UTF-8"), "\(error.message)")
  }
}
