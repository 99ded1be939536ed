import Foundation
import HeartwoodModel
import HeartwoodRecordText
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodFormats

/// Puts stores together, and writes and reads them in memory.
struct SampleStore {
  let model: ManagedObjectModel
  let setup: StoreSetup

  init(_ model: ManagedObjectModel, configuration: String? = nil, options: StoreOptions = StoreOptions()) throws {
    self.model = model
    self.setup = StoreSetup(
      model: model,
      configurationName: configuration,
      entities: try #require(model.entities(forConfiguration: configuration)),
      path: Self.path,
      options: options
    )
  }

  /// What `fill` adds to a loader.
  func contents(
    _ identifier: UUID = UUID(),
    userInfo: [String: MetadataValue] = [:],
    _ fill: (StoreLoader) throws -> Void
  ) throws -> StoreContents {
    let loader = StoreLoader(setup: setup, storeType: .binary)
    loader.metadata = StoreMetadata(identifier: identifier, storeType: .binary, userInfo: userInfo)
    loader.metadata.setModel(setup.entities, versionIdentifiers: model.versionIdentifiers)
    try fill(loader)
    return try loader.finish()
  }

  /// The file of `contents`; they remember what a store remembers of it.
  func write(_ contents: inout StoreContents) throws -> [UInt8] {
    let store = try BinaryStore(setup)
    try store.validate(contents)
    return try file { try store.save(&contents, over: nil, to: $0) }
  }

  func write(_ contents: StoreContents) throws -> [UInt8] {
    var contents = contents
    contents.attachment = nil
    return try write(&contents)
  }

  /// The file of `contents`, whose groups are written as they are, however small.
  ///
  /// - Parameter hasLog: whether saves can be added to the file, however short it is.
  func writeGroups(of contents: StoreContents, hasLog: Bool = false) throws -> [UInt8] {
    let writer = BinaryWriter(
      contents,
      memory: BinarySaveMemory(),
      path: nil,
      grouping: RowGrouping(smallRowCount: 0),
      leastLengthWithLog: hasLog ? 0 : BinaryFormat.leastLengthWithLog
    )
    return try file { _ = try writer.write(to: $0) }
  }

  private func file(_ body: (StoreOutput) throws -> Void) throws -> [UInt8] {
    let fileSystem = InMemoryFileSystem()
    let file = try fileSystem.createTemporaryFile(besidePath: Self.path, permissions: nil)
    let output = StoreOutput(file)
    try body(output)
    try output.flush()
    try file.close()
    return try #require(fileSystem.contents(ofFileAtPath: file.path))
  }

  /// What a file holds, checked as an engine checks it.
  func read(_ bytes: [UInt8]) throws -> StoreContents {
    let loader = StoreLoader(setup: setup, storeType: .binary)
    try BinaryStore(setup).load(try Self.input(bytes), into: loader)
    return try loader.finish().verified()
  }

  static let path = "/sample.heartwood"

  /// A file of `bytes`, open for reading.
  static func input(_ bytes: [UInt8]) throws -> StoreInput {
    let fileSystem = InMemoryFileSystem()
    try fileSystem.setContents(bytes, ofFileAtPath: path)
    return try StoreInput(fileSystem.openFile(atPath: path))
  }
}

extension StoreContents {
  /// The contents with `groups` as the records of the entity called `name`.
  func replacing(_ name: String, with groups: [RowGroup]) throws -> StoreContents {
    var contents = self
    let entity = try #require(model.entity(named: name))
    contents.tables[entity.ordinal] = NodeTable(entity: entity, groups: groups)
    return contents
  }
}

/// A record as what it says, whatever it is made of.
struct SampleRecord: Hashable, CustomStringConvertible {
  let entity: String
  let reference: ReferenceID
  let version: UInt64
  let values: [PropertyValue]

  init(_ node: AtomicStoreCacheNode) {
    entity = node.entity.name
    reference = node.reference
    version = node.version
    values = node.values
  }

  var description: String { "\(entity) \(reference) version \(version): \(values)" }
}

extension StoreContents {
  /// The lines that describe all records: an object of JSON in each.
  func recordLines() throws -> [UInt8] {
    var lines: [UInt8] = []
    for table in tables { try RecordJSON(entity: table.entity).write(table) { lines += $0.unsafeBytes } }
    return lines
  }

  /// All records, in order.
  var records: [SampleRecord] { entities.flatMap { entity in nodes(of: entity).map(SampleRecord.init) } }
}

extension UUID {
  /// A UUID that ends in `number`.
  init(sample number: UInt8) {
    self.init(uuid: (0xE8, 0x99, 0x55, 0x6C, 0xBE, 0x1A, 0x42, 0xA3, 0xA6, 0x34, 0xF8, 0x41, 0x19, 0x15, 0xC0, number))
  }
}
