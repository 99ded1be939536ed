import HeartwoodModel

/// Applies a change set to the tables of an atomic store: checks versions, names new records, and changes rows.
struct ChangeApplication {
  private(set) var contents: StoreContents
  private(set) var result = SaveResult()
  /// The rows of the new records of each entity, by ordinal, in the order of the change set.
  private(set) var insertedRows: [Int: [RowID]] = [:]
  /// Whether the store keeps records of an entity, by ordinal.
  private let isKept: [Bool]

  /// - Throws: ``PersistenceError/Code/saveConflict`` where a record has another version than its change was made on.
  init(
    _ changes: ChangeSet,
    contents: StoreContents,
    references: inout ReferenceAssigner,
    typeDescription: StoreTypeDescription
  ) throws {
    self.contents = contents
    let kept = Set(contents.entities.map(\.ordinal))
    isKept = contents.model.entities.map { kept.contains($0.ordinal) && !$0.isAbstract }
    try name(changes.inserted, references: &references, typeDescription: typeDescription)
    // Every change is found in the tables as they are before the first one is made.
    let updates = try rowUpdates(changes.updated)
    let deletions = try rows(of: changes.deleted)
    let insertions = try newRows(changes.inserted)
    for (ordinal, updates) in updates { self.contents.tables[ordinal].update(updates) }
    for (ordinal, rows) in deletions { self.contents.tables[ordinal].delete(rows) }
    for (ordinal, rows) in insertions {
      try checkReferencesAreNew(changes.inserted, ordinal)
      insertedRows[ordinal] = self.contents.tables[ordinal].insert(rows)
    }
  }

  // MARK: Names of new records

  private mutating func name(
    _ inserted: [ObjectSnapshot],
    references: inout ReferenceAssigner,
    typeDescription: StoreTypeDescription
  ) throws(PersistenceError) {
    let preferred = typeDescription.capabilities.referenceKinds.first ?? .uuid
    result.permanentIDs.reserveCapacity(inserted.count)
    // Chosen references first, so that no new one is the same.
    for snapshot in inserted where !snapshot.objectID.isTemporaryID {
      let id = try ownID(snapshot.objectID)
      references.note(id.reference, entityOrdinal: id.entity.ordinal)
      try note(id, for: snapshot.objectID)
    }
    var uuids = RandomUUIDs()
    for snapshot in inserted where snapshot.objectID.isTemporaryID {
      let entity = try ownEntity(snapshot.objectID.entity)
      let table = contents.tables[entity.ordinal]
      let reference = try references.newReference(for: table, preferred: preferred, uuids: &uuids)
      try note(contents.objectID(reference, of: entity), for: snapshot.objectID)
    }
  }

  private mutating func note(_ id: ManagedObjectID, for inserted: ManagedObjectID) throws(PersistenceError) {
    guard result.permanentIDs.updateValue(id, forKey: inserted) == nil else {
      throw PersistenceError(
        .duplicateReference,
        "The same object is inserted twice in one save.",
        context: .init(entity: id.entity.name, objectIDs: [inserted])
      )
    }
  }

  /// Records that come with a reference of their own must not have one that is taken.
  private func checkReferencesAreNew(_ inserted: [ObjectSnapshot], _ ordinal: Int) throws(PersistenceError) {
    for snapshot in inserted where !snapshot.objectID.isTemporaryID {
      let id = snapshot.objectID
      guard id.entity.name == contents.model.entities[ordinal].name,
        try contents.tables[ordinal].row(of: id.reference) != nil
      else { continue }
      throw PersistenceError(
        .duplicateReference,
        "An object is inserted under the reference of another. Give it one of its own, or none.",
        context: .init(entity: id.entity.name, objectIDs: [id])
      )
    }
  }

  /// The id in the store's own scope, where it is one of this store's.
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

