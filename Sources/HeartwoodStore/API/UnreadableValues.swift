public import HeartwoodModel

/// A value or a row that a store contains but cannot read.
public struct UnreadableValue: Sendable {
  /// The reference of the record; nil for a row of a relationship, and for a row without a key.
  public let reference: ReferenceID?
  /// Whether only this value is lost, because its file is missing, and the rest of the record can be read. If false,
  /// the whole record is lost.
  public let costsValueOnly: Bool
  /// What is wrong. The error's context names the entity and the property (no property if it concerns the whole row);
  /// its message says what the store contains, and where.
  public let error: PersistenceError

  /// Creates a description of a value or a row that cannot be read.
  public init(reference: ReferenceID?, costsValueOnly: Bool, error: PersistenceError) {
    self.reference = reference
    self.costsValueOnly = costsValueOnly
    self.error = error
  }

  /// The name of the record's entity; nil for a row of no entity.
  public var entityName: String? { error.context.entity }
  /// The name of the property; nil if the whole row cannot be read.
  public var propertyName: String? { error.context.property }
}

/// The values and rows that a store cannot read. Only the first ones are kept, but all are counted.
public struct UnreadableValues: Sendable {
  /// The first of them, entity by entity, in the order of their references.
  public private(set) var values: [UnreadableValue] = []
  /// The number of all of them.
  public private(set) var count = 0
  private let limit: Int

  /// Creates an empty list that keeps at most `limit` values.
  public init(limit: Int) {
    self.limit = limit
  }

  /// Adds a value, and keeps it if there is room.
  public mutating func note(_ value: UnreadableValue) {
    count += 1
    if values.count < limit { values.append(value) }
  }
}
