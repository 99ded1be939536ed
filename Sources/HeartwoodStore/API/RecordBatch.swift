public import HeartwoodModel

/// A change or a deletion of all records that meet a condition, which an incremental store can do itself without
/// returning the records.
public struct RecordBatch: Sendable {
  /// The kind of change.
  public enum Action: Sendable {
    /// The records get new values.
    case update([BatchAssignment])
    /// The records are deleted. The delete rules of their relationships apply.
    case delete
  }

  /// The records, as a fetch for each entity. Ignore the order and the limits of these fetches.
  public let records: [RecordFetch]
  /// What is done to the records.
  public let action: Action
  /// Whether the caller needs the references of the records, in addition to their number.
  public let needsReferences: Bool

  package init(_ action: Action, of records: [RecordFetch], needsReferences: Bool) {
    self.records = records
    self.action = action
    self.needsReferences = needsReferences
  }
}

/// The new value of an attribute, in a batch update.
public struct BatchAssignment: Sendable {
  /// The ordinal of the attribute, in the entity of each fetch of the batch.
  public let ordinal: Int
  /// The type of the attribute.
  public let type: AttributeType
  /// The new value. If it is a constant, the framework has checked that it fits the attribute and meets its rules. Any
  /// other expression is evaluated for each record.
  public let expression: CompiledExpression

  package init(ordinal: Int, type: AttributeType, expression: CompiledExpression) {
    self.ordinal = ordinal
    self.type = type
    self.expression = expression
  }
}

/// The result of a ``RecordBatch``.
public struct RecordBatchResult: Sendable {
  /// The number of records that were changed or deleted.
  public var count = 0
  /// Their references, by entity ordinal. Read only if the batch needs references.
  public var references: [Int: [ReferenceID]] = [:]
  /// The records that were not deleted themselves, but had relationships to deleted ones. Read only if the batch needs
  /// references.
  public var unlinked: [UnlinkedRecords] = []

  /// Records of one entity, of which one relationship has lost destinations.
  public struct UnlinkedRecords: Sendable {
    /// The ordinal of the records' entity.
    public let entityOrdinal: Int
    /// The ordinal of the relationship.
    public let propertyOrdinal: Int
    /// The records.
    public let references: [ReferenceID]

    /// Creates a list of records that have lost destinations.
    public init(entityOrdinal: Int, propertyOrdinal: Int, references: [ReferenceID]) {
      self.entityOrdinal = entityOrdinal
      self.propertyOrdinal = propertyOrdinal
      self.references = references
    }
  }

  /// Creates the result of a batch that has changed nothing.
  public init() {}

  /// The references of unlinked records, by entity ordinal.
  package var unlinkedReferences: [Int: [ReferenceID]] {
    unlinked.reduce(into: [:]) { $0[$1.entityOrdinal, default: []] += $1.references }
  }
}
