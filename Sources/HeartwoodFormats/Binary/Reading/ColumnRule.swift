import HeartwoodModel

/// Which bytes mean something in the column of a property.
enum ColumnRule: Sendable {
  /// Any.
  case anyBytes
  /// UTF-8.
  case text
  /// UTF-8 that is a URI.
  case uri
  case decimal
  /// References to entities for whose ordinals there is a true.
  case references([Bool])
}

extension ColumnRule {
  /// The rules for the properties of `entity`, indexed by ordinal.
  static func rules(for entity: EntityDescription, of model: ManagedObjectModel) -> [ColumnRule] {
    zip(entity.properties, entity.relationshipTargets).map { property, target in
      if let target { return .references(allowedEntities(model.entities[target.entityOrdinal], of: model)) }
      return property.attribute.map { ColumnRule($0.type) } ?? .anyBytes
    }
  }

  private static func allowedEntities(_ destination: EntityDescription, of model: ManagedObjectModel) -> [Bool] {
    var allowed = [Bool](repeating: false, count: model.entities.count)
    for entity in model.concreteEntities(under: destination) { allowed[entity.ordinal] = true }
    return allowed
  }

  private init(_ type: AttributeType) {
    switch type {
    case .string: self = .text
    case .uri: self = .uri
    case .decimal: self = .decimal
    default: self = .anyBytes
    }
  }
}
