import HeartwoodModel

extension TableQuery {
  /// New values for the records that pass, group by group on all processors. No object is made.
  ///
  /// - Throws: ``PersistenceError/Code/validationFailed`` where a value does not fit its attribute or breaks one of its rules.
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
  /// Whether a value has to be looked at closely, by place among the assignments.
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
    // A constant is looked at once.
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

  /// Nil where no record of the group passes.
  mutating func sealed() -> UpdatedGroup? {
    builder.isEmpty ? nil : builder.sealed(group: ordinal, base: group)
  }
}
