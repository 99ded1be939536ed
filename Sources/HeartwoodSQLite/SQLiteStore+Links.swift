import HeartwoodModel
import HeartwoodStore

// A file keeps a relationship and its inverse as one: in the column of the to-one side, or as rows of both keys. A pair of to-one
// relationships has a column each.

extension SQLiteStore {
  /// Refuses records of another store one of which leads to another that does not lead back: in the file, both would, or neither. O(links).
  static func checkLinks(in contents: StoreContents, _ schema: SQLiteSchema, path: String?) throws(PersistenceError) {
    let agreement = LinkAgreement(contents)
    var seen: Set<LinkAgreement.Side> = []
    for placement in schema.entities.compactMap(\.self) {
      let inheritedCount = placement.entity.superentity?.properties.count ?? 0
      for ordinal in placement.properties.indices.dropFirst(inheritedCount) {
        let side = LinkAgreement.Side(placement.entity, ordinal)
        guard !seen.contains(side), let inverse = schema.sharedInverse(of: placement, ordinal) else { continue }
        // Both sides of a join are the same pair, and a to-one relationship is not asked.
        seen.insert(inverse)
        if let link = try agreement.oneSidedLink(side, inverse) { throw .oneSided(link, path: path) }
      }
    }
  }
}

extension SQLiteSchema {
  /// The relationship that is kept where the to-many relationship `ordinal` of an entity is; nil where there is none. Models from elsewhere
  /// may name an inverse that leads to another entity: then neither can be told from the other.
  fileprivate func sharedInverse(of placement: EntityPlacement, _ ordinal: Int) -> LinkAgreement.Side? {
    guard let target = placement.entity.relationshipTargets[ordinal], let destination = entities[target.entityOrdinal]
    else { return nil }
    let inverse = destination.properties.firstIndex { property in
      switch (placement.properties[ordinal], property) {
      case (.toMany(let place), .toOne(let other)): !place.ownsColumn && place.column == other.column
      case (.join(let place), .join(let other)): (place.isReflexive ? place : place.inverse) == other
      default: false
      }
    }
    guard let inverse, let back = destination.entity.relationshipTargets[inverse],
      model.entities[back.entityOrdinal].isRelated(to: placement.entity)
    else { return nil }
    return LinkAgreement.Side(destination.entity, inverse)
  }
}

extension EntityDescription {
  /// Whether one of both inherits from the other, or they are the same.
  fileprivate func isRelated(to other: EntityDescription) -> Bool { isKind(of: other) || other.isKind(of: self) }
}

extension PersistenceError {
  fileprivate static func oneSided(_ link: LinkAgreement.OneSidedLink, path: String?) -> PersistenceError {
    let (id, otherID) = (link.objectID, link.destinationID)
    return PersistenceError(
      .valueUnsupported,
      "\(id.entity.name) \(id.reference.text) leads to \(otherID.entity.name) \(otherID.reference.text) by "
        + "\(link.property), which does not lead back by \(link.inverse). SQLite files keep a relationship and its "
        + "inverse as one. Nothing was written.",
      recovery: "Let both records lead to each other, or neither, or keep the records in a store of another type.",
      context: .init(
        path: path,
        storeType: .sqlite,
        entity: id.entity.name,
        property: link.property,
        objectIDs: [id, otherID]
      )
    )
  }
}
