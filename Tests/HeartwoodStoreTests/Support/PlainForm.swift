import Foundation
import HeartwoodModel
import HeartwoodStore

/// A file form for tests: everything as JSON, as simply as can be.
struct PlainForm: Codable {
  struct Record: Codable {
    var entity: String
    var reference: String
    /// Attributes as text, relationships as `Entity/reference`; what is nil is left out.
    var values: [String: [String]]
  }

  var metadata: StoreMetadata
  var records: [Record]
  /// What the store was told of the file that this one replaced.
  var previousByteCount: Int?
  var previousRecordCount: Int?
}

extension PlainForm {
  init(_ file: StoreInput) throws {
    do {
      self = try JSONDecoder().decode(PlainForm.self, from: Data(try file.bytes()))
    } catch let error as DecodingError {
      throw PersistenceError(
        .fileMalformed,
        "It is not plain.",
        context: .init(path: file.path),
        underlyingError: error
      )
    }
  }

  func load(into loader: StoreLoader) throws {
    loader.metadata = metadata
    for record in records {
      let entity = try loader.entity(named: record.entity)
      try loader.addNode(ReferenceID(text: record.reference), to: entity) { node in
        for (name, texts) in record.values {
          try node.setValue(try value(texts, entity.property(named: name), loader), forKey: name)
        }
      }
    }
  }

  private func value(
    _ texts: [String],
    _ property: PropertyDescription?,
    _ loader: StoreLoader
  ) throws -> PropertyValue {
    if let type = property?.attribute?.type { return PropertyValue(text: texts.first ?? "", type: type) ?? .null }
    let ids = try texts.map { text in
      let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
      return loader.objectID(ReferenceID(text: parts[1]), of: try loader.entity(named: parts[0]))
    }
    return property?.relationship?.isToMany == true ? .toMany(ids) : ids.first.map(PropertyValue.toOne) ?? .null
  }

  init(_ contents: StoreContents, over previous: PreviousSave?) throws {
    metadata = contents.metadata
    records = contents.entities.flatMap { entity in
      contents.nodes(of: entity).map { node in
        Record(entity: entity.name, reference: node.reference.text, values: Self.values(of: node))
      }
    }
    previousByteCount = try previous?.file.bytes().count
    previousRecordCount = previous?.contents.count
  }

  private static func values(of node: AtomicStoreCacheNode) -> [String: [String]] {
    var texts: [String: [String]] = [:]
    for (property, value) in zip(node.entity.properties, node.values) {
      switch value {
      case .toOne(let id): texts[property.name] = ["\(id.entity.name)/\(id.reference.text)"]
      case .toMany(let ids): texts[property.name] = ids.map { "\($0.entity.name)/\($0.reference.text)" }
      default: texts[property.name] = property.attribute.flatMap { value.text(of: $0.type) }.map { [$0] }
      }
    }
    return texts
  }

  func write(to output: StoreOutput) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    try output.write([UInt8](try encoder.encode(self)))
  }
}

/// A store that can keep everything.
final class PlainStore: AtomicStore {
  static let typeDescription = StoreTypeDescription(
    type: "Plain",
    displayName: "Plain",
    fileExtensions: ["plain"],
    mimeTypes: ["application/x-plain"],
    capabilities: StoreCapabilities(
      kind: .atomic,
      isPersistent: true,
      maximumEntityCount: nil,
      attributeTypes: Set(AttributeType.allCases),
      supportsRelationships: true,
      referenceKinds: [.uuid, .integer, .string],
      supportsUserMetadata: true,
      embedsModel: false
    )
  )

  static func recognizes(prefix: [UInt8]) -> Bool { prefix.starts(with: Array("{\"metadata\"".utf8)) }

  static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try PlainForm(file).metadata
  }

  init(_ setup: StoreSetup) {}

  func load(_ file: StoreInput, into loader: StoreLoader) throws {
    try PlainForm(file).load(into: loader)
  }

  func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    try PlainForm(contents, over: previous).write(to: output)
    contents.attachment = (contents.attachment as? Int ?? 0) + 1
  }
}

/// A store that can keep hardly anything: one entity of strings and numbers, without metadata.
final class NarrowStore: AtomicStore {
  static let typeDescription = StoreTypeDescription(
    type: "Narrow",
    displayName: "Narrow",
    fileExtensions: ["narrow", "plain"],
    capabilities: StoreCapabilities(
      kind: .atomic,
      isPersistent: true,
      maximumEntityCount: 1,
      attributeTypes: [.string, .integer64],
      supportsRelationships: false,
      referenceKinds: [.integer],
      supportsUserMetadata: false,
      embedsModel: false
    )
  )

  static func recognizes(prefix: [UInt8]) -> Bool { prefix.starts(with: Array("narrow".utf8)) }

  static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try PlainForm(file).metadata
  }

  init(_ setup: StoreSetup) {}

  func load(_ file: StoreInput, into loader: StoreLoader) throws {
    try PlainForm(file).load(into: loader)
  }

  func validate(_ contents: StoreContents) throws {
    for entity in contents.entities {
      for node in contents.nodes(of: entity) where node["name"] == .string("unspeakable") {
        throw PersistenceError(.valueUnsupported, "The store does not keep such names.")
      }
    }
  }

  func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    try PlainForm(contents, over: previous).write(to: output)
  }
}
