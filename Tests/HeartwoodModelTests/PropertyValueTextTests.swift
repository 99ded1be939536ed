import Foundation
import HeartwoodModel
import HeartwoodTesting
import Testing

@Suite("Values as text")
struct PropertyValueTextTests {
  @Test("The canonical form of each type, there and back", arguments: try canonicalForms())
  func canonical(_ type: AttributeType, _ value: PropertyValue, _ text: String) {
    #expect(value.text(of: type) == text)
    #expect(PropertyValue(text: text, type: type) == value)
  }

  private static func canonicalForms() throws -> [(AttributeType, PropertyValue, String)] {
    let uuid = try #require(UUID(uuidString: "E899556C-BE1A-42A3-A634-F8411915C05F"))
    return [
      (.integer16, .integer(-32_768), "-32768"),
      (.integer32, .integer(2_147_483_647), "2147483647"),
      (.integer64, .integer(.min), "-9223372036854775808"),
      (.integer64, .integer(.max), "9223372036854775807"),
      (.decimal, .decimal(try #require(Decimal(string: "-0.10"))), "-0.1"),
      (.decimal, .decimal(.nan), "nan"),
      (.double, .double(0.1), "0.1"),
      (.double, .double(.leastNonzeroMagnitude), "5e-324"),
      (.double, .double(-.infinity), "-inf"),
      (.double, .double(.nan), "nan"),
      (.float, .float(0.1), "0.1"),
      (.float, .float(.greatestFiniteMagnitude), "3.4028235e+38"),
      (.float, .float(.infinity), "inf"),
      (.string, .string(""), ""),
      (.string, .string("e\u{301}\u{0}\n"), "e\u{301}\u{0}\n"),
      (.boolean, .boolean(true), "true"),
      (.boolean, .boolean(false), "false"),
      (.date, .date(Date(timeIntervalSinceReferenceDate: 495_828_900)), "495828900.0"),
      (.date, .date(Date(timeIntervalSinceReferenceDate: .nan)), "nan"),
      (.binary, .binary(Data([0, 255, 16])), "AP8Q"),
      (.transformable, .binary(Data()), ""),
      (.uuid, .uuid(uuid), "E899556C-BE1A-42A3-A634-F8411915C05F"),
      (.uri, .uri(try #require(URL(string: "https://example.org/a%20b?c#d"))), "https://example.org/a%20b?c#d"),
    ]
  }

  @Test(
    "Text that is no value of the type is refused",
    arguments: [
      (AttributeType.integer16, ["", "32768", "-32769", "1.0", "0x10", " 1", "1 ", "99999999999999999999", "nan"]),
      (.decimal, ["", "abc", "1abc", "1e", "--1", ".", "1..2", "inf", "1e400", "0x1"]),
      // Digits that a decimal number has no room for are not cut.
      (.decimal, ["340282366920938463463374607431768211456", "0.3402823669209384634633746074317682114559", "1e-129"]),
      (.decimal, ["-1234567890123456789012345678901234567890.1e5", "1e128", "1.5e-130"]),
      (.double, ["", "1e999", "0x1p3", "nan(0x1)", "infinity", "1,5", " 1", "e5"]),
      (.float, ["1e39", "1d", "+", "-"]),
      (.boolean, ["YES", "1", "True", ""]),
      (.date, ["2016-09-17", "", "1e400"]),
      (.binary, ["A", "AP8", "AP8Q=", "****"]),
      (.uuid, ["", "E899556C", "E899556C-BE1A-42A3-A634-F8411915C05G"]),
      (.uri, [""]),
    ]
  )
  func refused(_ type: AttributeType, _ texts: [String]) {
    for text in texts { #expect(PropertyValue(text: text, type: type) == nil, "\(type) \(text)") }
  }

  @Test(
    "A decimal number has any 38 digits, zeros at its ends not counted, and 39 where they are few enough",
    arguments: [
      ("340282366920938463463374607431768211455", "340282366920938463463374607431768211455"),
      ("-3402823669209384634633746074317682114.55", "-3402823669209384634633746074317682114.55"),
      ("0099999999999999999999999999999999999999e2", "9999999999999999999999999999999999999900"),
      ("1.50000000000000000000000000000000000000000000", "1.5"),
      ("0.00000000000000000000000000000000000000000000", "0"),
      ("1e-128", "0." + String(repeating: "0", count: 127) + "1"),
    ]
  )
  func decimalDigits(_ text: String, _ canonical: String) {
    #expect(PropertyValue(text: text, type: .decimal)?.text(of: .decimal) == canonical)
  }

  @Test("A number becomes one of another type, or nothing where that type has no room for it")
  func conversions() {
    for number in [1e128, -1e300, .infinity, 1.5e-130] {
      #expect(PropertyValue.double(number).converted(to: .decimal) == nil, "\(number)")
    }
    for number in [1e39, -1e300, .greatestFiniteMagnitude] {
      #expect(PropertyValue.double(number).converted(to: .float) == nil, "\(number)")
    }
    #expect(PropertyValue.decimal(1e100).converted(to: .float) == nil)
    #expect(PropertyValue.double(.infinity).converted(to: .float) == .float(.infinity))
    #expect(PropertyValue.double(.nan).converted(to: .decimal) == .decimal(.nan))
    #expect(PropertyValue.double(1e127).converted(to: .decimal)?.text(of: .decimal)?.count == 128)
    #expect(PropertyValue.double(0.1).converted(to: .float) == .float(0.1))
    #expect(PropertyValue.null.converted(to: .decimal) == .null)
  }

  @Test("A value of another type has no text")
  func misfits() {
    #expect(PropertyValue.string("1").text(of: .integer16) == nil)
    #expect(PropertyValue.integer(70_000).text(of: .integer16) == nil)
    #expect(PropertyValue.null.text(of: .string) == nil)
    #expect(PropertyValue.toMany([]).text(of: .transformable) == nil)
  }

  @Test("Any value of any type comes back", arguments: AttributeType.allCases)
  func random(_ type: AttributeType) throws {
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed) for \(type)")
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<2_000 {
      let value = PropertyValue.random(of: type, using: &generator)
      let text = try #require(value.text(of: type))
      #expect(PropertyValue(text: text, type: type) == value, "seed \(seed), \(text)")
    }
  }
}
