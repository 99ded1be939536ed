public import HeartwoodModel

/// The new values of a record that a store has.
public struct RecordUpdate: Sendable {
  /// The record.
  public let objectID: ManagedObjectID
  /// The version that the changes were made on. A store that has another refuses them.
  public let baseVersion: UInt64
  /// The properties that changed, by ordinal, and their new values.
  public let values: [(ordinal: Int, value: PropertyValue)]

  /// Makes a change of the values of some properties.
  public init(objectID: ManagedObjectID, baseVersion: UInt64, values: [(ordinal: Int, value: PropertyValue)]) {
    self.objectID = objectID
    self.baseVersion = baseVersion
    self.values = values
  }
}
