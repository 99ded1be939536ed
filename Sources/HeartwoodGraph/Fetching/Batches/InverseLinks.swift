import HeartwoodModel
import HeartwoodStore

/// The updates to the to-many inverses of the to-one relationships that a batch sets.
struct InverseLinks {
  /// What becomes of a to-many relationship.
  private struct Change {
    var additions: [ManagedObjectID] = []
    var removals: Set<ManagedObjectID> = []
  }

  /// Their to-many relationships with the new objects at the end, and without those that lead elsewhere now.
  private(set) var updates: [RecordUpdate] = []
  private let tables: QueryTables
  /// By the object and the ordinal of its relationship.
  private var changes: [QueryTables.Subject: [Int: Change]] = [:]

  /// - Parameters:
  ///   - rows: new records.
  ///   - taken: values that other records take.
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

  /// A record that leads elsewhere than before.
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

  /// The object that a relationship leads to, and its inverse; nil where there is no inverse.
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
        "A batch sets relationships whose inverse is a to-many one, or that have none.",
        recovery: "Insert objects for others.",
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
