import FoundationEssentials
import HeartwoodModel
import HeartwoodStore
import Synchronization
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
      path: "/sample.heartwood",
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
    let sink = ByteSink()
    let output = StoreOutput(sink)
    let store = try BinaryStore(setup)
    try store.validate(contents)
    try store.save(&contents, over: nil, to: output)
    try output.flush()
    return sink.bytes
  }

  func write(_ contents: StoreContents) throws -> [UInt8] {
    var contents = contents
    contents.attachment = nil
    return try write(&contents)
  }

  /// What a file holds, checked as an engine checks it.
  func read(_ bytes: [UInt8]) throws -> StoreContents {
    let loader = StoreLoader(setup: setup, storeType: .binary)
    try BinaryStore(setup).load(StoreInput(ByteFile(bytes)), into: loader)
    let contents = try loader.finish()
    for table in contents.tables { try table.verify() }
    return contents
  }
}

/// A file in memory that is open for reading.
struct ByteFile: ReadableFile {
  let path = "/sample.heartwood"
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  func status() throws(PersistenceError) -> FileStatus {
    FileStatus(
      identity: .init(device: 0, number: 0, size: bytes.count, modificationSeconds: 0, modificationNanoseconds: 0),
      size: bytes.count,
      permissions: 0o644,
      isRegularFile: true
    )
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(PersistenceError) -> Int {
    let part = bytes.dropFirst(offset).prefix(buffer.count)
    buffer.copyBytes(from: part)
    return part.count
  }

  func mapped() throws(PersistenceError) -> FileBytes { FileBytes(copying: bytes) }
}

/// A file in memory that is being written.
final class ByteSink: WritableFile {
  let path = "/sample.heartwood"
  private let written = Mutex<[UInt8]>([])
  var bytes: [UInt8] { written.withLock { $0 } }

  func write(_ bytes: UnsafeRawBufferPointer) throws(PersistenceError) {
    let bytes = Array(bytes)
    written.withLock { $0 += bytes }
  }

  func synchronize() throws(PersistenceError) {}
  func close() throws(PersistenceError) {}
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
  /// All records, in order.
  var records: [SampleRecord] { entities.flatMap { entity in nodes(of: entity).map(SampleRecord.init) } }
}

extension UUID {
  /// A UUID that ends in `number`.
  init(sample number: UInt8) {
    self.init(uuid: (0xE8, 0x99, 0x55, 0x6C, 0xBE, 0x1A, 0x42, 0xA3, 0xA6, 0x34, 0xF8, 0x41, 0x19, 0x15, 0xC0, number))
  }
}
