import Foundation
import HeartwoodModel
import HeartwoodTesting
import TestSupport
import Testing

@testable import HeartwoodFormats
@testable import HeartwoodStore

/// The samples of files to which saves were added.
@Suite struct AppendedSampleTests {
  static func golden() throws -> [UInt8] {
    try SampleFiles.bytes("version-4.heartwood") { try made() }
  }

  private static func interrupted() throws -> [UInt8] {
    try SampleFiles.bytes("version-4-interrupted.heartwood") {
      var bytes = try golden()
      bytes += [UInt8](BinaryBlock.magic) + [6, 0, 0, 0, 0, 0, 0, 0, 0, 1]
      let torn = BinarySlot.offsets[0] + 12
      bytes.replaceSubrange(torn..<(torn + 20), with: [UInt8](repeating: 0xA5, count: 20))
      return bytes
    }
  }

  /// The golden file with five saves added.
  private static func made() throws -> [UInt8] {
    let store = try GoldenSample.store()
    let files = InMemoryFileSystem()
    try files.setContents(
      store.writeGroups(of: GoldenSample.contents(), hasLog: true),
      ofFileAtPath: SampleStore.path
    )
    var options = StoreOptions()
    options[.tracksPersistentHistory] = true
    let engine = try AtomicStoreEngine.open(
      AtomicClassFormat(BinaryStore.self),
      setup: SampleStore(store.model, options: options).setup,
      fileSystem: files
    )
    for (number, change) in changes.enumerated() {
      _ = try engine.save(try change(engine.contents()), origin: SaveOrigin(author: "save \(number + 1)"))
    }
    return try #require(files.contents(ofFileAtPath: SampleStore.path))
  }

  private static let changes: [@Sendable (StoreContents) throws -> ChangeSet] = [
    { try update("Note", at: 0, in: $0) { type, _ in value(of: type) } },
    { try update("Note", at: 1, in: $0) { _, _ in .null } },
    insertion, relation, deletion,
  ]

  @Sendable private static func insertion(_ contents: StoreContents) throws -> ChangeSet {
    let task = try #require(contents.model.entity(named: "Task"))
    let order = try #require(task.ordinal(ofProperty: "order"))
    var values = task.properties.map { $0.relationship?.isToMany ?? false ? PropertyValue.toMany([]) : .null }
    values[order] = .integer(77)
    let id = contents.objectID(.string("added"), of: task)
    var changes = ChangeSet()
    changes.inserted = [ObjectSnapshot(objectID: id, version: 0, values: values)]
    return changes
  }

  @Sendable private static func relation(_ contents: StoreContents) throws -> ChangeSet {
    let project = try #require(contents.model.entity(named: "Project"))
    let items = try #require(project.ordinal(ofProperty: "items"))
    let node = try #require(contents.nodes(of: project).first { _ in true })
    let task = try #require(contents.model.entity(named: "Task"))
    let ids = [contents.objectID(.string("added"), of: task)] + node["items"].objectIDs.reversed()
    var changes = ChangeSet()
    changes.updated = [
      RecordUpdate(objectID: node.objectID, baseVersion: node.version, values: [(items, .toMany(ids))])
    ]
    return changes
  }

  @Sendable private static func deletion(_ contents: StoreContents) throws -> ChangeSet {
    let tag = try #require(contents.model.entity(named: "Tag"))
    let node = try #require(contents.nodes(of: tag).first { _ in true })
    var changes = ChangeSet()
    changes.deleted = [RecordDeletion(objectID: node.objectID, baseVersion: node.version)]
    return changes
  }

  private static func update(
    _ name: String,
    at place: Int,
    in contents: StoreContents,
    _ value: (AttributeType, String) -> PropertyValue
  ) throws -> ChangeSet {
    let entity = try #require(contents.model.entity(named: name))
    let node = try #require(Array(contents.nodes(of: entity)).dropFirst(place).first)
    let values = entity.properties.enumerated().compactMap { ordinal, property in
      property.isTransient ? nil : property.attribute.map { (ordinal, value($0.type, $0.name)) }
    }
    var changes = ChangeSet()
    changes.updated = [RecordUpdate(objectID: node.objectID, baseVersion: node.version, values: values)]
    return changes
  }

  private static func value(of type: AttributeType) -> PropertyValue {
    switch type {
    case .integer16: .integer(-16)
    case .integer32: .integer(32)
    case .integer64: .integer(.max)
    case .decimal: .decimal(Decimal(sign: .minus, exponent: -3, significand: 12345))
    case .double: .double(0.1)
    case .float: .float(-0.5)
    case .string: .string("added “é”")
    case .boolean: .boolean(true)
    case .date: .date(Date(timeIntervalSinceReferenceDate: 86400.5))
    case .binary, .transformable, .undefined: .binary(Data([0, 255, 10]))
    case .uuid: .uuid(UUID(sample: 0x77))
    case .uri: URL(string: "https://example.org/added").map(PropertyValue.uri) ?? .null
    }
  }

  @Test func theFileHoldsWhatItShould() throws {
    let store = try GoldenSample.store()
    let read = try store.read(Self.golden())
    #expect(try BinaryFile(SampleStore.input(Self.golden())).log?.newest.number == 5)
    #expect(try read.recordLines() == SampleFiles.bytes("version-4.jsonl") { try read.recordLines() })
    #expect(try read.historyLines() == SampleFiles.bytes("version-4.history.jsonl") { try read.historyLines() })
    var expected = try GoldenSample.contents()
    for change in Self.changes {
      _ = try expected.apply(change(expected), typeDescription: BinaryStore.typeDescription)
    }
    #expect(read.records == expected.records)
    #expect(read.metadata == expected.metadata)
    #expect(try store.read(Self.interrupted()).records == read.records)
    let file = try SampleStore.input(Self.golden())
    #expect(try BinaryStore.readFormatVersion(from: file, options: StoreOptions()) == "4")
  }

  @Test(.enabled(if: PythonReader.exists, "there is no python3 to run the independent reader"))
  func theIndependentReaderReadsIt() throws {
    let read = try GoldenSample.store().read(Self.golden())
    _ = try Self.interrupted()
    for name in ["version-4.heartwood", "version-4-interrupted.heartwood"] {
      let path = SampleFiles.folder.appending(path: name).path
      let result = try PythonReader.run([path])
      #expect(result.status == 0, "\(result.errors)")
      #expect(result.output == Data(try read.recordLines()), "\(String(decoding: result.output, as: UTF8.self))")
      #expect(try PythonReader.run(["--history", path]).output == Data(try read.historyLines()))
    }
  }
}
