import HeartwoodFoundation
import HeartwoodModel

/// Makes a transaction of what a save has done to the records of a store.
struct HistoryRecorder {
  /// The records before the save.
  let before: StoreContents
  /// The records after it.
  let after: StoreContents

  /// The bytes of the transaction, or nil where nothing was done.
  ///
  /// - Parameter insertedRows: the rows of the new records of each entity, by ordinal.
  func transaction(
    _ changes: ChangeSet,
    insertedRows: [Int: RowRuns],
    date: Date,
    origin: SaveOrigin
  ) throws(PersistenceError) -> ByteSlice? {
    let encoder = HistoryTransactionEncoder(date: date, origin: origin)
    for (ordinal, rows) in insertedRows.sorted(by: { $0.key < $1.key }) {
      let table = after.tables[ordinal]
      encoder.append(.insert, entity: table.entity.name, references: rows.map(table.reference))
    }
    record(changes.updated, in: encoder)
    try record(changes.deleted, in: encoder)
    return encoder.sealed()
  }

  // MARK: Updates

  /// Records of one entity that had the same properties updated.
  private struct UpdateKey: Hashable {
    let entityName: String
    let ordinals: [Int]
  }

  private func record(_ updates: [RecordUpdate], in encoder: HistoryTransactionEncoder) {
    var places: [UpdateKey: Int] = [:]
    var runs: [(key: UpdateKey, references: [ReferenceID])] = []
    var last: (key: UpdateKey, place: Int)?
    for update in updates {
      let key = UpdateKey(entityName: update.objectID.entity.name, ordinals: update.values.map(\.ordinal).sorted())
      // Neighbours are mostly alike.
      let known = last?.key == key ? last?.place : places[key]
      let place = known ?? runs.count
      if known == nil {
        places[key] = place
        runs.append((key, []))
      }
      runs[place].references.append(update.objectID.reference)
      last = (key, place)
    }
    for (key, references) in runs {
      let properties = before.model.entity(named: key.entityName)?.properties ?? []
      let names = properties.indices.filter(Set(key.ordinals).contains).map { properties[$0].name }
      encoder.append(.update, entity: key.entityName, properties: names, references: references)
    }
  }

  // MARK: Deletions

  private func record(_ deletions: [RecordDeletion], in encoder: HistoryTransactionEncoder) throws(PersistenceError) {
    let deletions = Dictionary(grouping: deletions, by: \.objectID.entity.name)
    for table in before.tables {
      guard let references = deletions[table.entity.name]?.map(\.objectID.reference) else { continue }
      try record(references, of: table, in: encoder)
    }
  }

  private func record(
    _ references: [ReferenceID],
    of table: NodeTable,
    in encoder: HistoryTransactionEncoder
  ) throws(PersistenceError) {
    let properties = table.entity.properties
    let preserved = properties.indices.filter { ordinal in
      !properties[ordinal].isTransient && properties[ordinal].attribute?.preservesValueInHistoryOnDeletion ?? false
    }
    var rows: [RowID?] = []
    if !preserved.isEmpty {
      for reference in references { rows.append(try table.row(of: reference)) }
    }
    encoder.append(
      .delete,
      entity: table.entity.name,
      properties: preserved.map { properties[$0].name },
      references: references
    ) { index in
      guard !preserved.isEmpty, let row = rows[index] else { return preserved.map { _ in .null } }
      return preserved.map { ordinal in
        table.groups[row.group].value(
          row: row.row,
          ordinal: ordinal,
          type: properties[ordinal].attribute?.type,
          scopes: []
        )
      }
    }
  }
}

// MARK: HistoryScopes

/// What the object ids of a history are made with: the entities that it names, as the model of the store has them.
struct HistoryScopes {
  private let scopes: [String: ObjectIDScope]
  private let path: String?

  /// - Parameter scopes: those of the store, one for each entity.
  init(_ scopes: [ObjectIDScope], path: String?) {
    self.scopes = Dictionary(scopes.map { ($0.entity.name, $0) }) { first, _ in first }
    self.path = path
  }

  func scope(ofEntity name: String) throws(PersistenceError) -> ObjectIDScope {
    if let scope = scopes[name] { return scope }
    throw PersistenceError(
      .modelIncompatible,
      "The history names an entity that the model does not have.",
      recovery: "Open the store with the model that it was written with, or purge the history.",
      context: .init(path: path, entity: name)
    )
  }
}

// MARK: SaveOrigin

/// Who saves, for the history.
package struct SaveOrigin: Sendable {
  var author: String?
  var contextName: String?

  package init(author: String? = nil, contextName: String? = nil) {
    self.author = author
    self.contextName = contextName
  }
}
