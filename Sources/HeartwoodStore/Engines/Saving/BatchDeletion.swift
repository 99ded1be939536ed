package import HeartwoodModel

/// Records of one store that are to be deleted, with all that their delete rules delete as well, and the records whose
/// relationships refer to them.
package struct BatchDeletion {
  private let model: ManagedObjectModel
  private let tables: QueryTables
  /// The rows that are deleted, by entity ordinal.
  private var rows: [Set<RowID>]
  /// Rows whose relationships have not been followed yet.
  private var pending: [QueryTables.Subject] = []
  /// The relationships of other records that refer to deleted ones.
  private var inverses: [QueryTables.Subject: Set<Int>] = [:]
  /// Relationships that deny a deletion as long as they refer to records that stay.
  private var denials: [(subject: QueryTables.Subject, ordinal: Int)] = []

  package init(model: ManagedObjectModel, tables: QueryTables) {
    self.model = model
    self.tables = tables
    self.rows = Array(repeating: [], count: model.entities.count)
  }

  /// Adds records, and those that their delete rules delete as well.
  package mutating func add(_ new: [RowID], entityOrdinal: Int) {
    guard model.entities[entityOrdinal].hasStoredRelationships else { return rows[entityOrdinal].formUnion(new) }
    for row in new { add(.init(entityOrdinal: entityOrdinal, row: row)) }
    while let subject = pending.popLast() { follow(subject) }
  }

  private mutating func add(_ subject: QueryTables.Subject) {
    if rows[subject.entityOrdinal].insert(subject.row).inserted { pending.append(subject) }
  }

  private mutating func follow(_ subject: QueryTables.Subject) {
    let entity = model.entities[subject.entityOrdinal]
    for (ordinal, property) in entity.properties.enumerated() {
      guard let relationship = property.relationship, !relationship.isTransient else { continue }
      let others = tables.value(ordinal, of: subject).objectIDs.compactMap { tables.subject($0) }
      switch relationship.deleteRule {
      case .noAction: break
      case .deny: if !others.isEmpty { denials.append((subject, ordinal)) }
      case .cascade: for other in others { add(other) }
      case .nullify:
        guard let inverse = entity.relationshipTargets[ordinal]?.inverseOrdinal else { break }
        for other in others { inverses[other, default: []].insert(inverse) }
      }
    }
  }
}

extension BatchDeletion {
  package var count: Int { rows.reduce(0) { $0 + $1.count } }

  /// The ids of the deleted records.
  package var objectIDs: [ManagedObjectID] {
    rows.enumerated().flatMap { ordinal, rows in
      rows.sorted { $0.rawValue < $1.rawValue }.compactMap {
        tables.objectID(of: .init(entityOrdinal: ordinal, row: $0))
      }
    }
  }

  /// Returns the changes that a save has to make.
  ///
  /// - Throws: ``PersistenceError/Code/validationFailed`` if a delete rule denies it, or if a required relationship
  ///   would become empty.
  package func changes() throws(PersistenceError) -> ChangeSet {
    var faults = BatchFaults()
    for denial in denials { check(denial, &faults) }
    var updates: [RecordUpdate] = []
    for (subject, ordinals) in inverses.sorted(by: { $0.key < $1.key }) where !isDeleted(subject) {
      if let update = update(subject, ordinals, &faults) { updates.append(update) }
    }
    try faults.check()
    let deletions = rows.enumerated().compactMap { ordinal, rows -> DeletedRows? in
      guard !rows.isEmpty, let table = tables.table(ordinal) else { return nil }
      return table.deletion(of: rows.sorted { $0.rawValue < $1.rawValue })
    }
    return ChangeSet(
      byColumn: ColumnChanges(deletions: deletions, scopes: tables.scopes),
      byRecord: RecordChanges(updated: updates)
    )
  }

  private func isDeleted(_ subject: QueryTables.Subject) -> Bool { rows[subject.entityOrdinal].contains(subject.row) }

  private func isDeleted(_ id: ManagedObjectID) -> Bool { tables.subject(id).map(isDeleted) ?? false }

  private func check(_ denial: (subject: QueryTables.Subject, ordinal: Int), _ faults: inout BatchFaults) {
    let others = tables.value(denial.ordinal, of: denial.subject).objectIDs.filter { !isDeleted($0) }
    guard !others.isEmpty, let id = tables.objectID(of: denial.subject) else { return }
    let name = id.entity.properties[denial.ordinal].name
    let problem = "denies the deletion of an object while it refers to others."
    faults.append([ValidationFault(.deletionDenied, id, name, problem, relatedObjectIDs: others)])
  }

  /// Returns an update that removes the deleted records from the record's relationships.
  private func update(
    _ subject: QueryTables.Subject,
    _ ordinals: Set<Int>,
    _ faults: inout BatchFaults
  ) -> RecordUpdate? {
    guard let id = tables.objectID(of: subject), let table = tables.table(subject.entityOrdinal) else { return nil }
    let values = ordinals.sorted().map { ordinal -> (ordinal: Int, value: PropertyValue) in
      let rest = tables.value(ordinal, of: subject).objectIDs.filter { !isDeleted($0) }
      let value = id.entity.traits[ordinal].isToMany ? .toMany(rest) : rest.first.map(PropertyValue.toOne) ?? .null
      faults.append(RecordValidation.faults(in: value, at: ordinal, of: id))
      return (ordinal, value)
    }
    return RecordUpdate(objectID: id, baseVersion: table.version(subject.row), values: values)
  }
}

extension EntityDescription {
  /// Whether the entity has relationships that stores keep.
  package var hasStoredRelationships: Bool { traits.contains { $0.attributeType == nil && !$0.isTransient } }
}
