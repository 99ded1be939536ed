package import HeartwoodModel

/// Reads the records to which relationships lead, a step of all records at a time, and keeps the tables that they are in.
package struct RelatedReading {
  private let entities: [EntityDescription]
  private let scopes: [ObjectIDScope]
  /// The records of an entity that have been read so far, with those that references name.
  private let read: (EntityDescription, [ReferenceID]) throws -> NodeTable
  /// The newest table of each entity that was read, by ordinal.
  private var newest: [Int: NodeTable] = [:]

  package init(
    _ entities: [EntityDescription],
    scopes: [ObjectIDScope],
    read: @escaping (EntityDescription, [ReferenceID]) throws -> NodeTable
  ) {
    self.entities = entities
    self.scopes = scopes
    self.read = read
  }

  /// What has been read, to be queried.
  package var tables: QueryTables {
    QueryTables(tables: entities.map { newest[$0.ordinal] }, scopes: scopes)
  }

  /// Reads records, and those that `paths` lead to from there.
  ///
  /// - Parameter references: the records, by the ordinal of their entity.
  package mutating func follow(_ paths: [[PlanProperty]], from references: [Int: [ReferenceID]]) throws {
    try read(references)
    for path in paths { try follow(path.map(\.ordinal), from: references) }
  }

  /// Reads records, and those that one relationship after the other leads to.
  ///
  /// - Returns: the records at the end, by the ordinal of their entity.
  @discardableResult
  package mutating func follow(
    _ ordinals: [Int],
    from references: [Int: [ReferenceID]]
  ) throws -> [Int: [ReferenceID]] {
    try read(references)
    var current = references
    for ordinal in ordinals {
      current = try related(ordinal, from: current)
      try read(current)
    }
    return current
  }

  private mutating func read(_ references: [Int: [ReferenceID]]) throws {
    for (ordinal, references) in references { newest[ordinal] = try read(entities[ordinal], references) }
  }

  /// What a relationship leads to, each record once.
  private func related(
    _ relationship: Int,
    from references: [Int: [ReferenceID]]
  ) throws -> [Int: [ReferenceID]] {
    var related: [Int: [ReferenceID]] = [:]
    var seen: Set<ManagedObjectID> = []
    for (ordinal, references) in references {
      guard let table = newest[ordinal] else { continue }
      for row in try references.compactMap({ try table.row(of: $0) }) {
        let group = table.groups[row.group]
        let value = group.value(row: row.row, ordinal: relationship, type: nil, scopes: scopes)
        for id in value.objectIDs where seen.insert(id).inserted {
          related[id.entity.ordinal, default: []].append(id.reference)
        }
      }
    }
    return related
  }
}
