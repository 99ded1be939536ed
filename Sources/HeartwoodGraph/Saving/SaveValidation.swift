import HeartwoodModel
import HeartwoodStore

/// Gathers what keeps objects from being saved.
///
/// Each object is checked against the model (`RecordValidation`, where further rules of the model belong), then by the validators of
/// its class, then by its own hook.
struct SaveValidation {
  private var faults: [ValidationFault] = []
  private var underlyingError: (any Error)?

  /// Checks the values that `object` would be saved with against the model.
  mutating func check(_ values: [PropertyValue], of object: ManagedObject) {
    faults += RecordValidation.faults(in: values, of: object.objectID)
  }

  /// Lets the validators of an object's class, and the object itself, check what would be saved.
  mutating func checkByOwnRules(_ object: ManagedObject) {
    object.withBinding { binding in
      for validator in binding.validators {
        gather(object) {
          let value = object.value(at: validator.ordinal)
          if let fault = validator.validator.fault(in: value, of: object) { throw fault }
        }
      }
    }
    if object.withBinding({ $0.hasOwnClass }) {
      gather(object) { try object.isInserted ? object.validateForInsert() : object.validateForUpdate() }
    }
  }

  /// Checks whether `object` may be deleted. A relationship denies it while it leads to others that stay and, where it has an inverse, that
  /// lead back: a deleted object is not told of those that have been led elsewhere since.
  ///
  /// - Throws: what reading the objects throws that a relationship leads to which denies it: nobody knows then whether they are there.
  mutating func checkDeletion(of object: ManagedObject, in context: ManagedObjectContext) throws(PersistenceError) {
    for (ordinal, property) in object.entity.properties.enumerated() {
      guard let relationship = property.relationship, relationship.deleteRule == .deny else { continue }
      let inverse = object.binding.traits[ordinal].inverseOrdinal
      var others: [ManagedObjectID] = []
      for id in object.value(at: ordinal).objectIDs {
        guard let other = try context.find(id), !other.isDeleted else { continue }
        if inverse.map({ other.leadsOnceSaved($0, to: object.objectID) }) ?? true { others.append(id) }
      }
      if others.isEmpty { continue }
      let problem = "denies the deletion of an object while it leads to others."
      faults.append(
        ValidationFault(.deletionDenied, object.objectID, relationship.name, problem, relatedObjectIDs: others)
      )
    }
    gather(object) { try object.validateForDelete() }
  }

  /// Notes what `body`, a validation of the application's own, throws.
  private mutating func gather(_ object: ManagedObject, _ body: () throws -> Void) {
    do {
      try object.binding.notes.validating(body)
    } catch let fault as ValidationFault {
      faults.append(fault)
    } catch let error as PersistenceError where !error.context.validationFaults.isEmpty {
      faults += error.context.validationFaults
    } catch {
      faults.append(ValidationFault(.rejected, object.objectID, "", "was rejected: \(error)"))
      underlyingError = underlyingError ?? error
    }
  }

  func finish() throws(PersistenceError) {
    if !faults.isEmpty { throw .validationFailed(faults, underlyingError: underlyingError) }
  }
}

extension ManagedObject {
  /// Whether a relationship leads to the object of `id` once the save is done: what the context has not changed is as the newest record says,
  /// which may not be what the object has read. A fault stays a fault.
  fileprivate final func leadsOnceSaved(_ ordinal: Int, to id: ManagedObjectID) -> Bool {
    if isInserted || isUnsettled(ordinal) || binding.traits[ordinal].isTransient { return leads(ordinal, to: id) }
    return newestValue(at: ordinal)?.objectIDs.contains(id) ?? false
  }
}

// MARK: ValueScreen

/// Tells which objects must be validated closely: those with a value that may be at fault. Most have none.
struct ValueScreen {
  /// Whether there are rules that only a close look can tell.
  let hasRules: Bool
  /// The properties that something is asked of that a column may not keep to.
  private let demanding: [(ordinal: Int, trait: PropertyTrait)]
  /// What was found out of the group that was asked for last.
  private var lastGroup: (group: RowGroup, isSuspect: Bool)?

  init(_ entity: EntityDescription) {
    hasRules = !entity.ruledAttributes.isEmpty
    demanding = entity.traits.enumerated().compactMap { ordinal, trait in
      let isCounted = trait.isToMany && (trait.minCount > 0 || trait.maxCount > 0)
      let isDemanding = !trait.isTransient && (!trait.mayBeEmpty || isCounted)
      return isDemanding ? (ordinal, trait) : nil
    }
  }

  /// Whether a value may be at fault.
  @inline(__always)
  static func isSuspect(_ value: PropertyValue, _ trait: PropertyTrait) -> Bool {
    switch value {
    case .null: !trait.isOptional || trait.isToMany
    case .toOne: !trait.isToOne || trait.minCount > 1
    case .toMany(let ids): !trait.isToMany || isSuspect(count: ids.count, trait)
    default: !value.canBeKept(as: trait)
    }
  }

  private static func isSuspect(count: Int, _ trait: PropertyTrait) -> Bool {
    if count == 0 { return !trait.mayBeEmpty }
    return count < trait.minCount || trait.maxCount > 0 && count > trait.maxCount
  }

  /// Whether a record of `group` may have a value at fault.
  mutating func isSuspect(_ group: RowGroup) -> Bool {
    if let lastGroup, lastGroup.group === group { return lastGroup.isSuspect }
    let isSuspect = demanding.contains { ordinal, trait in trait.isToMany || group.columns[ordinal].validity != nil }
    lastGroup = (group, isSuspect)
    return isSuspect
  }
}
