public import HeartwoodModel
public import HeartwoodStore

/// A request that inserts many records at once, without objects.
///
///     let rows: [[String: PropertyValue]] = [["memo": .string("Milk")], ["memo": .string("Bread")]]
///     try context.execute(BatchInsertRequest(entityName: "ToDo", rows: rows))
///
/// Values are checked against the model: types, required properties, rules, and uniqueness. Hooks of classes are not
/// called. A to-one relationship may refer to a saved object; its inverse is updated if it is a to-many relationship.
/// To-many relationships cannot be set.
///
/// If a record violates a uniqueness constraint, the merge policy decides: the request fails, the record is left out,
/// or it updates the existing one, which takes its values except nil ones and keeps its id.
public struct BatchInsertRequest {
  /// The name of the entity, which must not be abstract.
  public var entityName: String
  /// The contents of the result.
  public var resultType = BatchResultType.count
  /// The store; nil stands for the first that keeps the entity and can be written.
  public var affectedStore: PersistentStore?
  let fill: (inout BatchRow) throws -> Bool

  /// Creates a request that inserts a record for each of `rows`, which contain values by property name.
  public init(entityName: String, rows: some Sequence<[String: PropertyValue]>) {
    var iterator = rows.makeIterator()
    self.init(entityName: entityName) { row in
      guard let values = iterator.next() else { return false }
      for (name, value) in values { row[name] = value }
      return true
    }
  }

  /// Creates a request that inserts a record for each call of `fill` that returns true. `fill` sets the values, and
  /// returns false at the end.
  public init(entityName: String, fill: @escaping (inout BatchRow) throws -> Bool) {
    self.entityName = entityName
    self.fill = fill
  }
}

// MARK: BatchUpdateRequest

/// A request that changes attributes of many records at once, without objects.
///
///     let request = BatchUpdateRequest(
///       entityName: "ToDo",
///       where: ToDo.listKey == nil,
///       propertiesToUpdate: ["done": true]
///     )
///     let count = try context.execute(request).count
///
/// The new values are checked against the model's rules. The records get their next version, so that contexts that have
/// changed the same ones find a conflict.
public struct BatchUpdateRequest: Sendable {
  /// The name of the entity.
  public var entityName: String
  /// The condition that the records must meet; nil stands for all records.
  public var predicate: FetchPredicate?
  /// The new values by the names of their attributes. Expressions read the values before the change.
  public var propertiesToUpdate: [String: FetchExpression]
  /// Whether records of subentities are changed too.
  public var includesSubentities = true
  /// The contents of the result.
  public var resultType = BatchResultType.count
  /// The stores; nil stands for all that keep the entity. If a store was converted, its successor is used. If a store
  /// is no longer open, the request fails with ``PersistenceError/Code/storeNotOpen``.
  public var affectedStores: [PersistentStore]?

  /// Creates a request that changes the records that meet a condition, or all records.
  ///
  /// - Parameter propertiesToUpdate: the new values by the names of their attributes:
  ///   `["done": true, "price": try FetchExpression(format: "price * 2")]`.
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

// MARK: BatchDeleteRequest

/// A request that deletes many records at once, without objects.
///
///     try context.execute(BatchDeleteRequest(entityName: "ToDo", where: ToDo.doneKey == true))
///
/// Delete rules are applied as for objects: other records lose their references to the deleted ones, are deleted too,
/// or deny the deletion. `prepareForDeletion` is not called.
public struct BatchDeleteRequest: Sendable {
  enum Choice: Sendable {
    case matching(entityName: String, FetchPredicate?)
    case objects([ManagedObjectID])
  }

  let choice: Choice
  /// Whether records of subentities are deleted too. It is ignored if the records are given by ids.
  public var includesSubentities = true
  /// The contents of the result.
  public var resultType = BatchResultType.count
  /// The stores; nil stands for all that keep the entity. If a store was converted, its successor is used. If a store
  /// is no longer open, the request fails with ``PersistenceError/Code/storeNotOpen``.
  public var affectedStores: [PersistentStore]?

  /// Creates a request that deletes the records that meet a condition; nil stands for all records.
  public init(entityName: String, where predicate: FetchPredicate? = nil) {
    choice = .matching(entityName: entityName, predicate)
  }

