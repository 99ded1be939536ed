package import HeartwoodModel

/// Converts changes of single records to columns: gives new records references, finds the rows of others, and makes
/// relationships refer to permanent ids.
struct RecordResolution {
  /// The changes by column.
  private(set) var columns = ColumnChanges()
  /// The permanent ids of the new records, by the ids that they came with.
  private(set) var permanentIDs: [ManagedObjectID: ManagedObjectID] = [:]
  /// The records that have changed since their changes were made.
  private(set) var conflicts: [MergeConflict] = []
  private let contents: StoreContents
  /// Whether the store keeps records of an entity, by ordinal.
  private let isKept: [Bool]

  /// - Parameters:
  ///   - preconditions: the records that must not have changed.
  ///   - note: receives the references that records bring with them.
  ///   - newReferences: returns references for as many records of an entity as it is asked for.
  init(
    _ changes: RecordChanges,
    preconditions: [RecordPrecondition],
    contents: StoreContents,
    note: ([ManagedObjectID]) -> Void,
    newReferences: (Int, EntityDescription) throws(PersistenceError) -> ReferenceColumn
  ) throws(PersistenceError) {
    self.contents = contents
    let kept = Set(contents.entities.map(\.ordinal))
    isKept = contents.model.entities.map { kept.contains($0.ordinal) && !$0.isAbstract }
    columns.scopes = contents.scopes
    for condition in preconditions {
      _ = try row(of: try ownID(condition.objectID), baseVersion: condition.version)
    }
    if changes.isEmpty { return }
    try name(changes.inserted, note: note, newReferences: newReferences)
    try resolve(changes.updated)
    try resolve(changes.deleted)
    try resolve(changes.inserted)
  }
}

// MARK: Names

extension RecordResolution {
  private mutating func name(
    _ inserted: [ObjectSnapshot],
    note: ([ManagedObjectID]) -> Void,
    newReferences: (Int, EntityDescription) throws(PersistenceError) -> ReferenceColumn
  ) throws(PersistenceError) {
    // Records with chosen references come first, so that no new reference is the same.
    var chosen: [ManagedObjectID] = []
    var temporary: [Int: [ManagedObjectID]] = [:]
    for snapshot in inserted {
      if snapshot.objectID.isTemporaryID {
        temporary[try ownEntity(snapshot.objectID.entity).ordinal, default: []].append(snapshot.objectID)
      } else {
        chosen.append(try ownID(snapshot.objectID))
        try setPermanentID(chosen[chosen.count - 1], for: snapshot.objectID)
      }
    }
    note(chosen)
    for (ordinal, ids) in temporary {
      let entity = contents.model.entities[ordinal]
      let references = try newReferences(ids.count, entity)
      for (index, id) in ids.enumerated() {
        try setPermanentID(contents.objectID(references[index], of: entity), for: id)
      }
    }
  }

  private mutating func setPermanentID(
    _ id: ManagedObjectID,
    for inserted: ManagedObjectID
  ) throws(PersistenceError) {
    guard permanentIDs.updateValue(id, forKey: inserted) == nil else {
      throw PersistenceError(
        .duplicateReference,
        "The same object is inserted twice in one save.",
        context: .init(entity: id.entity.name, objectIDs: [inserted])
      )
    }
  }

  /// Returns the id in the store's own scope, if it is an id of this store.
  private func ownID(_ id: ManagedObjectID) throws(PersistenceError) -> ManagedObjectID {
    guard id.storeIdentifier == contents.metadata.identifier else {
      throw PersistenceError(
        .objectNotFound,
        "The object belongs to another store.",
        context: .init(entity: id.entity.name, objectIDs: [id])
      )
    }
    return contents.objectID(id.reference, of: try ownEntity(id.entity))
  }

  /// Returns the store's own description of `entity`, which may come from another copy of the model.
  private func ownEntity(_ entity: EntityDescription) throws(PersistenceError) -> EntityDescription {
    let entities = contents.model.entities
    if entities.indices.contains(entity.ordinal), entities[entity.ordinal] === entity, isKept[entity.ordinal] {
      return entity
    }
    guard let own = contents.model.entity(named: entity.name), isKept[own.ordinal] else {
      throw PersistenceError(
        .entityUnknown,
        entity.isAbstract ? "The entity is abstract." : "The store does not keep this entity.",
        recovery: entity.isAbstract ? "Insert an object of one of its subentities." : nil,
        context: .init(entity: entity.name)
      )
    }
    return own
  }
}

// MARK: Rows

extension RecordResolution {
  private mutating func resolve(_ inserted: [ObjectSnapshot]) throws(PersistenceError) {
    var rows: [Int: [NodeTable.NewRow]] = [:]
    for snapshot in inserted {
      guard let id = permanentIDs[snapshot.objectID] else { continue }
      guard snapshot.values.count == id.entity.properties.count else { throw differs(id.entity) }
      var values: [PropertyValue] = []
      values.reserveCapacity(snapshot.values.count)
      for (ordinal, value) in snapshot.values.enumerated() {
        values.append(try resolved(value, ordinal: ordinal, entity: id.entity))
      }
      rows[id.entity.ordinal, default: []].append(.init(reference: id.reference, values: values))
    }
    for (ordinal, rows) in rows {
      let entity = contents.model.entities[ordinal]
      let groups = RowGroupBuilder.groups(of: rows, entity: entity)
      columns.insertions.append(InsertedRows(entity: entity, groups: groups, hasGivenReferences: false))
    }
  }

