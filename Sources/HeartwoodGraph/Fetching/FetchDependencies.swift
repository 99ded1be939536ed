import HeartwoodModel

/// The properties that a fetch reads besides those of the fetched objects: properties of objects at the end of
/// relationships.
///
/// A change of such a property may add another object to the results, remove it, or move it, although that object has
/// not changed itself. Those objects are found by following the relationships back, through their inverses.
struct FetchDependencies: Sendable {
  /// One relationship of a path.
  struct Step: Sendable {
    /// The entity whose objects have the relationship, including those of its subentities.
    let owner: EntityDescription
    let relationship: CompiledProperty
    /// The ordinal of the inverse; nil if there is none.
    let inverse: Int?

    /// Returns the objects that refer to some of `objects` through the relationship; nil if it has no inverse.
    ///
    /// The inverse of a relationship that an entity inherits also refers to objects of its ancestor, which are not
    /// among the results.
    func owners(of objects: [ManagedObject], in context: ManagedObjectContext) -> [ManagedObject]? {
      guard let inverse else { return nil }
      return context.objects(objects.flatMap { $0.value(at: inverse).objectIDs }).filter { $0.entity.isKind(of: owner) }
    }
  }

  /// A path over relationships, and the properties that are read at its end.
  struct DependencyPath: Sendable {
    /// The entity at the end, including its subentities.
    let destination: EntityDescription
    /// The ordinals of the properties that are read.
    let ordinals: Set<Int>
    /// The relationships, starting at the tested object.
    let steps: [Step]
    /// Whether the path can be followed back through inverses.
    var hasWayBack: Bool { steps.allSatisfy { $0.inverse != nil } }
  }

  /// The objects that depend on others.
  enum Dependents {
    case objects([ManagedObject])
    /// The dependent objects cannot be determined.
    case unknown
  }

  private(set) var paths: [DependencyPath] = []
  /// The ordinals of the tested object's own properties that are read.
  private(set) var ownOrdinals: Set<Int> = []
  /// Whether objects are read that no relationship of the tested object refers to.
  private(set) var isOpaque = false

  /// - Parameter expressions: the expressions that are evaluated besides the predicate, such as sort keys.
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

  /// Returns the paths that end at `entity`.
  func paths(to entity: EntityDescription) -> [DependencyPath] {
    paths.filter { entity.isKind(of: $0.destination) }
  }

  /// Returns whether a change of objects of `entity` may affect the results.
  func mayLead(to entity: EntityDescription) -> Bool {
    isOpaque || paths.contains { entity.isKind(of: $0.destination) }
  }

  /// Returns the objects from which `path` now reaches `object`; nil if the path cannot be followed back.
  func origins(of object: ManagedObject, _ path: DependencyPath, in context: ManagedObjectContext) -> [ManagedObject]? {
    guard path.hasWayBack else { return nil }
    return path.steps.reversed().reduce([object]) { objects, step in
      step.owners(of: objects, in: context) ?? []
    }
  }

  /// Returns the objects that depend on objects with unsaved changes in `context`.
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
  /// Returns the objects of `ids` that exist, each once.
  func objects(_ ids: [ManagedObjectID]) -> [ManagedObject] {
    var seen: Set<ManagedObjectID> = []
    return ids.filter { seen.insert($0).inserted }.compactMap { objectIfPresent($0) }
  }
}

extension ManagedObject {
  /// Returns whether a property of `ordinals` has a value that is to be saved.
  final func hasChanges(at ordinals: Set<Int>) -> Bool {
    guard case .changed(let changes) = content else { return false }
    return changes.unsettledOrdinals.contains(where: ordinals.contains)
  }
}
