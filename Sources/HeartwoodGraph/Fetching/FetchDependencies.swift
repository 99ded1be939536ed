import HeartwoodModel

/// What a fetch looks at beside the objects that it is about: objects at the end of relationships, and which properties of them.
///
/// A change of such an object may let another one begin or cease to be found, or take another place, though that has not changed
/// itself. Those are found by following the relationships back, by their inverses.
struct FetchDependencies: Sendable {
  /// One relationship of a way.
  struct Step: Sendable {
    /// The entity whose objects have the relationship, those of its subentities included.
    let owner: EntityDescription
    let relationship: CompiledProperty
    /// The ordinal of the inverse; nil where there is none.
    let inverse: Int?

    /// The objects that lead to some by the relationship; nil where it has no inverse.
    ///
    /// The inverse of a relationship that an entity inherits leads back to objects of its ancestor, too, which are none of them.
    func owners(of objects: [ManagedObject], in context: ManagedObjectContext) -> [ManagedObject]? {
      guard let inverse else { return nil }
      return context.objects(objects.flatMap { $0.value(at: inverse).objectIDs }).filter { $0.entity.isKind(of: owner) }
    }
  }

  /// A way over relationships, and what is looked at where it ends.
  struct DependencyPath: Sendable {
    /// The entity at the end; its subentities count too.
    let destination: EntityDescription
    /// The ordinals of the properties that are looked at.
    let ordinals: Set<Int>
    /// The relationships, from the tested object on.
    let steps: [Step]
    /// Whether the way can be followed back by inverses alone.
    var hasWayBack: Bool { steps.allSatisfy { $0.inverse != nil } }
  }

  /// The objects that depend on others.
  enum Dependents {
    case objects([ManagedObject])
    /// They cannot be told apart from those that do not.
    case unknown
  }

  private(set) var paths: [DependencyPath] = []
  /// The ordinals of the tested object's own properties that are looked at.
  private(set) var ownOrdinals: Set<Int> = []
  /// Whether objects are looked at which no relationship of the tested object leads to.
  private(set) var isOpaque = false

  /// - Parameter expressions: what is evaluated beside the predicate, such as sort keys.
  init(
    _ predicate: CompiledPredicate?,
    _ expressions: [CompiledExpression],
    of entity: EntityDescription,
    in model: ManagedObjectModel
  ) {
    let survey = DependencySurvey(predicate, expressions)
    isOpaque = survey.isOpaque
    ownOrdinals = survey.reads[[]] ?? []
    for (steps, ordinals) in survey.reads where !steps.isEmpty {
      if let path = Self.path(steps, ordinals, entity, model) { paths.append(path) }
    }
  }

  private static func path(
    _ steps: [CompiledProperty],
    _ ordinals: Set<Int>,
    _ entity: EntityDescription,
    _ model: ManagedObjectModel
  ) -> DependencyPath? {
    var current = entity
    var way: [Step] = []
    for step in steps {
      guard let destination = step.destination else { return nil }
      way.append(Step(owner: current, relationship: step, inverse: current.traits[step.ordinal].inverseOrdinal))
      current = model.entities[destination]
    }
    return DependencyPath(destination: current, ordinals: ordinals, steps: way)
  }
}

extension FetchDependencies {
  var isEmpty: Bool { paths.isEmpty && !isOpaque }

  /// The ways that end at `entity`.
  func paths(to entity: EntityDescription) -> [DependencyPath] {
    paths.filter { entity.isKind(of: $0.destination) }
  }

  /// Whether what becomes of objects of `entity` may matter.
  func mayLead(to entity: EntityDescription) -> Bool {
    isOpaque || paths.contains { entity.isKind(of: $0.destination) }
  }

  /// The objects from which `path` leads to `object` now; nil where it has no way back.
  func origins(of object: ManagedObject, _ path: DependencyPath, in context: ManagedObjectContext) -> [ManagedObject]? {
    guard path.hasWayBack else { return nil }
    return path.steps.reversed().reduce([object]) { objects, step in
      step.owners(of: objects, in: context) ?? []
    }
  }

  /// The objects that depend on those which have unsaved changes in `context`.
  func dependentsOfChanges(in context: ManagedObjectContext) -> Dependents {
    if isEmpty { return .objects([]) }
    if isOpaque, context.hasChanges { return .unknown }
    var dependents = ObjectList()
    for object in context.pending.updated.objects + context.pending.deleted.objects {
      for path in paths(to: object.entity) where object.isDeleted || object.hasChanges(at: path.ordinals) {
        guard let origins = origins(of: object, path, in: context) else { return .unknown }
        origins.forEach { dependents.append($0) }
      }
    }
    return .objects(dependents.objects)
  }
}

extension ManagedObjectContext {
  /// The objects of `ids` that are there, each once.
  func objects(_ ids: [ManagedObjectID]) -> [ManagedObject] {
    var seen: Set<ManagedObjectID> = []
    return ids.filter { seen.insert($0).inserted }.compactMap { objectIfPresent($0) }
  }
}

extension ManagedObject {
  /// Whether a property of `ordinals` has a value that is to be saved.
  final func hasChanges(at ordinals: Set<Int>) -> Bool {
    guard case .changed(let changes) = content else { return false }
    return changes.unsettledOrdinals.contains(where: ordinals.contains)
  }
}
