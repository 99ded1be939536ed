/// A relationship of one object.
struct RelationshipEnd: Hashable {
  let object: ManagedObject
  let ordinal: Int
}
