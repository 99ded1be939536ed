import HeartwoodModel
import HeartwoodStore

/// The updates to the to-many inverses of the to-one relationships that a batch sets.
struct InverseLinks {
  /// The change of a to-many relationship.
  private struct Change {
    var additions: [ManagedObjectID] = []
    var removals: Set<ManagedObjectID> = []
  }

  /// The updates of to-many relationships: with the new objects added at the end, and without those that have another
  /// destination now.
  private(set) var updates: [RecordUpdate] = []
  private let tables: QueryTables
  /// By the object and the ordinal of its relationship.
  private var changes: [QueryTables.Subject: [Int: Change]] = [:]

  /// - Parameters:
  ///   - rows: the new records.
  ///   - taken: the values that other records take.
  init(_ rows: InsertedRows, _ taken: [RecordUpdate], _ tables: QueryTables) throws {
    self.tables = tables
    let entity = rows.entity
    for (ordinal, trait) in entity.traits.enumerated() where trait.isToOne && !trait.isTransient {
      for group in rows.groups { try gather(ordinal, group, entity) }
    }
    for update in taken { try gather(update) }
    var faults = BatchFaults()
    updates = changes.sorted { $0.key < $1.key }.compactMap { subject, changes in update(subject, changes, &faults) }
    try faults.check()
  }

  private mutating func gather(_ ordinal: Int, _ group: RowGroup, _ entity: EntityDescription) throws {
    let scope = tables.scopes[entity.ordinal]
    for row in 0..<group.rowCount {
      let value = group.value(row: row, ordinal: ordinal, type: nil, scopes: tables.scopes)
      guard case .toOne(let target) = value else { continue }
      let id = ManagedObjectID(scope: scope, reference: group.reference(row))
      guard let (subject, inverse) = try end(target, ordinal, entity) else { continue }
      changes[subject, default: [:]][inverse, default: Change()].additions.append(id)
    }
  }

  /// Notes the inverses of relationships that an update changes.
  private mutating func gather(_ update: RecordUpdate) throws {
    let entity = update.objectID.entity
    guard let own = tables.subject(update.objectID) else { return }
    for (ordinal, value) in update.values {
      guard case .toOne(let target) = value, entity.traits[ordinal].isToOne else { continue }
      let before = tables.value(ordinal, of: own).objectIDs
      if before == [target] { continue }
      for id in before {
        guard let subject = tables.subject(id), let inverse = entity.relationshipTargets[ordinal]?.inverseOrdinal else {
          continue
        }
        changes[subject, default: [:]][inverse, default: Change()].removals.insert(update.objectID)
      }
      guard let (subject, inverse) = try end(target, ordinal, entity) else { continue }
      changes[subject, default: [:]][inverse, default: Change()].additions.append(update.objectID)
    }
  }

  /// Returns the destination of a relationship and its inverse; nil if there is no inverse.
  private func end(
    _ target: ManagedObjectID,
    _ ordinal: Int,
    _ entity: EntityDescription
  ) throws -> (QueryTables.Subject, inverse: Int)? {
    let context = PersistenceError.Context(
      entity: entity.name,
      property: entity.properties[ordinal].name,
      objectIDs: [target]
    )
    guard let subject = tables.subject(target) else {
      throw PersistenceError.danglingReference(target, context: context)
    }
    guard let inverse = entity.relationshipTargets[ordinal]?.inverseOrdinal else { return nil }
    guard target.entity.traits[inverse].isToMany else {
      throw PersistenceError(
        .valueUnsupported,
        "A batch can only set relationships that have a to-many inverse, or none.",
        recovery: "Insert objects to set others.",
        context: context
      )
    }
    return (subject, inverse)
  }

  private func update(
    _ subject: QueryTables.Subject,
    _ changes: [Int: Change],
    _ faults: inout BatchFaults
  ) -> RecordUpdate? {
    guard let id = tables.objectID(of: subject), let table = tables.table(subject.entityOrdinal) else { return nil }
    let values = changes.sorted { $0.key < $1.key }.map { ordinal, change in
      let kept = tables.value(ordinal, of: subject).objectIDs.filter { !change.removals.contains($0) }
      return (ordinal: ordinal, value: PropertyValue.toMany(kept + change.additions))
    }
    for (ordinal, value) in values { faults.append(RecordValidation.faults(in: value, at: ordinal, of: id)) }
    return RecordUpdate(objectID: id, baseVersion: table.version(subject.row), values: values)
  }
}

// MARK: DeletionReach

/// Reads the records that a deletion needs: the destinations of the deleted records' relationships, including those of
/// records that are deleted by cascades.
struct DeletionReach {
  private let engine: any StoreEngine
  private let model: ManagedObjectModel
  /// The deleted records, by entity ordinal.
  private var seen: [Int: Set<ReferenceID>] = [:]
  /// Those of them whose relationships have not been followed yet.
  private var pending: [Int: [ReferenceID]] = [:]

