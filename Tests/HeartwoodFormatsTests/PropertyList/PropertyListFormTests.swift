import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import TestSupport
import Testing

@testable import HeartwoodFormats

/// The form of files, held against Foundation's property lists both ways.
@Suite struct PropertyListFormTests {
  private static let folder = FormatFolder("PropertyList")

  private static func file(_ kind: PropertyListKind, _ model: ManagedObjectModel) -> StoreFile {
    var file = StoreFile(PropertyListStore.self, model)
    file.options[.propertyListKind] = kind
    return file
  }

  private static func format(_ kind: PropertyListKind) -> PropertyListSerialization.PropertyListFormat {
    kind == .binary ? .binary : .xml
  }

  @Test(arguments: PropertyListKind.allCases) func foundationReadsWhatIsWritten(_ kind: PropertyListKind) throws {
    let contents = try GoldenSample.contents()
    let bytes = try Self.file(kind, contents.model).create(contents)
    var format = PropertyListSerialization.PropertyListFormat.openStep
    let root = try #require(
      try PropertyListSerialization.propertyList(from: Data(bytes), format: &format) as? [String: Any]
    )
    #expect(format == Self.format(kind))
    #expect(root["heartwoodVersion"] as? Int == 1)
    let records = try #require(root["records"] as? [String: [[String: Any]]])
    #expect(records.mapValues(\.count) == ["Note": 4, "Task": 9, "Project": 3, "Tag": 4])
    let note = try #require(records["Note"]?.first)
    #expect(note["$id"] as? String == "E899556C-BE1A-42A3-A634-F8411915C001")
    #expect(note["body"] as? String == "Grüße, \"世界\"\n👋")
    #expect(note["created"] as? Date == Date(timeIntervalSinceReferenceDate: 495_828_900))
    #expect(note["pinned"] as? Bool == true)
    #expect(note["small"] as? Int == -32_768)
    #expect(note["large"] as? Int64 == .min)
    #expect(note["picture"] as? Data == Data([0, 255, 16]))
    #expect(note["price"] as? String == "-12.345")
    #expect(note["ratio"] as? Double == 0.1)
    #expect(note["tags"] as? [Int] == [-1])
    let items = try #require(records["Project"]?.first?["items"] as? [[String: Any]])
    #expect(items.map { $0["$entity"] as? String } == ["Task", "Note", "Task"])
    #expect(items.first?["$id"] as? Int == 1)
  }

  @Test(arguments: PropertyListKind.allCases, PropertyListKind.allCases)
  func whatFoundationWritesIsRead(_ kind: PropertyListKind, _ other: PropertyListKind) throws {
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      let contents = try RandomContents.make(GoldenSample.store(), &generator)
      guard contents.tables.allSatisfy({ $0.firstDuplicate() == nil }) else { continue }
      let file = Self.file(kind, contents.model)
      let bytes = try file.create(contents)
      guard ContentsComparison.firstDifference(contents, try file.read(bytes)) == nil else {
        Issue.record("seed \(seed): \(kind) does not come back")
        continue
      }
      guard let root = try? PropertyListSerialization.propertyList(from: Data(bytes), format: nil),
        let again = try? PropertyListSerialization.data(fromPropertyList: root, format: Self.format(other), options: 0)
      else {
        Issue.record("seed \(seed): Foundation does not read or write it")
        continue
      }
      // Foundation's XML has whole seconds and leaves out what XML cannot hold, so only its binary form has all there is.
      if other == .xml { continue }
      // Foundation drops a byte order mark at the beginning of a text in XML, however it is written.
      if kind == .xml, contents.records.contains(where: { $0.values.contains(where: Self.beginsWithMark) }) { continue }
      let difference = ContentsComparison.firstDifference(contents, try file.read([UInt8](again)))
      #expect(difference == nil, "seed \(seed): \(String(describing: difference))")
    }
  }

  private static func beginsWithMark(_ value: PropertyValue) -> Bool {
    guard case .string(let text) = value else { return false }
    return text.unicodeScalars.first == "\u{FEFF}"
  }

  @Test func foundationsXMLIsRead() throws {
    let contents = try GoldenSample.contents()
    let file = Self.file(.binary, contents.model)
    let root = try PropertyListSerialization.propertyList(from: Data(file.create(contents)), format: nil)
    let text = try PropertyListSerialization.data(fromPropertyList: root, format: .xml, options: 0)
    let read = try file.read([UInt8](text))
    // The one date with a fraction of a second is rounded by Foundation.
    let differences = zip(contents.records, read.records).filter {
      $0.reference != $1.reference || $0.values != $1.values
    }
    #expect(differences.map { $0.0.reference } == [.uuid(UUID(sample: 3))])
    #expect(read.count == contents.count)
  }

  @Test(arguments: PropertyListKind.allCases, [1e39, -1e39])
  func aNumberThatAFloatCannotHoldIsRefused(_ kind: PropertyListKind, _ number: Double) throws {
    let contents = try GoldenSample.contents()
    let file = Self.file(kind, contents.model)
    let list = try PropertyListSerialization.propertyList(from: Data(file.create(contents)), format: nil)
    var root = try #require(list as? [String: Any])
    var records = try #require(root["records"] as? [String: [[String: Any]]])
    let cases: [(Double, PersistenceError.Code?)] = [
      (number, .fileMalformed), (number / 10, nil), (number * .infinity, nil),
    ]
    for (weight, code) in cases {
      records["Note"]?[0]["weight"] = weight
      root["records"] = records
      let data = try PropertyListSerialization.data(fromPropertyList: root, format: Self.format(kind), options: 0)
      let error = try file.refusal(of: [UInt8](data))
      #expect(error?.code == code)
      #expect(error?.context.property == (code == nil ? nil : "weight"))
    }
  }

  @Test(arguments: PropertyListKind.allCases) func theKindIsKept(_ kind: PropertyListKind) throws {
    let contents = try GoldenSample.contents()
    let file = Self.file(kind, contents.model)
    let bytes = try file.create(contents)
    let other = Self.file(kind == .binary ? .xml : .binary, contents.model)
    try other.write(bytes)
    _ = try other.open().save(ChangeSet())
    #expect(try other.bytes == bytes)
    #expect(try PropertyListStore.readFormatVersion(from: other.input, options: other.options) == "1, \(kind.rawValue)")
  }

  @Test(arguments: [
    ["heartwoodVersion", "metadata", "records", "model"], ["records", "model", "metadata", "heartwoodVersion"],
    ["records", "metadata", "heartwoodVersion"],
  ])
  func theKeysHaveAnyOrderInXML(_ keys: [String]) throws {
    let contents = try GoldenSample.contents()
    let file = Self.file(.xml, contents.model)
    let bytes = try file.create(contents)
    let root = try #require(
      try PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? [String: Any]
    )
    let members = try keys.map { key -> String in
      let value = try #require(root[key])
      let list = try PropertyListSerialization.data(fromPropertyList: ["k": value], format: .xml, options: 0)
      let text = String(decoding: list, as: UTF8.self)
      let start = try #require(text.range(of: "<key>k</key>")).upperBound
      let end = try #require(text.range(of: "</dict>", options: .backwards)).lowerBound
      return "<key>\(key)</key>\(text[start..<end])"
    }
    try file.write("<plist version=\"1.0\"><dict>\(members.joined())</dict></plist>")
    #expect(try file.open().contents().count == contents.count)
    let metadata = try PropertyListStore.readMetadata(from: file.input, options: file.options)
    #expect(metadata.identifier == contents.metadata.identifier)
    let model = try PropertyListStore.readModel(from: file.input, options: file.options)
    #expect(model == (keys.contains("model") ? contents.model : nil))
  }

  @Test(arguments: PropertyListKind.allCases) func metadataOfAllKindsIsKept(_ kind: PropertyListKind) throws {
    let values: [String: MetadataValue] = [
      "control": "a\u{1}b\u{FFFE}\r\n", "date": .date(Date(timeIntervalSinceReferenceDate: 0.1)),
      "none": .dictionary([:]),
      "distant": .date(.distantFuture), "nan": .double(.infinity),
      "list": .array([.array([]), .binary(Data(0...255)), true]),
      "looksWrapped": .dictionary(["Heartwood.date": .double(1)]),
      "looksWrappedTwice": .dictionary(["Heartwood.dictionary": .dictionary(["Heartwood.string": 1])]),
      "& <key>": "]]>",
    ]
    let model = try SampleModel.make()
    let file = Self.file(kind, model)
    let engine = try file.open()
    try engine.setUserInfo(values)
    _ = try engine.save(ChangeSet())
    #expect(try file.open().metadata.userInfo == values)
    #expect(try PropertyListStore.readMetadata(from: file.input, options: file.options).userInfo == values)
  }

  @Test func aKeyThatXMLCannotHoldIsNamed() throws {
    let engine = try Self.file(.xml, SampleModel.make()).open()
    let error = #expect(throws: PersistenceError.self) {
      try engine.setUserInfo(["fine": 1, "a\u{1}": 2])
      _ = try engine.save(ChangeSet())
    }
    #expect(error?.code == .valueUnsupported)
    #expect(error?.message.contains(#""a\u{01}""#) ?? false)
  }

  /// No record is of an abstract entity, so a reference has to name one that inherits from it.
  @Test func aReferenceToAnAbstractEntityIsRefused() throws {
    let model = try ManagedObjectModel(entities: [
      .entity("Base", abstract: true, .toOne("parent", "Base", inverse: nil)), .entity("Heir", parent: "Base"),
    ])
    let file = Self.file(.xml, model)
    let loader = StoreLoader(setup: file.setup, storeType: .propertyList)
    let heir = try loader.entity(named: "Heir")
    try loader.addNode(.integer(1), to: heir) { node in
      try node.setValue(.toOne(loader.objectID(.integer(1), of: heir)), forKey: "parent")
    }
    try file.create(try loader.finish())
    #expect(try file.refusal(of: file.bytes) == nil)
    let named = "<dict><key>$entity</key><string>Heir</string><key>$id</key><integer>1</integer></dict>"
    let text = try file.text.replacing(named, with: "<integer>1</integer>")
    let error = try file.refusal(of: Array(text.utf8))
    #expect(error?.code == .fileMalformed && error?.context.property == "parent" && error?.context.line != nil)
  }

  // MARK: Samples

  @Test(arguments: PropertyListKind.allCases) func goldenFiles(_ kind: PropertyListKind) throws {
    let contents = try GoldenSample.contents()
    let file = Self.file(kind, contents.model)
    let name = "version-1-\(kind.rawValue).plist"
    let golden = try Self.folder.bytes(name) { try file.create(contents) }
    let read = try file.read(golden)
    #expect(ContentsComparison.firstDifference(contents, read) == nil)
    #expect(try file.create(read) == golden)
    try file.write(golden)
    #expect(try PropertyListStore.readModel(from: file.input, options: file.options) == SampleModel.make())
    #expect(PropertyListStore.recognizes(prefix: Array(golden.prefix(512))))
    guard PythonReader.exists else { return }
    let result = try PythonReader.run([Self.folder.url.appending(path: "samples/\(name)").path], of: "PropertyList")
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      result.output == Data(try FormatFolder("Binary").bytes("version-1.jsonl")),
      "\(String(decoding: result.output, as: UTF8.self))"
    )
  }

  @Test func everySampleIsInTheSpecification() throws {
    let specification = try Self.folder.specification
    for folder in ["samples", "samples/corrupt"] {
      for name in try Self.folder.names(folder) { #expect(specification.contains("| `\(name)` |"), "\(name)") }
    }
  }

  @Test func corruptSamplesAreRefusedWhereTheSpecificationSays() throws {
    let file = Self.file(.binary, try Self.tinyModel())
    let samples = try Self.folder.specification.matches(of: /\| `([a-z0-9-]+\.plist)` \| (?:(\d+):(\d+)|byte (\d+)) \|/)
    #expect(try samples.map { String($0.1) }.sorted() == Self.folder.names("samples/corrupt"))
    for sample in samples {
      let refusal = try file.refusal(of: Self.folder.bytes("corrupt/\(sample.1)"))
      let error = try #require(refusal, "\(sample.1)")
      if let offset = sample.4 {
        #expect(error.context.byteOffset.map(String.init) == String(offset), "\(sample.1): \(error)")
      } else {
        #expect(error.context.line.map(String.init) == sample.2.map { String($0) }, "\(sample.1): \(error)")
        #expect(error.context.column.map(String.init) == sample.3.map { String($0) }, "\(sample.1): \(error)")
      }
    }
  }

  private static func tinyModel() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      .entity(
        "Thing",
        .attribute("name", .string, optional: true),
        .attribute("size", .integer16, optional: true),
        .toOne("next", "Thing", inverse: nil),
        .toMany("others", "Thing", inverse: nil)
      ),
      .entity("Other"),
    ])
  }

  // MARK: Changed files

  @Test(arguments: PropertyListKind.allCases) func changedFilesGiveRecordsOrAnErrorWithAPlace(_ kind: PropertyListKind)
    throws
  {
    let contents = try GoldenSample.contents()
    let file = Self.file(kind, contents.model)
    let original = try file.create(contents)
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<2_000 {
      let bytes = Array(generator.mutated(Data(original)))
      guard let error = try file.refusal(of: bytes) else { continue }
      #expect(error.context.path == StoreFile.path, "seed \(seed): \(error)")
    }
  }
}
