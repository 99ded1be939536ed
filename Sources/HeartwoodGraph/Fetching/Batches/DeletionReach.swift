import HeartwoodModel
import HeartwoodStore

/// Reads the records that a deletion looks at: those that relationships lead to from what goes, and from what goes along with it.
struct DeletionReach {
  private let engine: any StoreEngine
  private let model: ManagedObjectModel
  /// The records that go, by entity ordinal.
  private var seen: [Int: Set<ReferenceID>] = [:]
  /// Those of them whose relationships have not been looked at yet.
  private var pending: [Int: [ReferenceID]] = [:]

  init(_ engine: any StoreEngine, _ model: ManagedObjectModel) {
    self.engine = engine
    self.model = model
  }

  /// - Parameter rows: what goes, by entity ordinal, in rows that are known.
  mutating func read(from rows: [Int: [RowID]]) throws {
    for (ordinal, rows) in rows {
      let table = try engine.knownTable(of: model.entities[ordinal]).table
      for row in rows { go(table.reference(row), ordinal) }
    }
    while !pending.isEmpty { try readNext() }
  }

  private mutating func go(_ reference: ReferenceID, _ ordinal: Int) {
    guard model.entities[ordinal].hasStoredRelationships else { return }
    if seen[ordinal, default: []].insert(reference).inserted { pending[ordinal, default: []].append(reference) }
  }

  /// Reads what the pending records lead to, entity by entity; those that go along are the next.
  private mutating func readNext() throws {
    let current = pending
    pending = [:]
    var related: [Int: Set<ReferenceID>] = [:]
    for (ordinal, references) in current {
      let entity = model.entities[ordinal]
      let table = try engine.knownTable(of: entity).table
      for reference in references {
        guard let row = try table.row(of: reference) else { continue }
        for (property, isCascade) in entity.followedRelationships {
          let value = table.groups[row.group].value(row: row.row, ordinal: property, type: nil, scopes: engine.scopes)
          for id in value.objectIDs {
            related[id.entity.ordinal, default: []].insert(id.reference)
            if isCascade { go(id.reference, id.entity.ordinal) }
          }
        }
      }
    }
    for (ordinal, references) in related {
      _ = try engine.table(of: model.entities[ordinal], reading: Array(references))
    }
  }
}

extension EntityDescription {
  /// The ordinals of relationships that matter when a record goes, and whether what they lead to goes along.
  fileprivate var followedRelationships: [(ordinal: Int, isCascade: Bool)] {
    properties.enumerated().compactMap { ordinal, property in
      guard let relationship = property.relationship, !relationship.isTransient, relationship.deleteRule != .noAction
      else { return nil }
      return (ordinal, relationship.deleteRule == .cascade)
    }
  }
}
