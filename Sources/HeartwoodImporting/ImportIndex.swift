import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

/// An index of an entity's objects by the values of their identifying attribute, for the values that records contain.
final class ImportIndex {
  /// The number of values that one fetch looks for.
  private static let mostValues = 5000

  let entity: EntityDescription
  let attributeName: String
  private var wanted: Set<PropertyValue> = []
  private var known: Set<PropertyValue> = []
  private var candidates: [PropertyValue: Candidates] = [:]

  /// The objects that had a value when they were noted, in the order in which they were noted.
  private struct Candidates {
    private var objects: [ManagedObject] = []
    /// The number of objects that have been skipped for good.
    private var passedCount = 0

    mutating func append(_ object: ManagedObject) { objects.append(object) }

    /// Returns the first object for which `isFit` is true. The objects before it are skipped from then on, so many
    /// unfit objects are not tested again and again.
    mutating func first(where isFit: (ManagedObject) -> Bool) -> ManagedObject? {
      while passedCount < objects.count {
        if isFit(objects[passedCount]) { return objects[passedCount] }
        passedCount += 1
      }
      return nil
    }
  }

  /// The context's unsaved changes are searched once; imported objects are noted as they come.
  init(_ entity: EntityDescription, _ attributeName: String, in context: ManagedObjectContext) {
    self.entity = entity
    self.attributeName = attributeName
    for object in context.insertedObjects + context.updatedObjects { note(object) }
  }

  /// Notes that the object with a value will be needed.
  func want(_ value: PropertyValue) {
    if !value.isNull, !known.contains(value) { wanted.insert(value) }
  }

  /// Fetches the objects of all noted values together.
  func fetch(in context: ManagedObjectContext) throws {
    let values = Array(wanted)
    for start in stride(from: 0, to: values.count, by: Self.mostValues) {
      let part = values[start..<min(start + Self.mostValues, values.count)]
      let isOne = FetchComparison(.key(attributeName), .in, .aggregate(part.map { .constant($0) }))
      var request = FetchRequest<ManagedObject>(entityName: entity.name, where: .comparison(isOne))
      request.includesPendingChanges = false
      for object in try context.fetch(request) { note(object) }
    }
    known.formUnion(wanted)
    wanted = []
  }

  /// Returns the object that has `value`, or nil if there is none. It searches the stores if the value was not noted
  /// before.
  func findObject(_ value: PropertyValue, in context: ManagedObjectContext) throws -> ManagedObject? {
    if let found = object(value) { return found }
    if known.contains(value) { return nil }
    want(value)
    try fetch(in: context)
    return object(value)
  }

  /// Returns the known object that has `value`, or nil if there is none.
  private func object(_ value: PropertyValue) -> ManagedObject? {
    // Another record, or a hook, may have changed its value or deleted it.
    candidates[value]?.first { self.value(of: $0) == value }
  }

  /// Returns the current value of an object's identifying attribute, or nil if it has none.
  private func value(of object: ManagedObject) -> PropertyValue? {
    guard !object.isDeleted, let ordinal = object.entity.ordinal(ofProperty: attributeName) else { return nil }
    let value = object.value(at: ordinal)
    return value.isNull ? nil : value
  }

  /// Adds an object under its current value. If several objects have the same value, the first one is found.
  func note(_ object: ManagedObject) {
    guard object.entity.isKind(of: entity), let value = value(of: object), self.object(value) !== object else { return }
    candidates[value, default: Candidates()].append(object)
  }
}

/// The indexes that an import needs.
struct ImportIndexes {
  private struct Key: Hashable {
    let entityOrdinal: Int
    let attributeName: String
  }

  private var indexes: [Key: ImportIndex] = [:]

  /// Returns the index of an entity by an attribute.
  mutating func index(
    of entity: EntityDescription,
    by attributeName: String,
    in context: ManagedObjectContext
  ) -> ImportIndex {
    let key = Key(entityOrdinal: entity.ordinal, attributeName: attributeName)
    if let index = indexes[key] { return index }
    let index = ImportIndex(entity, attributeName, in: context)
    indexes[key] = index
    return index
  }

  func fetch(in context: ManagedObjectContext) throws {
    for index in indexes.values { try index.fetch(in: context) }
  }

  /// Adds an object to the indexes under its current values.
  func note(_ object: ManagedObject) {
    for index in indexes.values { index.note(object) }
  }
}
