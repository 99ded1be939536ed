import Foundation
import HeartwoodModel

/// Translates between the descriptions of Core Data's API, which refer to each other, and Heartwood's, which name each
/// other.
enum ModelTree {
  static func definitions(of entities: [NSEntityDescription]) throws -> [EntityDefinition] {
    try entities.map(definition)
  }

  private static func definition(of entity: NSEntityDescription) throws -> EntityDefinition {
    var definition = entity.original ?? EntityDefinition(name: "")
    definition.name = entity.name ?? ""
    definition.managedObjectClassName =
      entity.managedObjectClassName == "NSManagedObject" ? nil : entity.managedObjectClassName
    definition.isAbstract = entity.isAbstract
    definition.superentityName = entity.superentity?.name
    definition.properties = try entity.ownProperties.filter { !($0 is NSFetchedPropertyDescription) }.flatMap(
      properties
    )
    definition.compositeAttributes = try entity.ownProperties.compactMap {
      try ($0 as? NSCompositeAttributeDescription)?.description()
    }
    definition.fetchedProperties = try entity.ownProperties.compactMap {
      try ($0 as? NSFetchedPropertyDescription)?.description()
    }
    definition.fetchIndexes = try entity.indexes.map { try $0.description() }
    // A constraint of no attributes constrains nothing.
    definition.uniquenessConstraints = entity.uniquenessConstraints.filter { !$0.isEmpty }.map { $0.compactMap(name) }
    definition.renamingIdentifier = entity.renamingIdentifier
    definition.versionHashModifier = entity.versionHashModifier
    var notes: [String: String] = [:]
    for case (let key as String, let value as String) in entity.userInfo ?? [:] { notes[key] = value }
    definition.userInfo = notes
    return definition
  }

  private static func name(ofConstrained value: Any) -> String? {
    value as? String ?? (value as? NSPropertyDescription)?.name
  }

  /// Returns the property, or those of the parts of a composite attribute.
  private static func properties(_ property: NSPropertyDescription) throws -> [PropertyDescription] {
    switch property {
    case let composite as NSCompositeAttributeDescription:
      try composite.partAttributes().map { .attribute(try attribute($0)) }
    case let attribute as NSAttributeDescription: [.attribute(try self.attribute(attribute))]
    case let relationship as NSRelationshipDescription: [.relationship(try self.relationship(relationship))]
    default:
      throw CocoaError.modelFault("The property \(property.name) is neither an attribute nor a relationship.")
    }
  }

  private static func attribute(_ attribute: NSAttributeDescription) throws -> AttributeDescription {
    if [.compositeAttributeType, .objectIDAttributeType].contains(attribute.attributeType) {
      throw CocoaError.modelFault(
        "The attribute \(attribute.name) is of the type \(attribute.attributeType), which no record keeps. A composite "
          + "attribute is an NSCompositeAttributeDescription; the id of an object is a relationship."
      )
    }
    let type = AttributeType(attribute.attributeType)
    var description = attribute.original ?? AttributeDescription(name: "", type: type)
    description.name = attribute.name
    description.type = type
    description.isOptional = attribute.isOptional
    description.isTransient = attribute.isTransient
    description.defaultValue = try defaultValue(of: attribute, type)
    if let derived = attribute as? NSDerivedAttributeDescription {
      description.derivationExpression = try derived.derivationExpression.map { try $0.content.tree() }
    }
    description.valueTransformerName = attribute.valueTransformerName
    description.allowsExternalBinaryDataStorage = attribute.allowsExternalBinaryDataStorage
    description.preservesValueInHistoryOnDeletion = attribute.preservesValueInHistoryOnDeletion
    description.renamingIdentifier = attribute.renamingIdentifier
    description.versionHashModifier = attribute.versionHashModifier
    description.userInfo = attribute.notes
    return description
  }

  private static func defaultValue(of attribute: NSAttributeDescription, _ type: AttributeType) throws -> PropertyValue
  {
    guard let value = attribute.defaultValue else { return .null }
    if let stored = StoredValue.propertyValue(value, type, attribute.valueTransformerName) { return stored }
    throw CocoaError.modelFault("The default value of \(attribute.name) is not of the attribute's type.")
  }

