import Foundation
import HeartwoodGraph
import HeartwoodImporting
import HeartwoodModel
import HeartwoodStore
import Testing

/// JSON as values to be imported.
@Suite struct JSONReaderTests {
  @Test func values() throws {
    let json = """
      \u{FEFF} {"a": [1, -0, 1.50, 12345678901234567890, 2E+3], "b": {}, "c": [], "d": [true, false, null],
      "e": "\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00é", "a b": 1, "f": 1, "f": 2}\n
      """
    let value = try ImportValue(json: Data(json.utf8))
    #expect(
      value["a"] == [1, 0, .number("1.50"), .number("12345678901234567890"), .number("2E+3")]
    )
    #expect(value["b"] == [:] && value["c"] == [] && value["d"] == [true, false, nil])
    #expect(value["e"] == "\"\\/\u{8}\u{C}\n\r\té😀é")
    #expect(value["a b"] == 1 && value["f"] == 2 && value["g"] == nil)
    #expect(try ImportValue(json: Data("7".utf8)) == 7)
  }

  @Test(
    arguments: [
      ("", 0), (" ", 1), ("[1", 2), ("[1,]", 3), ("[,1]", 1), ("{\"a\"}", 4), ("{a:1}", 1), ("{\"a\":1,}", 7),
      ("tru", 0),
      ("nulll", 4), ("01", 0), ("1.", 0), (".5", 0), ("-", 0), ("1e", 0), ("1e+", 0), ("+1", 0), ("0x1", 1), ("\"a", 0),
      ("\"\n\"", 1), ("\"\\x\"", 1), ("\"\\u12g4\"", 1), ("\"\\ud83d\"", 1), ("\"\\ude00\"", 1),
      ("\"\\ud83d\\u0041\"", 1),
      ("\"\\u00", 1), ("\"\\", 1), ("1 2", 2), ("[1] ]", 4), ("NaN", 0), ("'a'", 0), ("[1 2]", 3), ("1.2.3", 0),
    ]
  )
  func mistakes(_ json: String, _ offset: Int) throws {
    let error = persistenceError { _ = try ImportValue(json: Data(json.utf8)) }
    #expect(error?.code == .fileMalformed)
    #expect(error?.context.byteOffset == offset, "\(json)")
    // The elements of the whole are read one after the other there.
    let context = try ImportStack().context
    #expect(persistenceError { try context.importObjects(Contact.self, fromJSON: Data(json.utf8)) } != nil)
  }

  @Test func mistakesHaveLinesAndColumns() throws {
    let error = persistenceError { _ = try ImportValue(json: Data("{\n  \"é\": tru\n}".utf8)) }
    #expect(error?.context.line == 2 && error?.context.column == 8)
    let invalid = persistenceError { _ = try ImportValue(json: Data([0x22, 0x61, 0xFF, 0x22])) }
    #expect(invalid?.code == .fileMalformed && invalid?.context.byteOffset == 0)
  }

  @Test(
    arguments: [
      (AttributeType.integer16, "32768", nil), (.integer32, "1e3", .integer(1000)), (.integer64, "1.5", nil),
      (.integer64, "9223372036854775807", .integer(.max)), (.integer64, "9223372036854775808", nil),
      (.integer64, "1.00000000000000000000000000000000000000000001", nil), (.integer64, "5.000", .integer(5)),
      (.boolean, "1", .boolean(true)), (.boolean, "2", nil), (.double, "1e400", nil), (.float, "0.1", .float(0.1)),
      (.double, "0.1", .double(0.1)), (.string, "1.50", .string("1.50")), (.uuid, "1", nil), (.binary, "1", nil),
      (.decimal, "0.1", PropertyValue(text: "0.1", type: .decimal)), (.decimal, "1e-300", nil),
      (.decimal, "1234567890123456789012345678901234567891", nil),
      (.date, "0", .date(Date(timeIntervalSince1970: 0))), (.date, "1e999", nil),
    ] as [(AttributeType, String, PropertyValue?)]
  )
  func numbers(_ type: AttributeType, _ text: String, _ value: PropertyValue?) throws {
    #expect(try ImportValue(json: Data(text.utf8)).propertyValue(of: type) == value)
    if type != .date, type != .boolean, type != .string {
      #expect(ImportValue.scalar(.string(text)).propertyValue(of: type) == value)
    }
  }

  @Test func otherValues() throws {
    let cases: [(ImportValue, AttributeType, PropertyValue?)] = [
      (true, .integer16, .integer(1)), (true, .string, .string("true")), (nil, .date, .null),
      (7, .string, .string("7")),
      ("No", .boolean, .boolean(false)), ("maybe", .boolean, nil), ("AAE", .binary, nil),
      ("AAEC", .transformable, .binary(Data([0, 1, 2]))),
      (0.5, .decimal, PropertyValue(text: "0.5", type: .decimal)), (0.5, .integer32, nil), ([1], .integer32, nil),
      ([:], .string, nil),
      ("2016-11-21", .integer32, nil), ("x", .uuid, nil), ("", .integer16, nil), (" 1", .integer16, nil),
    ]
    for (value, type, result) in cases { #expect(value.propertyValue(of: type) == result, "\(value) \(type)") }
  }
}
