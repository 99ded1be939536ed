import HeartwoodModel

/// What a fetch looks at beside the objects that it is about: objects at the end of relationships, and which properties of them.
///
/// A change of such an object may let another one begin or cease to be found, or take another place, though that has not changed
/// itself. Those are found by following the relationships back, by their inverses.
struct FetchDependencies {
  /// A way over relationships, and what is looked at where it ends.
  struct Trail {
    /// The entity at the end; its subentities count too.
    let destination: EntityDescription
    /// The ordinals of the properties that are looked at.
    var ordinals: Set<Int>
    /// The way back, by the ordinals of the inverse relationships; nil where one of them has no inverse.
    let wayBack: [Int]?
  }

  /// The objects that depend on others.
  enum Dependents {
    case objects([ManagedObject])
    /// They cannot be told apart from those that do not.
    case unknown
  }

  private(set) var trails: [Trail] = []
  /// Whether objects are looked at which no relationship of the tested object leads to.
  private(set) var isOpaque = false

  /// - Parameter expressions: what is evaluated beside the predicate, such as sort keys.
  init(
    _ predicate: PlanPredicate?,
    _ expressions: [PlanExpression],
    of entity: EntityDescription,
    in model: ManagedObjectModel
  ) {
    var survey = DependencySurvey()
    if let predicate { survey.read(predicate) }
    for expression in expressions { _ = survey.read(expression) }
    isOpaque = survey.isOpaque
    for (steps, ordinals) in survey.reads where !steps.isEmpty {
      if let trail = Self.trail(steps, ordinals, entity, model) { trails.append(trail) }
    }
  }

  private static func trail(
    _ steps: [PlanProperty],
    _ ordinals: Set<Int>,
    _ entity: EntityDescription,
    _ model: ManagedObjectModel
  ) -> Trail? {
    var current = entity
    var wayBack: [Int]? = []
    for step in steps {
      guard let destination = step.destination else { return nil }
      let inverse = current.traits[step.ordinal].inverseOrdinal
      wayBack = inverse.flatMap { inverse in wayBack.map { [inverse] + $0 } }
      current = model.entities[destination]
    }
    return Trail(destination: current, ordinals: ordinals, wayBack: wayBack)
  }
}

extension FetchDependencies {
  var isEmpty: Bool { trails.isEmpty && !isOpaque }

  /// The ways that end at the entity of `object`.
  func trails(to object: ManagedObject) -> [Trail] {
    trails.filter { object.entity.isKind(of: $0.destination) }
  }

  /// The objects from which `trail` leads to `object` now; nil where it has no way back.
  func origins(of object: ManagedObject, _ trail: Trail, in context: ManagedObjectContext) -> [ManagedObject]? {
    guard let wayBack = trail.wayBack else { return nil }
    var objects = [object]
    for inverse in wayBack {
      var seen: Set<ManagedObjectID> = []
      let ids = objects.flatMap { $0.value(at: inverse).objectIDs }.filter { seen.insert($0).inserted }
      objects = ids.compactMap { context.objectIfPresent($0) }
    }
    return objects
  }

  /// The objects that depend on those which have unsaved changes in `context`.
  func dependentsOfChanges(in context: ManagedObjectContext) -> Dependents {
    if isEmpty { return .objects([]) }
    if isOpaque, context.hasChanges { return .unknown }
    var dependents = ObjectList()
    for object in context.updated.objects + context.deleted.objects {
      for trail in trails(to: object) where object.isDeleted || object.hasChanges(at: trail.ordinals) {
        guard let origins = origins(of: object, trail, in: context) else { return .unknown }
        origins.forEach { dependents.append($0) }
      }
    }
    return .objects(dependents.objects)
  }
}

extension ManagedObject {
  /// Whether a property of `ordinals` has a value that is to be saved.
  final func hasChanges(at ordinals: Set<Int>) -> Bool {
    guard case .changed(let changes) = content else { return false }
    return changes.unsettledOrdinals.contains(where: ordinals.contains)
  }
}
