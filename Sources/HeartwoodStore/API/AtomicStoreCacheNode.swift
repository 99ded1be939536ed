public import HeartwoodModel

/// A record of a store, as a handle to a row of a table. Values are read from the table when they are asked for.
///
///     for node in contents.nodes {
///       for (ordinal, property) in node.entity.properties.enumerated() { print(property.name, node[ordinal]) }
///     }
public struct AtomicStoreCacheNode: Sendable {
  package let group: RowGroup
  package let row: Int
  /// The entity of the record.
  public let entity: EntityDescription
  private let scopes: [ObjectIDScope]

  package init(group: RowGroup, row: Int, entity: EntityDescription, scopes: [ObjectIDScope]) {
    self.group = group
    self.row = row
    self.entity = entity
    self.scopes = scopes
  }
}

extension AtomicStoreCacheNode {
  /// The id of the record's object.
  public var objectID: ManagedObjectID {
    ManagedObjectID(scope: scopes[entity.ordinal], reference: reference)
  }

  /// The entities of the record's model, by ordinal.
  package var entities: [EntityDescription] { scopes.map(\.entity) }

  /// The name of the record in the store.
  public var reference: ReferenceID { group.references[row] }

  /// The number of times that the record has been saved, including its insertion.
  public var version: UInt64 { group.versions[row] }

  /// The value of the property with `ordinal` in the node's entity. It is quicker than access by name.
  public subscript(ordinal: Int) -> PropertyValue {
    group.value(row: row, ordinal: ordinal, type: entity.properties[ordinal].attribute?.type, scopes: scopes)
  }

  /// The value of the property called `name`. The node's entity must have the property, or the program stops.
  public subscript(name: String) -> PropertyValue {
    guard let ordinal = entity.ordinal(ofProperty: name) else {
      ProgrammerError.stop("\(entity.name) has no property called \(name). Its properties are in entity.properties.")
    }
    return self[ordinal]
  }

  /// The values of all properties, indexed by ordinal.
  public var values: [PropertyValue] { entity.properties.indices.map { self[$0] } }
}

// MARK: Text

/// What a store that writes text needs of a record: `NodeDraft.setAttributeTexts` and `setObjectIDs` accept it.
extension AtomicStoreCacheNode {
  /// The attributes that have a value, by name, as text in the canonical form of their type: digits, a UUID in
  /// capitals, base64 for binary data, the seconds since 2001-01-01 00:00 UTC for a date. Transient attributes are left
  /// out.
  public var attributeTexts: [String: String] {
    var texts: [String: String] = [:]
    for (ordinal, property) in entity.properties.enumerated() where !property.isTransient {
      guard let attribute = property.attribute else { continue }
      texts[attribute.name] = self[ordinal].text(of: attribute.type)
    }
    return texts
  }

  /// The relationships that have destinations, by name, with the ids of these in order. Transient relationships are
  /// left out.
  public var relatedObjectIDs: [String: [ManagedObjectID]] {
    var related: [String: [ManagedObjectID]] = [:]
    for (ordinal, property) in entity.properties.enumerated() where !property.isTransient {
      let ids = self[ordinal].objectIDs
      if !ids.isEmpty { related[property.name] = ids }
    }
    return related
  }
}
