import HeartwoodModel

/// A record that a change was made on and that is not as it was then.
struct RecordConflict: Sendable {
  let objectID: ManagedObjectID
  /// The version that the change was made on.
  let baseVersion: UInt64
  /// The version that the store has; nil where the record is gone.
  let version: UInt64?
}

extension PersistenceError {
  /// The error of a save with `conflicts`, of which there is at least one.
  static func saveConflict(_ conflicts: [RecordConflict]) -> PersistenceError {
    let isGone = conflicts.contains { $0.version == nil }
    let what = conflicts.count == 1 ? "An object was" : "\(conflicts.count) objects were"
    return PersistenceError(
      .saveConflict,
      "\(what) \(isGone ? "deleted or changed" : "changed") by another save since \(conflicts.count == 1 ? "it was" : "they were") "
        + "read. Refresh, make the change anew and save.",
      context: .init(entity: conflicts.first?.objectID.entity.name, objectIDs: conflicts.map(\.objectID))
    )
  }
}
