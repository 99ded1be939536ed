import HeartwoodModel
import Synchronization

// A database stores a relationship and its inverse as one thing. A context that has read only one of the two records
// lately changes one side alone, and the other one changes with it in the file: then both are read again.

extension IncrementalStoreEngine {
  /// Updates records to the state of the store if the two sides of a relationship disagree after a save.
  func settleInverses(_ applied: inout AppliedChanges, before: StoreContents) throws {
    guard store.storesInversesOnce else { return }
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

/// Finds links that only one side of a relationship has, among the records that a save changes and those that they
/// referred or refer to.
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
  /// The destinations of to-many relationships, as far as they were needed.
  private var members: [Place: Set<ManagedObjectID>] = [:]
  private var found: [Int: Set<ReferenceID>] = [:]

  init(_ applied: AppliedChanges, before: StoreContents) {
    changes = applied.columns
    insertedRows = applied.insertedRows
    self.before = before
    after = applied.contents
  }

  /// Returns the references of the records whose sides disagree, by the ordinal of their entity.
  mutating func disagreeing() throws(PersistenceError) -> [Int: [ReferenceID]] {
    for update in changes.updates { try look(at: update) }
    for deletion in changes.deletions {
      for row in deletion.rows { try look(at: row, of: deletion.entity, deletion.entity.sidedOrdinals) }
    }
    for insertion in changes.insertions {
      let entity = insertion.entity
      // New records without links are many, and have nothing to disagree about.
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
        // A record that is not known may be deleted.
        let leadsBack = try leads(other, at: inverse, to: id)
        if leadsBack == new.contains(other) || leadsBack == nil && !new.contains(other) { continue }
        found[entity.ordinal, default: []].insert(id.reference)
        if leadsBack != nil { found[other.entity.ordinal, default: []].insert(other.reference) }
      }
    }
  }

  /// Returns whether a relationship of a record refers to `id`; nil if the record is not known, or deleted.
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
  /// The ordinals of the stored relationships that have an inverse.
  fileprivate var sidedOrdinals: [Int] {
    relationshipTargets.indices.filter { relationshipTargets[$0]?.inverseOrdinal != nil && !traits[$0].isTransient }
  }
}

extension RecordColumn {
  /// Whether a relationship of any of the rows has a link. O(rows / 64).
  fileprivate var hasLinks: Bool {
    if kind == .toMany { return references.map { $0.count > 0 } ?? false }
    return validity.map { $0.setBitCount(rowCount) > 0 } ?? (rowCount > 0)
  }
}

extension StoreContents {
  /// Returns the destinations of a relationship of a record; empty if there is no such record.
  fileprivate func ids(_ row: RowID, of entity: EntityDescription, at ordinal: Int) -> Set<ManagedObjectID> {
    let table = tables[entity.ordinal]
    guard row.group < table.groups.count, row.row < table.groups[row.group].rowCount, table.isLive(row) else {
      return []
    }
    return Set(table.groups[row.group].value(row: row.row, ordinal: ordinal, type: nil, scopes: scopes).objectIDs)
  }
}

// MARK: Uniqueness

// If the store can find them, only the records are read that have the values which a save gives to others: mostly there
// are none.

extension IncrementalStoreEngine {
  /// Records that have, or had before the save, values that must be unique and that the save gives to other records.
  struct Rivals {
    /// By place among the constraints; none for a constraint for which all records are known.
    var rows: [Int: [UniqueRow]] = [:]
    /// Whether records were read that were not known when the changes were applied.
    var hasReadMore = false
  }

  func rivals(of uses: [UniquenessCheck.Use], _ applied: AppliedChanges) throws -> Rivals {
    var rivals = Rivals()
    for use in uses {
      let entities = setup.entities.filter { use.constraint.entityOrdinals.contains($0.ordinal) && !$0.isAbstract }
      let unread = state.withLock { state in entities.filter { !state.whole.contains($0.ordinal) } }
      if unread.isEmpty { continue }
      let count = unread.reduce(0) { $0 + knownCount(of: $1) }
      if let rows = try findRows(having: use.keys(in: applied.contents), use.constraint, entities) {
        rivals.rows[use.place] = rows
      } else {
        try readAll(unread)
      }
      if unread.reduce(0, { $0 + knownCount(of: $1) }) > count { rivals.hasReadMore = true }
    }
    return rivals
  }

  private func knownCount(of entity: EntityDescription) -> Int {
    state.withLock { $0.contents.tables[entity.ordinal].count }
  }

  /// The number of values that are fetched at once.
  private static let keysPerFetch = 200

