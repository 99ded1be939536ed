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
