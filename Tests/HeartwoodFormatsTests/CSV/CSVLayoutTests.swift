import Foundation
import HeartwoodFormats
import HeartwoodModel
import HeartwoodStore
import Testing

/// What layouts say, and what of it is refused.
@Suite struct CSVLayoutTests {
  private static let thing = EntityDefinition.entity(
    "Thing",
    .attribute("name", .string, optional: true),
    .attribute("size", .integer32, optional: true),
    .attribute("shown", .string, optional: true, transient: true)
  )

  private func fixture(_ columns: [CSVStore.Column]? = nil, _ change: (inout CSVStore.Dialect) -> Void = { _ in })
    throws -> CSVFixture
  {
    var layout = CSVStore.Layout(columns: columns)
    change(&layout.dialect)
    return try CSVFixture(Self.thing, layout: layout)
  }

  @Test(
    arguments: [
      ([.property("name"), .property("size"), .property("weight"), .reference()], .propertyUnknown, "weight"),
      ([.property("name"), .property("size"), .property("shown"), .reference()], .propertyUnknown, "shown"),
      ([.property("name"), .property("name"), .property("size"), .reference()], .fileFormatUnsupported, "name"),
      ([.property("name"), .property("size"), .reference(), .reference()], .fileFormatUnsupported, nil),
      ([.property("name"), .property("size")], .fileFormatUnsupported, nil),
      ([.property("name"), .reference()], .fileFormatUnsupported, "size"),
      ([], .fileFormatUnsupported, nil),
    ] as [([CSVStore.Column], PersistenceError.Code, String?)]
  )
  func columnsThatDoNotFitAreRefused(
    _ columns: [CSVStore.Column],
    _ code: PersistenceError.Code,
    _ property: String?
  ) throws {
    let error = try fixture(columns).openingError()
    #expect(error.code == code)
    #expect(error.context.property == property)
    #expect(error.context.entity == "Thing")
  }

  @Test(arguments: "\"\n\r #a1-+:.%'\0".utf8.map { $0 } + [0x80, 0xFF])
  func separatorsThatTellNothingApartAreRefused(_ separator: UInt8) throws {
    let error = try fixture { $0.separator = separator }.openingError()
    #expect(error.code == .fileFormatUnsupported)
  }

  @Test func relationshipToAnotherEntityIsRefused() throws {
    let model = try ManagedObjectModel(
      entities: [
        .entity("A", .toOne("b", "B", inverse: nil)), .entity("B", .attribute("x", .string, optional: true)),
      ],
      configurations: ["Text": ["A"]]
    )
    let setup = StoreSetup(
      model: model,
      configurationName: "Text",
      entities: try #require(model.entities(forConfiguration: "Text")),
      path: "/a.csv",
      options: StoreOptions()
    )
    let error = try #require(throws: PersistenceError.self) { try CSVStore(setup) }
    #expect(error.code == .capabilityMissing)
    #expect(error.context.property == "b")
  }

  @Test func inheritedPropertiesComeFirst() throws {
    let fixture = try CSVFixture(
      .entity("Base", abstract: true, .attribute("name", .string, optional: true)),
      .entity(
        "Child",
        parent: "Base",
        .attribute("size", .integer32, optional: true),
        .toOne("up", "Base", inverse: nil)
      )
    )
    let engine = try fixture.open("a, 5, 1, 1")
    #expect(try engine.values("name") == [.string("a")])
    #expect(try engine.values("size") == [.integer(5)])
  }

  @Test func entityStatesItsColumns() throws {
    let definition = EntityDefinition.entity(
      "Thing",
      userInfo: [CSVStore.Layout.userInfoKey: "#, size,name"],
      .attribute("name", .string, optional: true),
      .attribute("size", .integer32, optional: true)
    )
    let fixture = try CSVFixture(definition)
    let engine = try fixture.open("7, 5, a")
    #expect(try engine.records.map(\.reference) == [.integer(7)])
    #expect(try engine.values("name") == [.string("a")])
    try engine.update(0, "size", .integer(6))
    #expect(try fixture.text.hasSuffix("\n7, 6, a\n"))
  }

