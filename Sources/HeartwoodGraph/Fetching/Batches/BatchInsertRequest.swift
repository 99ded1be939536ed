public import HeartwoodModel
public import HeartwoodStore

/// Inserts many records at once, without objects.
///
/// Values are checked against the model: types, what is required, rules, uniqueness. Hooks of classes are not called. A to-one
/// relationship may lead to a saved object, whose inverse follows where it is a to-many one.
///
/// A record with values that must be unique, and that another has, is what the merge policy says: the request fails, the record is left
/// out, or it updates the other one, which takes its values, nil ones left out, and keeps its id.
public struct BatchInsertRequest {
  /// The name of the entity, which is not abstract.
  public var entityName: String
  /// What the result tells.
  public var resultType = BatchResultType.count
  /// The store; nil means the first that keeps the entity and can be written.
  public var affectedStore: PersistentStore?
  let fill: (inout BatchRow) throws -> Bool

  /// Inserts a record for each of `rows`, which are values by property name.
  public init(entityName: String, rows: some Sequence<[String: PropertyValue]>) {
    var iterator = rows.makeIterator()
    self.init(entityName: entityName) { row in
      guard let values = iterator.next() else { return false }
      for (name, value) in values { row[name] = value }
      return true
    }
  }

  /// Inserts a record for each call of `fill`, which sets its values, until that gives false: then there is none any more.
  public init(entityName: String, fill: @escaping (inout BatchRow) throws -> Bool) {
    self.entityName = entityName
    self.fill = fill
  }
}
