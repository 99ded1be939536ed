public import HeartwoodModel
public import HeartwoodStore

/// Changes attributes of many records at once, without objects.
///
/// The new values are checked against the model's rules. Records get their next version, so that contexts that have changed the same
/// ones meet a conflict.
public struct BatchUpdateRequest: Sendable {
  /// The name of the entity.
  public var entityName: String
  /// Which records to change; nil means all.
  public var predicate: FetchPredicate?
  /// The new values by the names of their attributes. Expressions read the values before the change.
  public var propertiesToUpdate: [String: FetchExpression]
  /// Whether records of subentities are changed too.
  public var includesSubentities = true
  /// What the result tells.
  public var resultType = BatchResultType.count
  /// The stores; nil means all that keep the entity. One that was converted stands for what it was converted to; one that is not open any
  /// more is an error, ``PersistenceError/Code/storeNotOpen``.
  public var affectedStores: [PersistentStore]?

  /// Changes the records that meet a condition: `["done": true, "price": try FetchExpression(format: "price * 2")]`.
  public init(
    entityName: String,
    where predicate: FetchPredicate? = nil,
    propertiesToUpdate: [String: any FetchArgument]
  ) {
    self.entityName = entityName
    self.predicate = predicate
    self.propertiesToUpdate = propertiesToUpdate.mapValues(\.fetchExpression)
  }
}
