import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore
import Synchronization

/// The derived attributes of a model's entities, checked and ready to be computed.
struct DerivedAttributes: Sendable {
  /// The number of derived attributes through which a change may propagate.
  static var mostRounds: Int { 100 }

  /// A derived attribute of an entity.
  struct Attribute: Sendable {
    let ordinal: Int
    let type: AttributeType
    let plan: CompiledExpression
    /// Whether the value depends on the time, so that it changes with each save of the object.
    let isTimed: Bool
  }

  /// The derived attributes of each entity and its ancestors, by the ordinal of the entity.
  private var attributes: [Int: [Attribute]] = [:]
  /// The dependencies of each entity that has derived attributes, by the ordinal of the entity.
  private var dependencies: [(entityOrdinal: Int, of: FetchDependencies)] = []
  private let model: ManagedObjectModel

  /// - Throws: `FetchPredicateError` if an expression does not fit its entity.
  init(_ model: ManagedObjectModel) throws(FetchPredicateError) {
    self.model = model
    for entity in model.entities {
      let own = try Self.attributes(of: entity, model, now: Date())
      if own.isEmpty { continue }
      attributes[entity.ordinal] = own
      dependencies.append((entity.ordinal, FetchDependencies(nil, own.map(\.plan), of: entity, in: model)))
    }
  }

  /// Returns the same attributes with another time for `now()`. O(1) if no attribute depends on it.
  func at(_ now: Date) throws(FetchPredicateError) -> DerivedAttributes {
    var result = self
    for (ordinal, own) in attributes where own.contains(where: \.isTimed) {
      result.attributes[ordinal] = try Self.attributes(of: model.entities[ordinal], model, now: now)
    }
    return result
  }

  private static func attributes(
    of entity: EntityDescription,
    _ model: ManagedObjectModel,
    now: Date
  ) throws(FetchPredicateError) -> [Attribute] {
    var attributes: [Attribute] = []
    for (ordinal, property) in entity.properties.enumerated() {
      guard let attribute = property.attribute, !attribute.isTransient,
        let expression = attribute.derivationExpression
      else { continue }
      let plan = try PredicateCompiler.compile(expression, for: entity, in: model, now: now)
      let isTimed = expression.applies(.now)
      attributes.append(Attribute(ordinal: ordinal, type: attribute.type, plan: plan, isTimed: isTimed))
    }
    return attributes
  }
}

extension DerivedAttributes {
  func attributes(of entity: EntityDescription) -> [Attribute] { attributes[entity.ordinal] ?? [] }

  /// Returns the paths from objects with derived attributes to the properties of `entity` that these depend on.
  func paths(to entity: EntityDescription) -> [FetchDependencies.DependencyPath] {
    dependencies.flatMap { $0.of.paths(to: entity) }
  }

  /// Returns whether derived attributes may change when records of `entity` are written.
  func depend(on entity: EntityDescription) -> Bool { !attributes(of: entity).isEmpty || !paths(to: entity).isEmpty }

  /// Whether some depend on records that no relationship refers to.
  var areOpaque: Bool { dependencies.contains { $0.of.isOpaque } }

  /// Returns whether derived attributes, of these records or of others, may change when properties of records of
  /// `entity` are written.
  func depend(on entity: EntityDescription, at ordinals: Set<Int>) -> Bool {
    areOpaque || isAffected(entity, by: ordinals)
      || paths(to: entity).contains { !$0.ordinals.isDisjoint(with: ordinals) }
  }

  /// Returns whether derived attributes may depend on a record of `entity` whose properties at `ordinals` have been
  /// written.
  func isAffected(_ entity: EntityDescription, by ordinals: Set<Int>) -> Bool {
    let own = attributes(of: entity)
    if own.contains(where: { $0.isTimed || ordinals.contains($0.ordinal) }) { return true }
    return dependencies.contains { $0.entityOrdinal == entity.ordinal && !$0.of.ownOrdinals.isDisjoint(with: ordinals) }
  }

  /// Returns the error for derived values that do not settle.
  static func neverSettles(_ entityName: String?, _ ids: [ManagedObjectID]) -> PersistenceError {
    PersistenceError(
      .saveNeverSettles,
      "Derived attributes were still changing after \(mostRounds) rounds. They depend on each other in a circle.",
      context: .init(entity: entityName, objectIDs: ids)
    )
  }
}

extension DerivedAttributes.Attribute {
  /// Returns the value in the form that the attribute stores, if it differs from `old`.
  func change(of old: PropertyValue, to value: PropertyValue) -> PropertyValue? {
    let new = value.fitted(to: type)
    return old == new || old.isNaN && new.isNaN ? nil : new
  }
}

extension PropertyValue {
  /// Returns the value in the form that a derived attribute of `type` stores: numbers reduced to the precision of the
  /// type; no value if it does not fit.
  fileprivate func fitted(to type: AttributeType) -> PropertyValue {
    if fits(type) { return self }
    let value: PropertyValue =
      switch type {
      case .integer16, .integer32, .integer64: Computation.cast(self, to: .integer)
      case .double: Computation.cast(self, to: .double)
      case .float: Computation.cast(self, to: .float)
      case .decimal: Computation.cast(self, to: .decimal)
      case .string, .boolean, .date, .binary, .uuid, .uri, .transformable, .undefined: .null
      }
    return value.fits(type) ? value : .null
  }
}

// MARK: ManagedObjectContext: deriving

extension ManagedObjectContext {
  /// Computes the derived attributes of the objects that the next save writes, and of those that depend on them, which
  /// the save then writes too.
  ///
  /// - Throws: ``PersistenceError/Code/saveNeverSettles`` if derived attributes depend on each other in a cycle and do
  ///   not settle; `FetchPredicateError` if an expression does not fit; the errors of reading the objects that they
  ///   depend on.
  func updateDerivedAttributes() throws {
    guard let derived = try persistentStoreCoordinator.derivedAttributes() else { return }
    try reading { try update(derived) }
  }

