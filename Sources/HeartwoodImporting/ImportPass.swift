import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

/// Imports records into a context.
///
/// Records are taken in portions: first the objects of all that a portion names are fetched together, also of those that are in its records;
/// then each record becomes an object, or values of one.
final class ImportPass {
  /// How many records are in a portion.
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
  /// Imports records of `entity` until there are no more; returns an object for each that is wanted.
  ///
  /// - Parameter isList: whether the records are elements of a list, which have their places in it.
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
      // Whoever has no more records is not asked again.
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
  /// Notes what is wrong at a place, and goes on, unless it is enough by now.
  func note(
    _ message: String,
    at place: ImportPlace,
    _ entity: EntityDescription?,
    _ property: String? = nil
  ) throws(PersistenceError) {
    faults.append(ImportFault(path: place.description, entity: entity?.name, property: property, message))
    if faults.count >= max(1, options.greatestFaultCount) { try throwFaults() }
  }

  /// Notes the error that `body` throws as what is wrong at a place.
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

  /// Whether a value is a record; notes what is wrong otherwise.
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
  /// Notes by which values the objects of a record and of those in it will be looked for. What is wrong is found later, and so is what a
  /// record has for relationships of subentities: whether its object is of one is not known yet.
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

  /// Notes the same for the records that are in one.
  private func noteKeys(in value: ImportValue, _ entity: EntityDescription, depth: Int) throws(PersistenceError) {
    guard depth < ImportValue.greatestDepth, case .object = value else { return }
    for relationship in try plan(entity).relationships {
      guard let found = relationship.source.value(in: value)?.value else { continue }
      for element in found.elements {
        try noteKeys(of: element, relationship.destination, by: relationship.keyName, depth: depth + 1)
      }
    }
  }

  /// The value that tells the object of a record apart, or that stands for one; nil where there is none.
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
  /// The elements of an array; of anything else that alone.
  var elements: [ImportValue] {
    if case .array(let elements) = self { elements } else { [self] }
  }
}

// MARK: Records

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
