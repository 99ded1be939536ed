import HeartwoodModel
import HeartwoodStore

/// Gathers what keeps objects from being saved.
struct SaveValidation {
  private var faults: [String] = []
  private var objectIDs: [ManagedObjectID] = []

  /// Checks the values that `object` would be saved with.
  mutating func check(_ values: [PropertyValue], of object: ManagedObject) {
    note(RecordValidation.faults(in: values, of: object.entity), object)
  }

  /// Checks whether a relationship forbids the deletion of `object`.
  mutating func checkDeletion(of object: ManagedObject, in context: ManagedObjectContext) {
    var found: [String] = []
    for (ordinal, property) in object.entity.properties.enumerated() {
      guard let relationship = property.relationship, relationship.deleteRule == .deny else { continue }
      let destinations = object.value(at: ordinal).objectIDs.compactMap { context.objectIfPresent($0) }
      if destinations.contains(where: { !$0.isDeleted }) {
        found.append(
          "\(object.entity.name).\(relationship.name) denies the deletion of an object while it leads to others."
        )
      }
    }
    note(found, object)
  }

  private mutating func note(_ found: [String], _ object: ManagedObject) {
    if found.isEmpty { return }
    faults += found
    objectIDs.append(object.objectID)
  }

  func finish() throws(PersistenceError) {
    guard !faults.isEmpty else { return }
    throw PersistenceError(
      .validationFailed,
      faults.count == 1 ? faults[0] : "There are \(faults.count) faults: \(faults.joined(separator: " "))",
      context: .init(objectIDs: objectIDs)
    )
  }
}
