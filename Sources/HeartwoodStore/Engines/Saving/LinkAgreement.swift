package import HeartwoodModel

/// Whether a relationship leads from one record to another wherever its inverse leads back.
package struct LinkAgreement {
  /// A relationship as the entity has it that declares it, or one below.
  package struct Side: Sendable, Hashable {
    let entityOrdinal: Int
    let ordinal: Int

    package init(_ entity: EntityDescription, _ ordinal: Int) {
      self.entityOrdinal = entity.ordinal
      self.ordinal = ordinal
    }
  }

  /// Where a relationship leads and the other one does not lead back.
  package struct OneSidedLink: Sendable {
    package let objectID: ManagedObjectID
    package let property: String
    package let destinationID: ManagedObjectID
    /// The name of the relationship that should lead back.
    package let inverse: String
  }

  private let contents: StoreContents

  package init(_ contents: StoreContents) {
    self.contents = contents
  }

  /// A link that one of the relationships has and the other has not, or nil where there is none. What leads to a record that is not there does
  /// not count. O(links); memory is taken only where the two differ.
  package func oneSidedLink(_ side: Side, _ inverse: Side) throws(PersistenceError) -> OneSidedLink? {
    // In what order the links come does not matter for their sum, and that sums of other links are the same is as good as impossible.
    var (sum, inverseSum): (UInt, UInt) = (0, 0)
    try forEachLink(side, inverse) { sum &+= $0.hash }
    try forEachLink(inverse, side) { inverseSum &+= $0.reversed.hash }
    if sum == inverseSum { return nil }
    if let link = try missingLink(side, inverse) { return link }
    return try missingLink(inverse, side)
  }

  /// A link of `side` that `inverse` has not.
  private func missingLink(_ side: Side, _ inverse: Side) throws(PersistenceError) -> OneSidedLink? {
    var leadingBack: Set<UInt> = []
    try forEachLink(inverse, side) { leadingBack.insert($0.reversed.hash) }
    var missing: OneSidedLink?
    try forEachLink(side, inverse) { link throws(PersistenceError) in
      guard missing == nil, !leadingBack.contains(link.hash) else { return }
      let other = link.destination
      guard try contents.tables[other.entityOrdinal].row(of: other.reference) != nil else { return }
      missing = OneSidedLink(
        objectID: id(link.owner),
        property: name(side),
        destinationID: id(other),
        inverse: name(inverse)
      )
    }
    return missing
  }

  private func id(_ record: RecordKey) -> ManagedObjectID {
    contents.objectID(record.reference, of: contents.model.entities[record.entityOrdinal])
  }

  private func name(_ side: Side) -> String {
    contents.model.entities[side.entityOrdinal].properties[side.ordinal].name
  }
}

// MARK: Links

extension LinkAgreement {
  private struct Link {
    let owner: RecordKey
    let destination: RecordKey

    var reversed: Link { Link(owner: destination, destination: owner) }

    var hash: UInt {
      var hasher = Hasher()
      hasher.combine(owner)
      hasher.combine(destination)
      return UInt(bitPattern: hasher.finalize())
    }
  }

  /// Calls `body` for each link of `side` to a record of which `inverse` can lead back.
  private func forEachLink(
    _ side: Side,
    _ inverse: Side,
    _ body: (Link) throws(PersistenceError) -> Void
  ) throws(PersistenceError) {
    let entities = contents.model.entities
    let destination = entities[inverse.entityOrdinal]
    let destinations = Set([destination.ordinal] + destination.subentityOrdinals)
    for entity in contents.model.concreteEntities(under: entities[side.entityOrdinal]) {
      for group in contents.tables[entity.ordinal].groups {
        let column = group.columns[side.ordinal]
        guard let references = column.references, references.count > 0 else { continue }
        for row in group.liveRuns.joined() {
          for other in column.recordKeys(row) where destinations.contains(other.entityOrdinal) {
            let owner = RecordKey(entityOrdinal: entity.ordinal, reference: group.references[row])
            try body(Link(owner: owner, destination: other))
          }
        }
      }
    }
  }
}
