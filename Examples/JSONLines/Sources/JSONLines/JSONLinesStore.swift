import Foundation
import Heartwood

/// A store of text: the first line is the store's metadata in JSON, and each of the others is a record.
public final class JSONLinesStore: AtomicStore, StoreClass {
  /// What such a file is called, and what the store can do.
  public static let typeDescription = StoreTypeDescription(
    type: "JSONLines",
    displayName: "JSON Lines",
    fileExtensions: ["jsonl"],
    capabilities: StoreCapabilities(
      kind: .atomic,
      features: [.persistence, .relationships, .userMetadata],
      attributeTypes: Set(AttributeType.allCases),
      referenceKinds: [.uuid, .integer, .string]
    )
  )

  /// Makes a store; it needs to know nothing beforehand.
  public init(_ setup: StoreSetup) {}

  /// Reads the first line.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try file.withFirstLine { try JSONDecoder().decode(StoreMetadata.self, from: Data($0.utf8)) }
  }

  /// Reads each record from a line of its own.
  public func load(_ file: StoreInput, into loader: StoreLoader) throws {
    try file.forEachLine(after: 1) { line in
      let record = try JSONDecoder().decode(Record.self, from: Data(line.utf8))
      let id = try record.name.objectID(in: loader)
      try loader.addNode(id.reference, to: id.entity) { node in
        try node.setAttributeTexts(record.values)
        for (key, names) in record.links {
          try node.setObjectIDs(names.map { try $0.objectID(in: loader) }, forKey: key)
        }
      }
    }
  }

  /// Writes each record to a line of its own.
  public func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    try output.write([UInt8](encoder.encode(contents.metadata)) + "\n".utf8)
    for node in contents.nodes { try output.write([UInt8](encoder.encode(Record(node))) + "\n".utf8) }
  }
}

/// A line: what the record is called, its values as text, and what its relationships lead to.
private struct Record: Codable {
  let name: Name
  let values: [String: String]
  let links: [String: [Name]]

  init(_ node: AtomicStoreCacheNode) {
    name = Name(node.objectID)
    values = node.attributeTexts
    links = node.relatedObjectIDs.mapValues { $0.map(Name.init) }
  }
}

private struct Name: Codable {
  let entity: String
  let reference: String

  init(_ id: ManagedObjectID) { (entity, reference) = (id.entity.name, id.reference.text) }

  func objectID(in loader: StoreLoader) throws -> ManagedObjectID {
    loader.objectID(ReferenceID(text: reference), of: try loader.entity(named: entity))
  }
}