  /// Returns the records that have one of `keys`; nil if the store cannot find them, or if that would take longer than
  /// reading all.
  private func findRows(
    having keys: Set<[PropertyValue]>,
    _ constraint: UniqueConstraint,
    _ entities: [EntityDescription]
  ) throws -> [UniqueRow]? {
    var rows: [UniqueRow] = []
    let keys = Array(keys)
    for entity in entities {
      guard try keys.count <= Self.fewRecords || keys.count < estimatedCount(of: entity) / 4 else { return nil }
      for start in stride(from: 0, to: keys.count, by: Self.keysPerFetch) {
        let predicate = constraint.predicate(keys[start..<min(keys.count, start + Self.keysPerFetch)])
        guard let references = try store.fetch(try RecordFetch(entity: entity, predicate: predicate, in: setup.model))
        else { return nil }
        let table = try readMissing(references, of: entity)
        rows += try references.compactMap { reference in
          try table.row(of: reference).map { UniqueRow(entityOrdinal: entity.ordinal, row: $0) }
        }
      }
    }
    return rows
  }
}

extension UniqueConstraint {
  /// Returns a predicate for the records that have one of `keys`.
  fileprivate func predicate(_ keys: ArraySlice<[PropertyValue]>) -> FetchPredicate {
    if names.count == 1 {
      let values = keys.compactMap { $0.first.map(FetchExpression.constant) }
      return .comparison(FetchComparison(.key(names[0]), .in, .aggregate(values)))
    }
    return .or(
      keys.map { key in
        .and(zip(names, key).map { .comparison(FetchComparison(.key($0), .equalTo, .constant($1))) })
      }
    )
  }
}

// MARK: Batches

extension IncrementalStoreEngine {
  /// The store did nothing: the records have to go through memory.
  private struct Declined: Error {}

  package func execute(_ batch: RecordBatch, origin: SaveOrigin) throws -> RecordBatchResult? {
    guard canLeave(batch) else { return nil }
    try checkPlace()
    return try using {
      // The store may replace the error with one of its own.
      var isDeclined = false
      do {
        let (done, tables, mark) = try store.saving {
          try renewIfNeeded()
          let isRecorded = try recordsHistory()
          guard !(isRecorded && batch.forgetsPreservedValues),
            let done = try store.execute(isRecorded ? batch.tellingReferences : batch)
          else {
            isDeclined = true
            throw Declined()
          }
          if isRecorded { try record(batch, done, origin) }
          return (done, try knownTables(after: batch), try store.dataVersion())
        }
        take(tables, mark)
        return done
      } catch let error {
        // A batch that changes nothing is not refused for changing a store that is read only.
        let isRefused = (error as? PersistenceError)?.code == .storeReadOnly
        guard isDeclined || isRefused else { throw error }
        return nil
      }
    }
  }

  private func take(_ tables: [NodeTable], _ mark: UInt64) {
    state.withLock { state in
      state.contents.tables = tables
      state.mark = mark
    }
    uniqueness.withLock { $0 = UniquenessCheck(setup.model) }
    saves.advance()
  }

  /// Returns whether the store may execute a batch itself: not if all records have been read, because then it is faster
  /// to write those that change, and not if anything else is to be saved with them.
  private func canLeave(_ batch: RecordBatch) -> Bool {
    if setup.isReadOnly { return false }
    return state.withLock { state in
      !state.hasUnsavedMetadata && state.contents.metadata.hasVersions(of: setup.entities)
        && batch.records.allSatisfy { !state.whole.contains($0.entity.ordinal) }
    }
  }

  /// Returns the known records as the store has them after a batch: those of its entities are read again, and so are
  /// those that their relationships refer to.
  private func knownTables(after batch: RecordBatch) throws -> [NodeTable] {
    var touched = Set(batch.records.map(\.entity.ordinal))
    if case .delete = batch.action {
      for target in batch.records.flatMap(\.entity.relationshipTargets).compactMap(\.self) {
        let destination = setup.model.entities[target.entityOrdinal]
        touched.formUnion(setup.model.concreteEntities(under: destination).map(\.ordinal))
      }
    }
    return try renewedTables(state.withLock { $0 }, of: setup.entities.filter { touched.contains($0.ordinal) }).tables
  }
}

extension RecordBatch {
  /// The same batch, with the references of the records as part of its result.
  fileprivate var tellingReferences: RecordBatch { RecordBatch(action, of: records, needsReferences: true) }

  /// Whether it deletes records of which the history keeps values: these have to be read.
  fileprivate var forgetsPreservedValues: Bool {
    if case .update = action { return false }
    return records.contains { !$0.entity.preservedOrdinals.isEmpty }
  }
}
