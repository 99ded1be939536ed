import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// Computes the derived attributes of the objects that the next save writes, and of those that depend on them, which it writes then
  /// too.
  ///
  /// - Throws: ``PersistenceError/Code/saveNeverSettles`` where derived attributes depend on each other in a circle and do not come to
  ///   rest; `FetchPredicateError` where an expression does not fit; what reading the objects throws that they depend on.
  func updateDerivedAttributes() throws {
    guard let derived = try persistentStoreCoordinator.derivedAttributes() else { return }
    try reading { try update(derived) }
  }

  private func update(_ derived: DerivedAttributes) throws {
    let written = inserted.objects + updated.objects.filter { !$0.isDeleted && $0.hasPersistentChangedValues }
    var changed = written + deleted.objects
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

  /// How often those who are told what a save has derived may change something in their turn, and are told of that.
  private static var mostTellings: Int { 10 }

  /// Computes derived attributes and tells what has changed; again where those who are told change something, so that what is derived
  /// fits what is saved.
  func deriveAndTell() throws {
    for _ in 0..<Self.mostTellings {
      try updateDerivedAttributes()
      let derivedNumber = changeNumber
      tellChangeEvent()
      if changeNumber == derivedNumber { return }
    }
    // Who changes something whenever it is told is told of the rest after the save.
    try updateDerivedAttributes()
  }
}

// MARK: What depends on what

extension ManagedObjectContext {
  /// The saved and new objects whose derived values depend on objects that have changed.
  private func dependents(of changed: [ManagedObject], _ derived: DerivedAttributes) throws -> [ManagedObject] {
    var dependents: [ManagedObject] = []
    for (_, objects) in Dictionary(grouping: changed, by: \.entity.ordinal) {
      guard let entity = objects.first?.entity else { continue }
      for trail in derived.trails(to: entity) {
        let origins = objects.filter { !$0.isUpdated || $0.hasChanges(at: trail.ordinals) }
        if origins.isEmpty { continue }
        dependents += try trail.steps.reversed().reduce(origins) { try owners(of: $0, over: $1) }
      }
    }
    return dependents
  }

  /// The objects that lead to one of `objects` by a relationship.
  private func owners(of objects: [ManagedObject], over step: FetchDependencies.Step) throws -> [ManagedObject] {
    if let owners = step.owners(of: objects, in: self) { return owners }
    let ids = Set(objects.map(\.objectID))
    let changed = (inserted.objects + updated.objects).filter { object in
      object.entity.isKind(of: step.owner)
        && object.value(at: step.relationship.ordinal).objectIDs.contains(where: ids.contains)
    }
    return changed + (try savedOwners(of: ids.filter { !$0.isTemporaryID }, over: step))
  }

  /// The objects whose records lead to one of `ids`: all records of the entity are looked through.
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
  /// Computes derived attributes; tells whether one has changed on which others may depend.
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
    // The time of a save is that of what is saved.
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
