import HeartwoodModel
import HeartwoodStore

/// Computes the derived attributes of the records that a batch writes, and of those that depend on them, on tables.
///
/// The batch's changes are applied to copies of the tables; derived values are added to the changes.
struct BatchDerivation {
  /// Records of one entity that have been written.
  struct WrittenRows {
    let entity: EntityDescription
    let rows: [RowID]
    /// The properties that may have other values than before; nil if records were inserted or deleted.
    let ordinals: Set<Int>?
    var areDeleted = false
  }

  private let derived: DerivedAttributes
  /// The records without the batch.
  private let before: StoreContents
  /// The records with the batch, and with the values that have been derived so far.
  private var after: StoreContents
  private let applied: AppliedChanges
  /// Whether records whose derived values change get the current time.
  private var tellsTime = true
  /// The rows whose time of writing is that of the batch, by entity ordinal.
  private var timedRows: [Int: Set<RowID>] = [:]
  /// The derived values of records that existed before, by entity ordinal and group.
  private var updates: [Int: [Int: UpdatedGroup]] = [:]
  /// The rows whose values have been checked, for entities whose derived attributes have rules, by entity ordinal.
  private var checkedRows: [Int: Set<RowID>] = [:]
  /// Notes what is not in the tables; nil if they have all records.
  private let gaps: DerivationGaps?

  /// - Parameters:
  ///   - contents: the records of the store without the batch.
  ///   - typeDescription: the type of the store.
  ///   - gaps: notes what is missing in `contents`; nil if they are complete.
  /// - Throws: ``PersistenceError/Code/saveConflict`` if records are not those on which the changes were made.
  init(
    _ derived: DerivedAttributes,
    _ changes: ChangeSet,
    of contents: StoreContents,
    typeDescription: StoreTypeDescription,
    gaps: DerivationGaps? = nil
  ) throws {
    self.derived = derived
    self.gaps = gaps
    before = contents
    after = contents
    applied = try after.apply(changes, typeDescription: typeDescription)
  }

  /// Computes all derived attributes that the batch affects.
  ///
  /// - Throws: ``PersistenceError/Code/saveNeverSettles``.
  private mutating func settle() throws(PersistenceError) {
    let written = writtenRows
    for rows in written where !rows.areDeleted { note(rows) }
    try settle(targets(of: written))
  }

  /// Computes the derived attributes of rows, and of those that depend on them, until nothing changes.
  private mutating func settle(_ targets: [Int: Set<RowID>]) throws(PersistenceError) {
    var written = derive(targets)
    for _ in 0..<DerivedAttributes.mostRounds {
      if written.isEmpty { return }
      for rows in written { note(rows) }
      written = derive(self.targets(of: written))
    }
    throw DerivedAttributes.neverSettles(written.first?.entity.name, [])
  }

  private mutating func note(_ written: WrittenRows) {
    guard derived.attributes(of: written.entity).contains(where: \.isTimed) else { return }
    timedRows[written.entity.ordinal, default: []].formUnion(written.rows)
  }

  /// The rows that the batch itself has written.
  private var writtenRows: [WrittenRows] {
    let inserted = applied.insertedRows.sorted { $0.key < $1.key }.map { ordinal, rows in
      WrittenRows(entity: before.model.entities[ordinal], rows: Array(rows), ordinals: nil)
    }
    let updated = applied.columns.updates.flatMap { update in
      update.groups.map { group in
        WrittenRows(
          entity: update.entity,
          rows: group.rows.map { RowID(group: group.group, row: Int($0)) },
          ordinals: Set(group.columns.indices.filter { group.columns[$0] != nil })
        )
      }
    }
    let deleted = applied.columns.deletions.map { deletion in
      WrittenRows(entity: deletion.entity, rows: deletion.rows, ordinals: nil, areDeleted: true)
    }
    return inserted + updated + deleted
  }
}

// MARK: Dependencies

extension BatchDerivation {
  /// Returns the rows whose derived attributes may have other values now, by entity ordinal.
  private func targets(of written: [WrittenRows]) -> [Int: Set<RowID>] {
    var targets: [Int: Set<RowID>] = [:]
    for rows in written {
      if !rows.areDeleted, rows.ordinals.map({ derived.isAffected(rows.entity, by: $0) }) ?? true {
        targets[rows.entity.ordinal, default: []].formUnion(rows.rows)
      }
      let tables = tables(of: rows.areDeleted ? before : after)
      for path in derived.paths(to: rows.entity)
      where rows.ordinals.map({ !$0.isDisjoint(with: path.ordinals) }) ?? true {
        for subject in origins(of: rows, path, in: tables) {
          targets[subject.entityOrdinal, default: []].insert(subject.row)
        }
      }
    }
    return targets
  }