  /// The store's own description of `entity`, which may come from another copy of the model.
  private func ownEntity(_ entity: EntityDescription) throws(PersistenceError) -> EntityDescription {
    let entities = contents.model.entities
    if entities.indices.contains(entity.ordinal), entities[entity.ordinal] === entity, isKept[entity.ordinal] {
      return entity
    }
    guard let own = contents.model.entity(named: entity.name), isKept[own.ordinal] else {
      throw PersistenceError(
        .entityUnknown,
        entity.isAbstract
          ? "The entity is abstract; records belong to one of its subentities."
          : "The store does not keep this entity.",
        context: .init(entity: entity.name)
      )
    }
    return own
  }

  // MARK: Rows

  private func newRows(_ inserted: [ObjectSnapshot]) throws(PersistenceError) -> [Int: [NodeTable.NewRow]] {
    var rows: [Int: [NodeTable.NewRow]] = [:]
    for snapshot in inserted {
      guard let id = result.permanentIDs[snapshot.objectID] else { continue }
      guard snapshot.values.count == id.entity.properties.count else { throw differs(id.entity) }
      var values: [PropertyValue] = []
      values.reserveCapacity(snapshot.values.count)
      for (ordinal, value) in snapshot.values.enumerated() {
        values.append(try resolved(value, ordinal: ordinal, entity: id.entity))
      }
      rows[id.entity.ordinal, default: []].append(.init(reference: id.reference, values: values))
    }
    return rows
  }

  private func rowUpdates(_ updated: [RecordUpdate]) throws(PersistenceError) -> [Int: [NodeTable.RowUpdate]] {
    var updates: [Int: [NodeTable.RowUpdate]] = [:]
    for update in updated {
      let id = try ownID(update.objectID)
      var values: [(ordinal: Int, value: PropertyValue)] = []
      for (ordinal, value) in update.values {
        guard id.entity.properties.indices.contains(ordinal) else { throw differs(id.entity) }
        values.append((ordinal, try resolved(value, ordinal: ordinal, entity: id.entity)))
      }
      let row = try row(of: id, baseVersion: update.baseVersion)
      updates[id.entity.ordinal, default: []].append(.init(row: row, values: values))
    }
    return updates
  }

  private func rows(of deleted: [RecordDeletion]) throws(PersistenceError) -> [Int: [RowID]] {
    var rows: [Int: [RowID]] = [:]
    for deletion in deleted {
      let id = try ownID(deletion.objectID)
      rows[id.entity.ordinal, default: []].append(try row(of: id, baseVersion: deletion.baseVersion))
    }
    return rows
  }

  private func differs(_ entity: EntityDescription) -> PersistenceError {
    PersistenceError(
      .modelIncompatible,
      "The object was made with another version of the model than the store's.",
      context: .init(entity: entity.name)
    )
  }

  private func row(of id: ManagedObjectID, baseVersion: UInt64) throws(PersistenceError) -> RowID {
    let table = contents.tables[id.entity.ordinal]
    guard let row = try table.row(of: id.reference) else {
      throw conflict("was deleted by another save since it was read", id)
    }
    guard table.version(row) == baseVersion else {
      throw conflict("was changed by another save since it was read", id)
    }
    return row
  }

  private func conflict(_ what: String, _ id: ManagedObjectID) -> PersistenceError {
    PersistenceError(
      .saveConflict,
      "An object \(what). Refresh it, make the change anew and save.",
      context: .init(entity: id.entity.name, objectIDs: [id])
    )
  }

  // MARK: Values

  /// The value as the store keeps it: fit for the property, with permanent ids of entities of the store's own model.
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
        "A relationship to \(destination.name) leads to an object of \(permanent.entity.name).",
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
      if let permanent = result.permanentIDs[id] { return permanent }
    } else if id.storeIdentifier == contents.metadata.identifier {
      return contents.objectID(id.reference, of: try ownEntity(id.entity))
    }
    throw PersistenceError(
      .danglingReference,
      id.isTemporaryID
        ? "A relationship leads to an object that is not saved with it. Save both in one context."
        : "A relationship leads to an object of another store. Keep both in one store.",
      context: context()
    )
  }

  private func context(_ entity: EntityDescription, _ ordinal: Int, _ id: ManagedObjectID) -> PersistenceError.Context {
    .init(entity: entity.name, property: entity.properties[ordinal].name, objectIDs: [id])
  }
}
