import HeartwoodModel
import HeartwoodStore

extension BatchPass {
  func insert(_ request: BatchInsertRequest) throws -> BatchResult {
    let entity = try entity(named: request.entityName)
    guard !entity.isAbstract else {
      throw PersistenceError(
        .entityUnknown,
        "The entity is abstract.",
        recovery: "Insert records of one of its subentities.",
        context: .init(entity: entity.name)
      )
    }
    let store = try request.affectedStore ?? coordinator.storeForNewObjects(of: entity)
    guard coordinator.isOpen(store) else { throw PersistentStoreCoordinator.notOpen(store) }
    let rows = try insertedRows(of: entity, in: store, request.fill)
    if rows.count == 0 { return BatchResult() }
    var upsert = BatchUpsert(rows, mergePolicy, scopes: store.engine.scopes)
    let needsIDs = needsIDs(request.resultType)
    var result = BatchResult()
    try save(to: store, &result) { conflict in
      try upsert.resolve(conflict)
    } changes: {
      try insertion(upsert, in: store, needsIDs)
    }
    return finish(result, request.resultType)
  }

  private func insertion(
    _ upsert: BatchUpsert,
    in store: PersistentStore,
    _ needsIDs: Bool
  ) throws -> (ChangeSet, BatchResult) {
    let tables = try tables(of: store, lookedAtBy: upsert)
    let updates = try upsert.recordUpdates(in: tables)
    let links = try InverseLinks(upsert.rows, updates, tables)
    let insertions = upsert.rows.count == 0 ? [] : [upsert.rows]
    var result = BatchResult()
    result.count = upsert.rows.count + updates.count
    if needsIDs {
      result.changes.records.inserted = Set(upsert.rows.ids(in: tables.scopes[upsert.rows.entity.ordinal]))
      result.updatedObjectIDs = Set(updates.map(\.objectID))
      result.changes.records.updated = result.updatedObjectIDs.union(links.updates.map(\.objectID))
    }
    let changes = ChangeSet(
      byColumn: ColumnChanges(insertions: insertions, scopes: tables.scopes),
      byRecord: RecordChanges(updated: updates + links.updates)
    )
    return (changes, result)
  }

  private func insertedRows(
    of entity: EntityDescription,
    in store: PersistentStore,
    _ fill: (inout BatchRow) throws -> Bool
  ) throws -> InsertedRows {
    var insertion = BatchInsertion(entity: entity) { count throws(PersistenceError) in
      try store.engine.newReferences(count: count, for: entity)
    }
    let empty = BatchRow(entity: entity)
    let toOnes = entity.traits.indices.filter { entity.traits[$0].isToOne && !entity.traits[$0].isTransient }
    let screen = ValueScreen(entity)
    // Derived values are checked after they have been computed.
    let derivedNames = Set(entity.attributes.filter { $0.derivationExpression != nil }.map(\.name))
    let temporary = ObjectIDScope(storeIdentifier: nil, entity: entity)
    var faults = BatchFaults()
    while true {
      var row = empty
      guard try fill(&row) else { break }
      if let failure = row.failure { throw failure }
      for ordinal in toOnes { try check(row.values[ordinal], ordinal, entity, store) }
      if screen.hasRules
        || zip(row.values, entity.traits).contains(where: { !$1.isTransient && ValueScreen.isSuspect($0, $1) })
      {
        let found = RecordValidation.faults(in: row.values, of: .temporary(in: temporary))
        faults.append(found.filter { !derivedNames.contains($0.property) })
      }
      try insertion.append(row.values)
    }
    try faults.check()
    return try insertion.sealed()
  }
}

extension BatchPass {
  /// Checks that the destinations of a relationship are in the same store, and of the right entity.
  private func check(
    _ value: PropertyValue,
    _ ordinal: Int,
    _ entity: EntityDescription,
    _ store: PersistentStore
  ) throws(PersistenceError) {
    guard case .toOne(let id) = value, let target = entity.relationshipTargets[ordinal] else { return }
    let context = PersistenceError.Context(
      entity: entity.name,
      property: entity.properties[ordinal].name,
      objectIDs: [id]
    )
    guard id.storeIdentifier == store.identifier else { throw .danglingReference(id, context: context) }
    let destination = model.entities[target.entityOrdinal]
    if id.entity.isKind(of: destination) { return }
    throw PersistenceError(
      .valueTypeMismatch,
      "A relationship to \(destination.name) refers to an object of \(id.entity.name).",
      context: context
    )
  }
}

