import HeartwoodModel
import HeartwoodStore

/// Looks for records one of which leads to another that does not lead back, although both relationships are one thing in the tables: there, both
/// would, or neither.
struct LinkCheck {
  private let schema: PostgreSQLSchema

  init(_ schema: PostgreSQLSchema) {
    self.schema = schema
  }

  /// - Throws: ``PersistenceError/Code/valueUnsupported`` for the first link that is found. O(links).
  func check(_ contents: StoreContents) throws {
    let agreement = LinkAgreement(contents)
    var seen: Set<LinkAgreement.Side> = []
    for entity in schema.model.entities where schema.keeps(entity) {
      let placement = try schema.placement(of: entity)
      for ordinal in placement.properties.indices.dropFirst(
        entity.superentity?.properties.count ?? 0
      ) {
        let side = LinkAgreement.Side(entity, ordinal)
        guard !seen.contains(side), let inverse = try sharedInverse(placement, ordinal) else {
          continue
        }
        // Both sides of a table of pairs are the same, and a to-one relationship is not asked.
        seen.insert(inverse)
        if let link = try agreement.oneSidedLink(side, inverse) { throw Self.oneSided(link) }
      }
    }
  }

  /// The relationship that is kept where a to-many relationship is; nil if there is none.
  private func sharedInverse(_ placement: EntityPlacement, _ ordinal: Int) throws -> LinkAgreement
    .Side?
  {
    guard let target = placement.entity.relationshipTargets[ordinal],
      let inverse = target.inverseOrdinal
    else {
      return nil
    }
    let destination = try schema.placement(of: schema.model.entities[target.entityOrdinal])
    let isShared =
      switch (placement.properties[ordinal], destination.properties[inverse]) {
      case (.toMany(let place), .toOne(let other)): place.column == other.column
      case (.join(let place), .join(let other)): place.table == other.table
      default: false
      }
    return isShared ? LinkAgreement.Side(destination.entity, inverse) : nil
  }

  private static func oneSided(_ link: LinkAgreement.OneSidedLink) -> PersistenceError {
    let (id, otherID) = (link.objectID, link.destinationID)
    return PersistenceError(
      .valueUnsupported,
      "\(id.entity.name) \(id.reference.text) leads to \(otherID.entity.name) \(otherID.reference.text) by "
        + "\(link.property), which does not lead back by \(link.inverse). PostgreSQL stores keep a relationship and its "
        + "inverse as one. Nothing was written.",
      recovery:
        "Let both records lead to each other, or neither, or keep the records in a store of another type.",
      context: .init(
        storeType: .postgreSQL,
        entity: id.entity.name,
        property: link.property,
        objectIDs: [id, otherID]
      )
    )
  }
}
