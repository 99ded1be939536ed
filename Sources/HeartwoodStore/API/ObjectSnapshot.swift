public import HeartwoodModel

/// The values of one record at one version.
public struct ObjectSnapshot: Sendable {
  /// The record.
  public let objectID: ManagedObjectID
  /// How often the record has been saved, its insertion included; 0 for one that has not.
  public let version: UInt64
  /// The values, indexed by property ordinal of the object's entity.
  public let values: [PropertyValue]

  /// Makes a snapshot of values that are indexed by property ordinal.
  public init(objectID: ManagedObjectID, version: UInt64, values: [PropertyValue]) {
    self.objectID = objectID
    self.version = version
    self.values = values
  }
}
