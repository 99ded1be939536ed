import HeartwoodModel

// A database keeps a relationship and its inverse as one thing. A context that has read only one of the two records lately changes one side
// alone, and the other comes along in the file: then both are read again.

extension IncrementalStoreEngine {
  /// Lets records be as the store has them where the two sides of a relationship disagree after a save.
  func settleInverses(_ applied: inout AppliedChanges, before: StoreContents) throws {
    guard type(of: store).keepsInversesTogether else { return }
    var survey = InverseSurvey(applied, before: before)
    for (ordinal, references) in try survey.disagreeing() {
      let entity = setup.model.entities[ordinal]
      let read = try load { try store.load(references, of: entity, into: $0) }
      applied.contents.tables[ordinal] = try applied.contents.tables[ordinal].corrected(
        by: read.tables[ordinal],
        scopes: applied.contents.scopes
      )
    }
  }
}

/// Looks for records that one side of a relationship leads to and the other does not, among those that a save changes and those that they
/// led or lead to.
private struct InverseSurvey {
  private struct Place: Hashable {
    let entityOrdinal: Int
    let row: RowID
    let ordinal: Int
  }

  private let changes: ColumnChanges
  private let insertedRows: [Int: RowRuns]
  private let before: StoreContents
  private let after: StoreContents
  /// What to-many relationships lead to, as far as it has been asked for.
  private var members: [Place: Set<ManagedObjectID>] = [:]
  private var found: [Int: Set<ReferenceID>] = [:]

  init(_ applied: AppliedChanges, before: StoreContents) {
    changes = applied.columns
    insertedRows = applied.insertedRows
    self.before = before
    after = applied.contents
  }

  /// The references of the records, by the ordinal of their entity.
  mutating func disagreeing() throws(PersistenceError) -> [Int: [ReferenceID]] {
    for update in changes.updates { try look(at: update) }
    for deletion in changes.deletions {
      for row in deletion.rows { try look(at: row, of: deletion.entity, deletion.entity.sidedOrdinals) }
    }
    for insertion in changes.insertions {
      let entity = insertion.entity
      // New records that nothing leads from are many, and have nothing to disagree about.
      let groups = insertion.groups
      let ordinals = entity.sidedOrdinals.filter { ordinal in groups.contains { $0.columns[ordinal].hasLinks } }
      if ordinals.isEmpty { continue }
      for row in insertedRows[entity.ordinal] ?? RowRuns() { try look(at: row, of: entity, ordinals) }
    }
    return found.mapValues(Array.init)
  }

  private mutating func look(at update: UpdatedRows) throws(PersistenceError) {
    for group in update.groups {
      let ordinals = update.entity.sidedOrdinals.filter { group.columns[$0] != nil }
      if ordinals.isEmpty { continue }
      for row in group.rows { try look(at: RowID(group: group.group, row: Int(row)), of: update.entity, ordinals) }
    }
  }

  private mutating func look(
    at row: RowID,
    of entity: EntityDescription,
    _ ordinals: [Int]
  ) throws(PersistenceError) {
    let id = after.objectID(after.tables[entity.ordinal].reference(row), of: entity)
    for ordinal in ordinals {
      guard let inverse = entity.relationshipTargets[ordinal]?.inverseOrdinal else { continue }
      let (old, new) = (before.ids(row, of: entity, at: ordinal), after.ids(row, of: entity, at: ordinal))
      for other in old.symmetricDifference(new) {
        // What is not known may be gone.
        let leadsBack = try leads(other, at: inverse, to: id)
        if leadsBack == new.contains(other) || leadsBack == nil && !new.contains(other) { continue }
        found[entity.ordinal, default: []].insert(id.reference)
        if leadsBack != nil { found[other.entity.ordinal, default: []].insert(other.reference) }
      }
    }
  }

  /// Whether a relationship of a record leads to `id`; nil where the record is not known, or gone.
  private mutating func leads(
    _ other: ManagedObjectID,
    at ordinal: Int,
    to id: ManagedObjectID
  ) throws(PersistenceError) -> Bool? {
    let entity = other.entity
    guard let row = try after.tables[entity.ordinal].row(of: other.reference) else { return nil }
    let place = Place(entityOrdinal: entity.ordinal, row: row, ordinal: ordinal)
    if let known = members[place] { return known.contains(id) }
    let ids = after.ids(row, of: entity, at: ordinal)
    if entity.traits[ordinal].isToMany { members[place] = ids }
    return ids.contains(id)
  }
}

extension EntityDescription {
  /// The relationships that stores keep and that have an inverse.
  fileprivate var sidedOrdinals: [Int] {
    relationshipTargets.indices.filter { relationshipTargets[$0]?.inverseOrdinal != nil && !traits[$0].isTransient }
  }
}

extension Column {
  /// Whether a relationship leads anywhere from any of the rows. O(rows / 64).
  fileprivate var hasLinks: Bool {
    if kind == .toMany { return references.map { $0.count > 0 } ?? false }
    return validity.map { $0.setBitCount(rowCount) > 0 } ?? (rowCount > 0)
  }
}

extension StoreContents {
  /// What a relationship of a record leads to; nothing where there is no such record.
  fileprivate func ids(_ row: RowID, of entity: EntityDescription, at ordinal: Int) -> Set<ManagedObjectID> {
    let table = tables[entity.ordinal]
    guard row.group < table.groups.count, row.row < table.groups[row.group].rowCount, table.isLive(row) else {
      return []
    }
    return Set(table.groups[row.group].value(row: row.row, ordinal: ordinal, type: nil, scopes: scopes).objectIDs)
  }
}