extension InsertedRows {
  fileprivate func ids(in scope: ObjectIDScope) -> [ManagedObjectID] {
    groups.flatMap { group in
      (0..<group.rowCount).map { ManagedObjectID(scope: scope, reference: group.reference($0)) }
    }
  }
}

// MARK: Reading

// The records that a batch reads besides those that it writes: in a store that reads on demand, only these are read.

extension BatchPass {
  /// Returns the tables of the records that a deletion reads.
  func tables(of store: PersistentStore, reachedFrom rows: [Int: [RowID]]) throws -> QueryTables {
    guard store.engine.readsAsNeeded else { return try tables(of: store) }
    var reach = DeletionReach(store.engine, model)
    try reach.read(from: rows)
    return try knownTables(of: store)
  }

  /// Returns the tables of the records that an insertion reads.
  func tables(of store: PersistentStore, lookedAtBy upsert: BatchUpsert) throws -> QueryTables {
    if !upsert.rows.entity.hasStoredRelationships, !upsert.hasUpdates { return emptyTables(of: store) }
    guard store.engine.readsAsNeeded else { return try tables(of: store) }
    var reach = InsertionReach(store, model)
    try reach.read(for: upsert)
    return try knownTables(of: store)
  }

  /// Returns the records of a store that have been read already.
  private func knownTables(of store: PersistentStore) throws -> QueryTables {
    let kept = Set(store.entities.map(\.ordinal))
    let known = try model.entities.map { kept.contains($0.ordinal) ? try store.engine.knownTable(of: $0).table : nil }
    return QueryTables(tables: known, scopes: store.engine.scopes)
  }

  /// Returns tables without any record.
  private func emptyTables(of store: PersistentStore) -> QueryTables {
    QueryTables(tables: model.entities.map { _ in nil }, scopes: store.engine.scopes)
  }
}

extension ChangeSet {
  /// The entities of the records that are written, by ordinal.
  var writtenEntityOrdinals: Set<Int> {
    var ordinals = Set(byRecord.updated.lazy.map(\.objectID.entity.ordinal))
    ordinals.formUnion(byRecord.inserted.lazy.map(\.objectID.entity.ordinal))
    ordinals.formUnion(byRecord.deleted.lazy.map(\.objectID.entity.ordinal))
    ordinals.formUnion(byColumn.insertions.map(\.entity.ordinal))
    ordinals.formUnion(byColumn.updates.map(\.entity.ordinal))
    ordinals.formUnion(byColumn.deletions.map(\.entity.ordinal))
    return ordinals
  }
}

// MARK: BatchUpsert

/// The new records of a batch, and the resolution of their constraint conflicts.
struct BatchUpsert {
  /// The place of a new record: a group, and a row in it.
  private struct Place: Hashable {
    let group: Int
    let row: Int
  }

  /// The record that takes the values of a new record.
  private enum Target {
    case new(Place)
    case stored(ManagedObjectID)
  }

  /// The records that are still to be inserted.
  private(set) var rows: InsertedRows
  /// The values that existing records take, by property ordinal.
  private(set) var updates: [ManagedObjectID: [Int: PropertyValue]] = [:]
  private let policy: MergePolicy
  private let scopes: [ObjectIDScope]

  init(_ rows: InsertedRows, _ policy: MergePolicy, scopes: [ObjectIDScope]) {
    self.rows = rows
    self.policy = policy
    self.scopes = scopes
  }

  /// Whether existing records take values.
  var hasUpdates: Bool { updates.contains { !$0.value.isEmpty } }

  /// Returns the updates of existing records.
  ///
  /// - Throws: ``PersistenceError/Code/saveConflict`` if one of them was deleted meanwhile.
  func recordUpdates(in tables: QueryTables) throws(PersistenceError) -> [RecordUpdate] {
    var records: [(subject: QueryTables.Subject, update: RecordUpdate)] = []
    for (id, values) in updates where !values.isEmpty {
      guard let subject = tables.subject(id), let table = tables.table(subject.entityOrdinal) else {
        throw .saveConflict([MergeConflict(objectID: id, oldVersion: 0, persisted: nil)])
      }
      let changes = values.sorted { $0.key < $1.key }.map { (ordinal: $0.key, value: $0.value) }
      let update = RecordUpdate(objectID: id, baseVersion: table.version(subject.row), values: changes)
      records.append((subject, update))
    }
    return records.sorted { $0.subject < $1.subject }.map(\.update)
  }
}

