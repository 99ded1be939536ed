package import HeartwoodModel

/// New records of one entity that are appended to columns one after the other.
package struct BatchInsertion {
  let entity: EntityDescription
  private let builder: RowGroupBuilder
  private let newReferences: (Int) throws(PersistenceError) -> ReferenceColumn
  private var groups: [RowGroup] = []
  /// The number of rows in the builder's columns that have no references yet.
  private var openCount = 0
  private(set) var count = 0

  /// - Parameter newReferences: returns references for as many new records as it is asked for.
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

  /// Returns all records; this must not be used afterwards.
  package mutating func sealed() throws(PersistenceError) -> InsertedRows {
    try seal()
    return InsertedRows(entity: entity, groups: groups, hasGivenReferences: true)
  }
}

// MARK: BatchFaults

/// Faults of many records, of which only the first are stored.
package struct BatchFaults: Sendable {
  private static let mostKept = 100
  private(set) var faults: [ValidationFault] = []

  package init() {}

  package mutating func append(_ more: [ValidationFault]) {
    faults += more.prefix(max(0, Self.mostKept - faults.count))
  }

  package func check() throws(PersistenceError) {
    if !faults.isEmpty { throw .validationFailed(faults) }
  }
}

// MARK: TableQuery: updates

extension TableQuery {
  /// Computes new values for the records that pass, group by group on all processors, without creating objects.
  ///
  /// - Throws: ``PersistenceError/Code/validationFailed`` if a value does not fit its attribute or breaks one of its
  ///   rules.
  package func updates(_ assignments: [BatchAssignment]) throws -> UpdatedRows {
    let parts = Parallel.map(table.groups.count) { ordinal in
      var writer = GroupUpdate(self, ordinal, assignments)
      passing(inGroup: ordinal).forEach { writer.append($0) }
      return (group: writer.sealed(), faults: writer.faults.faults)
    }
    var faults = BatchFaults()
    for part in parts { faults.append(part.faults) }
    try faults.check()
    return UpdatedRows(entity: table.entity, groups: parts.compactMap(\.group))
  }
}

/// The new values of records of one group.
private struct GroupUpdate {
  private let group: RowGroup
  private let ordinal: Int
  private let entity: EntityDescription
  private let scope: ObjectIDScope
  private let records: QueryRecords
  private let assignments: [BatchAssignment]
  /// Whether values have to be validated, by place among the assignments.
  private var isChecked: [Bool]
  private var builder: UpdatedGroupBuilder
  private(set) var faults = BatchFaults()

  init(_ query: TableQuery, _ ordinal: Int, _ assignments: [BatchAssignment]) {
    group = query.table.groups[ordinal]
    self.ordinal = ordinal
    let entity = query.table.entity
    self.entity = entity
    self.assignments = assignments
    scope = query.tables.scopes[entity.ordinal]
    records = QueryRecords(tables: query.tables, entityOrdinal: entity.ordinal)
    builder = UpdatedGroupBuilder(entity: entity)
    let ruled = Set(entity.ruledAttributes.map(\.ordinal))
    // A constant is validated once.
    isChecked = assignments.map {
      $0.expression.constant != nil || !entity.traits[$0.ordinal].isOptional || ruled.contains($0.ordinal)
    }
  }

  mutating func append(_ row: Int) {
    builder.beginRow(row, baseVersion: group.versions[row])
    for (index, assignment) in assignments.enumerated() {
      let value: PropertyValue
      if let constant = assignment.expression.constant {
        value = constant.scalar
      } else {
        value = records.value(assignment.expression, RowID(group: ordinal, row: row))
      }
      let converted = value.converted(to: assignment.type)
      if converted == nil || isChecked[index] { check(converted ?? value, index, row) }
      builder.column(assignment.ordinal).append(converted ?? .null)
    }
  }

  private mutating func check(_ value: PropertyValue, _ index: Int, _ row: Int) {
    let id = ManagedObjectID(scope: scope, reference: group.reference(row))
    faults.append(RecordValidation.faults(in: value, at: assignments[index].ordinal, of: id))
    if assignments[index].expression.constant != nil { isChecked[index] = false }
  }

  /// Returns the update; nil if no record of the group passes.
  mutating func sealed() -> UpdatedGroup? {
    builder.isEmpty ? nil : builder.sealed(group: ordinal, base: group)
  }
}
