import GRDB
import GRDBSQLite
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Writes the changes of one save to the tables of a file, within a transaction.
///
/// The column of a to-one relationship contains the owner, so its inverse only writes the order. The changes of a
/// many-to-many relationship are computed from the records before the save.
struct RecordWriter {
  let schema: SQLiteSchema
  /// The records before the changes.
  let contents: StoreContents
  let path: String
  let db: Database
  /// The changes to the files with large data.
  let externals: ExternalChanges

  func write(_ changes: ChangeSet) throws {
    for deletion in changes.deleted { try delete(deletion.objectID) }
    let updates = changes.updated
    for update in updates { try vacate(update) }
    let insertions = changes.insertedRows
    for insertion in insertions { try insert(insertion) }
    for update in updates { try self.update(update) }
    // Relationships come last, because their destinations exist then.
    for update in updates { try release(update) }
    for insertion in insertions { try link(insertion) }
    for update in updates { try link(update) }
    try externals.synchronize()
  }

  private func placement(_ entity: EntityDescription) throws(PersistenceError) -> EntityPlacement {
    try schema.keptPlacement(of: entity, path: path)
  }

  private func key(_ reference: ReferenceID) throws(PersistenceError) -> Int64 {
    try SQLiteKey.key(reference, path: path)
  }

  /// Runs a statement that is prepared once for all calls with the same text.
  func execute(_ text: String, _ arguments: StatementArguments) throws {
    try db.cachedStatement(sql: text).execute(arguments: arguments)
  }
}

// MARK: Insertions

extension RecordWriter {
  private func insert(_ insertion: InsertedRows) throws {
    let placement = try placement(insertion.entity)
    let statement = InsertStatement(placement, schema: schema, path: path, externals: externals)
    let indexes = try DeferredIndexes(of: placement.tableName, for: insertion.count, db)
    try statement.run(insertion.groups, db)
    try indexes.restore(db)
    guard let greatest = try greatestKey(insertion.groups) else { return }
    try execute("UPDATE Z_PRIMARYKEY SET Z_MAX = max(Z_MAX, ?) WHERE Z_ENT = ?", [greatest, placement.rootNumber])
  }

  private func greatestKey(_ groups: [RowGroup]) throws(PersistenceError) -> Int64? {
    var greatest: Int64?
    for group in groups {
      for row in 0..<group.rowCount {
        let key = try key(group.references[row])
        greatest = max(greatest ?? key, key)
      }
    }
    return greatest
  }

  private func link(_ insertion: InsertedRows) throws {
    let placement = try placement(insertion.entity)
    let writers = relationshipWriters(placement)
    if writers.isEmpty { return }
    for group in insertion.groups {
      for row in 0..<group.rowCount {
        let key = try key(group.references[row])
        for (ordinal, writer) in writers {
          let keys = try group.destinations(ordinal, in: row).map { try self.key($0.reference) }
          if !keys.isEmpty { try writer.replace([], by: keys, ofOwner: key) }
        }
      }
    }
  }

  private func relationshipWriters(_ placement: EntityPlacement) -> [(ordinal: Int, writer: RelationshipWriter)] {
    placement.properties.indices.compactMap { ordinal in
      RelationshipWriter(ordinal, of: placement, writer: self).map { (ordinal, $0) }
    }
  }

  /// Returns the keys of the records that a relationship refers to.
  func keys(_ value: PropertyValue) throws(PersistenceError) -> [Int64] {
    guard case .toMany(let ids) = value else { return [] }
    var keys: [Int64] = []
    for id in ids { keys.append(try key(id.reference)) }
    return keys
  }
}

// MARK: Updates and deletions

extension RecordWriter {
  /// Clears the unique values of a record that gets other ones: another record may take them over in the same save, and
  /// the file's own index is checked row by row.
  private func vacate(_ update: RecordUpdate) throws {
    let entity = update.objectID.entity
    let unique = Set(entity.uniquenessConstraints.flatMap(\.self))
    if unique.isEmpty { return }
    let placement = try placement(entity)
    var columns: [String] = []
    for (ordinal, _) in update.values where unique.contains(ordinal) {
      if case .attribute(let place) = placement.properties[ordinal] {
        columns.append("\(SQLiteName.quoted(place.column)) = NULL")
      }
    }
    if columns.isEmpty { return }
    let text = "UPDATE \(SQLiteName.quoted(placement.tableName)) SET \(columns.joined(separator: ", ")) WHERE Z_PK = ?"
    try execute(text, [try key(update.objectID.reference)])
  }

