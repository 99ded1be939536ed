import HeartwoodModel

/// Makes a group of new records from a group of old records, column by column. Unchanged columns are shared.
struct GroupMigration: Sendable {
  let plan: EntityMigration
  /// The ordinals of the destination entities, by the ordinals of the source model; nil for removed entities.
  let destinationOrdinals: [Int?]
  /// The ordinals of the entities that each relationship may refer to, by the relationship's ordinal.
  private let allowed: [Set<Int>]

  init(_ plan: EntityMigration, _ tablePlan: MigrationPlan) {
    self.plan = plan
    destinationOrdinals = tablePlan.destinationOrdinals
    let model = tablePlan.destination
    allowed = plan.destination.relationshipTargets.map { target in
      target.map { Set(model.concreteEntities(under: model.entities[$0.entityOrdinal]).map(\.ordinal)) } ?? []
    }
  }

  /// Returns the new records, and what was done to each column, by its ordinal.
  func migrated(_ group: RowGroup) -> (group: RowGroup, tallies: [ColumnTally]) {
    var tallies = [ColumnTally](repeating: ColumnTally(), count: plan.columns.count)
    let columns = plan.columns.indices.map { column($0, of: group, &tallies[$0]) }
    let migrated = RowGroup(
      references: group.references.owned(by: plan.destination.ordinal),
      versions: group.versions,
      columns: columns,
      liveness: group.liveness
    )
    return (migrated, tallies)
  }

  private func column(_ ordinal: Int, of group: RowGroup, _ tally: inout ColumnTally) -> RecordColumn {
    let property = plan.destination.properties[ordinal]
    switch plan.columns[ordinal] {
    case .absent: return .absent(rowCount: group.rowCount)
    case .constant(let value): return .repeating(value, ColumnKind(property), rowCount: group.rowCount)
    case .attribute(let source):
      guard let old = plan.source.properties[source].attribute, let new = property.attribute else {
        preconditionFailure("A plan makes attributes of attributes.")
      }
      return AttributeMigration(old: old, new: new, ordinal: source).column(of: group, &tally)
    case .relationship(let source):
      let links = LinkMigration(
        destinationOrdinals: destinationOrdinals,
        allowed: allowed[ordinal],
        becomesToMany: plan.destination.traits[ordinal].isToMany
      )
      return links.column(group.columns[source], of: group, &tally)
    }
  }
}

/// The numbers of live records whose values in a column were changed.
struct ColumnTally: Sendable {
  var converted = 0
  var filled = 0
  var unfit = 0
  var severalObjects = 0
  var removedLinks = 0

  static func += (left: inout ColumnTally, right: ColumnTally) {
    left.converted += right.converted
    left.filled += right.filled
    left.unfit += right.unfit
    left.severalObjects += right.severalObjects
    left.removedLinks += right.removedLinks
  }
}

/// Makes a column of new values from a column of old values.
private struct AttributeMigration {
  let old: AttributeDescription
  let new: AttributeDescription
  /// The ordinal of the old column.
  let ordinal: Int

  /// The value for records without a value.
  private var filling: PropertyValue { new.isOptional ? .null : new.defaultValue }

  private var isSameKind: Bool {
    old.type == new.type || [old.type, new.type].allSatisfy { $0 == .binary || $0 == .transformable }
  }

  func column(of group: RowGroup, _ tally: inout ColumnTally) -> RecordColumn {
    let column = group.columns[ordinal]
    guard isSameKind else { return converted(group, &tally) }
    return column.validity == nil || filling.isNull ? column : filled(column, of: group, &tally)
  }

  /// Returns the column with the filling value for records without a value.
  private func filled(_ column: RecordColumn, of group: RowGroup, _ tally: inout ColumnTally) -> RecordColumn {
    guard let validity = column.validity else { return column }
    let builder = ColumnBuilder(kind: column.kind)
    for run in validity.setRuns(column.rowCount) + [column.rowCount..<column.rowCount] {
      while builder.rowCount < run.lowerBound {
        if group.isLive(builder.rowCount) { tally.filled += 1 }
        builder.append(filling)
      }
      builder.append(run, of: column)
    }
    return builder.sealed()
  }

  private func converted(_ group: RowGroup, _ tally: inout ColumnTally) -> RecordColumn {
    let builder = ColumnBuilder(kind: ColumnKind(.attribute(new)))
    for row in 0..<group.rowCount {
      let value = group.value(row: row, ordinal: ordinal, type: old.type, scopes: [])
      let isCounted = group.isLive(row)
      if value.isNull {
        if isCounted, !filling.isNull { tally.filled += 1 }
        builder.append(filling)
      } else if let other = value.migrated(to: new.type) {
        if isCounted { tally.converted += 1 }
        builder.append(other)
      } else {
        if isCounted { tally.unfit += 1 }
        builder.append(new.defaultValue)
      }
    }
    return builder.sealed()
  }
}

