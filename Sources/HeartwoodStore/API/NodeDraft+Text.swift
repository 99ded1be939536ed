public import HeartwoodModel

extension NodeDraft {
  /// Sets attributes from texts in the canonical form of their types, by name: what ``AtomicStoreCacheNode/attributeTexts`` gives.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``, ``PersistenceError/Code/valueTypeMismatch`` where a text is no value of the
  ///   attribute's type.
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
          "The text is no value of type \(type.rawValue).",
          context: .init(entity: entity.name, property: name)
        )
      }
      try setValue(value, forKey: name)
    }
  }

  /// Lets a relationship lead to the objects of `ids`, in that order: what ``AtomicStoreCacheNode/relatedObjectIDs`` gives.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``, ``PersistenceError/Code/valueTypeMismatch`` where it is no relationship, or
  ///   one to a single object and there are more.
  public mutating func setObjectIDs(_ ids: [ManagedObjectID], forKey name: String) throws(PersistenceError) {
    let isToMany = entity.property(named: name)?.relationship?.isToMany ?? true
    let value = isToMany || ids.count > 1 ? PropertyValue.toMany(ids) : ids.first.map(PropertyValue.toOne) ?? .null
    try setValue(value, forKey: name)
  }
}
