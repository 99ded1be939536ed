package import HeartwoodModel

/// New records of one entity that are put into columns one after the other.
package struct BatchInsertion {
  let entity: EntityDescription
  private let builder: RowGroupBuilder
  private let newReferences: (Int) throws(PersistenceError) -> ReferenceColumn
  private var groups: [RowGroup] = []
  /// How many rows the builder's columns have that have no names yet.
  private var openCount = 0
  private(set) var count = 0

  /// - Parameter newReferences: gives names to as many new records as it is asked for.
  package init(
    entity: EntityDescription,
    newReferences: @escaping (Int) throws(PersistenceError) -> ReferenceColumn
  ) {
    self.entity = entity
    self.builder = RowGroupBuilder(entity: entity)
    self.newReferences = newReferences
  }

  /// Appends a record: its values are indexed by property ordinal and fit.
  package mutating func append(_ values: [PropertyValue]) throws(PersistenceError) {
    if openCount == RowID.rowsPerGroup || builder.greatestByteCount > RowGroupBuilder.columnByteLimit { try seal() }
    for (column, value) in zip(builder.columns, values) { column.append(value) }
    openCount += 1
    count += 1
  }

  private mutating func seal() throws(PersistenceError) {
    if openCount == 0 { return }
    let references = try newReferences(openCount)
    builder.references.append(0..<openCount, of: references, entityOrdinal: entity.ordinal)
    groups.append(builder.sealed())
    openCount = 0
  }

  /// All records; this is of no use then.
  package mutating func sealed() throws(PersistenceError) -> InsertedRows {
    try seal()
    return InsertedRows(entity: entity, groups: groups, hasGivenReferences: true)
  }
}
