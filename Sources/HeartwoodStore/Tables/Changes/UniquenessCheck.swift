import HeartwoodModel

/// Compares the records that a save inserts and changes with all others, for the uniqueness constraints of the model.
///
/// An index is made when the first save needs it, O(records), and kept: later saves cost O(changed records).
struct UniquenessCheck: Sendable {
  private let constraints: [UniqueConstraint]
  /// The indexes, by place among the constraints; nil for one that no save has needed yet.
  private var indexes: [UniqueIndex?]
  /// The entries that a checked save adds, by place among the constraints.
  typealias Additions = [Int: UniqueIndex]

  init(_ model: ManagedObjectModel) {
    constraints = UniqueConstraint.all(of: model)
    indexes = Array(repeating: nil, count: constraints.count)
  }

  /// The records to which a save gives values that must be unique.
  struct Use: Sendable {
    /// The place of the constraint among all.
    let place: Int
    let constraint: UniqueConstraint
    fileprivate let rows: [UniqueRow]

    /// Returns the values of the records. O(records).
    func keys(in contents: StoreContents) -> Set<[PropertyValue]> {
      Set(rows.compactMap { UniquenessCheck.key($0, constraint, contents) })
    }
  }

  /// Returns the values that a save gives to records, for each constraint that it touches.
  func uses(of applied: AppliedChanges) -> [Use] {
    constraints.enumerated().compactMap { place, constraint in
      let rows = Self.changedRows(constraint, applied.columns, applied.insertedRows)
      return rows.isEmpty ? nil : Use(place: place, constraint: constraint, rows: rows)
    }
  }

  /// - Parameters:
  ///   - uses: the ``uses(of:)`` of `applied`.
  ///   - applied: the changes and the records with them.
  ///   - before: the records without the changes.
  ///   - rivals: the only other records that may have values which the changes give, by place among the constraints, if
  ///     these are known: then no index is made.
  /// - Returns: the argument for ``add(_:to:)`` once the records are saved.
  /// - Throws: ``PersistenceError/Code/constraintConflict``.
  mutating func check(
    _ uses: [Use],
    _ applied: AppliedChanges,
    before: StoreContents,
    rivals: [Int: [UniqueRow]] = [:]
  ) throws(PersistenceError) -> Additions {
    var additions: Additions = [:]
    var conflicts: [ConstraintConflict] = []
    for use in uses {
      let (place, constraint, rows) = (use.place, use.constraint, use.rows)
      if let rivals = rivals[place] {
        _ = Self.check(rows, constraint, Self.index(constraint, of: before, rivals), applied.contents, &conflicts)
        continue
      }
      let index = indexes[place] ?? Self.index(constraint, of: before)
      indexes[place] = index
      additions[place] = Self.check(rows, constraint, index, applied.contents, &conflicts)
    }
    if !conflicts.isEmpty { throw .constraintConflict(conflicts) }
    return additions
  }

  /// Adds the entries of a save.
  mutating func add(_ additions: Additions, to contents: StoreContents) {
    for (place, added) in additions {
      let constraint = constraints[place]
      added.forEach { row, hash in
        indexes[place]?.insert(row, hash) { other in
          Self.key(other, constraint, contents).map(UniqueConstraint.hash) != hash
        }
      }
    }
  }
}

extension UniquenessCheck {
  private static func changedRows(
    _ constraint: UniqueConstraint,
    _ changes: ColumnChanges,
    _ insertedRows: [Int: RowRuns]
  ) -> [UniqueRow] {
    var rows: [UniqueRow] = []
    for ordinal in constraint.entityOrdinals {
      for update in changes.updates where update.entity.ordinal == ordinal {
        for group in update.groups where constraint.ordinals.contains(where: { group.columns[$0] != nil }) {
          rows += group.rows.map { UniqueRow(entityOrdinal: ordinal, row: RowID(group: group.group, row: Int($0))) }
        }
      }
      if let inserted = insertedRows[ordinal] {
        rows += inserted.map { UniqueRow(entityOrdinal: ordinal, row: $0) }
      }
    }
    return rows
  }

