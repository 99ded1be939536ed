import HeartwoodModel

/// A to-many relationship of an object, to be looked at and changed in place.
struct LiveRelationship<Destination: ManagedObject> {
  let object: ManagedObject
  let ordinal: Int
  let key: PropertyKey
}

extension LiveRelationship {
  var objects: [Destination] { object.relatedObjects(ordinal).compactMap { object.cast($0, key) } }

  func contains(_ member: Destination) -> Bool {
    object.followConversions()
    return object.leads(ordinal, to: member.objectID)
  }

  /// Lets the relationship lead to one object more, unless that is gone.
  func add(_ member: Destination) -> Bool { object.addLinkLeavingGone(ordinal, to: member) }

  func remove(_ member: Destination) -> Bool { object.removeLink(ordinal, to: member) }

  func replaceAll(_ members: [Destination]) { object.relateLeavingGone(ordinal, to: members) }

  func isSame(as other: LiveRelationship) -> Bool { object === other.object && ordinal == other.ordinal }
}

extension ManagedObject {
  /// The to-many relationship of `key`, which has an order or none.
  final func live<Destination: ManagedObject>(
    _ key: ToManyKey<Destination>,
    isOrdered: Bool
  ) -> LiveRelationship<Destination> {
    let ordinal = key.ordinal(in: self, \.isToMany)
    Misuse.check(
      binding.traits[ordinal].isOrdered == isOrdered,
      isOrdered
        ? "\(entity.name).\(key.name) has no order. Use the set subscript."
        : "\(entity.name).\(key.name) has an order. Use the list subscript."
    )
    return LiveRelationship(object: self, ordinal: ordinal, key: key)
  }
}
