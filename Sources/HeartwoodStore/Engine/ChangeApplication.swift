import HeartwoodModel

/// Applies a change set to the tables of an atomic store: checks versions, names new records, and changes rows.
struct ChangeApplication {
  private(set) var contents: StoreContents
  private(set) var result = SaveResult()

  /// - Throws: ``PersistenceError/Code/saveConflict`` where a record has another version than its change was made on.
  init(
    _ changes: ChangeSet,
    contents: StoreContents,
    references: inout ReferenceAssigner,
    typeDescription: StoreTypeDescription
  ) throws {
    self.contents = contents
    try name(changes.inserted, references: &references, typeDescription: typeDescription)
    try update(changes.updated)
    try delete(changes.deleted)
    try insert(changes.inserted)
  }

  private mutating func name(
    _ inserted: [ObjectSnapshot],
    references: inout ReferenceAssigner,
    typeDescription: StoreTypeDescription
  ) throws(PersistenceError) {
    let preferred = typeDescription.capabilities.referenceKinds.first ?? .uuid
    for snapshot in inserted {
      let entity = try ownEntity(snapshot.objectID.entity)
      guard snapshot.objectID.isTemporaryID else {
        result.permanentIDs[snapshot.objectID] = snapshot.objectID
        continue
      }
      let reference = references.newReference(for: contents.tables[entity.ordinal], preferred: preferred)
      result.permanentIDs[snapshot.objectID] = contents.objectID(reference, of: entity)
    }
  }

  /// The store's own description of `entity`, which may come from another copy of the model.
  private func ownEntity(_ entity: EntityDescription) throws(PersistenceError) -> EntityDescription {
    guard let own = contents.model.entity(named: entity.name), contents.entities.contains(where: { $0 === own }),
      !own.isAbstract
    else {
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

  private mutating func insert(_ inserted: [ObjectSnapshot]) throws(PersistenceError) {
    var rows: [Int: [NodeTable.NewRow]] = [:]
    for snapshot in inserted {
      guard let id = result.permanentIDs[snapshot.objectID] else { continue }
      var values: [PropertyValue] = []
      values.reserveCapacity(snapshot.values.count)
      for (ordinal, value) in snapshot.values.enumerated() {
        values.append(try resolved(value, ordinal: ordinal, entity: id.entity))
      }
      rows[id.entity.ordinal, default: []].append(.init(reference: id.reference, values: values))
    }
    for (ordinal, rows) in rows { contents.tables[ordinal].insert(rows) }
  }

  private mutating func update(_ updated: [RecordUpdate]) throws {
    var updates: [Int: [NodeTable.RowUpdate]] = [:]
    for update in updated {
      let entity = try ownEntity(update.objectID.entity)
      let row = try row(of: update.objectID, entity: entity, baseVersion: update.baseVersion)
      let values = try update.values.map { ordinal, value in
        (ordinal, try resolved(value, ordinal: ordinal, entity: entity))
      }
      updates[entity.ordinal, default: []].append(.init(row: row, values: values))
    }
    for (ordinal, updates) in updates { contents.tables[ordinal].update(updates) }
  }

  private mutating func delete(_ deleted: [RecordDeletion]) throws(PersistenceError) {
    var rows: [Int: [RowID]] = [:]
    for deletion in deleted {
      let entity = try ownEntity(deletion.objectID.entity)
      let row = try row(of: deletion.objectID, entity: entity, baseVersion: deletion.baseVersion)
      rows[entity.ordinal, default: []].append(row)
    }
    for (ordinal, rows) in rows { contents.tables[ordinal].delete(rows) }
  }

  private func row(
    of id: ManagedObjectID,
    entity: EntityDescription,
    baseVersion: UInt64
  ) throws(PersistenceError) -> RowID {
    let table = contents.tables[entity.ordinal]
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

  /// The value as the store keeps it: fit for the property, with permanent ids of entities of the store's own model.
  private func resolved(
    _ value: PropertyValue,
    ordinal: Int,
    entity: EntityDescription
  ) throws(PersistenceError) -> PropertyValue {
    let property = entity.properties[ordinal]
    guard value.fits(property) else {
      throw PersistenceError(
        .valueTypeMismatch,
        "The value is \(value.kindDescription), and the property is \(property.typeDescription).",
        context: .init(entity: entity.name, property: property.name)
      )
    }
    switch value {
    case .toOne(let id): return .toOne(try permanent(id, entity: entity, property: property.name))
    case .toMany(let ids):
      var permanentIDs: [ManagedObjectID] = []
      for id in ids { permanentIDs.append(try permanent(id, entity: entity, property: property.name)) }
      return .toMany(permanentIDs)
    default: return value
    }
  }

  private func permanent(
    _ id: ManagedObjectID,
    entity: EntityDescription,
    property: String
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
      context: .init(entity: entity.name, property: property, objectIDs: [id])
    )
  }
}
