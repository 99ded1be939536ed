import HeartwoodModel

/// A number for each record of a store, the same for records that look the same: by their attributes, and by what the records
/// that they lead to look like.
struct RecordKeys: Sendable {
  /// What of an entity counts. Two stores are compared with the same list, so places in it mean the same in both.
  struct Columns: Sendable {
    let entity: EntityDescription
    let attributes: [Int]
    let relationships: [(ordinal: Int, isOrdered: Bool)]
  }

  private let contents: StoreContents
  private let columns: [Columns]
  /// By entity ordinal.
  private var keys: [Int: RowValues<Int>]

  /// Keys of attributes alone. O(values).
  init(_ contents: StoreContents, _ columns: [Columns]) {
    self.contents = contents
    self.columns = columns
    keys = [:]
    for columns in columns {
      keys[columns.entity.ordinal] = RowValues(of: contents.table(of: columns.entity)) { row in
        var hasher = Hasher()
        hasher.combine(columns.entity.name)
        let node = contents.node(row, of: columns.entity)
        for ordinal in columns.attributes { hasher.combine(node[ordinal]) }
        return hasher.finalize()
      }
    }
  }

  subscript(row: RowID, of entity: EntityDescription) -> Int? { keys[entity.ordinal]?[row] }

  /// Keys that tell records apart whose relationships lead to records with different keys. O(values).
  func refined() throws(PersistenceError) -> RecordKeys {
    // Looking a record up makes the index of its table, which may find a fault in it.
    for table in contents.tables { try table.checkReferences() }
    var result = self
    for columns in columns where !columns.relationships.isEmpty {
      result.keys[columns.entity.ordinal] = RowValues(of: contents.table(of: columns.entity)) { row in
        var hasher = Hasher()
        hasher.combine(self[row, of: columns.entity])
        let node = contents.node(row, of: columns.entity)
        for (ordinal, isOrdered) in columns.relationships {
          let keys = node[ordinal].objectIDs.map(key)
          hasher.combine(isOrdered ? keys : keys.sorted())
        }
        return hasher.finalize()
      }
    }
    return result
  }

  private func key(_ id: ManagedObjectID) -> Int {
    // try?: a reference that occurs twice names no record, and reading the contents throws it.
    guard let row = try? contents.table(of: id.entity).row(of: id.reference) else { return 0 }
    return self[row, of: id.entity] ?? 0
  }
}

extension StoreContents {
  /// The record in `row` of the table of `entity`.
  func node(_ row: RowID, of entity: EntityDescription) -> AtomicStoreCacheNode {
    AtomicStoreCacheNode(group: tables[entity.ordinal].groups[row.group], row: row.row, entity: entity, scopes: scopes)
  }
}
