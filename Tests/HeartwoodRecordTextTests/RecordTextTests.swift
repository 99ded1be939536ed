import Foundation
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodRecordText

@Suite struct RecordTextTests {
  private static let values: [String: PropertyValue] = [
    "short": .integer(-32768), "long": .integer(.min), "number": .double(0.1), "single": .float(0.1),
    "price": .decimal(Decimal(sign: .minus, exponent: -2, significand: 1999)),
    "text": .string("a\"b\\c\n\u{1}é, 漢"), "flag": .boolean(true),
    "moment": .date(Date(timeIntervalSinceReferenceDate: 495_828_900)), "bytes": .binary(Data([0, 255])),
    "passing": .string("not kept"),
  ]

  private static func fixture() throws -> RecordTextFixture {
    var fixture = try RecordTextFixture()
    let uuid = try #require(UUID(uuidString: "E899556C-BE1A-42A3-A634-F8411915C05F"))
    var values = values
    values["name"] = .uuid(uuid)
    values["place"] = .uri(try #require(URL(string: "https://example.org/?q=a")))
    values["friend"] = .toOne(fixture.id(.string("O'Neil, \"E\"")))
    values["friends"] = .toMany([fixture.id(.integer(7)), fixture.id(.uuid(uuid))])
    fixture.add(.integer(7), values)
    fixture.add(.string("7"), ["number": .double(.nan), "single": .float(-.infinity), "bytes": .binary(Data())])
    fixture.add(.uuid(uuid), ["text": .string("")])
    return fixture
  }

  @Test func jsonHasEveryKindOfValue() throws {
    let fixture = try Self.fixture()
    let lines = try fixture.text(RecordJSON(entity: fixture.entity)).split(separator: "\n")
    let full: [String] = [
      #"{"$entity":"Everything","$id":"7","short":-32768,"long":-9223372036854775808,"number":0.1,"single":0.1,"#,
      #""price":"-19.99","text":"a\"b\\c\n\u0001é, 漢","flag":true,"moment":"2016-09-17T18:15:00Z","#,
      #""bytes":"AP8=","name":"E899556C-BE1A-42A3-A634-F8411915C05F","place":"https://example.org/?q=a","#,
      #""friend":"O'Neil, \"E\"","friends":["7","E899556C-BE1A-42A3-A634-F8411915C05F"]}"#,
    ]
    let empty: [String] = [
      #"{"$entity":"Everything","$id":"'7","short":null,"long":null,"number":"nan","single":"-inf","price":null,"#,
      #""text":null,"flag":null,"moment":null,"bytes":"","name":null,"place":null,"friend":null,"friends":[]}"#,
    ]
    #expect(lines[0] == full.joined())
    #expect(lines[1] == empty.joined())
    for line in lines {
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      #expect(object?.count == 15)
    }
  }

  @Test func fieldsKeepNilAndEmptyApart() throws {
    let fixture = try Self.fixture()
    let fields = RecordFields(entity: fixture.entity)
    #expect(
      String(decoding: fields.header.unsafeBytes, as: UTF8.self)
        == "$id,short,long,number,single,price,text,flag,moment,bytes,name,place,friend,friends\n"
    )
    let text = try fixture.text(fields)
    #expect(text.hasPrefix("7,-32768,-9223372036854775808,0.1,0.1,-19.99,\"a\"\"b\\c\n\u{1}é, 漢\",true,"))
    #expect(text.contains(",\"O'Neil, \"\"E\"\"\",\"[\"\"7\"\",\"\"E899556C-BE1A-42A3-A634-F8411915C05F\"\"]\"\n"))
    #expect(text.contains("\n'7,,,nan,-inf,,,,,\"\",,,,[]\n"))
    #expect(text.hasSuffix("\nE899556C-BE1A-42A3-A634-F8411915C05F,,,,,,\"\",,,,,,,[]\n"))
  }

  @Test func tableShowsNoControlCharacters() throws {
    let fixture = try Self.fixture()
    let text = try fixture.text(RecordTable(fixture.table, width: nil))
    #expect(text.split(separator: "\n").count == 3)
    #expect(text.contains("a\"b\\c\\n\\u0001é, 漢"))
  }

  @Test(arguments: [40, 80, 200])
  func tableFitsIntoItsWidth(_ width: Int) throws {
    var fixture = try RecordTextFixture()
    for number in 0..<20 {
      fixture.add(.integer(Int64(number)), ["text": .string(String(repeating: "漢x", count: number * 5))])
    }
    let table = RecordTable(fixture.table, width: width)
    // Fourteen columns of six cells and their gaps are the least.
    for line in try fixture.text(table).split(separator: "\n") {
      #expect(DisplayText.width(of: String(line)) <= max(width, 14 * 6 + 13 * 2))
    }
  }

  @Test func deletedRecordsAreLeftOut() throws {
    var fixture = try RecordTextFixture()
    for number in 0..<5 { fixture.add(.integer(Int64(number))) }
    var table = fixture.table
    table.delete([RowID(group: 0, row: 1), RowID(group: 0, row: 4)])
    var bytes: [UInt8] = []
    try RecordFields(entity: fixture.entity).write(table) { bytes += $0.unsafeBytes }
    let references = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { $0.prefix { $0 != "," } }
    #expect(references == ["0", "2", "3"])
  }

  @Test func whatTheSinkThrowsEndsTheWriting() throws {
    struct Enough: Error {}
    var fixture = try RecordTextFixture()
    fixture.add(.integer(1))
    #expect(throws: Enough.self) {
      try RecordJSON(entity: fixture.entity).write(fixture.table) { _ in throw Enough() }
    }
  }
}
