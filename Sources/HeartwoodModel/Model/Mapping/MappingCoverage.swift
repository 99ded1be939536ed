/// A property of an entity, by name.
package struct PropertyPath: Hashable, Sendable {
  package let entity: String
  package let property: String

  package init(_ entity: String, _ property: String) {
    self.entity = entity
    self.property = property
  }
}

/// The parts of the source that a mapping model does not use: records that no mapping reads, and values that no mapping
/// reads. Records that a policy gets do not count as lost: the policy is responsible for them.
package struct MappingCoverage: Sendable {
  /// The ordinals of the source entities whose own records no mapping reads.
  package private(set) var droppedEntities: [Int] = []
  /// The ordinals of the source entities whose records are read only by mappings with filter predicates, so that some
  /// may be left out.
  package private(set) var filteredEntities: [Int] = []
  /// The stored properties of other source entities that no mapping reads, by the ordinals of the entity and of the
  /// property.
  package private(set) var droppedProperties: [(entityOrdinal: Int, ordinal: Int)] = []
  /// The properties of the destination that are not made of any value of the source, but have a default or a constant
  /// value.
  package private(set) var madeProperties: Set<PropertyPath> = []

  /// Makes the coverage of a migration that leaves nothing out.
  package init() {}

  /// Finds what `mapping` does not use.
  ///
  /// - Parameter made: the properties of the source that an earlier step has made without a value of its own source.
  ///   They are not counted as lost.
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
  /// Returns whether a property gets no value of the source records, or only values that were not made of any before.
  fileprivate func makes(_ name: String, ofNoneBut made: Set<PropertyPath>) -> Bool {
    guard entityMigrationPolicyClassName == nil else { return false }
    switch (attributeMappings + relationshipMappings).first(where: { $0.name == name })?.valueExpression {
    case nil, .constant: return true
    case .keyPath(.variable(MappingExpression.Name.source), let key):
      return sourceEntityName.map { made.contains(PropertyPath($0, key)) } ?? false
    default: return false
    }
  }

  /// Whether the mapping reads records and makes others of them.
  package var takesRecords: Bool {
    sourceEntityName != nil && destinationEntityName != nil && mappingType != .remove
  }
}

/// The properties of source entities that the expressions and predicates of mappings read.
private struct MappingReadings {
  let model: ManagedObjectModel
  private var read: Set<PropertyPath> = []
  /// The names of the entities all of whose properties are read.
  private var whole: Set<String> = []

  init(model: ManagedObjectModel) { self.model = model }

  /// Returns whether a property of the entity's records is used, or has no value to lose. A relationship is kept if
  /// either end is.
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
    // It is unknown what a policy reads.
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
    // The entity of a variable is not tracked.
    for entity in model.entities { for name in names { add([name], entity) } }
  }

  /// Adds the properties along a path of relationships, for records of the entity and its subentities.
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
