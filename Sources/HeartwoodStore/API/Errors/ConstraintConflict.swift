public import HeartwoodModel

/// An object that a save would give values which must be unique and which another object has.
///
/// A failed save lists all of them in ``PersistenceError/Context/constraintConflicts``.
public struct ConstraintConflict: Sendable {
  /// The names of the attributes whose values must differ, taken together.
  public let constraint: [String]
  /// The object that the save would insert or change.
  public package(set) var objectID: ManagedObjectID
  /// The object that has the same values.
  public package(set) var conflictingID: ManagedObjectID
  /// Whether the other object has these values in the store already. If not, the same save would give them to it.
  public let isStored: Bool

  init(constraint: [String], objectID: ManagedObjectID, conflictingID: ManagedObjectID, isStored: Bool) {
    self.constraint = constraint
    self.objectID = objectID
    self.conflictingID = conflictingID
    self.isStored = isStored
  }
}

extension PersistenceError {
  /// The error of a save with `conflicts`, of which there is at least one.
  static func constraintConflict(_ conflicts: [ConstraintConflict]) -> PersistenceError {
    let first = conflicts.first
    let names = first?.constraint.joined(separator: ", ") ?? ""
    let others = conflicts.count > 1 ? " So do \(conflicts.count - 1) others." : ""
    return PersistenceError(
      .constraintConflict,
      "An object would have the same \(names) as another, which must be unique.\(others)",
      recovery: "Change one of them, or let the context's mergePolicy decide.",
      context: .init(
        entity: first?.objectID.entity.name,
        property: first.flatMap { $0.constraint.count == 1 ? $0.constraint.first : nil },
        objectIDs: conflicts.flatMap { [$0.objectID, $0.conflictingID] },
        constraintConflicts: conflicts
      )
    )
  }
}
