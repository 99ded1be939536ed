package import HeartwoodModel

/// What is done to all records that meet a condition: what a ``BatchingStore`` may do itself.
package struct RecordBatch: Sendable {
  package enum Action: Sendable {
    /// The records get new values. A constant fits its attribute.
    case update([BatchAssignment])
    /// The records go, and with them what their delete rules say.
    case delete
  }

  /// Which records, entity by entity. Orders and limits do not count.
  package let records: [RecordFetch]
  package let action: Action
  /// Whether the references of the records are to be told, and not their number alone.
  package let tellsReferences: Bool

  package init(_ action: Action, of records: [RecordFetch], tellsReferences: Bool) {
    self.records = records
    self.action = action
    self.tellsReferences = tellsReferences
  }
}

/// What a store has done to many records.
package struct BatchedRecords: Sendable {
  /// How many records it was.
  package var count = 0
  /// Their references, by entity ordinal, where they were asked for.
  package var references: [Int: [ReferenceID]] = [:]
  /// The references of records that lost some to which their relationships led, by entity ordinal, where they were asked for.
  package var bereaved: [Int: [ReferenceID]] = [:]

  package init() {}
}

/// An incremental store that changes or deletes many records without handing them over.
package protocol BatchingStore: IncrementalStore {
  /// Changes or deletes records, within ``IncrementalStore/saving(_:)``; nil where the store would not do just what the framework does with
  /// records in memory. What it has written is undone then.
  ///
  /// A record that changes has its next version.
  func execute(_ batch: RecordBatch) throws -> BatchedRecords?
}
