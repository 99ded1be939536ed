import HeartwoodModel

/// Finds records that violate a uniqueness constraint that is new, or whose values the migration has changed, and
/// deletes all but one of each set of duplicates.
struct DuplicateRemoval {
  private let plan: MigrationPlan
  /// The attributes that were filled in records without a value.
  private let filled: Set<ColumnKey>
  private let keepsLast: Bool
  private(set) var tables: [NodeTable]
  /// The numbers of records that have the values of another record, by entity and attributes.
  private(set) var found: [(entity: String, property: String, count: Int)] = []
  private var removed: Set<RecordKey> = []

  /// Whether records have been deleted.
  var hasRemoved: Bool { !removed.isEmpty }

  /// - Parameters:
  ///   - filled: the attributes that were filled in records without a value, and so may now be equal to others.
  ///   - resolution: what to do with duplicates. With ``MigrationResolutions/Duplicates/refuse``, nothing is deleted.
  static func run(
    _ tables: [NodeTable],
    _ plan: MigrationPlan,
    filled: Set<ColumnKey>,
    _ resolution: MigrationResolutions.Duplicates
  ) -> DuplicateRemoval {
    var removal = DuplicateRemoval(plan: plan, filled: filled, keepsLast: resolution == .keepLast, tables: tables)
    for constraint in UniqueConstraint.all(of: plan.destination) where removal.mayBeBroken(constraint) {
      let rows = removal.repeatedRows(constraint)
      guard !rows.isEmpty else { continue }
      let entity = plan.destination.entities[constraint.entityOrdinals[0]]
      removal.found.append((entity.name, constraint.names.joined(separator: "+"), rows.count))
      if resolution != .refuse { removal.delete(rows) }
    }
    removal.removeLinks()
    return removal
  }

  private init(plan: MigrationPlan, filled: Set<ColumnKey>, keepsLast: Bool, tables: [NodeTable]) {
    self.plan = plan
    self.filled = filled
    self.keepsLast = keepsLast
    self.tables = tables
  }

  /// Whether the migration may have made duplicates.
  private func mayBeBroken(_ constraint: UniqueConstraint) -> Bool {
    isNew(constraint)
      || constraint.entityOrdinals.contains { entityOrdinal in
        let entity = plan.destination.entities[entityOrdinal]
        return constraint.ordinals.contains { ordinal in
          // Derived values are derived again, possibly from other values or by another expression.
          entity.properties[ordinal].attribute?.derivationExpression != nil
            || filled.contains(ColumnKey(entityOrdinal: entityOrdinal, ordinal: ordinal))
        }
      }
  }

  /// Returns whether the old model did not have the same constraint for the same records.
  private func isNew(_ constraint: UniqueConstraint) -> Bool {
    let entities = constraint.entityOrdinals.compactMap { plan.entities[$0] }
    // Entities that each had such a constraint were not compared with each other.
    let former = UniqueConstraint.all(of: plan.source).filter { former in
      entities.allSatisfy { former.entityOrdinals.contains($0.source.ordinal) }
    }
    return !entities.allSatisfy { entity in
      let ordinals = constraint.ordinals.compactMap { ordinal -> Int? in
        guard let source = entity.columns[ordinal].sourceOrdinal,
          entity.source.traits[source].attributeType == entity.destination.traits[ordinal].attributeType
        else { return nil }
        return source
      }
      return former.contains { Set($0.ordinals) == Set(ordinals) } && ordinals.count == constraint.ordinals.count
    }
  }

  /// Returns the records to delete.
  private func repeatedRows(_ constraint: UniqueConstraint) -> [UniqueRow] {
    var kept: [[PropertyValue]: UniqueRow] = [:]
    var repeated: [UniqueRow] = []
    for ordinal in constraint.entityOrdinals {
      for row in tables[ordinal].liveRows {
        guard let key = constraint.key(row, of: tables[ordinal]) else { continue }
        let record = UniqueRow(entityOrdinal: ordinal, row: row)
        guard let other = kept[key] else {
          kept[key] = record
          continue
        }
        repeated.append(keepsLast ? other : record)
        if keepsLast { kept[key] = record }
      }
    }
    return repeated
  }

  private mutating func delete(_ rows: [UniqueRow]) {
    for (ordinal, rows) in Dictionary(grouping: rows, by: { Int($0.entityOrdinal) }) {
      for row in rows {
        removed.insert(RecordKey(entityOrdinal: ordinal, reference: tables[ordinal].reference(row.row)))
      }
      tables[ordinal].delete(rows.map(\.row))
    }
  }

  /// Removes the links to deleted records.
  private mutating func removeLinks() {
    guard !removed.isEmpty else { return }
    for (place, table) in tables.enumerated() where table.count > 0 {
      let groups = table.groups.map { group in
        group.columns.enumerated().reduce(group) { group, column in
          self.withoutRemoved(column.element).map { group.replacing(column.offset, by: $0) } ?? group
        }
      }
      tables[place] = NodeTable(entity: table.entity, groups: groups)
    }
  }

  /// Returns the column without links to deleted records; nil if there are none.
  private func withoutRemoved(_ column: RecordColumn) -> RecordColumn? {
    guard column.references != nil else { return nil }
    let links = (0..<column.rowCount).map(column.recordKeys)
    guard links.contains(where: { $0.contains(where: removed.contains) }) else { return nil }
    let builder = ColumnBuilder(kind: column.kind)
    for row in links { builder.append(row.filter { !removed.contains($0) }, isToMany: column.kind == .toMany) }
    return builder.sealed()
  }
}