  init(_ engine: any StoreEngine, _ model: ManagedObjectModel) {
    self.engine = engine
    self.model = model
  }

  /// - Parameter rows: the deleted rows, by entity ordinal, which must be known.
  mutating func read(from rows: [Int: [RowID]]) throws {
    for (ordinal, rows) in rows {
      let table = try engine.knownTable(of: model.entities[ordinal]).table
      for row in rows { go(table.reference(row), ordinal) }
    }
    while !pending.isEmpty { try readNext() }
  }

  private mutating func go(_ reference: ReferenceID, _ ordinal: Int) {
    guard model.entities[ordinal].hasStoredRelationships else { return }
    if seen[ordinal, default: []].insert(reference).inserted { pending[ordinal, default: []].append(reference) }
  }

  /// Reads the destinations of the pending records, entity by entity; those that are deleted by a cascade are the next
  /// pending ones.
  private mutating func readNext() throws {
    let current = pending
    pending = [:]
    var related: [Int: Set<ReferenceID>] = [:]
    for (ordinal, references) in current {
      let entity = model.entities[ordinal]
      let table = try engine.knownTable(of: entity).table
      for reference in references {
        guard let row = try table.row(of: reference) else { continue }
        for (property, isCascade) in entity.followedRelationships {
          let value = table.groups[row.group].value(row: row.row, ordinal: property, type: nil, scopes: engine.scopes)
          for id in value.objectIDs {
            related[id.entity.ordinal, default: []].insert(id.reference)
            if isCascade { go(id.reference, id.entity.ordinal) }
          }
        }
      }
    }
    for (ordinal, references) in related {
      _ = try engine.table(of: model.entities[ordinal], reading: Array(references))
    }
  }
}

extension EntityDescription {
  /// The ordinals of the relationships that matter when a record is deleted, and whether their destinations are deleted
  /// too.
  fileprivate var followedRelationships: [(ordinal: Int, isCascade: Bool)] {
    properties.enumerated().compactMap { ordinal, property in
      guard let relationship = property.relationship, !relationship.isTransient, relationship.deleteRule != .noAction
      else { return nil }
      return (ordinal, relationship.deleteRule == .cascade)
    }
  }
}

// MARK: InsertionReach

/// Reads the records that an insertion needs: the destinations of new records, the records that take values, and their
/// former and new destinations.
struct InsertionReach {
  private let engine: any StoreEngine
  /// The entities that the store keeps.
  private let entities: [EntityDescription]
  private let model: ManagedObjectModel
  private let scopes: [ObjectIDScope]
  /// The records that are to be read, by entity ordinal.
  private var wanted: [Int: Set<ReferenceID>] = [:]

  init(_ store: PersistentStore, _ model: ManagedObjectModel) {
    engine = store.engine
    scopes = engine.scopes
    entities = store.entities
    self.model = model
  }

  mutating func read(for upsert: BatchUpsert) throws {
    for (id, values) in upsert.updates where !values.isEmpty { want(id) }
    try readWanted()
    wantTargets(of: upsert.rows)
    for (id, values) in upsert.updates { try wantTargets(of: id, taking: values) }
    try readWanted()
  }

  private mutating func want(_ id: ManagedObjectID) {
    wanted[id.entity.ordinal, default: []].insert(id.reference)
  }

  private mutating func wantTargets(of rows: InsertedRows) {
    for (ordinal, trait) in rows.entity.traits.enumerated() where trait.isToOne && !trait.isTransient {
      for group in rows.groups {
        for row in 0..<group.rowCount {
          let value = group.value(row: row, ordinal: ordinal, type: nil, scopes: scopes)
          for id in value.objectIDs { want(id) }
        }
      }
    }
  }

  /// Notes the destinations of a record that takes values, and the destinations of those.
  private mutating func wantTargets(of id: ManagedObjectID, taking values: [Int: PropertyValue]) throws {
    let relationships = values.filter { id.entity.traits[$0.key].isToOne }
    if relationships.isEmpty { return }
    let table = try engine.knownTable(of: model.entities[id.entity.ordinal]).table
    let row = try table.row(of: id.reference)
    for (ordinal, value) in relationships {
      for target in value.objectIDs { want(target) }
      guard let row else { continue }
      let before = table.groups[row.group].value(row: row.row, ordinal: ordinal, type: nil, scopes: scopes)
      for target in before.objectIDs { want(target) }
    }
  }

  private mutating func readWanted() throws {
    for entity in entities {
      guard let references = wanted[entity.ordinal] else { continue }
      _ = try engine.table(of: entity, reading: Array(references))
    }
    wanted = [:]
  }
}
