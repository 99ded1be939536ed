/// A property of an entity, by their names.
package struct PropertyPath: Hashable, Sendable {
  package let entity: String
  package let property: String

  package init(_ entity: String, _ property: String) {
    self.entity = entity
    self.property = property
  }
}

/// What a mapping model makes nothing of: the records that no mapping takes, and the values that none reads. What a policy does is its own concern:
/// nothing of the records that it gets counts as left out.
package struct MappingCoverage: Sendable {
  /// The ordinals of the source entities whose own records no mapping takes.
  package private(set) var droppedEntities: [Int] = []
  /// The ordinals of those whose records are taken by mappings with filter predicates only, so that some may be left out.
  package private(set) var filteredEntities: [Int] = []
  /// The stored properties of other source entities that nothing reads, by the ordinals of both.
  package private(set) var droppedProperties: [(entityOrdinal: Int, ordinal: Int)] = []
  /// The properties of the destination that are made of none of the source, but have a default value or a constant one.
  package private(set) var madeProperties: Set<PropertyPath> = []

  /// Of a migration that leaves nothing out.
  package init() {}

  /// - Parameter made: the properties of the source that an earlier step has made of nothing: they are no loss.
  package init(
    _ mapping: MappingModel,
    from source: ManagedObjectModel,
    to destination: ManagedObjectModel,
    made: Set<PropertyPath> = []
  ) {
    var readings = MappingReadings(model: source)
    for mapping in mapping.entityMappings where mapping.takesRecords { readings.add(mapping) }
    for entity in source.entities where !entity.isAbstract {
      let takers = mapping.entityMappings.filter { $0.takesRecords && $0.sourceEntityName == entity.name }
      if takers.isEmpty {
        droppedEntities.append(entity.ordinal)
        continue
      }
      if takers.allSatisfy({ $0.sourcePredicate != nil }) { filteredEntities.append(entity.ordinal) }
      for ordinal in entity.properties.indices where !readings.reads(ordinal, of: entity) {
        guard !made.contains(PropertyPath(entity.name, entity.properties[ordinal].name)) else { continue }
        droppedProperties.append((entity.ordinal, ordinal))
      }
    }
    for entity in destination.entities {
      let makers = mapping.entityMappings.filter { $0.takesRecords && $0.destinationEntityName == entity.name }
      for property in entity.properties where makers.allSatisfy({ $0.makes(property.name, ofNoneBut: made) }) {
        madeProperties.insert(PropertyPath(entity.name, property.name))
      }
    }
  }
}

extension EntityMapping {
  /// Whether a property gets nothing of the source records, or only what was made of nothing before.
  fileprivate func makes(_ name: String, ofNoneBut made: Set<PropertyPath>) -> Bool {
    guard entityMigrationPolicyClassName == nil else { return false }
    switch (attributeMappings + relationshipMappings).first(where: { $0.name == name })?.valueExpression {
    case nil, .constant: return true
    case .keyPath(.variable(MappingExpression.Name.source), let key):
      return sourceEntityName.map { made.contains(PropertyPath($0, key)) } ?? false
    default: return false
    }
  }

  /// Whether the mapping takes records and makes others of them.
  package var takesRecords: Bool {
    sourceEntityName != nil && destinationEntityName != nil && mappingType != .remove
  }
}

/// Which properties of source entities the expressions and predicates of mappings read.
private struct MappingReadings {
  let model: ManagedObjectModel
  private var read: Set<PropertyPath> = []
  /// The entities all of whose properties are read.
  private var whole: Set<String> = []

  init(model: ManagedObjectModel) { self.model = model }

  /// Whether something is made of a property of the entity's records, or there is nothing to lose. A relationship is there as long as either end is.
  func reads(_ ordinal: Int, of entity: EntityDescription) -> Bool {
    let property = entity.properties[ordinal]
    if property.isTransient || property.attribute?.derivationExpression != nil { return true }
    if whole.contains(entity.name) || read.contains(PropertyPath(entity.name, property.name)) { return true }
    guard let target = entity.relationshipTargets[ordinal], let inverse = target.inverseOrdinal else { return false }
    return model.concreteEntities(under: model.entities[target.entityOrdinal]).contains { other in
      whole.contains(other.name) || read.contains(PropertyPath(other.name, other.properties[inverse].name))
    }
  }

  mutating func add(_ mapping: EntityMapping) {
    guard let entity = mapping.sourceEntityName.flatMap(model.entity(named:)) else { return }
    // What a policy reads is not known.
    if mapping.entityMigrationPolicyClassName != nil { whole.insert(entity.name) }
    if let predicate = mapping.sourcePredicate { add(predicate, entity) }
    for property in mapping.attributeMappings + mapping.relationshipMappings {
      if let expression = property.valueExpression { add(expression, entity) }
    }
  }

  private mutating func add(_ expression: MappingExpression, _ entity: EntityDescription) {
    switch expression {
    case .constant, .variable: break
    case .keyPath(let base, let path):
      if case .variable(MappingExpression.Name.source) = base {
        add(path.split(separator: ".").map(String.init)[...], entity)
      } else {
        add(base, entity)
      }
    case .function(let target, _, let arguments): for part in [target] + arguments { add(part, entity) }
    case .computed(let expression): add(expression.ofSource, entity)
    }
  }

  private mutating func add(_ predicate: FetchPredicate, _ entity: EntityDescription) {
    _ = predicate.replacing { part -> FetchExpression? in
      note(part, entity)
      return nil
    }
  }

  private mutating func add(_ expression: FetchExpression, _ entity: EntityDescription) {
    _ = expression.replacing { part -> FetchExpression? in
      note(part, entity)
      return nil
    }
  }

  private mutating func note(_ part: FetchExpression, _ entity: EntityDescription) {
    guard case .keyPath(let base, let keys) = part else { return }
    let names = keys.compactMap { key -> String? in
      if case .property(let name) = key { name } else { nil }
    }
    if case .selfObject = base { return add(names[...], entity) }
    // Of which entity a variable is is not followed.
    for entity in model.entities { for name in names { add([name], entity) } }
  }

  /// Notes the properties on a way of relationships, as records of the entity and its subentities have them.
  private mutating func add(_ keys: ArraySlice<String>, _ entity: EntityDescription) {
    guard let key = keys.first else { return }
    let rest = keys.dropFirst()
    if key.hasPrefix("@") { return add(rest, entity) }
    var target: EntityDescription?
    for entity in [entity] + entity.subentityOrdinals.map({ model.entities[$0] }) {
      guard let property = entity.property(named: key) else { continue }
      read.insert(PropertyPath(entity.name, key))
      target = target ?? property.relationship.flatMap { model.entity(named: $0.destinationEntityName) }
    }
    if let target { add(rest, target) }
  }
}
