import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodSQLite

/// Which forms of a value are read, and that every other one is an error which says where it stands.
@Suite struct ValueKindTests {
  private let bench: ReadingBench

  init() throws {
    bench = try ReadingBench()
  }

  /// What stands in a column, as SQL says it, and what is told of it.
  static let refused: [(attribute: String, value: String, reason: String)] = [
    ("short", "'seven'", "text instead of an integer"), ("short", "2.5", "a number with a fraction"),
    ("short", "x'00'", "bytes instead of an integer"), ("short", "70000", "out of the range of the type integer16"),
    ("medium", "'seven'", "text instead of an integer"), ("medium", "2.5", "a number with a fraction"),
    ("medium", "3000000000", "out of the range of the type integer32"), ("medium", "x'31'", "bytes"),
    ("long", "'seven'", "text instead of an integer"), ("long", "2.5", "a number with a fraction"),
    ("long", "1e19", "out of the range of the type integer64"), ("long", "9e999", "out of the range"),
    ("flag", "'x'", "text instead of a boolean"), ("flag", "0.5", "a number with a fraction"),
    ("flag", "x'01'", "bytes"),
    ("real", "'x'", "text instead of a number"), ("real", "x'3130'", "bytes instead of a number"),
    ("single", "'x'", "text instead of a number"), ("single", "1e300", "out of the range of the type float"),
    ("date", "'garbage'", "text instead of a date"), ("date", "x'00'", "bytes instead of a date"),
    ("date", "9223372036854775807", "out of the range of the type date"),
    ("decimal", "'12 apples'", "text instead of a decimal number"), ("decimal", "x'31'", "bytes"),
    ("decimal", "1e300", "out of the range of the type decimal"), ("decimal", "9e999", "out of the range"),
    ("text", "x'61'", "bytes instead of text"), ("text", "CAST(x'61ff' AS TEXT)", "text that is not UTF-8"),
    ("uri", "x'61'", "bytes instead of the text of a URI"), ("uri", "CAST(x'ff' AS TEXT)", "text that is not UTF-8"),
    ("uri", "'http://['", "text that is not a URI"), ("uuid", "'E899556C'", "a UUID otherwise"),
    ("uuid", "x'0102'", "2 bytes that are not a UUID"), ("data", "'abc'", "text instead of bytes"),
    ("data", "5", "an integer instead of bytes"), ("transformed", "2.5", "a real number instead of bytes"),
    ("large", "'abc'", "text instead of bytes"), ("large", "x'07'", "does not show whether"),
  ]

  @Test(arguments: refused)
  func aValueOfAnotherKindIsAnError(_ given: (attribute: String, value: String, reason: String)) throws {
    try bench.makeNotes(3)
    try bench.execute("UPDATE ZNOTE SET Z\(given.attribute.uppercased()) = \(given.value) WHERE Z_PK = 2")
    let what = "\(given.attribute) = \(given.value)"
    for error in [bench.fetchError("Note"), bench.contentsError] {
      #expect(error?.code == .fileMalformed, "\(what)")
      #expect(error?.message.hasPrefix("The row with the key 2 of the table ZNOTE ") == true, "\(what)")
      #expect(error?.message.contains(given.reason) == true, "\(what): \(error?.message ?? "")")
      #expect(error?.context.entity == "Note" && error?.context.property == given.attribute, "\(what)")
    }
    let found = try bench.unreadable()
    #expect(found.count == 1 && found.values.map(\.reference) == [.integer(2)], "\(what)")
    #expect(found.values.first?.propertyName == given.attribute, "\(what)")
    // The other records are there, and so is the one once the value has been mended.
    #expect(try bench.names(where: "name != 'note 2'") == ["note 1", "note 3"], "\(what)")
    #expect(bench.fetchError("Note", where: "name == 'note 2'") != nil, "\(what)")
    try bench.execute("UPDATE ZNOTE SET Z\(given.attribute.uppercased()) = NULL")
    #expect(try bench.names() == ["note 1", "note 2", "note 3"], "\(what)")
    #expect(try bench.unreadable().count == 0, "\(what)")
  }

