public import HeartwoodModel
public import HeartwoodStore

/// Deletes many records at once, without objects.
///
/// Delete rules hold as for objects: others forget the records, go with them, or deny it. `prepareForDeletion` is not called.
public struct BatchDeleteRequest: Sendable {
  enum Choice: Sendable {
    case matching(entityName: String, FetchPredicate?)
    case objects([ManagedObjectID])
  }

  let choice: Choice
  /// Whether records of subentities are deleted too; it makes no difference to those that are given by ids.
  public var includesSubentities = true
  /// What the result tells.
  public var resultType = BatchResultType.count
  /// The stores; nil means all that keep the entity. One that was converted stands for what it was converted to; one that is not open any
  /// more is an error, ``PersistenceError/Code/storeNotOpen``.
  public var affectedStores: [PersistentStore]?

  /// Deletes the records that meet a condition; nil means all.
  public init(entityName: String, where predicate: FetchPredicate? = nil) {
    choice = .matching(entityName: entityName, predicate)
  }

  /// Deletes the records of saved objects. Those that are gone already are left out.
  public init(objectIDs: [ManagedObjectID]) {
    choice = .objects(objectIDs)
  }
}
