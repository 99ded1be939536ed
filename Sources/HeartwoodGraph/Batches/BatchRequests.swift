public import HeartwoodModel
public import HeartwoodStore

/// What a batch request tells of what it has done, beyond how many records it was.
public enum BatchResultType: Sendable, Hashable {
  /// The number of records alone.
  case count
  /// The ids of the records too.
  case objectIDs
}

/// What a batch request has done.
public struct BatchResult: Sendable {
  /// How many records were inserted, updated or deleted, those included that insertions have updated; of a deletion, with those that delete rules took along.
  public internal(set) var count = 0
  /// The ids of the records; empty unless the request asked for them.
  public var objectIDs: Set<ManagedObjectID> {
    changes.insertedObjectIDs.union(changes.deletedObjectIDs).union(updatedObjectIDs)
  }
  /// The same for ``ManagedObjectContext/mergeChanges(from:)``, with the objects whose relationships or derived attributes have changed
  /// along with them; empty unless the request asked for ids.
  public internal(set) var changes = ContextChanges(context: nil, name: nil, author: nil)
  /// The records that the request itself has updated.
  var updatedObjectIDs: Set<ManagedObjectID> = []
}

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
