public import HeartwoodModel

/// Records of one entity, and of its subentities, that may have changed: the answer to
/// ``IncrementalStore/changes(since:)``.
public struct ChangedRecords: Sendable {
  /// The entity of the records, or a superentity of theirs.
  public let entity: EntityDescription
  /// The references of the records that were inserted, updated or deleted.
  public var references: [ReferenceID]

  /// Creates a list of changed records.
  public init(entity: EntityDescription, references: [ReferenceID]) {
    self.entity = entity
    self.references = references
  }
}