  private mutating func resolve(_ updated: [RecordUpdate]) throws(PersistenceError) {
    var updates: [Int: [NodeTable.RowUpdate]] = [:]
    for update in updated {
      let id = try ownID(update.objectID)
      var values: [(ordinal: Int, value: PropertyValue)] = []
      for (ordinal, value) in update.values {
        guard id.entity.properties.indices.contains(ordinal) else { throw differs(id.entity) }
        values.append((ordinal, try resolved(value, ordinal: ordinal, entity: id.entity)))
      }
      guard let row = try row(of: id, baseVersion: update.baseVersion) else { continue }
      updates[id.entity.ordinal, default: []].append(.init(row: row, values: values))
    }
    for (ordinal, updates) in updates {
      let groups = contents.tables[ordinal].grouped(updates)
      columns.updates.append(UpdatedRows(entity: contents.model.entities[ordinal], groups: groups))
    }
  }

  private mutating func resolve(_ deleted: [RecordDeletion]) throws(PersistenceError) {
    var rows: [Int: [RowID]] = [:]
    for deletion in deleted {
      let id = try ownID(deletion.objectID)
      guard let row = try row(of: id, baseVersion: deletion.baseVersion) else { continue }
      rows[id.entity.ordinal, default: []].append(row)
    }
    for (ordinal, rows) in rows { columns.deletions.append(contents.tables[ordinal].deletion(of: rows)) }
  }

  private func differs(_ entity: EntityDescription) -> PersistenceError {
    PersistenceError(
      .modelIncompatible,
      "The object was made with another version of the model than the store's.",
      context: .init(entity: entity.name)
    )
  }

  /// Returns the row of a record that still has `baseVersion`; notes a conflict for another version.
  private mutating func row(of id: ManagedObjectID, baseVersion: UInt64) throws(PersistenceError) -> RowID? {
    let table = contents.tables[id.entity.ordinal]
    let row = try table.row(of: id.reference)
    let version = row.map(table.version)
    if version == baseVersion { return row }
    let node = try contents.node(id.reference, of: id.entity)
    conflicts.append(MergeConflict(objectID: id, oldVersion: baseVersion, persisted: node))
    return nil
  }
}

// MARK: Values

extension RecordResolution {
  /// Returns the value as the store keeps it: fit for the property, with permanent ids of entities of the store's own
  /// model.
  private func resolved(
    _ value: PropertyValue,
    ordinal: Int,
    entity: EntityDescription
  ) throws(PersistenceError) -> PropertyValue {
    try value.checkFits(propertyAt: ordinal, of: entity)
    switch value {
    case .toOne(let id): return .toOne(try permanent(id, ordinal: ordinal, entity: entity))
    case .toMany(let ids):
      var permanentIDs: [ManagedObjectID] = []
      permanentIDs.reserveCapacity(ids.count)
      for id in ids { permanentIDs.append(try permanent(id, ordinal: ordinal, entity: entity)) }
      return .toMany(permanentIDs)
    default: return value
    }
  }

  private func permanent(
    _ id: ManagedObjectID,
    ordinal: Int,
    entity: EntityDescription
  ) throws(PersistenceError) -> ManagedObjectID {
    let permanent = try permanent(id, context: context(entity, ordinal, id))
    guard let target = entity.relationshipTargets[ordinal] else { return permanent }
    let destination = contents.model.entities[target.entityOrdinal]
    guard permanent.entity.isKind(of: destination) else {
      throw PersistenceError(
        .valueTypeMismatch,
        "A relationship to \(destination.name) refers to an object of \(permanent.entity.name).",
        context: context(entity, ordinal, id)
      )
    }
    return permanent
  }

  private func permanent(
    _ id: ManagedObjectID,
    context: @autoclosure () -> PersistenceError.Context
  ) throws(PersistenceError) -> ManagedObjectID {
    if id.isTemporaryID {
      if let permanent = permanentIDs[id] { return permanent }
    } else if id.storeIdentifier == contents.metadata.identifier {
      return contents.objectID(id.reference, of: try ownEntity(id.entity))
    }
    throw .danglingReference(id, context: context())
  }

  private func context(_ entity: EntityDescription, _ ordinal: Int, _ id: ManagedObjectID) -> PersistenceError.Context {
    .init(entity: entity.name, property: entity.properties[ordinal].name, objectIDs: [id])
  }
}

extension PersistenceError {
  /// Returns the error for a relationship that refers to `id`, which is missing in the store of the relationship.
  package static func danglingReference(_ id: ManagedObjectID, context: Context) -> PersistenceError {
    PersistenceError(
      .danglingReference,
      id.isTemporaryID
        ? "A relationship refers to an object that is not saved with it."
        : "A relationship refers to an object of another store.",
      recovery: id.isTemporaryID ? "Save both in one context." : "Keep both in one store.",
      context: context
    )
  }
}