  /// Creates a request that deletes the records of saved objects. Those that are deleted already are ignored.
  public init(objectIDs: [ManagedObjectID]) {
    choice = .objects(objectIDs)
  }
}

// MARK: BatchChoice

/// The records of one store that a batch affects.
struct BatchChoice {
  /// The affected records of one entity.
  enum Part {
    case all(NodeTable)
    case matching(CompiledPredicate, NodeTable)
    /// The records that the store has found.
    case found(FoundRecords)

    var table: NodeTable {
      switch self {
      case .all(let table), .matching(_, let table): table
      case .found(let found): found.table
      }
    }

    func query(_ tables: QueryTables) -> TableQuery {
      switch self {
      case .all(let table): TableQuery(tables, table, where: nil)
      case .matching(let plan, let table): TableQuery(tables, table, where: plan)
      case .found(let found): TableQuery(tables, found.table, rows: found.rows)
      }
    }
  }

  let tables: QueryTables
  /// A query for each entity, in their order.
  let queries: [TableQuery]

  init(tables: QueryTables, queries: [TableQuery]) {
    self.tables = tables
    self.queries = queries
  }

  /// Creates a choice for which no other records are read.
  init(_ parts: [Part], scopes: [ObjectIDScope], _ model: ManagedObjectModel) {
    var all: [NodeTable?] = model.entities.map { _ in nil }
    for part in parts { all[part.table.entity.ordinal] = part.table }
    tables = QueryTables(tables: all, scopes: scopes)
    queries = parts.map { [tables] part in part.query(tables) }
  }

  /// The affected rows, by entity ordinal.
  var rows: [Int: [RowID]] {
    queries.reduce(into: [:]) { $0[$1.entityOrdinal] = $1.rows() }
  }
}

// MARK: BatchResult

/// The contents of the result of a batch request.
public enum BatchResultType: Sendable, Hashable {
  /// Only the number of records.
  case count
  /// The number and the ids of the records.
  case objectIDs
}

/// The result of a batch request.
public struct BatchResult: Sendable {
  /// The number of records that were inserted, updated or deleted. For insertions, it includes the records that they
  /// have updated; for deletions, those that delete rules have deleted.
  public internal(set) var count = 0
  /// The ids of the records; empty unless the request asked for them.
  public var objectIDs: Set<ManagedObjectID> {
    changes.insertedObjectIDs.union(changes.deletedObjectIDs).union(updatedObjectIDs)
  }
  /// The changes for ``ManagedObjectContext/mergeChanges(from:)``, including objects whose relationships or derived
  /// attributes have changed as a consequence; empty unless the request asked for ids.
  public internal(set) var changes = ContextChanges(context: nil, name: nil, author: nil)
  /// The records that the request itself has updated.
  var updatedObjectIDs: Set<ManagedObjectID> = []
}

// MARK: BatchRow

/// The values of one new record of a ``BatchInsertRequest``. Initially, attributes have the model's default values.
public struct BatchRow {
  let entity: EntityDescription
  /// Indexed by property ordinal.
  var values: [PropertyValue]
  /// The first error.
  private(set) var failure: PersistenceError?

  init(entity: EntityDescription) {
    self.entity = entity
    values = entity.traits.indices.map { ordinal in
      entity.properties[ordinal].attribute?.defaultValue ?? entity.traits[ordinal].emptyValue
    }
  }

  /// The value of a property: of an attribute, or the id of the saved object that is the destination of a to-one
  /// relationship.
  ///
  /// Setting a property that the entity does not have, or a value that does not fit, makes the request fail.
  public subscript(name: String) -> PropertyValue {
    get { entity.ordinal(ofProperty: name).map { values[$0] } ?? .null }
    set { set(newValue, name) }
  }

  /// The value of an attribute.
  public subscript<Value: AttributeValue>(key: AttributeKey<Value>) -> Value? {
    get { Value(propertyValue: self[key.name]) }
    set { set(newValue?.propertyValue ?? .null, key.name) }
  }

