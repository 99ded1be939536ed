import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

/// Imports records into a context.
///
/// Records are imported in portions. First all objects that the records of a portion and their nested records refer to
/// are fetched together; then each record is imported into a new or an existing object.
final class ImportPass {
  /// The number of records in a portion.
  static let portion = 500

  let context: ManagedObjectContext
  let options: ImportOptions
  private var model: ManagedObjectModel { context.persistentStoreCoordinator.managedObjectModel }
  private var plans: [Int: ImportPlan] = [:]
  var indexes = ImportIndexes()
  private var faults: [ImportFault] = []
  private var firstError: (any Error)?

  init(_ context: ManagedObjectContext, _ options: ImportOptions) {
    self.context = context
    self.options = options
  }

  func plan(_ entity: EntityDescription) throws(PersistenceError) -> ImportPlan {
    if let plan = plans[entity.ordinal] { return plan }
    let plan = try ImportPlan(entity, in: model)
    plans[entity.ordinal] = plan
    return plan
  }
}

// MARK: All records

extension ImportPass {
  /// Imports records of `entity` until there are no more, and returns an object for each record that was not refused.
  ///
  /// - Parameter isList: whether the records are elements of a list, so that places include their index.
  func run(
    _ entity: EntityDescription,
    isList: Bool,
    next: () throws -> ImportValue?
  ) throws -> [ManagedObject] {
    if let mistake = try plan(entity).keyMistake { throw mistake }
    var objects: [ManagedObject] = []
    var count = 0
    var records: [ImportValue]
    repeat {
      records = try portion(next)
      for record in records { try noteKeys(of: record, entity, by: try plan(entity).keyName, depth: 0) }
      try indexes.fetch(in: context)
      for record in records {
        let place = isList ? ImportPlace.element(.root, count) : .root
        if let object = try importRecord(record, entity, by: try plan(entity).keyName, at: place) {
          objects.append(object)
        }
        count += 1
      }
      if !records.isEmpty { try options.progressHandler?(count) }
      // `next` is not called again after it has returned nil.
    } while records.count == Self.portion
    try throwFaults()
    return objects
  }

  /// Imports the values of a record into an object.
  func run(_ record: ImportValue, into object: ManagedObject) throws {
    guard try isRecord(record, object.entity, at: .root) else { return try throwFaults() }
    try noteKeys(in: record, object.entity, depth: 0)
    try indexes.fetch(in: context)
    _ = try fill(object, record, at: .root)
    try throwFaults()
  }

  private func portion(_ next: () throws -> ImportValue?) throws -> [ImportValue] {
    var records: [ImportValue] = []
    while records.count < Self.portion, let record = try next() { records.append(record) }
    return records
  }
}

// MARK: Faults

extension ImportPass {
  /// Notes a fault at a place, and continues unless the greatest number of faults is reached.
  func note(
    _ message: String,
    at place: ImportPlace,
    _ entity: EntityDescription?,
    _ property: String? = nil
  ) throws(PersistenceError) {
    faults.append(ImportFault(path: place.description, entity: entity?.name, property: property, message))
    if faults.count >= max(1, options.greatestFaultCount) { try throwFaults() }
  }

  /// Runs `body`, and notes an error that it throws as a fault at a place.
  func noting(
    _ place: ImportPlace,
    _ entity: EntityDescription,
    _ property: String? = nil,
    _ body: () throws -> Void
  ) throws(PersistenceError) {
    do {
      try body()
    } catch {
      if firstError == nil, !(error is PersistenceError) { firstError = error }
      try note((error as? PersistenceError)?.message ?? "\(error)", at: place, entity, property)
    }
  }

  /// Returns whether a value is a record, and notes a fault if it is not.
  func isRecord(_ value: ImportValue, _ entity: EntityDescription, at place: ImportPlace) throws(PersistenceError)
    -> Bool
  {
    if case .object = value { return true }
    try note("\(value.kindDescription) is here, and a record should be.", at: place, entity)
    return false
  }

  private func throwFaults() throws(PersistenceError) {
    if !faults.isEmpty { throw .importFailed(faults, underlyingError: firstError) }
  }
}

// MARK: What is fetched together

extension ImportPass {
  /// Notes the values by which the objects of a record and of its nested records will be looked up. Faults are found
  /// later, and so are values for relationships of subentities, because the entity of the record's object is not known
  /// yet.
  private func noteKeys(
    of value: ImportValue,
    _ entity: EntityDescription,
    by keyName: String?,
    depth: Int
  ) throws(PersistenceError) {
    if let keyName, let key = try key(of: value, entity, by: keyName) {
      indexes.index(of: entity, by: keyName, in: context).want(key)
    }
    try noteKeys(in: value, entity, depth: depth)
  }

  /// Notes the same for the nested records of a value.
  private func noteKeys(in value: ImportValue, _ entity: EntityDescription, depth: Int) throws(PersistenceError) {
    guard depth < ImportValue.greatestDepth, case .object = value else { return }
    for relationship in try plan(entity).relationships {
      guard let found = relationship.source.value(in: value)?.value else { continue }
      for element in found.elements {
        try noteKeys(of: element, relationship.destination, by: relationship.keyName, depth: depth + 1)
      }
    }
  }

  /// Returns the value that identifies the object of a record, or the plain value in place of a record; nil if there is
  /// none.
  func key(
    of value: ImportValue,
    _ entity: EntityDescription,
    by keyName: String
  ) throws(PersistenceError) -> PropertyValue? {
    guard let attribute = try plan(entity).attribute(named: keyName) else { return nil }
    let own: ImportValue? = if case .object = value { attribute.source.value(in: value)?.value } else { value }
    let key = own?.propertyValue(of: attribute.type, attribute.dates)
    return key?.isNull == true ? nil : key
  }
}

extension ImportValue {
  /// Returns the elements of an array, or any other value as the only element.
  var elements: [ImportValue] {
    if case .array(let elements) = self { elements } else { [self] }
  }
}

// MARK: Records

// MARK: Records

extension ImportPass {
  /// Imports a record, and returns its object, or nil if the object refuses the record or the record has a fault.
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

  /// Sets the values of a record in an object. Returns false if the object refuses the record or was deleted meanwhile.
  func fill(_ object: ManagedObject, _ record: ImportValue, at place: ImportPlace) throws -> Bool {
    if place.depth > ImportValue.greatestDepth {
      try note(ImportFault.tooDeep(place).message, at: place, object.entity)
      return true
    }
    let plan = try plan(object.entity)
    let importing = object as? any ImportingObject
    guard try begin(importing, record, at: place), !object.isDeleted else { return false }
    for attribute in plan.attributes { try importAttribute(attribute, of: object, importing, record, at: place) }
    // Nested records may refer back to this object.
    indexes.note(object)
    for relationship in plan.relationships {
      try importRelationship(relationship, of: object, importing, record, at: place)
    }
    if let importing {
      try noting(place, object.entity) { try importing.didImport(record) }
      // Its identifying values may have changed.
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

  /// Returns whether the object has imported the value itself, or failed to.
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
      return try note("An array is here, and the relationship refers to one object.", at: place, object.entity, name)
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

  /// Returns the object of a nested record, or the object that a plain value identifies.
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
