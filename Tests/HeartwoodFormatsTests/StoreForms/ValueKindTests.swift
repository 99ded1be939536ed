import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodFormats

/// Values of another kind than their attributes, numbers out of range and links to what is no entity are refused by every form, and never read as
/// something. The binary form has no place for them: there the widths of columns are those of the types, and `DeceptionTests` tries the rest.
@Suite struct ValueKindTests {
  static let good: [(type: AttributeType, value: PropertyValue)] = [
    (.integer16, .integer(1234)), (.integer32, .integer(1234)), (.integer64, .integer(1234)),
    (.decimal, .decimal(1234)), (.double, .double(1234.5)), (.float, .float(1234.5)), (.string, .string("token")),
    (.boolean, .boolean(true)), (.date, .date(Date(timeIntervalSinceReferenceDate: 495_828_900))),
    (.binary, .binary(Data([1, 2, 3]))), (.uuid, .uuid(UUID())), (.transformable, .binary(Data([1, 2, 3]))),
  ]

  /// A file with one record that has a sound value, and leads to itself.
  private func file(_ form: any AtomicStoreClass.Type, _ type: AttributeType) throws -> (file: StoreFile, text: String)
  {
    var file = StoreFile(
      form,
      try ManagedObjectModel(entities: [
        .entity("One", .attribute("value", type, optional: true), .toOne("other", "One", inverse: nil))
      ])
    )
    file.options = ConversionTests.xmlOptions
    let loader = StoreLoader(setup: file.setup, storeType: .binary)
    let one = try loader.entity(named: "One")
    let value = try #require(Self.good.first { $0.type == type }?.value)
    try loader.addNode(.integer(7), to: one) { node in
      try node.setValue(value, forKey: "value")
      try node.setValue(.toOne(loader.objectID(.integer(7), of: one)), forKey: "other")
    }
    try file.create(try loader.finish())
    #expect(try file.refusal(of: file.bytes) == nil)
    return (file, try file.text)
  }

  private func expectRefused(
    _ file: StoreFile,
    _ text: String,
    _ bad: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try #require(text != (try file.text), "nothing was replaced", sourceLocation: sourceLocation)
    let error = try file.refusal(of: Array(text.utf8))
    #expect(error != nil, "\(bad) was read", sourceLocation: sourceLocation)
    #expect(
      error?.context.path == StoreFile.path,
      "\(bad): \(String(describing: error))",
      sourceLocation: sourceLocation
    )
    #expect(
      error?.context.line != nil || error?.context.byteOffset != nil || error?.context.property != nil,
      "\(bad): \(String(describing: error))",
      sourceLocation: sourceLocation
    )
  }

  private static let badNumbers: [(AttributeType, [String])] = [
    (.integer16, ["70000", "seven", "2.5", "1e3", "0x10"]), (.integer32, ["3000000000", "seven", "2.5"]),
    (.integer64, ["9223372036854775808", "seven", "2.5", "0x10"]), (.double, ["x", "1,5", "0x10"]),
    (.float, ["x", "1e300"]), (.decimal, ["12 apples", "1e300", "x"]),
  ]

  // MARK: XML

  static let badXML =
    badNumbers + [
      (.boolean, ["x", "2", "yes"]), (.date, ["garbage", "2016-09-17", "1e400"]), (.binary, ["!!!", "abc"]),
      (.transformable, ["!!!"]), (.uuid, ["E899556C", "x"]),
    ]

  @Test(arguments: badXML)
  func xmlRefuses(_ given: (type: AttributeType, texts: [String])) throws {
    let (file, text) = try file(XMLStore.self, given.type)
    for bad in given.texts {
      let changed = text.replacing(#/(<attribute name="value" type="[a-z0-9 ]*">)[^<]*</#) { "\($0.output.1)\(bad)<" }
      try expectRefused(file, changed, "\(given.type) \(bad)")
    }
  }

  @Test(arguments: [
    ("idrefs=\"z7\"", "idrefs=\"TWO:z7\""), ("type=\"ONE\" id", "type=\"TWO\" id"),
    ("name=\"value\"", "name=\"price\""),
    ("type=\"string\"", "type=\"int32\""),
  ])
  func xmlRefusesLinks(_ good: String, _ bad: String) throws {
    let (file, text) = try file(XMLStore.self, .string)
    try expectRefused(file, text.replacing(good, with: bad), bad)
  }

  // MARK: Property lists

  static let badElements: [(AttributeType, [String])] =
    badNumbers.map { type, texts in
      (type, texts.flatMap { ["<integer>\($0)</integer>", "<real>\($0)</real>", "<string>\($0)</string>"] })
    } + [
      (.string, ["<integer>5</integer>", "<true/>", "<data>/w==</data>"]),
      (.boolean, ["<integer>1</integer>", "<string>x</string>", "<real>0.5</real>"]),
      (.date, ["<string>garbage</string>", "<date>garbage</date>", "<date>2016-02-30T00:00:00Z</date>"]),
      (.binary, ["<string>x</string>", "<data>!!!</data>"]), (.transformable, ["<integer>5</integer>"]),
      (.uuid, ["<string>E899556C</string>", "<integer>5</integer>"]),
    ]

  @Test(arguments: badElements)
  func propertyListsRefuse(_ given: (type: AttributeType, elements: [String])) throws {
    let (file, text) = try file(PropertyListStore.self, given.type)
    for bad in given.elements {
      // A real number that is whole, or a decimal number, may stand for one.
      let changed = text.replacing(#/(<key>value<\/key>\s*)(<true\/>|<[a-z]+>[^<]*<\/[a-z]+>)/#) {
        "\($0.output.1)\(bad)"
      }
      try expectRefused(file, changed, "\(given.type) \(bad)")
    }
  }

  @Test(arguments: [
    ("<integer>7</integer>", "<real>7.5</real>"), ("<key>One</key>", "<key>Two</key>"),
    ("<key>value</key>", "<key>price</key>"),
  ])
  func propertyListsRefuseLinks(_ good: String, _ bad: String) throws {
    let (file, text) = try file(PropertyListStore.self, .string)
    let start = try #require(text.range(of: "<key>records</key>"))
    let changed = String(text[..<start.lowerBound]) + String(text[start.lowerBound...]).replacing(good, with: bad)
    try expectRefused(file, changed, bad)
  }

  @Test(arguments: [XMLStore.self, PropertyListStore.self] as [any AtomicStoreClass.Type])
  func textThatIsNotUTF8IsRefused(_ form: any AtomicStoreClass.Type) throws {
    let (file, _) = try file(form, .string)
    var bytes = try file.bytes
    let token = Array("token".utf8)
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: token) })
    bytes[place] = 0xFF
    let error = try file.refusal(of: bytes)
    #expect(error != nil)
  }

  // MARK: CSV

  static let badFields =
    badNumbers + [
      (.boolean, ["x", "2", "maybe"]), (.date, ["garbage", "2016-09-17", "2016-02-30 00:00:00 +0000"]),
      (.binary, ["!!!"]), (.transformable, ["!!!"]), (.uuid, ["E899556C"]), (.uri, ["http://["]),
    ]

  @Test(arguments: badFields)
  func csvRefuses(_ given: (type: AttributeType, texts: [String])) throws {
    for bad in given.texts {
      let fixture = try CSVFixture(CSVModels.one(given.type))
      let error = #expect(throws: PersistenceError.self, "\(given.type) \(bad) was read") {
        _ = try fixture.open("\"\(bad)\", 7")
      }
      #expect(
        error?.context.line == 2 && error?.context.property == "value",
        "\(given.type) \(bad): \(String(describing: error))"
      )
    }
  }
}
