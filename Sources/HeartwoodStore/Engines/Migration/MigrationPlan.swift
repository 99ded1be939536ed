public import HeartwoodModel

/// A migration that can be done property by property, without objects: each new record is made from one old record, and
/// each of its properties from one property of that record, or from none.
public struct MigrationPlan: Sendable {
  package let mapping: MappingModel
  /// The model of the old store.
  public let source: ManagedObjectModel
  /// The model of the new store.
  public let destination: ManagedObjectModel
  /// The sources of the records of each entity, by the ordinals of the destination model; nil for entities without
  /// records.
  public let entities: [EntityMigration?]
  /// The destination entity of records of each source entity, by ordinals of both models; nil if the records are left
  /// out.
  public let destinationOrdinals: [Int?]
  /// The parts of the old model that have no destination.
  package let coverage: MappingCoverage

  /// Returns nil if the mapping model asks for more than that.
  ///
  /// - Parameter made: the properties of the source that have no destination, and are not a loss.
  package init?(
    _ mapping: MappingModel,
    from source: ManagedObjectModel,
    to destination: ManagedObjectModel,
    made: Set<PropertyPath> = []
  ) {
    guard Self.isPlain(mapping) else { return nil }
    var destinationOrdinals = [Int?](repeating: nil, count: source.entities.count)
    var pairs: [(mapping: EntityMapping, source: EntityDescription, destination: EntityDescription)] = []
    for entityMapping in mapping.entityMappings {
      guard let name = entityMapping.sourceEntityName, let other = entityMapping.destinationEntityName else { continue }
      guard let old = source.entity(named: name), let new = destination.entity(named: other), !new.isAbstract else {
        return nil
      }
      destinationOrdinals[old.ordinal] = new.ordinal
      pairs.append((entityMapping, old, new))
    }
    self.mapping = mapping
    self.source = source
    self.destination = destination
    self.destinationOrdinals = destinationOrdinals
    coverage = MappingCoverage(mapping, from: source, to: destination, made: made)
    let planner = EntityMigrationPlanner(mapping: mapping, source: source)
    var entities = [EntityMigration?](repeating: nil, count: destination.entities.count)
    for pair in pairs {
      guard let plan = planner.plan(pair.mapping, pair.source, pair.destination) else { return nil }
      entities[pair.destination.ordinal] = plan
    }
    self.entities = entities
  }

  /// Creates the plan that keeps all records as they are.
  init(keeping model: ManagedObjectModel) {
    mapping = MappingModel(entityMappings: [])
    coverage = MappingCoverage()
    (source, destination) = (model, model)
    destinationOrdinals = model.entities.map { $0.isAbstract ? nil : $0.ordinal }
    entities = model.entities.map { entity in
      if entity.isAbstract { return nil }
      return EntityMigration(
        source: entity,
        destination: entity,
        columns: entity.properties.indices.map { ordinal in
          let property = entity.properties[ordinal]
          if property.isTransient { return .absent }
          return property.relationship == nil ? .attribute(ordinal) : .relationship(ordinal)
        }
      )
    }
  }

  /// Returns whether each entity has at most one mapping as its source and as its destination, and no policy, filter
  /// predicate or custom mapping decides about records.
  private static func isPlain(_ mapping: MappingModel) -> Bool {
    let mappings = mapping.entityMappings
    let sources = mappings.compactMap(\.sourceEntityName)
    let destinations = mappings.compactMap(\.destinationEntityName)
    return Set(sources).count == sources.count && Set(destinations).count == destinations.count
      && mappings.allSatisfy {
        $0.entityMigrationPolicyClassName == nil && $0.sourcePredicate == nil && $0.mappingType != .custom
      }
  }
}

extension MigrationPlan {
  /// Whether links are made from inverses, because a relationship is new and its inverse is not, or because two
  /// relationships have become inverses of each other.
  public var restoresInverses: Bool { InverseSettlement.isNeeded(self) }
}

/// The source of the records of an entity.
public struct EntityMigration: Sendable {
  /// The entity of the old records.
  public let source: EntityDescription
  /// The entity of the new records.
  public let destination: EntityDescription
  /// The sources of the properties of a new record, by the ordinals of the destination entity.
  public let columns: [PropertyMigration]
}

