package import HeartwoodModel

/// A store whose file may be damaged where reading all records does not show it, and that can go on behind what it cannot read.
package protocol SelfExaminingStore: IncrementalStore {
  /// What is wrong with the file, up to `limit` sentences. It takes as long as reading the whole file.
  func faults(limit: Int) throws -> [String]

  /// What of the records cannot be read. It takes as long as reading all of them.
  ///
  /// - Parameter limit: how many are told; all are counted.
  func unreadableValues(limit: Int) throws -> UnreadableValues
}

/// A value, or a row, that a store holds and cannot read.
package struct UnreadableValue: Sendable {
  /// What the store calls the record; nil if it is a row of a relationship, or the row has no key.
  package let reference: ReferenceID?
  /// Whether it costs the one value: its file is missing, and the record can be read. Anything else costs the record.
  package let costsValueOnly: Bool
  /// Says the entity, the property (none for a row of no entity), and in words the table, the key and what stands there.
  package let error: PersistenceError

  package init(reference: ReferenceID?, costsValueOnly: Bool, error: PersistenceError) {
    self.reference = reference
    self.costsValueOnly = costsValueOnly
    self.error = error
  }

  /// The name of the entity in whose records it was found.
  package var entityName: String? { error.context.entity }
  /// The name of the property; nil if the row as a whole cannot be read.
  package var propertyName: String? { error.context.property }
}

/// What a store cannot read of its records.
package struct UnreadableValues: Sendable {
  /// The first ones, entity by entity in the order of their keys.
  package private(set) var values: [UnreadableValue] = []
  /// How many there are.
  package private(set) var count = 0
  private let limit: Int

  package init(limit: Int) {
    self.limit = limit
  }

  package mutating func note(_ value: UnreadableValue) {
    count += 1
    if values.count < limit { values.append(value) }
  }
}
