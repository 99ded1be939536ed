import HeartwoodFoundation
public import HeartwoodModel

/// A record that a store is reading: the store sets its values, and the loader adds it to a table.
public struct NodeDraft {
  /// The entity of the record.
  public let entity: EntityDescription
  /// The name of the record in the store.
  public let reference: ReferenceID
  private(set) var values: [PropertyValue]

  init(entity: EntityDescription, reference: ReferenceID) {
    self.entity = entity
    self.reference = reference
    self.values = entity.properties.map { property in
      property.relationship?.isToMany == true ? .toMany([]) : .null
    }
  }

  /// Sets the value of the property called `name`. A property that is not set is null, or has no destinations.
  ///
  ///     try node.setValue(.string("Buy milk"), forKey: "memo")
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``, ``PersistenceError/Code/valueTypeMismatch``, or
  ///   ``PersistenceError/Code/valueUnsupported`` for text or data of more than 1 GiB.
  public mutating func setValue(_ value: PropertyValue, forKey name: String) throws(PersistenceError) {
    guard let ordinal = entity.ordinal(ofProperty: name) else {
      throw PersistenceError(
        .propertyUnknown,
        "The entity has no property called \(name).",
        context: .init(entity: entity.name, property: name)
      )
    }
    try setValue(value, at: ordinal)
  }

  /// Sets the value of the property with `ordinal`. It is quicker than ``setValue(_:forKey:)``, which looks up the
  /// name.
  ///
  /// - Throws: ``PersistenceError/Code/valueTypeMismatch``, or ``PersistenceError/Code/valueUnsupported`` for text or
  ///   data of more than 1 GiB.
  public mutating func setValue(_ value: PropertyValue, at ordinal: Int) throws(PersistenceError) {
    try value.checkFits(propertyAt: ordinal, of: entity)
    values[ordinal] = value
  }
}

extension PropertyValue {
  /// Checks that a table can hold the value for the property with `ordinal`.
  package func checkFits(propertyAt ordinal: Int, of entity: EntityDescription) throws(PersistenceError) {
    guard fits(entity.traits[ordinal]) else {
      let property = entity.properties[ordinal]
      throw PersistenceError(
        .valueTypeMismatch,
        "\(kindDescription.capitalizedFirst) does not fit the property, which is \(property.typeDescription).",
        context: .init(entity: entity.name, property: property.name)
      )
    }
    guard !isTooLong else {
      let property = entity.properties[ordinal]
      throw PersistenceError(
        .valueUnsupported,
        "The value has \(byteCount) bytes; a store keeps \(RowGroupBuilder.columnByteLimit) at most.",
        recovery: "Keep it in a file of its own.",
        context: .init(entity: entity.name, property: property.name)
      )
    }
  }

  /// Whether the value has more bytes than a store keeps.
  package var isTooLong: Bool { byteCount > RowGroupBuilder.columnByteLimit }

  /// Returns whether a store can keep the value for a property.
  package func canBeKept(as trait: PropertyTrait) -> Bool { fits(trait) && !isTooLong }

  /// The number of bytes of a value without a fixed width.
  var byteCount: Int {
    switch self {
    case .string(let text): text.utf8.count
    case .binary(let data): data.count
    default: 0
    }
  }
}

extension PropertyDescription {
  /// The type of the property, in words for an error text.
  package var typeDescription: String {
    switch self {
    case .attribute(let attribute): "of type \(attribute.type.rawValue)"
    case .relationship(let relationship):
      "a \(relationship.isToMany ? "to-many" : "to-one") relationship to \(relationship.destinationEntityName)"
    }
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

// MARK: Text

extension NodeDraft {
  /// Sets attributes from texts in the canonical form of their types, by name: those that
  /// ``AtomicStoreCacheNode/attributeTexts`` returns.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown`` if the entity has no such attribute,
  ///   ``PersistenceError/Code/valueTypeMismatch`` if a text does not stand for a value of the attribute's type.
  public mutating func setAttributeTexts(_ texts: [String: String]) throws(PersistenceError) {
    for (name, text) in texts {
      guard let type = entity.property(named: name)?.attribute?.type else {
        throw PersistenceError(
          .propertyUnknown,
          "The entity has no attribute called \(name).",
          context: .init(entity: entity.name, property: name)
        )
      }
      guard let value = PropertyValue(text: text, type: type) else {
        throw PersistenceError(
          .valueTypeMismatch,
          "The text is not a value of type \(type.rawValue).",
          context: .init(entity: entity.name, property: name)
        )
      }
      try setValue(value, forKey: name)
    }
  }

  /// Sets the destinations of a relationship, in order: those that ``AtomicStoreCacheNode/relatedObjectIDs`` returns.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown`` if there is no such property,
  ///   ``PersistenceError/Code/valueTypeMismatch`` if it is not a relationship, or if it is a to-one relationship and
  ///   there are several ids.
  public mutating func setObjectIDs(_ ids: [ManagedObjectID], forKey name: String) throws(PersistenceError) {
    let isToMany = entity.property(named: name)?.relationship?.isToMany ?? true
    let value = isToMany || ids.count > 1 ? PropertyValue.toMany(ids) : ids.first.map(PropertyValue.toOne) ?? .null
    try setValue(value, forKey: name)
  }
}
