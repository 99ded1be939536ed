public import HeartwoodModel

/// What one transaction did to one record.
public struct PersistentHistoryChange: Sendable, Hashable {
  /// What was done to a record.
  public enum ChangeType: UInt8, Sendable, Hashable, CaseIterable {
    /// The record is new.
    case insert = 0
    /// Properties of the record got other values.
    case update = 1
    /// The record is gone.
    case delete = 2
  }

  /// The place of the change in its transaction, counted from 1, with those counted that a request leaves out.
  public let changeID: Int64
  /// The record. It may be gone by now.
  public let changedObjectID: ManagedObjectID
  /// What was done to it.
  public let changeType: ChangeType
  /// The names of the properties that an update gave values to, in the order of the model at that time; else empty.
  public let updatedProperties: [String]
  /// What a deleted record had in the attributes that are preserved on deletion, by name
  /// (`AttributeDescription.preservesValueInHistoryOnDeletion`); else empty. An attribute without a value is `null`.
  public let tombstone: [String: PropertyValue]
}
