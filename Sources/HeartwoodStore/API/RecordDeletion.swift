public import HeartwoodModel

/// The end of a record that a store has.
public struct RecordDeletion: Sendable {
  /// The record.
  public let objectID: ManagedObjectID
  /// The version that was deleted. A store that has another refuses.
  public let baseVersion: UInt64

  /// Makes a deletion of a record as it was at a version.
  public init(objectID: ManagedObjectID, baseVersion: UInt64) {
    self.objectID = objectID
    self.baseVersion = baseVersion
  }
}
