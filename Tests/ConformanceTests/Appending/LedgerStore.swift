import Foundation
import Heartwood

/// A store of text that adds saves to the end of its file, as an author may write one: it uses public API alone.
///
/// The first line is the metadata in JSON. Then come blocks: a line with the length and the checksum of the rest, and a
/// line for each record in JSON. The first block has all records, and each of the others what a save has changed.
final class LedgerStore: AtomicStore, StoreClass {
  static let typeDescription = StoreTypeDescription(
    type: "Ledger",
    displayName: "Ledger",
    fileExtensions: ["ledger"],
    capabilities: StoreCapabilities(
      kind: .atomic,
      features: [.persistence, .relationships, .userMetadata],
      attributeTypes: Set(AttributeType.allCases),
      referenceKinds: [.uuid, .integer, .string]
    )
  )

  init(_ setup: StoreSetup) {}

  static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try file.withFirstLine { try JSONDecoder().decode(StoreMetadata.self, from: Data($0.utf8)) }
  }

  func load(_ file: StoreInput, into loader: StoreLoader) throws {
    let bytes = try file.bytes()
    guard let line = bytes.firstIndex(of: UInt8(ascii: "\n")), var block = LedgerBlock(bytes, at: line + 1) else {
      throw PersistenceError(.fileCorrupt, "The records are missing or damaged.")
    }
    var ledger = Ledger()
    try ledger.apply(block)
    while let next = LedgerBlock(bytes, at: block.end) {
      try ledger.apply(next)
      block = next
    }
    for case let record? in ledger.records { try record.add(to: loader) }
    loader.attachment = block.end
  }

  func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    let encoder = JSONEncoder()
    // The same content is the same bytes.
    encoder.outputFormatting = .sortedKeys
    try output.write([UInt8](encoder.encode(contents.metadata)) + "\n".utf8)
    try output.write(LedgerBlock.bytes(of: contents.nodes.map { .put(LedgerRecord($0)) }))
    contents.attachment = output.byteCount
  }
}

extension LedgerStore: AppendingStore {
  func appendix(
    for changes: ChangeSet,
    recordedAs transaction: ByteSlice?,
    in contents: inout StoreContents,
    before: StoreContents
  ) throws -> FileAppendix? {
    guard let end = contents.attachment as? Int, !changes.isEmpty else { return nil }
    var entries = changes.deleted.map { LedgerEntry.delete(LedgerName($0.objectID)) }
    for id in changes.updated.map(\.objectID) + changes.inserted.map(\.objectID) {
      if let node = try contents.node(id.reference, of: id.entity) { entries.append(.put(LedgerRecord(node))) }
    }
    let bytes = try LedgerBlock.bytes(of: entries)
    if bytes.count > end / 8 { return nil }
    contents.attachment = end + bytes.count
    return FileAppendix(start: end, bytes: bytes)
  }
}

// MARK: Blocks

/// The records of one save, with the checksum that shows whether they are complete.
private struct LedgerBlock {
  let end: Int
  private let lines: ArraySlice<UInt8>

  /// Returns nil if there is no complete block at `offset`.
  init?(_ bytes: [UInt8], at offset: Int) {
    guard let line = bytes[offset...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    let head = String(decoding: bytes[offset..<line], as: UTF8.self).split(separator: " ")
    guard head.count == 2, let length = Int(head[0]), length >= 0, length < bytes.count - line else { return nil }
    lines = bytes[(line + 1)...].prefix(length)
    end = lines.endIndex
    guard UInt64(head[1], radix: 16) == ByteSlice(Array(lines)).checksum else { return nil }
  }

  var entries: [LedgerEntry] {
    get throws {
      try lines.split(separator: UInt8(ascii: "\n")).map { line in
        try JSONDecoder().decode(LedgerEntry.self, from: Data(line))
      }
    }
  }

  static func bytes(of entries: [LedgerEntry]) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let lines = try entries.flatMap { try [UInt8](encoder.encode($0)) + "\n".utf8 }
    return "\(lines.count) \(String(ByteSlice(lines).checksum, radix: 16))\n".utf8 + lines
  }
}

/// The records as the blocks that have been read leave them, in the order in which they were first saved.
private struct Ledger {
  /// Nil in the place of a deleted record.
  private(set) var records: [LedgerRecord?] = []
  /// By name, byte by byte: strings are equal that differ in their bytes.
  private var places: [[UInt8]: Int] = [:]

  mutating func apply(_ block: LedgerBlock) throws {
    for entry in try block.entries {
      switch entry {
      case .put(let record):
        if let place = places[record.name.bytes] {
          records[place] = record
        } else {
          places[record.name.bytes] = records.count
          records.append(record)
        }
      case .delete(let name):
        if let place = places.removeValue(forKey: name.bytes) { records[place] = nil }
      }
    }
  }
}

// MARK: Records

private enum LedgerEntry: Codable {
  case put(LedgerRecord)
  case delete(LedgerName)
}

private struct LedgerRecord: Codable {
  let name: LedgerName
  let version: UInt64
  let values: [String: String]
  let links: [String: [LedgerName]]

  init(_ node: AtomicStoreCacheNode) {
    name = LedgerName(node.objectID)
    version = node.version
    values = node.attributeTexts
    links = node.relatedObjectIDs.mapValues { $0.map(LedgerName.init) }
  }

  func add(to loader: StoreLoader) throws {
    let id = try name.objectID(in: loader)
    try loader.addNode(id.reference, to: id.entity, version: version) { node in
      try node.setAttributeTexts(values)
      for (key, names) in links { try node.setObjectIDs(names.map { try $0.objectID(in: loader) }, forKey: key) }
    }
  }
}

private struct LedgerName: Codable {
  let entity: String
  let reference: String
  var bytes: [UInt8] { entity.utf8 + [0] + reference.utf8 }

  init(_ id: ManagedObjectID) { (entity, reference) = (id.entity.name, id.reference.text) }

  func objectID(in loader: StoreLoader) throws -> ManagedObjectID {
    loader.objectID(ReferenceID(text: reference), of: try loader.entity(named: entity))
  }
}
