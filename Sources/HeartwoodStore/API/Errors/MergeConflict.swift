public import HeartwoodModel

/// A record that a save would change, and that another save has changed or deleted since it was read.
///
/// A failed save lists all conflicts in ``PersistenceError/Context/mergeConflicts``.
public struct MergeConflict: Sendable {
  /// The record.
  public let objectID: ManagedObjectID
  /// The version that the changes were made on.
  public let oldVersion: UInt64
  /// The version that the store has now; 0 if the record was deleted.
  public let newVersion: UInt64
  /// The values that the save would write; nil if the record is to be deleted, or if no context is involved.
  public package(set) var objectSnapshot: ObjectSnapshot?
  /// The record as it was read; nil if no context is involved.
  package var cached: AtomicStoreCacheNode?
  /// The record as the store has it now; nil if it was deleted.
  let persisted: AtomicStoreCacheNode?

  package init(
    objectID: ManagedObjectID,
    oldVersion: UInt64,
    persisted: AtomicStoreCacheNode?
  ) {
    self.objectID = objectID
    self.oldVersion = oldVersion
    self.newVersion = persisted?.version ?? 0
    self.persisted = persisted
  }
}

extension MergeConflict {
  /// The values that the object was read with; nil if no context is involved. O(properties).
  public var cachedSnapshot: ObjectSnapshot? { cached.map(ObjectSnapshot.init) }

  /// The values that the store has now; nil if the record was deleted. O(properties).
  public var persistedSnapshot: ObjectSnapshot? { persisted.map(ObjectSnapshot.init) }

  /// Whether the record was deleted from the store.
  public var isDeletedInStore: Bool { persisted == nil }
}

extension ObjectSnapshot {
  /// Creates a snapshot of a node's record.
  init(_ node: AtomicStoreCacheNode) {
    self.init(objectID: node.objectID, version: node.version, values: node.values)
  }
}

extension PersistenceError {
  /// Returns the error of a save with `conflicts`, of which there is at least one.
  package static func saveConflict(_ conflicts: [MergeConflict]) -> PersistenceError {
    let what = conflicts.count == 1 ? "An object was" : "\(conflicts.count) objects were"
    let isDeleted = conflicts.contains(where: \.isDeletedInStore)
    return PersistenceError(
      .saveConflict,
      "\(what) \(isDeleted ? "deleted or changed" : "changed") by another save since "
        + "\(conflicts.count == 1 ? "it was" : "they were") read.",
      recovery: "Refresh, make the change again and save; or set the context's mergePolicy.",
      context: .init(
        entity: conflicts.first?.objectID.entity.name,
        objectIDs: conflicts.map(\.objectID),
        mergeConflicts: conflicts
      )
    )
  }
}

// MARK: ConstraintConflict

/// An object that would get the unique values of another object in a save.
///
/// A failed save lists all conflicts in ``PersistenceError/Context/constraintConflicts``.
public struct ConstraintConflict: Sendable {
  /// The names of the attributes whose values must be unique in combination.
  public let constraint: [String]
  /// The object that the save would insert or change.
  public package(set) var objectID: ManagedObjectID
  /// The object that has the same values.
  public package(set) var conflictingID: ManagedObjectID
  /// Whether the other object has these values in the store already. If false, the same save would set them.
  public let isStored: Bool

  init(constraint: [String], objectID: ManagedObjectID, conflictingID: ManagedObjectID, isStored: Bool) {
    self.constraint = constraint
    self.objectID = objectID
    self.conflictingID = conflictingID
    self.isStored = isStored
  }
}

extension PersistenceError {
  /// Returns the error of a save with `conflicts`, of which there is at least one.
  static func constraintConflict(_ conflicts: [ConstraintConflict]) -> PersistenceError {
    let first = conflicts.first
    let names = first?.constraint.joined(separator: ", ") ?? ""
    let others = conflicts.count > 1 ? " So do \(conflicts.count - 1) others." : ""
    return PersistenceError(
      .constraintConflict,
      "An object would have the same \(names) as another, which must be unique.\(others)",
      recovery: "Change one of them, or set the context's mergePolicy.",
      context: .init(
        entity: first?.objectID.entity.name,
        property: first.flatMap { $0.constraint.count == 1 ? $0.constraint.first : nil },
        objectIDs: conflicts.flatMap { [$0.objectID, $0.conflictingID] },
        constraintConflicts: conflicts
      )
    )
  }
}
