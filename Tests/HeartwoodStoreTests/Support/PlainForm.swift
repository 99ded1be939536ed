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
