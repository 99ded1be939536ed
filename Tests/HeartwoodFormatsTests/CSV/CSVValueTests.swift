import Foundation
import HeartwoodFormats
import HeartwoodModel
import HeartwoodStore
import Testing

/// How values of each type are read and written.
@Suite struct CSVValueTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var type: AttributeType
    /// The field in the file.
    var field: String
    var value: PropertyValue
    /// How the value is written; nil means as it was read.
    var written: String?

    init(_ type: AttributeType, _ field: String, _ value: PropertyValue, writtenAs written: String? = nil) {
      (self.type, self.field, self.value, self.written) = (type, field, value, written)
    }

    var testDescription: String { "\(type) \(field.debugDescription)" }
  }

  private static func date(_ seconds: Double) -> PropertyValue { .date(Date(timeIntervalSinceReferenceDate: seconds)) }

  static let cases: [Case] =
    AttributeType.allCases.map { Case($0, "", .null) } + [
      Case(.string, "\"\"", .string("")),
      Case(.string, "a", .string("a")),
      Case(.string, "\"a\"", .string("a"), writtenAs: "a"),
      Case(.string, "a b", .string("a b")),
      Case(.string, "\" a\"", .string(" a")),
      Case(.string, "\"a \"", .string("a ")),
      Case(.string, "  a", .string("  a"), writtenAs: "\"  a\""),
      Case(.string, "\"a, b\"", .string("a, b")),
      Case(.string, "\"say \"\"hi\"\"\"", .string("say \"hi\"")),
      Case(.string, "\"\"\"\"", .string("\"")),
      Case(.string, "\"one\ntwo\r\nthree\rfour\"", .string("one\ntwo\r\nthree\rfour")),
      Case(.string, "a;b\tc|d'e\\f", .string("a;b\tc|d'e\\f")),
      Case(.string, "Grüße, 世界".replacing(", ", with: " "), .string("Grüße 世界")),
      Case(.string, "👩‍👩‍👧‍👦", .string("👩‍👩‍👧‍👦")),
      Case(.string, "a\0b", .string("a\0b")),
      Case(.string, "\u{FEFF}x", .string("\u{FEFF}x")),
      Case(.string, "\u{85}\u{2028}", .string("\u{85}\u{2028}")),
      Case(.string, "\"#hash\"", .string("#hash")),
      Case(.string, "#hash", .string("#hash"), writtenAs: "\"#hash\""),
      Case(.string, "e\u{301}", .string("e\u{301}")),
      Case(.boolean, "1", .boolean(true)),
      Case(.boolean, "0", .boolean(false)),
      Case(.boolean, "YES", .boolean(true), writtenAs: "1"),
      Case(.boolean, "no", .boolean(false), writtenAs: "0"),
      Case(.boolean, "True", .boolean(true), writtenAs: "1"),
      Case(.boolean, "\"false\"", .boolean(false), writtenAs: "0"),
      Case(.integer16, "-32768", .integer(-32768)),
      Case(.integer16, "+7", .integer(7), writtenAs: "7"),
      Case(.integer32, "2147483647", .integer(2_147_483_647)),
      Case(.integer64, "-9223372036854775808", .integer(.min)),
      Case(.integer64, "\"0042\"", .integer(42), writtenAs: "42"),
      Case(.double, "0.1", .double(0.1)),
      Case(.double, "1", .double(1), writtenAs: "1.0"),
      Case(.double, "-0.0", .double(-0.0)),
      Case(.double, "5e-324", .double(.leastNonzeroMagnitude)),
      Case(.double, "1.7976931348623157e+308", .double(.greatestFiniteMagnitude)),
      Case(.double, "nan", .double(.nan)),
      Case(.double, "-inf", .double(-.infinity)),
      Case(.double, "0.1000000000000000055511151231257827", .double(0.1), writtenAs: "0.1"),
      Case(.float, "0.1", .float(0.1)),
      Case(.float, "3.4028235e+38", .float(.greatestFiniteMagnitude)),
      Case(.float, "inf", .float(.infinity)),
      Case(
        .decimal,
        "12345678901234567890.123456789",
        .decimal(Decimal(string: "12345678901234567890.123456789") ?? 0)
      ),
      Case(.decimal, "nan", .decimal(.nan)),
      Case(.date, "2016-09-17 18:15:00 +0000", date(495_828_900)),
      Case(.date, "2016-09-17 18:15:00.5 +0000", date(495_828_900.5)),
      Case(.date, "2016-09-17T20:15:00+02:00", date(495_828_900), writtenAs: "2016-09-17 18:15:00 +0000"),
      Case(.date, "2000-12-31 23:59:59.9 +0000", date(-0.1)),
      Case(.binary, "\"\"", .binary(Data())),
      Case(.binary, "AAEC/w==", .binary(Data([0, 1, 2, 255]))),
      Case(.transformable, "AQID", .binary(Data([1, 2, 3]))),
      Case(.uuid, "E899556C-BE1A-42A3-A634-F8411915C05F", .uuid(UUID(sample: 0x5F))),
      Case(
        .uuid,
        "e899556c-be1a-42a3-a634-f8411915c05f",
        .uuid(UUID(sample: 0x5F)),
        writtenAs: "E899556C-BE1A-42A3-A634-F8411915C05F"
      ),
      Case(
        .uri,
        "https://example.org/a?b=c#d",
        URL(string: "https://example.org/a?b=c#d").map(PropertyValue.uri) ?? .null
      ),
      Case(.uri, "\"mailto:a,b@c.d\"", URL(string: "mailto:a,b@c.d").map(PropertyValue.uri) ?? .null),
    ]

  @Test(arguments: cases)
  func isReadAndWritten(_ test: Case) throws {
    let fixture = try CSVFixture(CSVModels.one(test.type))
    let engine = try fixture.open("\(test.field), 1")
    #expect(try engine.values("value").map(\.kept) == [test.value.kept])
    // A fresh file has the writer's form.
    let other = try CSVFixture(CSVModels.one(test.type))
    try other.create(from: try engine.contents())
    #expect(try other.text == "\(CSVFixture.identifier)\n\(test.written ?? test.field), 1\n")
    #expect(try other.open().records == engine.records)
  }

  @Test(
    arguments: [
      (.integer16, "32768", "from -32768 to 32767"), (.integer64, "9223372036854775808", "from -9223372036854775808"),
      (.integer64, "1.5", "an integer"), (.boolean, "y", "1 or 0"), (.boolean, "", "1 or 0"),
      (.double, "1,5", "a number"),
      (.double, "1e999", "a number"), (.float, "1e39", "a number"), (.double, "0x10", "a number"),
      (.decimal, "1.2.3", "decimal number"), (.date, "today", "a date"), (.binary, "A", "base64"),
      (.binary, "AA=", "base64"),
      (.uuid, "E899556C", "a UUID"), (.uri, "", "a URI"), (.uri, "http://[", "a URI"),
    ] as [(AttributeType, String, String)]
  )
  func isRefused(_ type: AttributeType, _ text: String, _ reason: String) throws {
    let error = try CSVFixture(CSVModels.one(type)).openingError(", 1", "\"\(text)\", 2")
    #expect(error.code == .fileMalformed)
    #expect(error.message.contains(reason), "\(error)")
    #expect([error.context.line, error.context.column] == [3, 1])
    #expect(error.context.property == "value")
  }

  private static let node = EntityDefinition.entity(
    "Node",
    .toOne("parent", "Node", inverse: nil),
    .toMany("others", "Node", inverse: nil, ordered: true)
  )

  @Test func relationshipsAreReferences() throws {
    let fixture = try CSVFixture(Self.node)
    let engine = try fixture.open(
      ", , 1",
      "1, 1 'a 803054FC-C497-4DD7-A078-CF592B994EB4, 803054FC-C497-4DD7-A078-CF592B994EB4",
      "'a, '%20x '100%25 'ü '%0A, 'a",
      "803054fc-c497-4dd7-a078-cf592b994eb4, '  '1 ''q, '1",
      "'a b, , '"
    )
    let uuid = ReferenceID.uuid(try #require(UUID(uuidString: "803054FC-C497-4DD7-A078-CF592B994EB4")))
    let contents = try engine.contents()
    let nodes = Array(contents.nodes(of: try fixture.entity))
    #expect(nodes.map(\.reference) == [.integer(1), uuid, .string("a"), .string("1"), .string("")])
    #expect(nodes.map { $0["parent"].references } == [[], [.integer(1)], [.string("a")], [uuid], [.string("a b")]])
    #expect(
      nodes.map { $0["others"].references } == [
        [], [.integer(1), .string("a"), uuid], [.string(" x"), .string("100%"), .string("ü"), .string("\n")],
        [.string(""), .string("1"), .string("'q")], [],
      ]
    )
    let other = try CSVFixture(Self.node)
    try other.create(from: contents)
    #expect(try other.open().records == engine.records)
  }

  @Test(arguments: ["a, , 1", ", a, 1", ", '%2, 1", ", '%zz, 1", ", '%FF, 1", ", 1 x, 1"])
  func badReferencesAreRefused(_ line: String) throws {
    let error = try CSVFixture(Self.node).openingError(line)
    #expect(error.code == .fileMalformed)
    #expect(error.context.property == (line.hasPrefix(",") ? "others" : "parent"))
  }

  @Test func bareStringsAreReferencesWhereTheLayoutAllowsThem() throws {
    let layout = CSVStore.Layout(allowsBareStringReferences: true)
    let fixture = try CSVFixture(Self.node, layout: layout)
    let engine = try fixture.open("x, x 1 '1 ', x", "\"\", , \"\"", ", , 1", ", , '1", "'it, , ''it", "a b, a%20b, a b")
    let nodes = Array(try engine.contents().nodes(of: try fixture.entity))
    #expect(
      nodes.map(\.reference) == [
        .string("x"), .string(""), .integer(1), .string("1"), .string("'it"), .string("a b"),
      ]
    )
    #expect(nodes[0]["others"].references == [.string("x"), .integer(1), .string("1"), .string("")])
    #expect(nodes[1]["parent"].references == [.string("")])
    #expect(nodes[5]["others"].references == nodes[5]["parent"].references)
    let other = try CSVFixture(Self.node, layout: layout)
    try other.create(from: try engine.contents())
    #expect(try other.open().records == engine.records)
  }
}

extension PropertyValue {
  /// The references of the objects that a relationship leads to.
  fileprivate var references: [ReferenceID] {
    switch self {
    case .toOne(let id): [id.reference]
    case .toMany(let ids): ids.map(\.reference)
    default: []
    }
  }
}