  private static func index(_ constraint: UniqueConstraint, of contents: StoreContents) -> UniqueIndex {
    var index = UniqueIndex()
    index.reserve(constraint.entityOrdinals.reduce(0) { $0 + contents.tables[$1].count })
    for ordinal in constraint.entityOrdinals {
      let table = contents.tables[ordinal]
      for row in table.liveRows {
        guard let key = constraint.key(row, of: table) else { continue }
        index.insert(UniqueRow(entityOrdinal: ordinal, row: row), UniqueConstraint.hash(key)) { _ in false }
      }
    }
    return index
  }

  private static func index(
    _ constraint: UniqueConstraint,
    of contents: StoreContents,
    _ rows: [UniqueRow]
  ) -> UniqueIndex {
    var index = UniqueIndex()
    for row in rows {
      guard let key = key(row, constraint, contents) else { continue }
      index.insert(row, UniqueConstraint.hash(key)) { _ in false }
    }
    return index
  }

  /// Returns the values of a record that is not deleted.
  fileprivate static func key(
    _ row: UniqueRow,
    _ constraint: UniqueConstraint,
    _ contents: StoreContents
  ) -> [PropertyValue]? {
    let table = contents.tables[Int(row.entityOrdinal)]
    return table.isLive(row.row) ? constraint.key(row.row, of: table) : nil
  }

  private static func check(
    _ rows: [UniqueRow],
    _ constraint: UniqueConstraint,
    _ index: UniqueIndex,
    _ contents: StoreContents,
    _ conflicts: inout [ConstraintConflict]
  ) -> UniqueIndex {
    var added = UniqueIndex()
    added.reserve(rows.count)
    for row in rows {
      guard let key = key(row, constraint, contents) else { continue }
      let hash = UniqueConstraint.hash(key)
      let isSame = { (other: UniqueRow) in other != row && Self.key(other, constraint, contents) == key }
      let saved = added.first(hash, where: isSame)
      if let other = saved ?? index.first(hash, where: isSame) {
        conflicts.append(
          ConstraintConflict(
            constraint: constraint.names,
            objectID: contents.objectID(of: row),
            conflictingID: contents.objectID(of: other),
            isStored: saved == nil
          )
        )
      } else {
        added.insert(row, hash) { _ in false }
      }
    }
    return added
  }
}

// MARK: StoreContents: uniqueness

extension StoreContents {
  /// Returns the records whose values must be unique and are those of an earlier record, up to `limit`, constraint by
  /// constraint. O(records) for each.
  ///
  /// A store that cannot keep such records refuses them in ``IncrementalStoreFormat/check(_:for:)``.
  public func constraintConflicts(limit: Int) -> [ConstraintConflict] {
    var conflicts: [ConstraintConflict] = []
    for constraint in UniqueConstraint.all(of: model) {
      guard conflicts.count < limit else { break }
      conflicts += self.conflicts(constraint, limit: limit - conflicts.count)
    }
    return conflicts
  }

  private func conflicts(_ constraint: UniqueConstraint, limit: Int) -> [ConstraintConflict] {
    var conflicts: [ConstraintConflict] = []
    var index = UniqueIndex()
    index.reserve(constraint.entityOrdinals.reduce(0) { $0 + tables[$1].count })
    for ordinal in constraint.entityOrdinals {
      for row in tables[ordinal].liveRows {
        guard let key = constraint.key(row, of: tables[ordinal]) else { continue }
        let (record, hash) = (UniqueRow(entityOrdinal: ordinal, row: row), UniqueConstraint.hash(key))
        let isSame = { (other: UniqueRow) in constraint.key(other.row, of: tables[Int(other.entityOrdinal)]) == key }
        guard let other = index.first(hash, where: isSame) else {
          index.insert(record, hash) { _ in false }
          continue
        }
        let (id, otherID) = (objectID(of: record), objectID(of: other))
        conflicts.append(
          ConstraintConflict(constraint: constraint.names, objectID: id, conflictingID: otherID, isStored: true)
        )
        if conflicts.count == limit { return conflicts }
      }
    }
    return conflicts
  }

  func objectID(of row: UniqueRow) -> ManagedObjectID {
    let table = tables[Int(row.entityOrdinal)]
    return objectID(table.reference(row.row), of: table.entity)
  }
}
