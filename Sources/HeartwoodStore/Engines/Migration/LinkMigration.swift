import HeartwoodModel

/// Makes a column of a relationship of one of the old model: to what has become of the entities, and to one object or many.
struct LinkMigration {
  /// What becomes of entities, by the ordinals of the source model; nil for those that are gone.
  let destinationOrdinals: [Int?]
  /// The ordinals of the entities that the relationship may lead to.
  let allowed: Set<Int>
  let becomesToMany: Bool

  func column(_ column: Column, of group: RowGroup, _ tally: inout ColumnTally) -> Column {
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

  /// The references with other numbers of their entities; nil where one leads to what is gone.
  private func renumbered(_ column: Column) -> ReferenceColumn? {
    guard let references = column.references else { return nil }
    if case .same(let ordinal) = references.entities {
      return destination(Int(ordinal)).map { references.owned(by: $0) }
    }
    let ordinals = GrowableBytes(capacity: references.count * MemoryLayout<UInt32>.size)
    for index in 0..<references.count {
      // What stands where a to-one relationship leads nowhere is no reference.
      let isPlaceholder = column.kind == .toOne && column.validity?[index] == false
      guard let ordinal = isPlaceholder ? 0 : destination(references.entityOrdinal(index)) else { return nil }
      ordinals.append(UInt32(truncatingIfNeeded: ordinal))
    }
    return references.with(.each(ordinals.sealed()))
  }
}

/// A record among those of all entities.
struct RecordKey: Hashable, Sendable {
  let entityOrdinal: Int
  let reference: ReferenceID
}

extension Column {
  /// What a relationship leads to in `row`.
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
  /// The same names as those of records of one entity.
  func owned(by entityOrdinal: Int) -> ReferenceColumn {
    with(.same(UInt32(truncatingIfNeeded: entityOrdinal)))
  }

  fileprivate func with(_ entities: Entities) -> ReferenceColumn {
    ReferenceColumn(layout: layout, count: count, values: values, offsets: offsets, entities: entities)
  }
}

extension RowGroup {
  /// The same records with another column.
  func replacing(_ ordinal: Int, by column: Column) -> RowGroup {
    var columns = columns
    columns[ordinal] = column
    return RowGroup(references: references, versions: versions, columns: columns, liveness: liveness)
  }
}