  /// Returns the records from which a path reaches one of the written records.
  private func origins(
    of written: WrittenRows,
    _ path: FetchDependencies.DependencyPath,
    in tables: QueryTables
  ) -> Set<QueryTables.Subject> {
    let subjects = Set(written.rows.map { QueryTables.Subject(entityOrdinal: written.entity.ordinal, row: $0) })
    return path.steps.reversed().reduce(subjects) { subjects, step in
      if let inverse = step.inverse {
        let owners = tables.destinations(of: subjects, over: inverse)
        return owners.filter { before.model.entities[$0.entityOrdinal].isKind(of: step.owner) }
      }
      gaps?.note(step, Set(subjects.compactMap(tables.objectID)))
      return tables.owners(of: subjects, over: step, in: before.model)
    }
  }

  private func tables(of contents: StoreContents) -> QueryTables {
    QueryTables(tables: contents.tables, scopes: contents.scopes, missing: gaps?.missing)
  }
}

// MARK: Reading

extension BatchDerivation {
  /// Returns the derived attributes that the changes of a batch affect.
  ///
  /// In a store that reads records as they are needed, only those are read that depend on the written records, and
  /// those that their derived attributes are computed from. Which these are shows when they are computed, so that is
  /// done again until none is missing: once more for each relationship on the way.
  ///
  /// - Throws: ``PersistenceError/Code/saveNeverSettles``; ``PersistenceError/Code/validationFailed`` if a value
  ///   violates a rule; the errors of reading.
  static func deriving(
    _ derived: DerivedAttributes,
    _ changes: ChangeSet,
    in store: PersistentStore,
    _ model: ManagedObjectModel
  ) throws -> BatchDerivation {
    var reach = DerivationReach(store, model)
    while true {
      let readsAll = derived.areOpaque || !store.engine.readsAsNeeded
      let gaps = readsAll ? nil : DerivationGaps()
      var derivation = try BatchDerivation(
        derived,
        changes,
        of: readsAll ? store.engine.contents(withUnreadable: true) : store.engine.knownContents(),
        typeDescription: store.typeDescription,
        gaps: gaps
      )
      do {
        try derivation.settle()
      } catch {
        // Values that are computed without some records may not settle.
        guard let gaps, try reach.read(gaps) else { throw error }
        continue
      }
      if let gaps, try reach.read(gaps) { continue }
      try derivation.check()
      return derivation
    }
  }
}

/// What a derivation has looked for in tables that need not have it.
final class DerivationGaps {
  /// The records that it has looked up in vain.
  let missing = MissingRecords()
  /// The records whose referrers it has looked for, over relationships without an inverse.
  private(set) var searches: [(step: FetchDependencies.Step, ids: Set<ManagedObjectID>)] = []

  func note(_ step: FetchDependencies.Step, _ ids: Set<ManagedObjectID>) { searches.append((step, ids)) }
}

/// Reads the records that a derivation has missed, each once: some do not exist.
private struct DerivationReach {
  private struct Search: Hashable {
    let entityOrdinal: Int
    let relationshipOrdinal: Int
  }

  private let store: PersistentStore
  private let model: ManagedObjectModel
  private var engine: any StoreEngine { store.engine }
  private var askedFor: Set<ManagedObjectID> = []
  /// The records whose referrers have been read, by the relationship of these.
  private var searched: [Search: Set<ManagedObjectID>] = [:]

  init(_ store: PersistentStore, _ model: ManagedObjectModel) {
    self.store = store
    self.model = model
  }

  /// Reads the records; returns whether there were any to read.
  mutating func read(_ gaps: DerivationGaps) throws -> Bool {
    var haveRead = try read(gaps.missing.ids)
    for (step, ids) in gaps.searches {
      for entity in store.entities where !entity.isAbstract && entity.isKind(of: step.owner) {
        if try readReferrers(of: entity, over: step.relationship, to: ids) { haveRead = true }
      }
    }
    return haveRead
  }

  private mutating func read(_ ids: Set<ManagedObjectID>) throws -> Bool {
    let missing = ids.subtracting(askedFor)
    askedFor.formUnion(missing)
    let references = Dictionary(grouping: missing, by: \.entity.ordinal)
    for entity in store.entities {
      guard let ids = references[entity.ordinal] else { continue }
      _ = try engine.table(of: entity, reading: ids.map(\.reference))
    }
    return !missing.isEmpty
  }

