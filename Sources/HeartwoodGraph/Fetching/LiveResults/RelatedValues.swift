import HeartwoodModel

/// The last known values of related objects that the results depend on. Only changes to these values can affect the results.
struct RelatedValues {
  private let dependencies: FetchDependencies
  private var seen: [ManagedObject: [Int: PropertyValue]] = [:]

  init(_ dependencies: FetchDependencies, in context: ManagedObjectContext) {
    self.dependencies = dependencies
    if dependencies.isEmpty { return }
    for object in context.updated.objects + context.deleted.objects { note(object) }
  }

  private mutating func note(_ object: ManagedObject) {
    let ordinals = ordinals(object)
    if !ordinals.isEmpty { noteSeen(object, Self.values(object, ordinals)) }
  }

  /// Notes what the results have seen of an object: nothing where it is deleted, so that it changes when it comes back as it was.
  private mutating func noteSeen(_ object: ManagedObject, _ values: [Int: PropertyValue]) {
    seen[object] = object.isDeleted ? [:] : values
  }

  private func ordinals(_ object: ManagedObject) -> Set<Int> {
    dependencies.trails(to: object.entity).reduce(into: []) { $0.formUnion($1.ordinals) }
  }

  private static func values(_ object: ManagedObject, _ ordinals: Set<Int>) -> [Int: PropertyValue] {
    Dictionary(uniqueKeysWithValues: ordinals.map { ($0, object.value(at: $0)) })
  }

  /// The objects that depend on `object`, which has changed; nil where they cannot be told.
  ///
  /// - Parameter isRenewal: whether the object may be of another version of its record than before.
  mutating func dependents(
    of object: ManagedObject,
    isRenewal: Bool,
    in context: ManagedObjectContext
  ) -> [ManagedObject]? {
    if dependencies.isOpaque { return nil }
    let trails = dependencies.trails(to: object.entity)
    if trails.isEmpty { return [] }
    let changed = changes(of: object, isRenewal: isRenewal)
    var dependents: [ManagedObject] = []
    for trail in trails where object.isDeleted || !trail.ordinals.isDisjoint(with: changed) {
      guard let origins = dependencies.origins(of: object, trail, in: context) else { return nil }
      dependents += origins
    }
    return dependents
  }

  /// The ordinals of what has changed since the results have looked at it.
  private mutating func changes(of object: ManagedObject, isRenewal: Bool) -> Set<Int> {
    let ordinals = ordinals(object)
    let values = Self.values(object, ordinals)
    defer { noteSeen(object, values) }
    if let old = seen[object] { return ordinals.filter { old[$0] != values[$0] } }
    if isRenewal || object.isInserted || object.isDeleted { return ordinals }
    return ordinals.filter { object.committedValue(at: $0) != values[$0] }
  }
}
