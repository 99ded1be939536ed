public import HeartwoodModel

/// One record of an atomic store, seen as an object: a handle to a row of a table.
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

  /// What the store calls the record.
  public var reference: ReferenceID { group.references[row] }

  /// How often the record has been saved, its insertion included.
  public var version: UInt64 { group.versions[row] }

  /// The value of the property with `ordinal` in the node's entity.
  public subscript(ordinal: Int) -> PropertyValue {
    group.value(row: row, ordinal: ordinal, type: entity.properties[ordinal].attribute?.type, scopes: scopes)
  }

  /// The value of the property called `name`, which the node's entity must have.
  public subscript(name: String) -> PropertyValue {
    guard let ordinal = entity.ordinal(ofProperty: name) else {
      Misuse.stop("\(entity.name) has no property called \(name). Its properties are in entity.properties.")
    }
    return self[ordinal]
  }

  /// The values of all properties, indexed by ordinal.
  public var values: [PropertyValue] { entity.properties.indices.map { self[$0] } }
}
