import Foundation
import Heartwood

// What the client and the server say to each other, in JSON.

/// What is told of a store.
package struct StoreHead: Codable, Sendable {
  package var metadata: StoreMetadata
  /// Counts the saves: the `ETag` of the store.
  package var version: UInt64
  /// The model that the store was made with, in JSON.
  package var model: Data?

  package init(metadata: StoreMetadata, version: UInt64, model: Data?) {
    (self.metadata, self.version, self.model) = (metadata, version, model)
  }
}

/// What a record is called.
package struct RecordName: Codable, Sendable, Hashable {
  package let entity: String
  package let reference: String

  package init(entity: String, reference: String) {
    (self.entity, self.reference) = (entity, reference)
  }

  init(_ id: ManagedObjectID) { self.init(entity: id.entity.name, reference: id.reference.text) }

  static func all(in value: PropertyValue) -> [RecordName] {
    switch value {
    case .toOne(let id): [RecordName(id)]
    case .toMany(let ids): ids.map(RecordName.init)
    default: []
    }
  }

  func objectID(in loader: StoreLoader) throws -> ManagedObjectID {
    loader.objectID(ReferenceID(text: reference), of: try loader.entity(named: entity))
  }
}

/// A record, or what changes of one: its values as text, and what its relationships lead to.
package struct Record: Codable, Sendable {
  package let name: RecordName
  package var version: UInt64
  /// A value that is null is one that is taken away.
  package var values: [String: String?] = [:]
  package var links: [String: [RecordName]] = [:]

  init(_ values: [(ordinal: Int, value: PropertyValue)], of id: ManagedObjectID, version: UInt64) {
    (name, self.version) = (RecordName(id), version)
    for (ordinal, value) in values where !id.entity.properties[ordinal].isTransient {
      let property = id.entity.properties[ordinal]
      if let attribute = property.attribute {
        self.values.updateValue(value.text(of: attribute.type), forKey: property.name)
      } else {
        links[property.name] = RecordName.all(in: value)
      }
    }
  }

  func add(to loader: StoreLoader, as entity: EntityDescription) throws {
    try loader.addNode(ReferenceID(text: name.reference), to: entity, version: version) { node in
      try node.setAttributeTexts(values.compactMapValues(\.self))
      for (key, names) in links where !names.isEmpty {
        try node.setObjectIDs(names.map { try $0.objectID(in: loader) }, forKey: key)
      }
    }
  }
}

/// Some of the records of an entity, in the order in which they were inserted.
package struct Page: Codable, Sendable {
  package var records: [Record]
  /// Where the next page begins; nil after the last one.
  package var next: Int?

  package init(records: [Record], next: Int?) {
    (self.records, self.next) = (records, next)
  }
}

/// A save, which is made as a whole or not at all.
package struct SaveMessage: Codable, Sendable {
  /// The same for each attempt at the save, so that one that was made is not made again.
  package let id: UUID
  package var metadata: StoreMetadata?
  package var inserted: [Record] = []
  package var updated: [Record] = []
  package var deleted: [RecordName] = []

  var isEmpty: Bool { metadata == nil && inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}