  private static func relationship(_ relationship: NSRelationshipDescription) throws -> RelationshipDescription {
    guard let destination = relationship.destinationEntity?.name else {
      throw CocoaError.modelFault("The relationship \(relationship.name) has no destination entity.")
    }
    var description =
      relationship.original ?? RelationshipDescription(name: "", destinationEntityName: destination)
    description.name = relationship.name
    description.destinationEntityName = destination
    description.inverseRelationshipName = relationship.inverseRelationship?.name
    description.isToMany = relationship.isToMany
    description.isOrdered = relationship.isOrdered
    description.isOptional = relationship.isOptional
    description.isTransient = relationship.isTransient
    description.deleteRule = DeleteRule(relationship.deleteRule)
    description.minCount = relationship.minCount
    description.maxCount = relationship.maxCount
    description.renamingIdentifier = relationship.renamingIdentifier
    description.versionHashModifier = relationship.versionHashModifier
    description.userInfo = relationship.notes
    return description
  }
}

// MARK: From Heartwood's descriptions

extension ModelTree {
  static func entities(of model: ManagedObjectModel) -> [NSEntityDescription] {
    let entities = model.entities.map { NSEntityDescription($0.definition) }
    let byName = Dictionary(zip(model.entities.map(\.name), entities)) { first, _ in first }
    for (entity, description) in zip(model.entities, entities) {
      if let parent = entity.superentity { byName[parent.name]?.subentities.append(description) }
    }
    for (entity, description) in zip(model.entities, entities) {
      description.indexes = entity.definition.fetchIndexes.map { NSFetchIndexDescription($0, of: description) }
      for case let relationship as NSRelationshipDescription in description.ownProperties {
        guard let original = relationship.original, let destination = byName[original.destinationEntityName]
        else { continue }
        relationship.destinationEntity = destination
        relationship.inverseRelationship = original.inverseRelationshipName.flatMap {
          destination.relationshipsByName[$0]
        }
      }
    }
    return entities
  }
}

extension NSEntityDescription {
  fileprivate convenience init(_ definition: EntityDefinition) {
    self.init()
    original = definition
    name = definition.name
    managedObjectClassName = definition.managedObjectClassName ?? "NSManagedObject"
    isAbstract = definition.isAbstract
    userInfo = definition.userInfo
    versionHashModifier = definition.versionHashModifier
    renamingIdentifier = definition.renamingIdentifier
    uniquenessConstraints = definition.uniquenessConstraints
    ownProperties = Self.composing(
      definition.properties.map { property in
        switch property {
        case .attribute(let attribute):
          attribute.derivationExpression == nil
            ? NSAttributeDescription(attribute) : NSDerivedAttributeDescription(deriving: attribute)
        case .relationship(let relationship): NSRelationshipDescription(relationship)
        }
      },
      definition.compositeAttributes
    )
    ownProperties += definition.fetchedProperties.map(NSFetchedPropertyDescription.init)
    for property in ownProperties { property.declaringEntity = self }
  }

  /// Returns properties with composite attributes in place of the attributes that keep their parts.
  private static func composing(
    _ properties: [NSPropertyDescription],
    _ composites: [CompositeAttributeDescription]
  ) -> [NSPropertyDescription] {
    let attributes = properties.compactMap { $0 as? NSAttributeDescription }
    let parts = Set(composites.flatMap { $0.elements.map(\.attributeName) })
    return properties.filter { !parts.contains($0.name) }
      + composites.map { NSCompositeAttributeDescription($0, among: attributes) }
  }
}

extension NSAttributeDescription {
  fileprivate convenience init(_ attribute: AttributeDescription) {
    self.init()
    original = attribute
    name = attribute.name
    attributeType = NSAttributeType(attribute.type)
    isOptional = attribute.isOptional
    isTransient = attribute.isTransient
    defaultValue = StoredValue.object(attribute.defaultValue, of: attribute)
    valueTransformerName = attribute.valueTransformerName
    allowsExternalBinaryDataStorage = attribute.allowsExternalBinaryDataStorage
    preservesValueInHistoryOnDeletion = attribute.preservesValueInHistoryOnDeletion
    renamingIdentifier = attribute.renamingIdentifier
    versionHashModifier = attribute.versionHashModifier
    userInfo = attribute.userInfo
  }
}

extension NSDerivedAttributeDescription {
  fileprivate convenience init(deriving attribute: AttributeDescription) {
    self.init(attribute)
    derivationExpression = attribute.derivationExpression.map(FormatArguments.expression(of:))
  }
}

extension NSRelationshipDescription {
  fileprivate convenience init(_ relationship: RelationshipDescription) {
    self.init()
    original = relationship
    name = relationship.name
    isOptional = relationship.isOptional
    isTransient = relationship.isTransient
    isOrdered = relationship.isOrdered
    deleteRule = NSDeleteRule(relationship.deleteRule)
    minCount = relationship.minCount
    maxCount = relationship.isToMany ? relationship.maxCount : 1
    renamingIdentifier = relationship.renamingIdentifier
    versionHashModifier = relationship.versionHashModifier
    userInfo = relationship.userInfo
  }
}