/// The source of a property of a new record.
public enum PropertyMigration: Sendable {
  /// No source: the property is transient, and has no values in stores.
  case absent
  /// The same value for all records; null, for a relationship.
  case constant(PropertyValue)
  /// The attribute of the old record with this ordinal.
  case attribute(Int)
  /// The relationship of the old record with this ordinal.
  case relationship(Int)

  /// The ordinal of the property of the old record; nil if the new property is not made from one.
  public var sourceOrdinal: Int? {
    switch self {
    case .absent, .constant: nil
    case .attribute(let ordinal), .relationship(let ordinal): ordinal
    }
  }
}

/// Finds the sources of the properties of an entity.
private struct EntityMigrationPlanner {
  let mapping: MappingModel
  let source: ManagedObjectModel

  func plan(
    _ mapping: EntityMapping,
    _ old: EntityDescription,
    _ new: EntityDescription
  ) -> EntityMigration? {
    let expressions = Dictionary(
      (mapping.attributeMappings + mapping.relationshipMappings).map { ($0.name, $0.valueExpression) },
      uniquingKeysWith: { first, _ in first }
    )
    let columns = new.properties.map { column($0, expressions[$0.name] ?? nil, old) }
    guard !columns.contains(where: { $0 == nil }) else { return nil }
    return EntityMigration(source: old, destination: new, columns: columns.compactMap(\.self))
  }

  /// Returns nil if the property needs more than a column of the old record.
  private func column(
    _ property: PropertyDescription,
    _ expression: MappingExpression?,
    _ old: EntityDescription
  ) -> PropertyMigration? {
    if property.isTransient { return .absent }
    switch property {
    case .attribute(let attribute): return self.attribute(attribute, expression, old)
    case .relationship: return relationship(expression, old)
    }
  }

  private func attribute(
    _ attribute: AttributeDescription,
    _ expression: MappingExpression?,
    _ old: EntityDescription
  ) -> PropertyMigration? {
    guard let expression else { return .constant(attribute.defaultValue) }
    if case .constant(let value) = expression {
      return value.migrated(to: attribute.type).map(PropertyMigration.constant)
    }
    guard let ordinal = Self.sourceOrdinal(expression, old), let type = old.properties[ordinal].attribute?.type,
      type.converts(to: attribute.type)
    else { return nil }
    return .attribute(ordinal)
  }

  private func relationship(_ expression: MappingExpression?, _ old: EntityDescription) -> PropertyMigration? {
    guard let expression else { return .constant(.null) }
    guard case .function(.variable(MappingExpression.Name.manager), let name, let arguments) = expression,
      let function = MappingExpression.ManagerFunction(rawValue: name), arguments.count == 2,
      case .constant(.string(let argument)) = arguments[0], let ordinal = Self.sourceOrdinal(arguments[1], old),
      let target = old.relationshipTargets[ordinal]
    else { return nil }
    switch function {
    case .destinationInstancesForSourceRelationship:
      return argument == old.properties[ordinal].name ? .relationship(ordinal) : nil
    case .destinationInstancesForEntityMapping:
      return isAlone(argument, in: target.entityOrdinal) ? .relationship(ordinal) : nil
    }
  }

  /// Returns whether all new records from those of an entity are made by one mapping.
  private func isAlone(_ name: String, in entityOrdinal: Int) -> Bool {
    let entities = Set(source.concreteEntities(under: source.entities[entityOrdinal]).map(\.name))
    let mappings = mapping.entityMappings.filter { mapping in
      mapping.destinationEntityName != nil && mapping.sourceEntityName.map(entities.contains) ?? false
    }
    return mappings.map(\.name) == [name]
  }

  /// Returns the ordinal of the stored property of the old record that the expression reads; nil for another
  /// expression.
  private static func sourceOrdinal(_ expression: MappingExpression, _ old: EntityDescription) -> Int? {
    guard case .keyPath(.variable(MappingExpression.Name.source), let name) = expression,
      let ordinal = old.ordinal(ofProperty: name), !old.properties[ordinal].isTransient
    else { return nil }
    return ordinal
  }
}
