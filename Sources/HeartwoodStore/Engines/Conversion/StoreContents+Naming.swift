package import HeartwoodModel

extension StoreContents {
  /// Leaves the history out.
  package mutating func forgetHistory() { history = nil }

  /// The same records under the references that their origins had, where those are free; the others get new ones of the same kind.
  ///
  /// - Parameters:
  ///   - origins: what the records were called that these were made of, by the ids that these have now.
  ///   - old: the store that they come from.
  package func calling(_ origins: [ManagedObjectID: ReferenceID], asIn old: StoreContents) throws -> StoreContents {
    try calling(origins, asIn: old, keepsMissing: false)
  }

  private func calling(
    _ origins: [ManagedObjectID: ReferenceID],
    asIn old: StoreContents,
    keepsMissing: Bool
  ) throws -> StoreContents {
    var naming = RecordNaming(origins: origins, old: old, new: self)
    return try renamed(keepsMissing: keepsMissing) { _, entity in try naming.names(ofRecordsOf: entity) }
  }

  /// Sees to it that no new record gets a number by which a relationship leads to a record that is gone.
  package mutating func reserveNumbersOfLinks() {
    let greatest = tables.lazy.flatMap(\.groups).flatMap(\.columns).compactMap { $0.references?.greatestNumber }.max()
    guard let greatest, greatest < .max else { return }
    nextReferenceNumber = max(numberAfterGreatestReference, greatest + 1)
  }

  /// The same records, those that were not in `old` under references of the kind that it has. What leads to no record stays.
  package func namingNewRecords(asIn old: StoreContents) throws -> StoreContents {
    var origins: [ManagedObjectID: ReferenceID] = [:]
    for (ordinal, table) in tables.enumerated() {
      for row in table.liveRows where try old.tables[ordinal].row(of: table.reference(row)) != nil {
        origins[objectID(table.reference(row), of: table.entity)] = table.reference(row)
      }
    }
    return try calling(origins, asIn: old, keepsMissing: true)
  }
}

/// Gives records the references of those that they were made of.
private struct RecordNaming {
  private let origins: [ManagedObjectID: ReferenceID]
  private let new: StoreContents
  /// Whether records without an origin are called by numbers, as the old ones were.
  private let usesNumbers: Bool
  private var nextNumber: Int64
  /// The references that are taken, by the name of the root entity: a number is one record's in a whole tree.
  private var taken: [String: Set<ReferenceID>] = [:]

  init(origins: [ManagedObjectID: ReferenceID], old: StoreContents, new: StoreContents) {
    self.origins = origins
    self.new = new
    let references = old.tables.lazy.flatMap(\.groups).map(\.references).first { $0.count > 0 }
    usesNumbers = references.map { $0.kind(0) == .integer } ?? false
    nextNumber = old.numberAfterGreatestReference
  }

  mutating func names(ofRecordsOf entity: EntityDescription) throws -> [ReferenceID] {
    let root = entity.rootEntity.name
    var names: [ReferenceID] = []
    for group in new.table(of: entity).groups {
      for row in 0..<group.rowCount {
        let reference = group.references[row]
        let origin = origins[new.objectID(reference, of: entity)]
        if let origin, taken[root, default: []].insert(origin).inserted {
          names.append(origin)
        } else {
          names.append(try another(insteadOf: reference))
        }
      }
    }
    return names
  }

  private mutating func another(insteadOf reference: ReferenceID) throws(PersistenceError) -> ReferenceID {
    guard usesNumbers else { return reference }
    guard nextNumber < .max else {
      throw PersistenceError(.capabilityMissing, "The records are called by numbers, and the greatest number is taken.")
    }
    nextNumber += 1
    return .integer(nextNumber - 1)
  }
}
