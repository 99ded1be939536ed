public import HeartwoodModel

/// A record that a save leaves alone, and that must be as it was for the save to be done.
public struct RecordExpectation: Sendable {
  /// The record.
  public let objectID: ManagedObjectID
  /// The version that it must have. A store that has another, or no such record, refuses the save.
  public let version: UInt64

  /// Makes an expectation that a record has a version.
  public init(objectID: ManagedObjectID, version: UInt64) {
    self.objectID = objectID
    self.version = version
  }
}
