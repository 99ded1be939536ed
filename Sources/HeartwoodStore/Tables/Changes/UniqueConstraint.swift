import HeartwoodModel

/// Attributes whose values, taken together, no two records of an entity and its subentities may share.
struct UniqueConstraint: Sendable {
  /// The ordinals of the attributes, the same in all the entities.
  let ordinals: [Int]
  let names: [String]
  /// The ordinals of the entities whose records are held against each other.
  let entityOrdinals: [Int]
  private let types: [AttributeType?]

  /// The constraints of a model, each with the entity that declares it and all below.
  static func all(of model: ManagedObjectModel) -> [UniqueConstraint] {
    model.entities.flatMap { entity in
      entity.uniquenessConstraints.dropFirst(entity.superentity?.uniquenessConstraints.count ?? 0).map {
        UniqueConstraint($0, of: entity)
      }
    }
  }

  private init(_ ordinals: [Int], of entity: EntityDescription) {
    self.ordinals = ordinals
    names = ordinals.map { entity.properties[$0].name }
    types = ordinals.map { entity.traits[$0].attributeType }
    entityOrdinals = [entity.ordinal] + entity.subentityOrdinals
  }

  /// The values of a record; nil where one of them is missing, for then it collides with none.
  func key(_ row: RowID, of table: NodeTable) -> [PropertyValue]? {
    let group = table.groups[row.group]
    var key: [PropertyValue] = []
    for (ordinal, type) in zip(ordinals, types) {
      let value = group.value(row: row.row, ordinal: ordinal, type: type, scopes: [])
      if value.isNull { return nil }
      key.append(value)
    }
    return key
  }

  static func hash(_ key: [PropertyValue]) -> UInt64 {
    UInt64(bitPattern: Int64(key.hashValue))
  }
}