extension RecordColumn {
  /// Creates a column with the same value in every row.
  fileprivate static func repeating(_ value: PropertyValue, _ kind: ColumnKind, rowCount: Int) -> RecordColumn {
    let builder = ColumnBuilder(kind: kind)
    for _ in 0..<rowCount { builder.append(value) }
    return builder.sealed()
  }
}

// MARK: LinkMigration

/// Makes the column of a relationship from a column of the old model: the destinations get their new entities, and
/// become one or several.
struct LinkMigration {
  /// The ordinals of the destination entities, by the ordinals of the source model; nil for removed entities.
  let destinationOrdinals: [Int?]
  /// The ordinals of the entities that the relationship may refer to.
  let allowed: Set<Int>
  let becomesToMany: Bool

  func column(_ column: RecordColumn, of group: RowGroup, _ tally: inout ColumnTally) -> RecordColumn {
    let isSameKind = (column.kind == .toMany) == becomesToMany
    if isSameKind, let references = renumbered(column) { return column.with(references: references) }
    let builder = ColumnBuilder(kind: becomesToMany ? .toMany : .toOne)
    for row in 0..<column.rowCount {
      let old = column.recordKeys(row)
      let new = old.compactMap { key -> (reference: ReferenceID, entityOrdinal: Int)? in
        destination(key.entityOrdinal).map { (key.reference, $0) }
      }
      let isCounted = group.isLive(row)
      if isCounted, new.count < old.count { tally.removedLinks += 1 }
      append(new, to: builder, &tally, isCounted: isCounted)
    }
    return builder.sealed()
  }

  private func append(
    _ links: [(reference: ReferenceID, entityOrdinal: Int)],
    to builder: ColumnBuilder,
    _ tally: inout ColumnTally,
    isCounted: Bool
  ) {
    if becomesToMany { return builder.append(toMany: links) }
    if links.count > 1, isCounted { tally.severalObjects += 1 }
    guard let first = links.first else { return builder.appendNull() }
    builder.append(toOne: first.reference, entityOrdinal: first.entityOrdinal)
  }

  private func destination(_ ordinal: Int) -> Int? {
    guard destinationOrdinals.indices.contains(ordinal), let new = destinationOrdinals[ordinal] else { return nil }
    return allowed.contains(new) ? new : nil
  }

  /// Returns the references with the new ordinals of their entities; nil if one refers to a removed entity.
  private func renumbered(_ column: RecordColumn) -> ReferenceColumn? {
    guard let references = column.references else { return nil }
    if case .same(let ordinal) = references.entities {
      return destination(Int(ordinal)).map { references.owned(by: $0) }
    }
    let ordinals = GrowableBytes(capacity: references.count * MemoryLayout<UInt32>.size)
    for index in 0..<references.count {
      // The value of a to-one relationship without a destination is not a reference.
      let isPlaceholder = column.kind == .toOne && column.validity?[index] == false
      guard let ordinal = isPlaceholder ? 0 : destination(references.entityOrdinal(index)) else { return nil }
      ordinals.append(UInt32(truncatingIfNeeded: ordinal))
    }
    return references.with(.each(ordinals.sealed()))
  }
}

/// The key of a record among the records of all entities.
struct RecordKey: Hashable, Sendable {
  let entityOrdinal: Int
  let reference: ReferenceID
}

extension RecordColumn {
  /// Returns the destinations of a relationship in `row`.
  func recordKeys(_ row: Int) -> [RecordKey] {
    guard let references else { return [] }
    if kind == .toOne {
      guard validity?[row] ?? true else { return [] }
      return [RecordKey(entityOrdinal: references.entityOrdinal(row), reference: references[row])]
    }
    return range(row).map { RecordKey(entityOrdinal: references.entityOrdinal($0), reference: references[$0]) }
  }
}

extension ReferenceColumn {
  /// Returns the same references as those of records of one entity.
  func owned(by entityOrdinal: Int) -> ReferenceColumn {
    with(.same(UInt32(truncatingIfNeeded: entityOrdinal)))
  }

  fileprivate func with(_ entities: Entities) -> ReferenceColumn {
    ReferenceColumn(layout: layout, count: count, values: values, offsets: offsets, entities: entities)
  }
}

extension RowGroup {
  /// Returns the same records with another column.
  func replacing(_ ordinal: Int, by column: RecordColumn) -> RowGroup {
    var columns = columns
    columns[ordinal] = column
    return RowGroup(references: references, versions: versions, columns: columns, liveness: liveness)
  }
}
