import HeartwoodModel
import HeartwoodStore

/// Gathers what keeps objects from being saved.
struct SaveValidation {
  private var faults: [ValidationFault] = []

  /// Checks the values that `object` would be saved with.
  mutating func check(_ values: [PropertyValue], of object: ManagedObject) {
    faults += RecordValidation.faults(in: values, of: object.objectID)
  }

  /// Checks whether a relationship forbids the deletion of `object`.
  mutating func checkDeletion(of object: ManagedObject, in context: ManagedObjectContext) {
    for (ordinal, property) in object.entity.properties.enumerated() {
      guard let relationship = property.relationship, relationship.deleteRule == .deny else { continue }
      let destinations = object.value(at: ordinal).objectIDs.compactMap { context.objectIfPresent($0) }
      if destinations.contains(where: { !$0.isDeleted }) {
        let problem = "denies the deletion of an object while it leads to others."
        faults.append(ValidationFault(.deletionDenied, object.objectID, relationship.name, problem))
      }
    }
  }

  func finish() throws(PersistenceError) {
    if !faults.isEmpty { throw .validationFailed(faults) }
  }
}
