public import HeartwoodModel

/// A relationship of an entity: the one that declares it, or a subentity.
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
  /// Refuses contents that a store cannot keep if it stores a relationship and its inverse as one thing: those in which
  /// one record refers to another that does not refer back. Call it in ``IncrementalStoreFormat/check(_:for:)``.
  /// O(links).
  ///
  /// - Parameters:
  ///   - setup: the setup of the new store.
  ///   - type: the type of the new store.
  ///   - sharedInverse: returns the relationship that the store keeps as one with the relationship of an entity that has
  ///     an ordinal; nil if there is none. It is called for the properties that each entity of the model declares, and
  ///     may return the inverse for one side of a pair only.
  /// - Throws: ``PersistenceError/Code/valueUnsupported`` for the first link that is found, and what `sharedInverse`
  ///   throws.
  public func checkInverses(
    for setup: StoreSetup,
    _ type: StoreType,
    sharedInverse: (EntityDescription, Int) throws(PersistenceError) -> RelationshipSide?
  ) throws(PersistenceError) {
    var pairs: [(RelationshipSide, RelationshipSide)] = []
    var seen: Set<RelationshipSide> = []
    for entity in setup.model.entities {
      for ordinal in entity.properties.indices.dropFirst(entity.superentity?.properties.count ?? 0) {
        let side = RelationshipSide(entity, ordinal)
        guard !seen.contains(side), let inverse = try sharedInverse(entity, ordinal) else { continue }
        // Either side of a pair finds the same links.
        seen.insert(inverse)
        pairs.append((side, inverse))
      }
    }
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

/// Checks that a relationship refers from one record to another exactly if its inverse refers back.
struct LinkAgreement {
  typealias Side = RelationshipSide

  /// A link that the inverse relationship does not have.
  struct OneSidedLink: Sendable {
    let objectID: ManagedObjectID
    let property: String
    let destinationID: ManagedObjectID
    /// The name of the relationship that should refer back.
    let inverse: String
  }

  private let contents: StoreContents

  init(_ contents: StoreContents) {
    self.contents = contents
  }

  /// Returns a link that only one of the relationships has, or nil if there is none. Links to missing records are
  /// ignored. O(links); memory is used only if the two differ.
  func oneSidedLink(_ side: Side, _ inverse: Side) throws(PersistenceError) -> OneSidedLink? {
    // The order of the links does not affect their sum, and it is practically impossible that different links have the
    // same sum.
    var (sum, inverseSum): (UInt, UInt) = (0, 0)
    try forEachLink(side, inverse) { sum &+= $0.hash }
    try forEachLink(inverse, side) { inverseSum &+= $0.reversed.hash }
    if sum == inverseSum { return nil }
    if let link = try missingLink(side, inverse) { return link }
    return try missingLink(inverse, side)
  }

  /// Returns a link of `side` that `inverse` does not have.
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

  /// Calls `body` for each link of `side` to a record that can refer back by `inverse`.
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
