public import HeartwoodModel

/// A relationship of an entity: of the one that declares it, or of a subentity.
public struct RelationshipSide: Sendable, Hashable {
  /// The ordinal of the entity.
  public let entityOrdinal: Int
  /// The ordinal of the relationship.
  public let ordinal: Int

  /// Names a relationship of an entity by its ordinal.
  public init(_ entity: EntityDescription, _ ordinal: Int) {
    self.entityOrdinal = entity.ordinal
    self.ordinal = ordinal
  }
}

extension StoreContents {
  /// Refuses contents that a store cannot keep which has a relationship and its inverse as one thing: those in which one record refers to
  /// another that does not refer back. Call it in ``IncrementalStoreFormat/check(_:for:)``. O(links).
  ///
  /// - Parameters:
  ///   - pairs: the relationships that the store keeps as one.
  ///   - setup: that of the new store, for the message.
  ///   - type: the type of the new store.
  /// - Throws: ``PersistenceError/Code/valueUnsupported`` for the first link that is found.
  public func checkInverses(
    _ pairs: [(RelationshipSide, RelationshipSide)],
    for setup: StoreSetup,
    _ type: StoreType
  ) throws(PersistenceError) {
    let agreement = LinkAgreement(self)
    for (side, inverse) in pairs {
      guard let link = try agreement.oneSidedLink(side, inverse) else { continue }
      let (id, otherID) = (link.objectID, link.destinationID)
      throw PersistenceError(
        .valueUnsupported,
        "\(id.entity.name) \(id.reference.text) refers to \(otherID.entity.name) \(otherID.reference.text) by "
          + "\(link.property), which does not refer back by \(link.inverse). Stores of type \(type) keep a relationship "
          + "and its inverse as one. Nothing was written.",
        recovery: "Make both records refer to each other, or neither, or keep the records in a store of another type.",
        context: .init(
          path: setup.path,
          storeType: type,
          entity: id.entity.name,
          property: link.property,
          objectIDs: [id, otherID]
        )
      )
    }
  }
}

/// Whether a relationship leads from one record to another wherever its inverse leads back.
struct LinkAgreement {
  typealias Side = RelationshipSide

  /// Where a relationship leads and the other one does not lead back.
  struct OneSidedLink: Sendable {
    let objectID: ManagedObjectID
    let property: String
    let destinationID: ManagedObjectID
    /// The name of the relationship that should lead back.
    let inverse: String
  }

  private let contents: StoreContents

  init(_ contents: StoreContents) {
    self.contents = contents
  }

  /// A link that one of the relationships has and the other has not, or nil where there is none. What leads to a record that is not there does
  /// not count. O(links); memory is taken only where the two differ.
  func oneSidedLink(_ side: Side, _ inverse: Side) throws(PersistenceError) -> OneSidedLink? {
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
