import HeartwoodModel
import HeartwoodStore

// MARK: Records

extension ImportPass {
  /// The object that a record describes, with its values; nil where it is not wanted, or something is wrong.
  func importRecord(
    _ record: ImportValue,
    _ entity: EntityDescription,
    by keyName: String?,
    at place: ImportPlace
  ) throws -> ManagedObject? {
    guard try isRecord(record, entity, at: place) else { return nil }
    if let found = try existingObject(record, entity, by: keyName) {
      return try fill(found, record, at: place) || !found.isDeleted ? found : nil
    }
    guard let object = try newObject(entity, at: place) else { return nil }
    if try fill(object, record, at: place) { return object }
    if !object.isDeleted { context.delete(object) }
    return nil
  }

  private func existingObject(
    _ value: ImportValue,
    _ entity: EntityDescription,
    by keyName: String?
  ) throws -> ManagedObject? {
    guard let keyName, let key = try key(of: value, entity, by: keyName) else { return nil }
    return try indexes.index(of: entity, by: keyName, in: context).findObject(key, in: context)
  }

  private func newObject(_ entity: EntityDescription, at place: ImportPlace) throws -> ManagedObject? {
    var object: ManagedObject?
    try noting(place, entity) { object = try context.insert(entityName: entity.name) }
    return object
  }

  /// Gives an object the values of a record; returns false where it does not want them, or has gone meanwhile.
  func fill(_ object: ManagedObject, _ record: ImportValue, at place: ImportPlace) throws -> Bool {
    if place.depth > ImportValue.greatestDepth {
      try note(ImportFault.tooDeep(place).message, at: place, object.entity)
      return true
    }
    let plan = try plan(object.entity)
    let importing = object as? any ImportingObject
    guard try begin(importing, record, at: place), !object.isDeleted else { return false }
    for attribute in plan.attributes { try importAttribute(attribute, of: object, importing, record, at: place) }
    // Records in this one may lead back to it.
    indexes.note(object)
    for relationship in plan.relationships {
      try importRelationship(relationship, of: object, importing, record, at: place)
    }
    if let importing {
      try noting(place, object.entity) { try importing.didImport(record) }
      // It may have other values now.
      indexes.note(object)
    }
    return !object.isDeleted
  }

  private func begin(
    _ importing: (any ImportingObject)?,
    _ record: ImportValue,
    at place: ImportPlace
  ) throws -> Bool {
    guard let importing else { return true }
    var isWanted = true
    try noting(place, importing.entity) {
      isWanted = try importing.shouldImport(record)
      if isWanted { try importing.willImport(record) }
    }
    return isWanted
  }
}

// MARK: Attributes

extension ImportPass {
  private func importAttribute(
    _ attribute: ImportPlan.Attribute,
    of object: ManagedObject,
    _ importing: (any ImportingObject)?,
    _ record: ImportValue,
    at place: ImportPlace
  ) throws {
    guard let (value, keyPath) = attribute.source.value(in: record) else {
      guard let value = attribute.absentValue else { return }
      return try set(value, attribute, of: object, at: place)
    }
    let place = ImportPlace.member(place, keyPath.text)
    if try take(value, attribute.source.name, of: object, importing, at: place) { return }
    guard let converted = value.propertyValue(of: attribute.type, attribute.dates) else {
      let message = "\(value.kindDescription) is here that stands for no value of type \(attribute.type.rawValue)."
      return try note(message, at: place, object.entity, attribute.source.name)
    }
    try set(converted, attribute, of: object, at: place)
  }

  private func set(
    _ value: PropertyValue,
    _ attribute: ImportPlan.Attribute,
    of object: ManagedObject,
    at place: ImportPlace
  ) throws {
    if object.isDeleted { return }
    try noting(place, object.entity, attribute.source.name) {
      try value.checkFits(propertyAt: attribute.ordinal, of: object.entity)
      object.change(attribute.ordinal, to: value)
    }
  }

  /// Whether the object has taken the value itself, or something was wrong with that.
  private func take(
    _ value: ImportValue,
    _ name: String,
    of object: ManagedObject,
    _ importing: (any ImportingObject)?,
    at place: ImportPlace
  ) throws -> Bool {
    guard let importing else { return false }
    var isTaken = true
    try noting(place, object.entity, name) { isTaken = try importing.importValue(value, forKey: name) }
    return isTaken
  }
}

// MARK: Relationships

extension ImportPass {
  private func importRelationship(
    _ relationship: ImportPlan.Relationship,
    of object: ManagedObject,
    _ importing: (any ImportingObject)?,
    _ record: ImportValue,
    at place: ImportPlace
  ) throws {
    guard let (value, keyPath) = relationship.source.value(in: record) else { return }
    let name = relationship.source.name
    let place = ImportPlace.member(place, keyPath.text)
    if try take(value, name, of: object, importing, at: place) { return }
    if case .array = value, !relationship.isToMany {
      return try note("An array is here, and the relationship leads to one object.", at: place, object.entity, name)
    }
    let objects = try relatedObjects(value, relationship, of: object, at: place)
    if object.isDeleted { return }
    try noting(place, object.entity, name) {
      if relationship.isToMany, !options.replacesToManyRelationships, !value.isNull {
        for other in objects where !other.isDeleted { _ = try object.addLink(relationship.ordinal, to: other) }
      } else {
        try object.relate(relationship.ordinal, to: objects.filter { !$0.isDeleted })
      }
    }
  }

  private func relatedObjects(
    _ value: ImportValue,
    _ relationship: ImportPlan.Relationship,
    of object: ManagedObject,
    at place: ImportPlace
  ) throws -> [ManagedObject] {
    if value.isNull { return [] }
    guard case .array(let elements) = value else {
      return try relatedObject(value, relationship, of: object, at: place).map { [$0] } ?? []
    }
    var objects: [ManagedObject] = []
    for (index, element) in elements.enumerated() {
      let place = ImportPlace.element(place, index)
      if let other = try relatedObject(element, relationship, of: object, at: place) { objects.append(other) }
    }
    return objects
  }

  /// The object that a record in another one describes, or that a value stands for.
  private func relatedObject(
    _ value: ImportValue,
    _ relationship: ImportPlan.Relationship,
    of object: ManagedObject,
    at place: ImportPlace
  ) throws -> ManagedObject? {
    let destination = relationship.destination
    if case .object = value { return try importRecord(value, destination, by: relationship.keyName, at: place) }
    guard let keyName = relationship.keyName, let attribute = try plan(destination).attribute(named: keyName) else {
      let advice = "Name one in the userInfo of the entity or the relationship, under relatedByAttribute."
      let message =
        "\(value.kindDescription) is here, and no attribute of \(destination.name) tells its objects apart. \(advice)"
      try note(message, at: place, object.entity, relationship.source.name)
      return nil
    }
    guard let key = try key(of: value, destination, by: keyName) else {
      let message = "\(value.kindDescription) is here that stands for no \(destination.name).\(keyName)."
      try note(message, at: place, object.entity, relationship.source.name)
      return nil
    }
    let index = indexes.index(of: destination, by: keyName, in: context)
    if let found = try index.findObject(key, in: context) { return found }
    guard let new = try newObject(destination, at: place) else { return nil }
    try set(key, attribute, of: new, at: place)
    indexes.note(new)
    return new
  }
}