  /// Reads the records of an entity that refer to some of `ids`; all of them if the store cannot find these.
  private mutating func readReferrers(
    of entity: EntityDescription,
    over relationship: CompiledProperty,
    to ids: Set<ManagedObjectID>
  ) throws -> Bool {
    let search = Search(entityOrdinal: entity.ordinal, relationshipOrdinal: relationship.ordinal)
    let new = ids.subtracting(searched[search] ?? [])
    searched[search, default: []].formUnion(new)
    if try new.isEmpty || engine.knownTable(of: entity).isWhole { return false }
    let comparison = FetchComparison(
      .key(entity.properties[relationship.ordinal].name),
      .in,
      new.fetchExpression,
      modifier: relationship.isToMany ? .any : .direct
    )
    if try engine.find(RecordFetch(entity: entity, predicate: .comparison(comparison), in: model)) == nil {
      _ = try engine.table(of: entity)
    }
    return true
  }
}

// MARK: All records

extension BatchDerivation {
  /// Returns the records with all derived attributes computed again, except times of saves. Values are not checked.
  ///
  /// - Throws: ``PersistenceError/Code/saveNeverSettles``.
  static func derivingAll(_ derived: DerivedAttributes, of contents: StoreContents) throws -> StoreContents {
    var derivation = try BatchDerivation(ofAll: contents, derived)
    derivation.tellsTime = false
    try derivation.settle(derivation.allRows { _, attributes in !attributes.isEmpty })
    return derivation.after
  }

  /// Checks that derived attributes have valid values.
  ///
  /// - Throws: ``PersistenceError/Code/validationFailed``.
  static func checkAll(_ derived: DerivedAttributes, of contents: StoreContents) throws {
    var derivation = try BatchDerivation(ofAll: contents, derived)
    derivation.checkedRows = derivation.allRows { $0.asksMuch(of: $1) }
    try derivation.check()
  }

  private init(ofAll contents: StoreContents, _ derived: DerivedAttributes) throws {
    try self.init(derived, ChangeSet(), of: contents, typeDescription: InMemoryStore.typeDescription)
  }

  /// Returns all rows of the entities for which `isIncluded` returns true, by entity ordinal.
  private func allRows(
    where isIncluded: (EntityDescription, [DerivedAttributes.Attribute]) -> Bool
  ) -> [Int: Set<RowID>] {
    let entities = before.entities.filter { isIncluded($0, derived.attributes(of: $0)) }
    return Dictionary(uniqueKeysWithValues: entities.map { ($0.ordinal, Set(before.table(of: $0).liveRows)) })
  }
}

extension QueryTables {
  private static let subjectsPerTask = 1 << 12

  /// Returns the destinations of a relationship of `subjects`; if there are many, on all processors.
  fileprivate func destinations(of subjects: Set<Subject>, over ordinal: Int) -> Set<Subject> {
    let all = Array(subjects)
    let parts = Parallel.map((all.count + Self.subjectsPerTask - 1) / Self.subjectsPerTask) { task in
      let part = all[(task * Self.subjectsPerTask)..<min(all.count, (task + 1) * Self.subjectsPerTask)]
      return Set(part.lazy.flatMap { value(ordinal, of: $0).objectIDs }).compactMap { subject($0) }
    }
    return Set(parts.joined())
  }

  /// Returns the records that refer to one of `subjects` by a relationship without an inverse: it searches all records
  /// of the entity.
  fileprivate func owners(
    of subjects: Set<Subject>,
    over step: FetchDependencies.Step,
    in model: ManagedObjectModel
  ) -> Set<Subject> {
    let ids = subjects.compactMap { objectID(of: $0).map { EvaluatedValue.one(.toOne($0)) } }
    let comparison = CompiledComparison(
      left: .property(of: .subject, step.relationship),
      comparator: .in,
      right: .constant(.many(ids)),
      modifier: step.relationship.isToMany ? .any : .direct,
      options: [],
      pattern: nil
    )
    var owners: Set<Subject> = []
    for entity in model.concreteEntities(under: step.owner) {
      guard !ids.isEmpty, let table = table(entity.ordinal) else { continue }
      let rows = TableQuery(self, table, where: .comparison(comparison)).rows()
      owners.formUnion(rows.map { Subject(entityOrdinal: entity.ordinal, row: $0) })
    }
    return owners
  }
}

// MARK: Computing

extension BatchDerivation {
  /// Computes the derived attributes of rows, and returns those that have changed.
  private mutating func derive(_ targets: [Int: Set<RowID>]) -> [WrittenRows] {
    let tables = tables(of: after)
    return targets.sorted { $0.key < $1.key }.compactMap { ordinal, rows in
      let entity = before.model.entities[ordinal]
      let table = after.tables[ordinal]
      let attributes = derived.attributes(of: entity)
      let live = rows.filter(table.isLive).sorted { $0.rawValue < $1.rawValue }
      if attributes.isEmpty || live.isEmpty { return nil }
      if entity.asksMuch(of: attributes) { checkedRows[ordinal, default: []].formUnion(live) }
      return put(changes(of: live, attributes, ordinal, tables), into: entity)
    }
  }