  private func update(_ derived: DerivedAttributes) throws {
    let written =
      pending.inserted.objects + pending.updated.objects.filter { !$0.isDeleted && $0.hasPersistentChangedValues }
    var changed = written + pending.deleted.objects
    var timed = Set(written)
    for _ in 0..<DerivedAttributes.mostRounds {
      var targets = ObjectList()
      for object in changed { targets.append(object) }
      for object in try dependents(of: changed, derived) { targets.append(object) }
      changed = targets.objects.filter { object in
        guard !object.isDeleted, object.managedObjectContext === self else { return false }
        return object.derive(derived.attributes(of: object.entity), isWritten: timed.contains(object))
      }
      if changed.isEmpty { return }
      timed.formUnion(changed)
    }
    throw DerivedAttributes.neverSettles(changed.first?.entity.name, changed.map(\.objectID))
  }

  /// The number of rounds in which observers that are notified of derived values may change objects in their turn.
  private static var mostTellings: Int { 10 }

  /// Computes derived attributes and notifies observers; repeats this if observers change objects, so that derived
  /// values fit the saved ones.
  func deriveAndTell() throws {
    for _ in 0..<Self.mostTellings {
      try updateDerivedAttributes()
      let derivedNumber = notes.changeNumber
      tellChangeEvent()
      if notes.changeNumber == derivedNumber { return }
    }
    // If observers change objects in every round, the last changes are reported after the save.
    try updateDerivedAttributes()
  }
}

// MARK: Dependencies

extension ManagedObjectContext {
  /// Returns the saved and new objects whose derived values depend on changed objects.
  private func dependents(of changed: [ManagedObject], _ derived: DerivedAttributes) throws -> [ManagedObject] {
    var dependents: [ManagedObject] = []
    for (_, objects) in Dictionary(grouping: changed, by: \.entity.ordinal) {
      guard let entity = objects.first?.entity else { continue }
      for path in derived.paths(to: entity) {
        let origins = objects.filter { !$0.isUpdated || $0.hasChanges(at: path.ordinals) }
        if origins.isEmpty { continue }
        dependents += try path.steps.reversed().reduce(origins) { try owners(of: $0, over: $1) }
      }
    }
    return dependents
  }

  /// Returns the objects that refer to one of `objects` by a relationship.
  private func owners(of objects: [ManagedObject], over step: FetchDependencies.Step) throws -> [ManagedObject] {
    if let owners = step.owners(of: objects, in: self) { return owners }
    let ids = Set(objects.map(\.objectID))
    let changed = pending.present.filter { object in
      object.entity.isKind(of: step.owner)
        && object.value(at: step.relationship.ordinal).objectIDs.contains(where: ids.contains)
    }
    return changed + (try savedOwners(of: ids.filter { !$0.isTemporaryID }, over: step))
  }

  /// Returns the objects whose records refer to one of `ids`: it searches all records of the entity.
  private func savedOwners(
    of ids: Set<ManagedObjectID>,
    over step: FetchDependencies.Step
  ) throws -> [ManagedObject] {
    if ids.isEmpty { return [] }
    let comparison = FetchComparison(
      .key(step.owner.properties[step.relationship.ordinal].name),
      .in,
      ids.fetchExpression,
      modifier: step.relationship.isToMany ? .any : .direct
    )
    var request = FetchRequest<ManagedObject>(entityName: step.owner.name, where: .comparison(comparison))
    request.includesPendingChanges = false
    return try fetch(request)
  }
}

// MARK: Computing

extension ManagedObject {
  /// Computes derived attributes; returns whether one has changed on which others may depend.
  ///
  /// - Parameter isWritten: whether the object is written anyway.
  fileprivate final func derive(_ attributes: [DerivedAttributes.Attribute], isWritten: Bool) -> Bool {
    guard !attributes.isEmpty, let context = managedObjectContext else { return false }
    if isFault { fireFault() }
    if isDeleted { return false }
    let evaluator = PredicateEvaluator(ContextSource(context: context))
    var hasChanged = false
    for attribute in attributes where !attribute.isTimed {
      hasChanged = setDerived(evaluator.value(attribute.plan, self).scalar, attribute) || hasChanged
    }
    // Attributes that depend on the time are updated only in objects that are written.
    if isWritten || hasChanged {
      for attribute in attributes where attribute.isTimed {
        hasChanged = setDerived(evaluator.value(attribute.plan, self).scalar, attribute) || hasChanged
      }
    }
    return hasChanged
  }

  private final func setDerived(_ value: PropertyValue, _ attribute: DerivedAttributes.Attribute) -> Bool {
    guard let new = attribute.change(of: self.value(at: attribute.ordinal), to: value) else { return false }
    changeUnrecorded(attribute.ordinal, to: new)
    return true
  }
}

// MARK: PersistentStoreCoordinator: deriving

extension PersistentStoreCoordinator {
  /// Returns the derived attributes of the model with the current time; nil if it has none. They are compiled once.
  ///
  /// - Throws: `FetchPredicateError` if an expression does not fit its entity.
  func derivedAttributes() throws(FetchPredicateError) -> DerivedAttributes? {
    guard managedObjectModel.hasDerivedAttributes else { return nil }
    let derived = try derivation.withLock { compiled throws(FetchPredicateError) in
      let derived = if let compiled { compiled } else { try DerivedAttributes(managedObjectModel) }
      compiled = derived
      return derived
    }
    return try derived.at(Date())
  }
}