  private func update(_ update: RecordUpdate) throws {
    let placement = try placement(update.objectID.entity)
    let key = try key(update.objectID.reference)
    var columns = ["Z_OPT = ?"]
    var values: [(any DatabaseValueConvertible)?] = [Int64(clamping: update.baseVersion &+ 1)]
    for (ordinal, value) in update.values {
      try noteExternalFile(placement.properties[ordinal], key, placement)
      for (column, value) in try columnValues(value, ordinal, placement) {
        let argument = StoredValue.argument(value)
        columns.append("\(SQLiteName.quoted(column)) = \(argument.place)")
        values.append(argument.value)
      }
    }
    let text = "UPDATE \(SQLiteName.quoted(placement.tableName)) SET \(columns.joined(separator: ", ")) WHERE Z_PK = ?"
    try execute(text, StatementArguments(values + [key]))
    guard db.changesCount == 1 else {
      throw PersistenceError(
        .saveConflict,
        "The row of a record is gone.",
        context: .init(path: path, storeType: .sqlite, entity: placement.entity.name, objectIDs: [update.objectID])
      )
    }
  }

  /// Returns the columns that contain a value of a property, with their new values; empty for a to-many relationship.
  private func columnValues(
    _ value: PropertyValue,
    _ ordinal: Int,
    _ placement: EntityPlacement
  ) throws -> [(String, (any DatabaseValueConvertible)?)] {
    switch placement.properties[ordinal] {
    case .attribute(let place):
      if StoredValue.isExternal(place.storage), case .binary(let data) = value {
        return [(place.column, Data(try data.withUnsafeBytes { try externals.cell(for: $0) }))]
      }
      let property = placement.entity.properties[ordinal].name
      return [(place.column, try StoredValue(placement.entity.name, property, path).value(value, place.storage))]
    case .toOne(let place):
      guard case .toOne(let id) = value else {
        return [(place.column, nil)] + (place.entityColumn.map { [($0, nil)] } ?? [])
      }
      let number = try self.placement(id.entity).number
      return [(place.column, try key(id.reference))] + (place.entityColumn.map { [($0, number)] } ?? [])
    default: return []
    }
  }

  private func release(_ update: RecordUpdate) throws {
    try forEachRelationship(of: update, where: \.ownsColumn) { writer, old, new, key in
      try writer.release(old, by: new, ofOwner: key)
    }
  }

  private func link(_ update: RecordUpdate) throws {
    try forEachRelationship(of: update) { writer, old, new, key in try writer.replace(old, by: new, ofOwner: key) }
  }

  /// Calls `body` for each changed to-many relationship, with the keys of its previous and of its new destinations.
  private func forEachRelationship(
    of update: RecordUpdate,
    where isMeant: (RelationshipWriter) -> Bool = { _ in true },
    _ body: (_ writer: RelationshipWriter, _ old: [Int64], _ new: [Int64], _ key: Int64) throws -> Void
  ) throws {
    let entity = update.objectID.entity
    let placement = try placement(entity)
    let key = try key(update.objectID.reference)
    for (ordinal, value) in update.values {
      guard let writer = RelationshipWriter(ordinal, of: placement, writer: self), isMeant(writer) else { continue }
      let former = try contents.node(update.objectID.reference, of: entity)
      let old = try former.map { try keys($0[ordinal]) } ?? []
      try body(writer, old, try keys(value), key)
    }
  }

  /// Notes the file that contains the value of a property before the row changes.
  private func noteExternalFile(_ property: PropertyPlacement?, _ key: Int64, _ placement: EntityPlacement) throws {
    guard case .attribute(let place) = property, StoredValue.isExternal(place.storage),
      let name = try ExternalNames.name(in: place.column, ofRow: key, of: placement.tableName, db)
    else { return }
    externals.replace(name)
  }

  private func delete(_ id: ManagedObjectID) throws {
    let placement = try placement(id.entity)
    let key = try key(id.reference)
    for property in placement.properties { try noteExternalFile(property, key, placement) }
    try execute("DELETE FROM \(SQLiteName.quoted(placement.tableName)) WHERE Z_PK = ?", [key])
    for property in placement.properties {
      guard case .join(let place) = property else { continue }
      let table = SQLiteName.quoted(place.table)
      try execute("DELETE FROM \(table) WHERE \(SQLiteName.quoted(place.ownColumn)) = ?", [key])
      if place.isReflexive {
        try execute("DELETE FROM \(table) WHERE \(SQLiteName.quoted(place.otherColumn)) = ?", [key])
      }
    }
  }
}
