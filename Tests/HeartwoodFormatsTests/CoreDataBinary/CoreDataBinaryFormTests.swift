import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@_spi(CoreDataFiles) @testable import HeartwoodFormats

/// The form of binary stores of Core Data, in files that are written here.
@Suite struct CoreDataBinaryFormTests {
  private static let date = Date(timeIntervalSinceReferenceDate: 495_828_900.5)
  private static let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      EntityDefinition(
        name: "Base",
        isAbstract: true,
        properties: [
          .attribute("zone", .string, optional: true), .attribute("added", .date, optional: true),
          .toMany("links", "Base", inverse: nil, ordered: true),
        ]
      ),
      EntityDefinition(
        name: "Thing",
        superentityName: "Base",
        properties: [
          .attribute("amount", .decimal, optional: true), .attribute("Upper", .integer64, optional: true),
          .attribute("flag", .boolean, optional: true), .attribute("made", .transformable, optional: true),
          .attribute("uuid", .uuid, optional: true), .attribute("place", .uri, optional: true),
          .attribute("shown", .string, optional: true, transient: true), .attribute("ratio", .float, optional: true),
          .attribute("bytes", .binary, optional: true), .toOne("owner", "Other", inverse: "things"),
        ]
      ),
      .entity("Other", .toMany("things", "Thing", inverse: "owner")),
    ])
  }

  private static func file() throws -> StoreFile { StoreFile(CoreDataBinaryStore.self, try model()) }

  /// A file with a record that has every value, and two more.
  private static func filled(_ made: Data = Data([1, 2, 3])) throws -> StoreFile {
    let file = try file()
    let loader = StoreLoader(setup: file.setup, storeType: .coreDataBinary)
    let (thing, other) = (try loader.entity(named: "Thing"), try loader.entity(named: "Other"))
    let place = try #require(URL(string: "https://example.org/a?b=c#d"))
    try loader.addNode(.integer(4), to: thing) { node in
      try node.setValue(.string("Ünter ❄️"), forKey: "zone")
      try node.setValue(.date(date), forKey: "added")
      try node.setValue(.decimal(try #require(Decimal(string: "-1234567890123456789.0125"))), forKey: "amount")
      try node.setValue(.integer(.min), forKey: "Upper")
      try node.setValue(.boolean(true), forKey: "flag")
      try node.setValue(.binary(made), forKey: "made")
      try node.setValue(.uuid(uuid), forKey: "uuid")
      try node.setValue(.uri(place), forKey: "place")
      try node.setValue(.float(0.1), forKey: "ratio")
      try node.setValue(.binary(Data([0xFF, 0])), forKey: "bytes")
      try node.setValue(.toOne(loader.objectID(.integer(9), of: other)), forKey: "owner")
      let links = [Int64(7), 4].map { loader.objectID(.integer($0), of: thing) }
      try node.setValue(.toMany(links), forKey: "links")
    }
    try loader.addNode(.integer(7), to: thing) { _ in }
    try loader.addNode(.integer(9), to: other) { node in
      try node.setValue(.toMany([loader.objectID(.integer(4), of: thing)]), forKey: "things")
    }
    loader.metadata.userInfo = ["note": "n", "list": .array([.integer(1), .dictionary(["a": .binary(Data([1]))])])]
    try file.create(try loader.finish())
    return file
  }

  private static func records(_ file: StoreFile) throws -> [ArchiveTree: ArchiveTree] {
    let header = try CoreDataBinaryHeader(try file.input)
    guard
      case .dictionary("NSMutableDictionary", let records) = try file.bytes.archiveTree(
        \.records,
        of: header,
        key: "mapData"
      )
    else {
      Issue.record("no map")
      return [:]
    }
    return records
  }

  private static let null = ArchiveTree.object(className: "NSNull", [:])

  @Test func aRecordIsWrittenAsCoreDataWritesIt() throws {
    let file = try Self.filled()
    let records = try Self.records(file)
    #expect(Set(records.keys) == [.integer(4), .integer(7), .integer(9)])
    guard case .object("NSDictionaryMapNode", let node)? = records[.integer(4)],
      case .list("NSArray", let values)? = node["NSAttributeValues"]
    else {
      Issue.record("no node")
      return
    }
    #expect(Set(node.keys) == ["NSAttributeValues", "NSPrimaryKey64", "NSEntityName", "NSRelatedNodes"])
    #expect(node["NSPrimaryKey64"] == .integer(4) && node["NSEntityName"] == .text("Thing"))
    // Those of the entity above by name, then its own by name, capitals first; without what is transient; and a null for each relationship.
    #expect(
      Array(values.prefix(3)) == [
        .object(className: "NSDate", ["NS.time": .real(495_828_900.5)]), .text("Ünter ❄️"), .integer(.min),
      ]
    )
    #expect(values[4] == .data(Data([0xFF, 0])))
    #expect(values[5] == .integer(1) && values[6] == .data(Data([1, 2, 3])))
    #expect(
      values[7] == .object(className: "NSURL", ["NS.base": .null, "NS.relative": .text("https://example.org/a?b=c#d")])
    )
    #expect(values[8] == .real(Double(Float(0.1))))
    #expect(values[9] == .object(className: "NSUUID", ["NS.uuidbytes": .data(Data(1...16))]))
    #expect(Array(values[10...]) == [Self.null, Self.null])
    #expect(
      node["NSRelatedNodes"]
        == .dictionary(
          className: "NSMutableDictionary",
          [
            .text("links"): .list(className: "NSMutableArray", [.integer(7), .integer(4)]),
            .text("owner"): .list(className: "NSArray", [.integer(9)]),
          ]
        )
    )
    guard case .object(_, let bare)? = records[.integer(7)] else {
      Issue.record("no node")
      return
    }
    #expect(bare["NSRelatedNodes"] == nil)
    #expect(bare["NSAttributeValues"] == .list(className: "NSArray", Array(repeating: Self.null, count: 12)))
  }

  @Test func everyValueComesBack() throws {
    let file = try Self.filled()
    let contents = try file.open().contents()
    let thing = try #require(contents.model.entity(named: "Thing"))
    let node = try #require(try contents.node(.integer(4), of: thing))
    #expect(node["amount"] == .decimal(try #require(Decimal(string: "-1234567890123456789.0125"))))
    #expect(node["uuid"] == .uuid(Self.uuid) && node["added"] == .date(Self.date) && node["ratio"] == .float(0.1))
    #expect(node["links"].objectIDs.map(\.reference) == [.integer(7), .integer(4)])
    #expect(contents.nextReferenceNumber == 10)
    let metadata = try CoreDataBinaryStore.readMetadata(from: file.input, options: file.options)
    #expect(metadata.userInfo["note"] == "n" && metadata.userInfo.count == 2)
    #expect(try CoreDataBinaryStore.readModel(from: file.input, options: file.options) == Self.model())
    #expect(CoreDataBinaryStore.recognizes(prefix: Array(try file.bytes.prefix(512))))
    #expect(try CoreDataBinaryStore.readFormatVersion(from: file.input, options: file.options) == "1, 134481920")
  }

  /// Records that Core Data would not call so keep what they are called, beside a key.
  @Test func everyReferenceComesBack() throws {
    let file = try Self.file()
    let loader = StoreLoader(setup: file.setup, storeType: .coreDataBinary)
    let (thing, other) = (try loader.entity(named: "Thing"), try loader.entity(named: "Other"))
    let names: [ReferenceID] = [
      .integer(3), .integer(-1), .uuid(Self.uuid), .string("a b"), .string("7"), .integer(.max),
    ]
    for name in names {
      try loader.addNode(name, to: thing) { node in
        try node.setValue(.toOne(loader.objectID(name, of: other)), forKey: "owner")
      }
      if name != .integer(3) {
        try loader.addNode(name, to: other) { node in
          try node.setValue(.toMany([loader.objectID(name, of: thing)]), forKey: "things")
        }
      }
    }
    let contents = try loader.finish()
    let bytes = try file.create(contents)
    // The owner that the first one leads to is gone.
    let read = try file.open().contents()
    #expect(ContentsComparison.firstDifference(contents, read) == nil)
    #expect(try file.create(read) == bytes)
  }

  // MARK: Transformed values

  /// Core Data keeps the object of a transformable attribute, and not its archive.
  @Test func anArchiveIsAPartOfTheFile() throws {
    var archive = KeyedArchiveWriter()
    let root = archive.reserve()
    let inner = archive.list(.array, [archive.value(.integer(5)), archive.text("five"), .reference(root)])
    archive.set(root, ArchivedClass("NSColor"), ["NSComponents": inner, "NSRGB": .data(Data([1]))])
    let made = Data(try canonical(archive.bytes(root: .reference(root))))
    let file = try Self.filled(made)
    guard case .object = try part(of: file) else {
      Issue.record("the archive is no part")
      return
    }
    let thing = try #require(file.model.entity(named: "Thing"))
    #expect(try file.open().contents().node(.integer(4), of: thing)?["made"] == .binary(made))
  }

  private func canonical(_ bytes: [UInt8]) throws -> [UInt8] {
    let objects = try ArchivedObjects(bytes.withUnsafeBytes { ByteRegion.copying($0) }, in: 0..<bytes.count)
    return try objects.archive(of: try #require(try objects.root("root")), RecordAllowance(1 << 20))
  }

  /// Follows no reference back, since the part leads to itself.
  private func part(of file: StoreFile) throws -> ArchiveTree? {
    let header = try CoreDataBinaryHeader(try file.input)
    let objects = try ArchivedObjects(file.bytes.withUnsafeBytes { ByteRegion.copying($0) }, in: header.records)
    let nodes = try CoreDataBinaryNodes(file.bytes.withUnsafeBytes { ByteRegion.copying($0) }, header)
    let node = try #require(nodes.nodes.first { $0.key == 4 })
    let value = try objects.target(try nodes.values(of: node)[6])
    return try objects.className(value) == "NSColor" ? .object(className: "NSColor", [:]) : nil
  }

  @Test(arguments: ["bplist00", "", "no archive"]) func otherBytesStayBytes(_ text: String) throws {
    let file = try Self.filled(Data(text.utf8))
    let thing = try #require(file.model.entity(named: "Thing"))
    #expect(try file.open().contents().node(.integer(4), of: thing)?["made"] == .binary(Data(text.utf8)))
  }

  // MARK: Faults

  /// Reads a file of one entity that was written with another model.
  private func refusal(
    writing written: [PropertyDescription],
    _ value: (name: String, value: PropertyValue)?,
    reading read: [PropertyDescription]
  ) throws -> PersistenceError? {
    let file = StoreFile(
      CoreDataBinaryStore.self,
      try ManagedObjectModel(entities: [EntityDefinition(name: "One", properties: written)])
    )
    let loader = StoreLoader(setup: file.setup, storeType: .coreDataBinary)
    try loader.addNode(.integer(1), to: try loader.entity(named: "One")) { node in
      if let value { try node.setValue(value.value, forKey: value.name) }
    }
    let bytes = try file.create(try loader.finish())
    var options = StoreOptions()
    options[.ignoresModelVersion] = true
    let other = StoreFile(
      CoreDataBinaryStore.self,
      try ManagedObjectModel(entities: [EntityDefinition(name: "One", properties: read)]),
      options: options
    )
    return try other.refusal(of: bytes)
  }

  static let wrongKinds: [(AttributeType, AttributeType)] = [
    (.string, .integer64), (.string, .date), (.string, .uuid), (.string, .uri), (.string, .binary), (.string, .decimal),
    (.integer64, .string), (.integer64, .date), (.integer64, .boolean), (.integer64, .integer16), (.binary, .string),
    (.date, .double), (.uuid, .string), (.double, .integer32), (.decimal, .integer64), (.transformable, .string),
  ]

  @Test(arguments: wrongKinds) func aValueOfAnotherKindIsRefused(_ written: AttributeType, _ read: AttributeType) throws
  {
    let values: [AttributeType: PropertyValue] = [
      .string: .string("text"), .integer64: .integer(70_000), .binary: .binary(Data([1])), .date: .date(Self.date),
      .uuid: .uuid(Self.uuid), .double: .double(0.5), .decimal: .decimal(1), .transformable: .binary(Data([1])),
    ]
    let error = try refusal(
      writing: [.attribute("a", written, optional: true)],
      ("a", try #require(values[written])),
      reading: [.attribute("a", read, optional: true)]
    )
    #expect(error?.code == .fileMalformed)
    #expect(error?.context.property == "a" && error?.context.entity == "One" && error?.context.byteOffset ?? 0 > 64)
    #expect(error?.context.objectIDs.map(\.reference) == [.integer(1)])
  }

  @Test func anotherModelIsRefused() throws {
    let a = PropertyDescription.attribute("a", .string, optional: true)
    let b = PropertyDescription.attribute("b", .string, optional: true)
    let none = try refusal(writing: [a], ("a", .string("x")), reading: [])
    #expect(none?.code == .modelIncompatible && none?.context.entity == "One")
    #expect(try refusal(writing: [a], nil, reading: [a, b])?.code == .modelIncompatible)
    let link = PropertyDescription.toOne("b", "One", inverse: nil)
    let value = try refusal(writing: [a, b], ("b", .string("x")), reading: [a, link])
    #expect(value?.code == .modelIncompatible && value?.context.byteOffset ?? 0 > 64)
  }

  /// Whatever byte is wrong, an error says so, or what is read can be read whole.
  @Test func damagedFilesAreRefusedOrRead() throws {
    let file = try Self.filled()
    let bytes = try file.bytes
    for count in 0..<bytes.count where count > 0 {
      let error = try file.refusal(of: Array(bytes.prefix(count)))
      #expect(error != nil, "cut at \(count)")
    }
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for place in bytes.indices {
      var damaged = bytes
      damaged[place] ^= UInt8.random(in: 1...255, using: &generator)
      try file.write(damaged)
      _ = try? CoreDataBinaryStore.inferModel(from: file.input, options: file.options)
      do {
        for node in try file.open().contents().nodes { _ = node.values }
      } catch let error as PersistenceError {
        #expect(error.context.path == StoreFile.path, "seed \(seed), byte \(place): \(error)")
      }
    }
  }

  /// Whatever byte is wrong, a salvage finds records that were there, or says that nothing is left.
  @Test func damagedFilesAreSalvaged() throws {
    let file = try Self.filled()
    let bytes = try file.bytes
    var greatest = 0
    for place in bytes.indices {
      for damaged in [
        Array(bytes.prefix(place)), bytes.enumerated().map { $0.offset == place ? ~$0.element : $0.element },
      ] {
        try file.write(damaged)
        let loader = StoreLoader(setup: file.setup, storeType: .coreDataBinary)
        let salvage = StoreSalvage(loader)
        do {
          try CoreDataBinaryStore(file.setup).salvage(file.input, into: salvage)
          let contents = try loader.finish()
          for node in contents.nodes { _ = node.values }
          greatest = max(greatest, contents.count)
        } catch let error as PersistenceError {
          #expect(error.context.path == StoreFile.path, "byte \(place): \(error)")
        }
      }
    }
    #expect(greatest == 3)
  }

  @Test(arguments: [
    (8, "The header is of version"), (16, "A part of the file is outside"), (32, "A part of the file is outside"),
    (0, "does not begin"),
  ])
  func aWrongHeaderIsRefused(_ offset: Int, _ text: String) throws {
    let file = try Self.filled()
    var bytes = try file.bytes
    bytes[offset] = 0x7F
    let error = try file.refusal(of: bytes)
    #expect(error?.problem.contains(text) == true, "\(String(describing: error))")
    #expect(error?.context.byteOffset == offset)
  }
}
