import HeartwoodFoundation
package import HeartwoodModel

/// Computes the changes that a save made to the records of a store.
struct HistoryRecorder {
  /// The records before the save.
  let before: StoreContents
  /// The records after it.
  let after: StoreContents

  /// Returns the changes; empty if there were none.
  ///
  /// - Parameter insertedRows: the rows of the new records of each entity, by ordinal.
  func changes(_ changes: ChangeSet, insertedRows: [Int: RowRuns]) throws(PersistenceError) -> [RecordedChanges] {
    var recorded: [RecordedChanges] = []
    for (ordinal, rows) in insertedRows.sorted(by: { $0.key < $1.key }) {
      let table = after.tables[ordinal]
      let references = rows.map(table.reference)
      if !references.isEmpty {
        recorded.append(RecordedChanges(.insert, entityName: table.entity.name, references: references))
      }
    }
    recorded += updates(changes.updated)
    try recorded += deletions(changes.deleted)
    return recorded
  }

  // MARK: Updates

  /// Records of one entity that had the same properties updated.
  private struct UpdateKey: Hashable {
    let entityName: String
    let ordinals: [Int]
  }

  private func updates(_ updates: [RecordUpdate]) -> [RecordedChanges] {
    var places: [UpdateKey: Int] = [:]
    var runs: [(key: UpdateKey, references: [ReferenceID])] = []
    var last: (key: UpdateKey, place: Int)?
    for update in updates {
      let key = UpdateKey(entityName: update.objectID.entity.name, ordinals: update.values.map(\.ordinal).sorted())
      // Neighbouring records mostly have the same key.
      let known = last?.key == key ? last?.place : places[key]
      let place = known ?? runs.count
      if known == nil {
        places[key] = place
        runs.append((key, []))
      }
      runs[place].references.append(update.objectID.reference)
      last = (key, place)
    }
    return runs.map { key, references in
      let properties = before.model.entity(named: key.entityName)?.properties ?? []
      let names = properties.indices.filter(Set(key.ordinals).contains).map { properties[$0].name }
      return RecordedChanges(.update, entityName: key.entityName, propertyNames: names, references: references)
    }
  }

  // MARK: Deletions

  private func deletions(_ deletions: [RecordDeletion]) throws(PersistenceError) -> [RecordedChanges] {
    let deletions = Dictionary(grouping: deletions, by: \.objectID.entity.name)
    var recorded: [RecordedChanges] = []
    for table in before.tables {
      guard let references = deletions[table.entity.name]?.map(\.objectID.reference) else { continue }
      recorded.append(try self.deletions(references, of: table))
    }
    return recorded
  }

  private func deletions(
    _ references: [ReferenceID],
    of table: NodeTable
  ) throws(PersistenceError) -> RecordedChanges {
    let properties = table.entity.properties
    let preserved = table.entity.preservedOrdinals
    var values: [[PropertyValue]] = []
    if !preserved.isEmpty {
      for reference in references {
        let row = try table.row(of: reference)
        values.append(
          preserved.map { ordinal in
            guard let row else { return .null }
            return table.groups[row.group].value(
              row: row.row,
              ordinal: ordinal,
              type: properties[ordinal].attribute?.type,
              scopes: []
            )
          }
        )
      }
    }
    return RecordedChanges(
      .delete,
      entityName: table.entity.name,
      propertyNames: preserved.map { properties[$0].name },
      references: references,
      preservedValues: values
    )
  }
}

extension EntityDescription {
  /// The ordinals of the attributes whose values the history keeps for deleted records.
  package var preservedOrdinals: [Int] {
    properties.indices.filter { ordinal in
      !properties[ordinal].isTransient && properties[ordinal].attribute?.preservesValueInHistoryOnDeletion ?? false
    }
  }
}

// MARK: HistoryScopes

/// The scopes for the object ids of a history: those of the entities that it names, as the model of the store has them.
struct HistoryScopes {
  private let scopes: [String: ObjectIDScope]
  private let path: String?

  /// - Parameter scopes: the object id scopes of the store, one for each entity.
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

/// The origin of a save, for the history.
package struct SaveOrigin: Sendable {
  var author: String?
  var contextName: String?

  package init(author: String? = nil, contextName: String? = nil) {
    self.author = author
    self.contextName = contextName
  }

  /// Returns a transaction of this process, to be recorded now.
  func transaction(_ changes: [RecordedChanges]) -> RecordedTransaction {
    RecordedTransaction(
      date: Date(),
      author: author,
      contextName: contextName,
      processID: ProcessInfo.processInfo.processName,
      changes: changes
    )
  }
}