  @Test func ignoredColumnsStay() throws {
    let fixture = try fixture([.ignored(), .reference(), .property("name"), .ignored(), .property("size"), .ignored()])
    let engine = try fixture.open("\"x, y\",1,a,  keep ,5,", "#1,2,b,\"\"\"q\"\"\",6,é", ",3,c,,7,z")
    try engine.update(1, "name", .string("new"))
    try engine.update(0, "size", .integer(-5))
    try engine.insert(.integer(4), [.string("d"), .integer(8), .null])
    #expect(
      try fixture.text == """
        #D35CF030-1EC1-4667-9666-70C8247A1010
        "x, y",1,a,  keep ,-5,
        #1,2,new,\"""q\""",6,é
        ,3,c,,7,z
        ,4,d,,8,

        """
    )
    #expect(try fixture.open().records == engine.records)
  }

  /// Ignored fields have to be read with the separator that the file has, whichever record is the first.
  @Test func ignoredFieldsHideNoSeparator() throws {
    let fixture = try fixture([.property("name"), .ignored(), .property("size"), .reference()])
    let engine = try fixture.open("a;-;5;1", "b;w,x,y,z;6;2", "c; x;7;3", "d; y;8;4")
    try engine.delete(0)
    #expect(try fixture.text == "\(CSVFixture.identifier)\nb;\"w,x,y,z\";6;2\nc; x;7;3\nd; y;8;4\n")
    try engine.delete(0)
    try engine.update(1, "name", .string("e"))
    #expect(try fixture.text == "\(CSVFixture.identifier)\nc;\" x\";7;3\ne;\" y\";8;4\n")
    #expect(try fixture.open().records == engine.records)
  }

  /// By commas, the changed record has as many fields as there are columns, and the one before the change had more.
  @Test func ignoredFieldsHideNoSeparatorWhereTheRecordChanges() throws {
    let fixture = try fixture([.ignored(), .property("name"), .property("size"), .reference()])
    let engine = try fixture.open("w,x,y,z;a,b;5;1")
    try engine.update(0, "name", .string("n"))
    #expect(try fixture.text == "\(CSVFixture.identifier)\n\"w,x,y,z\";n;5;1\n")
    #expect(try fixture.open().records == engine.records)
  }

  @Test func headerNamesTheColumns() throws {
    let columns: [CSVStore.Column] = [
      .reference(title: "ID"), .property("name", title: "Full, name"), .property("size"), .ignored(title: "rest"),
    ]
    let fixture = try fixture(columns) { $0.hasHeader = true }
    let engine = try fixture.open()
    try engine.insert(.integer(1), [.string("a"), .integer(8), .null])
    #expect(try fixture.text.hasSuffix("\nID, \"Full, name\", size, rest\n1, a, 8, \n"))
    #expect(try fixture.open().records == engine.records)
    let detected = try self.fixture(columns)
    try detected.write(try fixture.bytes)
    #expect(try detected.open().records == engine.records)
  }

  @Test func headerThatNamesOthersIsRefused() throws {
    let error = try fixture { $0.hasHeader = true }.openingError("size,name,#", "1,a,2")
    #expect(error.context.line == 2)
    #expect(error.message.hasPrefix("The layout has a header row"))
  }

  @Test func headerIsARecordWhereTheLayoutSaysSo() throws {
    let names = EntityDefinition.entity("Name", .attribute("name", .string, optional: true))
    var layout = CSVStore.Layout(allowsBareStringReferences: true)
    let fixture = try CSVFixture(names, layout: layout)
    #expect(try fixture.open("name,#", "a,b").records.count == 1)
    layout.dialect.hasHeader = false
    let other = try CSVFixture(names, layout: layout)
    #expect(try other.open("name,#", "a,b").records.count == 2)
    // And shows, as the first record, that there is no space after separators.
    #expect(try other.open("name,#", "a, b").records.map(\.reference) == [.string("#"), .string(" b")])
  }

  @Test func everyFieldInQuotes() throws {
    let fixture = try fixture { $0.quoting = .all }
    let engine = try fixture.open()
    try engine.insert(.integer(1), [.string("a\"b"), .integer(8), .null])
    try engine.insert(.integer(2), [.null, .null, .null])
    try engine.insert(.integer(3), [.string(""), .integer(0), .null])
    #expect(try fixture.text.hasSuffix("\n\"a\"\"b\", \"8\", \"1\"\n, , \"2\"\n\"\", \"0\", \"3\"\n"))
    #expect(try fixture.open().records == engine.records)
    // And without the layout, the file shows it.
    let detected = try self.fixture()
    try detected.write(try fixture.bytes)
    try detected.open().insert(.integer(4), [.string("x"), .integer(1), .null])
    #expect(try detected.text.hasSuffix("\n\"x\", \"1\", \"4\"\n"))
  }

  @Test func fixedDialectHoldsForWhatIsWritten() throws {
    let fixture = try fixture {
      $0.hasByteOrderMark = true
      $0.lineEnd = .carriageReturnLineFeed
      $0.endsLastLine = false
    }
    let engine = try fixture.open("a, 5, 1", "b, 6, 2")
    try engine.update(1, "size", .integer(7))
    try engine.insert(.integer(3), [.string("c"), .integer(8), .null])
    try engine.update(0, "size", .integer(9))
    #expect(
      try fixture.bytes == Array("\u{FEFF}\(CSVFixture.identifier)\na, 9, 1\r\nb, 7, 2\r\nc, 8, 3".utf8)
    )
    #expect(try fixture.open().records == engine.records)
  }

  @Test(arguments: [";", "\t", "|", "_"])
  func otherSeparators(_ separator: String) throws {
    let fixture = try fixture { $0.separator = separator.utf8.first }
    let engine = try fixture.open()
    try engine.insert(.integer(1), [.string("a, b;c\td|e_f"), .integer(8), .null])
    #expect(try fixture.text.hasSuffix("\n\"a, b;c\td|e_f\"\(separator)8\(separator)1\n"))
    #expect(try fixture.open().records == engine.records)
  }

  /// Two commas, as many as a record has that is separated by them.
  @Test(arguments: [";", "\t"], ["a, b, c", "a, b", "a; b; c"])
  func theSeparatorIsFoundWhateverTheFirstTextHolds(_ separator: String, _ text: String) throws {
    let fixture = try CSVFixture(Self.thing)
    let engine = try fixture.open(["plain", "5", "1"].joined(separator: separator))
    try engine.update(0, "name", .string(text))
    try engine.insert(.integer(2), [.string("b"), .integer(6), .null])
    #expect(try fixture.text.hasSuffix("b\(separator)6\(separator)2\n"))
    #expect(try fixture.open().records == engine.records)
  }

  @Test func spaceAfterTheSeparatorIsNoPartOfAField() throws {
    let spaced = try fixture().open("a, 5, 1", "b,6,2", "  c, 7, 3")
    #expect(try spaced.values("name") == [.string("a"), .string("b"), .string("  c")])
    let tight = try fixture().open("a,5,1", "\" b\",6,2", " c,7,3")
    #expect(try tight.values("name") == [.string("a"), .string(" b"), .string(" c")])
    #expect(try fixture().openingError("a,5,1", "b, 6,2").context.property == "size")
  }
}