  /// Returns the changes of derived attributes.
  private func changes(
    of rows: [RowID],
    _ attributes: [DerivedAttributes.Attribute],
    _ entityOrdinal: Int,
    _ tables: QueryTables
  ) -> [NodeTable.RowUpdate] {
    let (settled, timed) = (attributes.filter { !$0.isTimed }, attributes.filter(\.isTimed))
    let values = tables.values(settled.map(\.plan), of: rows, entityOrdinal: entityOrdinal)
    let evaluator = PredicateEvaluator(tables)
    return rows.enumerated().compactMap { index, row in
      let subject = QueryTables.Subject(entityOrdinal: entityOrdinal, row: row)
      var changes: [(ordinal: Int, value: PropertyValue)] = []
      func derive(_ attribute: DerivedAttributes.Attribute, _ value: PropertyValue) {
        let change = attribute.change(of: tables.value(attribute.ordinal, of: subject), to: value)
        if let change { changes.append((attribute.ordinal, change)) }
      }
      for (place, attribute) in settled.enumerated() { derive(attribute, values[index * settled.count + place]) }
      // Attributes that depend on the time are updated only in records that are written.
      if tellsTime, !changes.isEmpty || timedRows[entityOrdinal]?.contains(row) ?? false {
        for attribute in timed { derive(attribute, evaluator.value(attribute.plan, subject).scalar) }
      }
      return changes.isEmpty ? nil : NodeTable.RowUpdate(row: row, values: changes)
    }
  }

  /// Applies changes; returns nil if there are none.
  private mutating func put(_ changes: [NodeTable.RowUpdate], into entity: EntityDescription) -> WrittenRows? {
    if changes.isEmpty { return nil }
    let old = before.tables[entity.ordinal]
    after.tables[entity.ordinal].update(changes)
    for group in old.grouped(changes.filter { old.isLive($0.row) }) {
      let merged = updates[entity.ordinal]?[group.group]?.merging(group) ?? group
      updates[entity.ordinal, default: [:]][group.group] = merged
    }
    let ordinals = Set(changes.lazy.flatMap { $0.values.map(\.ordinal) })
    return WrittenRows(entity: entity, rows: changes.map(\.row), ordinals: ordinals)
  }
}

// MARK: Results

extension BatchDerivation {
  private func check() throws(PersistenceError) {
    var faults = BatchFaults()
    for (ordinal, rows) in checkedRows {
      let table = after.tables[ordinal]
      let tables = tables(of: after)
      for row in rows.sorted(by: { $0.rawValue < $1.rawValue }) {
        let id = after.objectID(table.reference(row), of: table.entity)
        for attribute in derived.attributes(of: table.entity) {
          let value = tables.value(attribute.ordinal, of: .init(entityOrdinal: ordinal, row: row))
          faults.append(RecordValidation.faults(in: value, at: attribute.ordinal, of: id))
        }
      }
    }
    try faults.check()
  }

  /// The ids of the records that existed before and whose derived values have changed.
  var updatedObjectIDs: Set<ManagedObjectID> {
    var ids: Set<ManagedObjectID> = []
    for (ordinal, groups) in updates {
      for group in groups.values {
        ids.formUnion(
          group.rows.map { ManagedObjectID(scope: before.scopes[ordinal], reference: group.base.reference(Int($0))) }
        )
      }
    }
    return ids
  }

  /// The batch's changes, including the derived values.
  var changes: ChangeSet {
    var columns = applied.columns
    for (ordinal, derived) in updates {
      let own = columns.updates.filter { $0.entity.ordinal == ordinal }.flatMap(\.groups)
      let merged = own.reduce(into: [:]) { $0[$1.group] = $1 }.merging(derived) { $0.merging($1) }
      columns.updates.removeAll { $0.entity.ordinal == ordinal }
      columns.updates.append(
        UpdatedRows(
          entity: before.model.entities[ordinal],
          groups: merged.values.sorted { $0.group < $1.group }
        )
      )
    }
    var rows = applied.insertedRows.mapValues { $0.makeIterator() }
    columns.insertions = columns.insertions.map { insertion in
      let ordinal = insertion.entity.ordinal
      guard var own = rows[ordinal] else { return insertion }
      defer { rows[ordinal] = own }
      let ordinals = derived.attributes(of: insertion.entity).map(\.ordinal)
      return insertion.replacing(ordinals, with: after.tables[ordinal], at: &own)
    }
    return ChangeSet(byColumn: columns)
  }
}

extension EntityDescription {
  /// Returns whether a derived attribute has rules that a value may violate.
  fileprivate func asksMuch(of attributes: [DerivedAttributes.Attribute]) -> Bool {
    attributes.contains { attribute in
      !traits[attribute.ordinal].isOptional || ruledAttributes.contains { $0.ordinal == attribute.ordinal }
    }
  }
}
