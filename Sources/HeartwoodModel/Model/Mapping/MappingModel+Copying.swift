extension MappingModel {
  /// The same, with the properties of records that are copied: each comes from that of the same name, where the mapping tells nothing of
  /// properties.
  package func namingCopiedProperties(
    from source: ManagedObjectModel,
    to destination: ManagedObjectModel
  ) -> MappingModel {
    var model = self
    model.entityMappings = entityMappings.map { mapping in
      guard mapping.mappingType == .copy, mapping.attributeMappings.isEmpty, mapping.relationshipMappings.isEmpty,
        let old = mapping.sourceEntityName.flatMap(source.entity(named:)),
        let new = mapping.destinationEntityName.flatMap(destination.entity(named:))
      else { return mapping }
      return mapping.copying(old, to: new)
    }
    return model
  }
}

extension EntityMapping {
  fileprivate func copying(_ old: EntityDescription, to new: EntityDescription) -> EntityMapping {
    var mapping = self
    for property in new.properties where !property.isTransient {
      guard let former = old.property(named: property.name), !former.isTransient else { continue }
      switch (former, property) {
      case (.attribute, .attribute):
        mapping.attributeMappings.append(PropertyMapping(name: property.name, valueExpression: .source(former.name)))
      case (.relationship, .relationship):
        mapping.relationshipMappings.append(
          PropertyMapping(
            name: property.name,
            valueExpression: .destinationInstances(forSourceRelationshipNamed: former.name)
          )
        )
      default: break
      }
    }
    return mapping
  }
}
