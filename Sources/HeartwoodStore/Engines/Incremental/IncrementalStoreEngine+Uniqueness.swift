import HeartwoodModel
import Synchronization

// Only those records are read that have the values which a save gives to others, where the store finds them: mostly there are none.

extension IncrementalStoreEngine {
  /// Records that have, or had before the save, values which must be unique and which changed records get.
  struct Rivals {
    /// By place among the constraints; none for a constraint of which all records are known.
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

  /// So many values are asked for at once.
  private static let keysPerFetch = 200

  /// The records that have one of `keys`; nil where the store does not find them, or it would take longer than to read all.
  private func findRows(
    having keys: Set<[PropertyValue]>,
    _ constraint: UniqueConstraint,
    _ entities: [EntityDescription]
  ) throws -> [UniqueRow]? {
    var rows: [UniqueRow] = []
    let keys = Array(keys)
    for entity in entities {
      guard try keys.count <= Self.fewRecords || keys.count < store.estimatedCount(of: entity) / 4 else { return nil }
      for start in stride(from: 0, to: keys.count, by: Self.keysPerFetch) {
        let predicate = constraint.predicate(keys[start..<min(keys.count, start + Self.keysPerFetch)])
        guard let references = try store.fetch(try fetch(predicate, of: entity)) else { return nil }
        let table = try readMissing(references, of: entity)
        rows += try references.compactMap { reference in
          try table.row(of: reference).map { UniqueRow(entityOrdinal: entity.ordinal, row: $0) }
        }
      }
    }
    return rows
  }

  private func fetch(_ predicate: FetchPredicate, of entity: EntityDescription) throws -> RecordFetch {
    RecordFetch(
      entity: entity,
      predicate: predicate,
      sortDescriptors: [],
      plan: try PredicateCompiler.compile(predicate, for: entity, in: setup.model),
      sorts: []
    )
  }
}

extension UniqueConstraint {
  /// That a record has one of `keys`.
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
