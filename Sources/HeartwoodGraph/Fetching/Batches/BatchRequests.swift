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

// MARK: BatchUpdateRequest

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

// MARK: BatchDeleteRequest

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

// MARK: BatchChoice

/// The records of one store that a batch is about.
struct BatchChoice {
  /// What is chosen of one entity.
  enum Part {
    case all(NodeTable)
    case matching(PlanPredicate, NodeTable)
    /// What the store has found.
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
  /// For each entity, in their order.
  let queries: [TableQuery]

  init(tables: QueryTables, queries: [TableQuery]) {
    self.tables = tables
    self.queries = queries
  }

  /// A choice for which no other records are looked at.
  init(_ parts: [Part], scopes: [ObjectIDScope], _ model: ManagedObjectModel) {
    var all: [NodeTable?] = model.entities.map { _ in nil }
    for part in parts { all[part.table.entity.ordinal] = part.table }
    tables = QueryTables(tables: all, scopes: scopes)
    queries = parts.map { [tables] part in part.query(tables) }
  }

  /// The rows, by entity ordinal.
  var rows: [Int: [RowID]] {
    queries.reduce(into: [:]) { $0[$1.entityOrdinal] = $1.rows() }
  }
}

// MARK: BatchResult

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

// MARK: BatchRow

/// The values of one new record of a ``BatchInsertRequest``. Before they are set, attributes have the model's default values.
public struct BatchRow {
  let entity: EntityDescription
  /// Indexed by property ordinal.
  var values: [PropertyValue]
  /// The first mistake.
  private(set) var failure: PersistenceError?

  init(entity: EntityDescription) {
    self.entity = entity
    values = entity.traits.indices.map { ordinal in
      entity.properties[ordinal].attribute?.defaultValue ?? entity.traits[ordinal].emptyValue
    }
  }

  /// The value of a property: an attribute's, or the id of the saved object that a to-one relationship leads to.
  ///
  /// A property that the entity does not have, or a value that does not fit, makes the request fail.
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
      fail(.valueUnsupported, "A batch sets no to-many relationship.", recovery: .custom(advice), name)
    } else if value.fits(trait) {
      values[ordinal] = value
    } else {
      fail(.valueTypeMismatch, "The relationship leads to one object, and the value is \(value.kindDescription).", name)
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

// Batches go to the stores at once. Contexts that merge by themselves learn of them; others are given the result's changes.

extension PersistentStoreCoordinator {
  /// Inserts records. All are saved, or none.
  ///
  /// - Parameters:
  ///   - author: who does it, for the history.
  ///   - mergePolicy: what becomes of records whose values must be unique and are not.
  /// - Throws: ``PersistenceError/Code/validationFailed``, ``PersistenceError/Code/constraintConflict``, mistakes in the values, what the
  ///   request's closure throws, and what saving throws.
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
  /// - Parameter author: who does it, for the history.
  /// - Throws: `FetchPredicateError`, ``PersistenceError/Code/validationFailed``, ``PersistenceError/Code/constraintConflict``, and what
  ///   saving throws.
  @discardableResult
  public func execute(_ request: BatchUpdateRequest, author: String? = nil) throws -> BatchResult {
    try BatchPass(self, SaveOrigin(author: author)).update(request)
  }

  /// Deletes records. Each store saves all its changes or none.
  ///
  /// - Parameter author: who does it, for the history.
  /// - Throws: `FetchPredicateError`, ``PersistenceError/Code/validationFailed`` where a relationship denies it or has to lead somewhere,
  ///   and what saving throws.
  @discardableResult
  public func execute(_ request: BatchDeleteRequest, author: String? = nil) throws -> BatchResult {
    try BatchPass(self, SaveOrigin(author: author)).delete(request)
  }
}

extension ManagedObjectContext {
  /// Inserts records in the stores, past this context and all above it; see
  /// ``PersistentStoreCoordinator/execute(_:author:mergePolicy:)``. The context's ``mergePolicy`` decides on records whose values must be
  /// unique and are not.
  @discardableResult
  public func execute(_ request: BatchInsertRequest) throws -> BatchResult {
    try BatchPass(persistentStoreCoordinator, saveOrigin, mergePolicy).insert(request)
  }

  /// Changes records in the stores, past this context and all above it. Objects that have been read keep their values until the result's
  /// changes are merged.
  @discardableResult
  public func execute(_ request: BatchUpdateRequest) throws -> BatchResult {
    try BatchPass(persistentStoreCoordinator, saveOrigin).update(request)
  }

  /// Deletes records in the stores, past this context and all above it. Objects that have been read stay until the result's changes are
  /// merged.
  @discardableResult
  public func execute(_ request: BatchDeleteRequest) throws -> BatchResult {
    try BatchPass(persistentStoreCoordinator, saveOrigin).delete(request)
  }
}