  static let accepted: [(attribute: String, value: String, expected: PropertyValue)] = [
    ("short", "-32768", .integer(-32768)), ("medium", "7.0", .integer(7)),
    ("long", "9223372036854775807", .integer(.max)),
    ("flag", "0", .boolean(false)), ("flag", "1", .boolean(true)), ("flag", "2", .boolean(true)),
    ("real", "9e999", .double(.infinity)), ("single", "0.1", .float(0.1)),
    ("date", "5", .date(.init(timeIntervalSinceReferenceDate: 5))),
    ("date", "0.5", .date(.init(timeIntervalSinceReferenceDate: 0.5))), ("decimal", "5", .decimal(5)),
    ("decimal", "0.25", .decimal(0.25)), ("decimal", "'NaN'", .decimal(.nan)), ("text", "5", .string("5")),
    ("uri", "''", .null), ("data", "x''", .binary(Data())), ("large", "x'0107'", .binary(Data([7]))),
  ]

  @Test(arguments: accepted)
  func whatMeansTheSameIsRead(_ given: (attribute: String, value: String, expected: PropertyValue)) throws {
    try bench.makeNotes(1)
    // A column without an affinity keeps what it is given.
    try bench.execute("UPDATE ZNOTE SET Z\(given.attribute.uppercased()) = \(given.value)")
    let note = try #require(try bench.fetch("Note").first)
    let value = try note.propertyValue(forKey: given.attribute)
    if case .decimal(let number) = given.expected, number.isNaN {
      guard case .decimal(let found) = value else { return #expect(value == given.expected) }
      #expect(found.isNaN)
    } else {
      #expect(value == given.expected, "\(given.attribute) = \(given.value)")
    }
    #expect(try bench.unreadable().count == 0)
  }

  /// A column of another type than Core Data's keeps a whole number as a real one, and a decimal number as text.
  @Test func columnsOfOtherTypesMayHoldTheSame() throws {
    try bench.makeNotes(1)
    for (column, type) in [("ZLONG", "FLOAT"), ("ZFLAG", "FLOAT"), ("ZDECIMAL", "VARCHAR")] {
      try bench.execute("ALTER TABLE ZNOTE DROP COLUMN \(column); ALTER TABLE ZNOTE ADD COLUMN \(column) \(type)")
    }
    let digits = "0.12345678901234567890123456789"
    try bench.execute("UPDATE ZNOTE SET ZLONG = 7, ZFLAG = 1, ZDECIMAL = '\(digits)'")
    let forms = try bench.query { try String.fetchAll($0, sql: "SELECT typeof(ZLONG) || typeof(ZDECIMAL) FROM ZNOTE") }
    try #require(forms == ["realtext"])
    let note = try #require(try bench.fetch("Note").first)
    #expect(try note.propertyValue(forKey: "long") == .integer(7))
    #expect(try note.propertyValue(forKey: "flag") == .boolean(true))
    #expect(try note.propertyValue(forKey: "decimal") == .decimal(try #require(Decimal(string: digits))))
  }

  @Test func allThatCannotBeReadIsCounted() throws {
    try bench.makeNotes(300)
    try bench.execute("UPDATE ZNOTE SET ZTEXT = CAST(x'ff' AS TEXT) WHERE Z_PK > 150")
    try bench.execute("UPDATE ZNOTE SET ZDATE = 'garbage', Z_OPT = 'old' WHERE Z_PK = 300")
    let found = try bench.unreadable(limit: 100)
    // A row whose version is no number is told once, and the values in it are not.
    #expect(found.count == 150)
    #expect(found.values.map(\.reference) == (151...250).map { .integer($0) })
    let all = try bench.unreadable(limit: 1000)
    #expect(all.values.count == 150 && all.values.last?.propertyName == nil)
    #expect(all.values.last?.error.message.contains("text instead of the number of its version (Z_OPT)") == true)
  }

  @Test func allValuesOfARecordAreTold() throws {
    try bench.makeNotes(2)
    try bench.execute("UPDATE ZNOTE SET ZTEXT = x'61', ZLONG = 'x', ZDATE = 'x', ZLIST = 'x' WHERE Z_PK = 1")
    let found = try bench.unreadable()
    #expect(found.count == 4)
    #expect(Set(found.values.map(\.propertyName)) == ["text", "long", "date", "list"])
    #expect(found.values.allSatisfy { $0.reference == .integer(1) && $0.entityName == "Note" && !$0.costsValueOnly })
  }
}
