import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ManagedObjectContext {
  /// How far a change may go from derived attribute to derived attribute.
  private static var mostDerivations: Int { 100 }

  /// Computes the derived attributes of the objects that the next save writes, and of those that depend on them, which it writes then
  /// too.
  ///
  /// - Throws: ``PersistenceError/Code/saveNeverSettles`` where derived attributes depend on each other in a circle and do not come to
  ///   rest; `FetchPredicateError` where an expression does not fit.
  func updateDerivedAttributes() throws {
    let model = persistentStoreCoordinator.managedObjectModel
    guard model.hasDerivedAttributes, let derived = try DerivedAttributes(model, now: Date()) else { return }
    let written = inserted.objects + updated.objects.filter { !$0.isDeleted && $0.hasPersistentChangedValues }
    var changed = written + deleted.objects
    var timed = Set(written)
    for _ in 0..<Self.mostDerivations {
      var targets = ObjectList()
      for object in changed {
        targets.append(object)
        for dependent in derived.dependents(of: object, in: self) { targets.append(dependent) }
      }
      changed = targets.objects.filter { object in
        guard !object.isDeleted, object.managedObjectContext === self else { return false }
        return object.derive(derived.attributes(of: object.entity), isWritten: timed.contains(object))
      }
      if changed.isEmpty { return }
      timed.formUnion(changed)
    }
    throw PersistenceError(
      .saveNeverSettles,
      "Derived attributes were still changing after \(Self.mostDerivations) rounds. They depend on each other in a circle.",
      context: .init(entity: changed.first?.entity.name, objectIDs: changed.map(\.objectID))
    )
  }
}

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
    let (old, new) = (self.value(at: attribute.ordinal), value.fitted(to: attribute.type))
    if old == new || old.isNaN && new.isNaN { return false }
    changeUnrecorded(attribute.ordinal, to: new)
    return true
  }
}