// MARK: Conflicts

extension BatchUpsert {
  /// Resolves conflicting records by the merge policy.
  ///
  /// - Throws: `error` if the policy rejects one of them, and the errors of the policy. Then nothing has changed.
  mutating func resolve(_ error: PersistenceError) throws {
    let conflicts = error.context.constraintConflicts
    let resolutions = try conflicts.map { try policy.constraintResolution($0) }
    // There are no objects that the policy could have changed itself.
    if conflicts.isEmpty || resolutions.contains(where: { $0 == .fail || $0 == .resolved }) { throw error }
    let places = places(of: Set(conflicts.flatMap { [$0.objectID, $0.conflictingID] }))
    var changes = Changes()
    for (conflict, resolution) in zip(conflicts, resolutions) {
      guard let place = places[conflict.objectID] else {
        // An existing record conflicts through the values that it has taken.
        if resolution == .updateConflicting { throw error }
        drop(conflict.constraint, of: conflict.objectID)
        continue
      }
      guard changes.targets[place] == nil else { continue }
      let target = changes.end(of: places[conflict.conflictingID].map(Target.new) ?? .stored(conflict.conflictingID))
      changes.targets[place] = target
      if resolution == .updateConflicting { give(values(at: place, changes), to: target, &changes) }
    }
    rows = rebuilt(changes)
  }

  /// The changes of new records in one attempt.
  private struct Changes {
    /// The records that are not inserted, and the records that have taken their values.
    var targets: [Place: Target] = [:]
    /// The new records whose values have changed.
    var values: [Place: [PropertyValue]] = [:]

    /// Returns the record that is inserted or exists in place of `target`.
    func end(of target: Target) -> Target {
      if case .new(let place) = target, let next = targets[place] { next } else { target }
    }
  }

  /// Returns the places of new records.
  private func places(of ids: Set<ManagedObjectID>) -> [ManagedObjectID: Place] {
    var places: [ManagedObjectID: Place] = [:]
    for (ordinal, group) in rows.groups.enumerated() {
      for row in 0..<group.rowCount {
        let id = ManagedObjectID(scope: scopes[rows.entity.ordinal], reference: group.reference(row))
        if ids.contains(id) { places[id] = Place(group: ordinal, row: row) }
      }
    }
    return places
  }

  private func values(at place: Place, _ changes: Changes) -> [PropertyValue] {
    if let values = changes.values[place] { return values }
    return rows.entity.traits.enumerated().map { ordinal, trait in
      rows.groups[place.group].value(row: place.row, ordinal: ordinal, type: trait.attributeType, scopes: scopes)
    }
  }

  /// Gives values to a record; nil values are ignored.
  private mutating func give(_ values: [PropertyValue], to target: Target, _ changes: inout Changes) {
    switch target {
    case .new(let place):
      let own = self.values(at: place, changes)
      changes.values[place] = zip(own, values).map { own, new in new.isNothing ? own : new }
    case .stored(let id):
      for (property, value) in zip(rows.entity.properties, values) where !value.isNothing && !property.isTransient {
        if let ordinal = id.entity.ordinal(ofProperty: property.name) { updates[id, default: [:]][ordinal] = value }
      }
    }
  }

  private mutating func drop(_ names: [String], of id: ManagedObjectID) {
    for name in names {
      if let ordinal = id.entity.ordinal(ofProperty: name) { updates[id]?[ordinal] = nil }
    }
  }

  /// Returns the remaining records, with their new values.
  private func rebuilt(_ changes: Changes) -> InsertedRows {
    var left = RowGroupListBuilder(entity: rows.entity)
    for (ordinal, group) in rows.groups.enumerated() {
      for row in 0..<group.rowCount {
        let place = Place(group: ordinal, row: row)
        if changes.targets[place] != nil { continue }
        let builder = left.next()
        if let values = changes.values[place] {
          builder.append(group.reference(row), version: 1, values: values)
        } else {
          builder.append(row..<(row + 1), of: group)
        }
      }
    }
    return InsertedRows(entity: rows.entity, groups: left.finish(), hasGivenReferences: rows.hasGivenReferences)
  }
}

extension PropertyValue {
  /// Whether there is no value, or no destination.
  fileprivate var isNothing: Bool {
    if case .toMany(let ids) = self { ids.isEmpty } else { isNull }
  }
}
