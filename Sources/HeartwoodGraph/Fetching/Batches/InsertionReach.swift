import HeartwoodModel
import HeartwoodStore

/// Reads the records that an insertion looks at: those that new records lead to, those that take values, and what these lead to, before and
/// then.
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

  /// What a record that takes values leads to, and where these lead.
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
