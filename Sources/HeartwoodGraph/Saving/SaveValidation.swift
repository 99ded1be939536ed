import HeartwoodModel
import HeartwoodStore

/// Collects the faults that prevent objects from being saved.
///
/// Each object is checked against the model (`RecordValidation`, to which further rules of the model belong), then by
/// the validators of its class, then by its own hook.
struct SaveValidation {
  private var faults: [ValidationFault] = []
  private var underlyingError: (any Error)?

  /// Checks the values with which `object` would be saved against the model.
  mutating func check(_ values: [PropertyValue], of object: ManagedObject) {
    faults += RecordValidation.faults(in: values, of: object.objectID)
  }

  /// Runs the validators of an object's class, and the object's own validation.
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

  /// Checks whether `object` may be deleted. A relationship denies it if it has destinations that stay and, if it has
  /// an inverse, that refer back: a deleted object is not updated when these get another destination.
  ///
  /// - Throws: the errors of reading the destinations of a relationship that denies: then it is unknown whether they
  ///   exist.
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
      let problem = "denies the deletion of an object while it refers to others."
      faults.append(
        ValidationFault(.deletionDenied, object.objectID, relationship.name, problem, relatedObjectIDs: others)
      )
    }
    gather(object) { try object.validateForDelete() }
  }

  /// Notes the errors of `body`, a validation of the application.
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
  /// Returns whether the object of `id` will be a destination of a relationship after the save: unchanged properties
  /// count with their newest stored values, which may differ from those that the object has read. A fault stays a
  /// fault.
  fileprivate final func leadsOnceSaved(_ ordinal: Int, to id: ManagedObjectID) -> Bool {
    if isInserted || isUnsettled(ordinal) || binding.traits[ordinal].isTransient { return leads(ordinal, to: id) }
    return newestValue(at: ordinal)?.objectIDs.contains(id) ?? false
  }
}

// MARK: ValueScreen

/// Finds the objects that must be validated in detail: those with a value that may be invalid. Most have none.
struct ValueScreen {
  /// Whether there are rules that need a detailed check.
  let hasRules: Bool
  /// The properties with requirements that a column may violate.
  private let demanding: [(ordinal: Int, trait: PropertyTrait)]
  /// The result for the last group.
  private var lastGroup: (group: RowGroup, isSuspect: Bool)?

  init(_ entity: EntityDescription) {
    hasRules = !entity.ruledAttributes.isEmpty
    demanding = entity.traits.enumerated().compactMap { ordinal, trait in
      let isCounted = trait.isToMany && (trait.minCount > 0 || trait.maxCount > 0)
      let isDemanding = !trait.isTransient && (!trait.mayBeEmpty || isCounted)
      return isDemanding ? (ordinal, trait) : nil
    }
  }

  /// Returns whether a value may be invalid.
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

  /// Returns whether a record of `group` may have an invalid value.
  mutating func isSuspect(_ group: RowGroup) -> Bool {
    if let lastGroup, lastGroup.group === group { return lastGroup.isSuspect }
    let isSuspect = demanding.contains { ordinal, trait in trait.isToMany || group.columns[ordinal].validity != nil }
    lastGroup = (group, isSuspect)
    return isSuspect
  }
}
