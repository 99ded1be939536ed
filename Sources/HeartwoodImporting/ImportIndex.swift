import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

/// The objects of an entity by the values of the attribute that tells them apart, as far as records have asked for them.
final class ImportIndex {
  /// How many values are looked for in one fetch.
  private static let mostValues = 5000

  let entity: EntityDescription
  let attributeName: String
  private var wanted: Set<PropertyValue> = []
  private var known: Set<PropertyValue> = []
  private var candidates: [PropertyValue: Candidates] = [:]

  /// Objects that had a value when they were noted, in the order in which they came.
  private struct Candidates {
    private var objects: [ManagedObject] = []
    /// How many have been passed over for good.
    private var passedCount = 0

    mutating func append(_ object: ManagedObject) { objects.append(object) }

    /// The first for which `isFit` is true. Those before it are not asked again, so that many that were passed over cost nothing.
    mutating func first(where isFit: (ManagedObject) -> Bool) -> ManagedObject? {
      while passedCount < objects.count {
        if isFit(objects[passedCount]) { return objects[passedCount] }
        passedCount += 1
      }
      return nil
    }
  }

  /// The context's own changes are looked through once; what is imported is noted as it comes.
  init(_ entity: EntityDescription, _ attributeName: String, in context: ManagedObjectContext) {
    self.entity = entity
    self.attributeName = attributeName
    for object in context.insertedObjects + context.updatedObjects { note(object) }
  }

  /// Notes that the object of a value will be asked for.
  func want(_ value: PropertyValue) {
    if !value.isNull, !known.contains(value) { wanted.insert(value) }
  }

  /// Finds the objects of all values that have been noted, together.
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

  /// The object that has `value`, looked for in the stores where nobody has noted that it would be asked for; nil where there is none.
  func findObject(_ value: PropertyValue, in context: ManagedObjectContext) throws -> ManagedObject? {
    if let found = object(value) { return found }
    if known.contains(value) { return nil }
    want(value)
    try fetch(in: context)
    return object(value)
  }

  /// The object that has `value`, as far as it is known; nil where there is none.
  private func object(_ value: PropertyValue) -> ManagedObject? {
    // Another record, or a hook, may have given it another value, or deleted it.
    candidates[value]?.first { self.value(of: $0) == value }
  }

  /// The value by which an object is told apart now; nil where there is none.
  private func value(of object: ManagedObject) -> PropertyValue? {
    guard !object.isDeleted, let ordinal = object.entity.ordinal(ofProperty: attributeName) else { return nil }
    let value = object.value(at: ordinal)
    return value.isNull ? nil : value
  }

  /// Lets an object be found by the value that it has now. Of several with the same value the first one is found.
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

  /// The index of an entity by an attribute.
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

  /// Lets an object be found by the values that it has now.
  func note(_ object: ManagedObject) {
    for index in indexes.values { index.note(object) }
  }
}