  private mutating func set(_ value: PropertyValue, _ name: String) {
    guard let ordinal = entity.ordinal(ofProperty: name) else {
      return fail(.propertyUnknown, "The entity has no such property.", name)
    }
    let trait = entity.traits[ordinal]
    if let type = trait.attributeType {
      guard let converted = value.converted(to: type) else {
        return fail(
          .valueTypeMismatch,
          "The attribute is of type \(type.rawValue), and the value is \(value.kindDescription).",
          name
        )
      }
      values[ordinal] = converted
    } else if trait.isToMany {
      let advice = "Set the other end, or insert objects."
      fail(.valueUnsupported, "A batch cannot set a to-many relationship.", recovery: .custom(advice), name)
    } else if value.fits(trait) {
      values[ordinal] = value
    } else {
      fail(
        .valueTypeMismatch,
        "The relationship refers to one object, and the value is \(value.kindDescription).",
        name
      )
    }
  }

  private mutating func fail(
    _ code: PersistenceError.Code,
    _ problem: String,
    recovery: PersistenceError.Recovery? = nil,
    _ name: String
  ) {
    guard failure == nil else { return }
    let context = PersistenceError.Context(entity: entity.name, property: name)
    failure = PersistenceError(code, problem, recovery: recovery, context: context)
  }
}

// MARK: PersistentStoreCoordinator: batches

// Batches are saved to the stores immediately. Contexts that merge automatically are notified; pass the result's
// changes to others.

extension PersistentStoreCoordinator {
  /// Inserts records in a store, all of them or none.
  ///
  /// - Parameters:
  ///   - author: the author for the persistent history.
  ///   - mergePolicy: the policy that resolves constraint conflicts.
  /// - Throws: ``PersistenceError/Code/validationFailed``, ``PersistenceError/Code/constraintConflict``, errors for
  ///   invalid values, the errors of the request's closure, and the errors of saving.
  @discardableResult
  public func execute(
    _ request: BatchInsertRequest,
    author: String? = nil,
    mergePolicy: MergePolicy = .error
  ) throws -> BatchResult {
    try BatchPass(self, SaveOrigin(author: author), mergePolicy).insert(request)
  }

  /// Changes records. Each store saves all its changes or none.
  ///
  /// - Parameter author: the author for the persistent history.
  /// - Throws: `FetchPredicateError`, ``PersistenceError/Code/validationFailed``,
  ///   ``PersistenceError/Code/constraintConflict``, and the errors of saving.
  @discardableResult
  public func execute(_ request: BatchUpdateRequest, author: String? = nil) throws -> BatchResult {
    try BatchPass(self, SaveOrigin(author: author)).update(request)
  }

  /// Deletes records. Each store saves all its changes or none.
  ///
  /// - Parameter author: the author for the persistent history.
  /// - Throws: `FetchPredicateError`, ``PersistenceError/Code/validationFailed`` if a relationship denies the deletion
  ///   or must not be empty, and the errors of saving.
  @discardableResult
  public func execute(_ request: BatchDeleteRequest, author: String? = nil) throws -> BatchResult {
    try BatchPass(self, SaveOrigin(author: author)).delete(request)
  }
}

extension ManagedObjectContext {
  /// Inserts records in the stores, bypassing this context and its parents; see
  /// ``PersistentStoreCoordinator/execute(_:author:mergePolicy:)``. The context's ``mergePolicy`` resolves constraint
  /// conflicts.
  @discardableResult
  public func execute(_ request: BatchInsertRequest) throws -> BatchResult {
    try BatchPass(persistentStoreCoordinator, saveOrigin, mergePolicy).insert(request)
  }

  /// Changes records in the stores, bypassing this context and its parents. Objects that have been read keep their
  /// values until the result's changes are merged.
  @discardableResult
  public func execute(_ request: BatchUpdateRequest) throws -> BatchResult {
    try BatchPass(persistentStoreCoordinator, saveOrigin).update(request)
  }

  /// Deletes records in the stores, bypassing this context and its parents. Objects that have been read stay until the
  /// result's changes are merged.
  @discardableResult
  public func execute(_ request: BatchDeleteRequest) throws -> BatchResult {
    try BatchPass(persistentStoreCoordinator, saveOrigin).delete(request)
  }
}
