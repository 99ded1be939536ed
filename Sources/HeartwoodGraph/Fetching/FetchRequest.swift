public import HeartwoodModel
public import HeartwoodStore

/// A description of a fetch: the entity of the objects, the condition, the order, and the number.
///
///     let request = FetchRequest<ToDo>(where: ToDo.doneKey == false, sortedBy: [ToDo.dueKey.ascending], limit: 20)
///     let open = try context.fetch(request)
///
/// It is a value that belongs to no context; it can be stored, changed and sent to other isolations.
public struct FetchRequest<Object: ManagedObject>: Sendable {
  /// The name of the entity whose objects are fetched.
  public var entityName: String
  /// The condition that the objects must meet; nil stands for all objects. If it does not fit the entity, the fetch
  /// throws a `FetchPredicateError`.
  public var predicate: FetchPredicate?
  /// The sort order: by the first descriptor, then by the second for objects that are equal in the first, and so on. If
  /// it is empty, the objects are in the stores' order, new objects last.
  public var sortDescriptors: [FetchSortDescriptor]
  /// The number of objects at the beginning of the result that are skipped, before ``fetchLimit`` is applied.
  public var fetchOffset: Int
  /// The greatest number of objects to return; nil stands for any number.
  public var fetchLimit: Int?
  /// Whether objects of subentities are returned too.
  public var includesSubentities = true
  /// Whether the context's unsaved changes are considered. If not, objects are found by their stored values: new
  /// objects are not found, and deleted ones still are.
  public var includesPendingChanges = true
  /// The stores to fetch from; nil stands for all that keep the entity. New objects are found in any case. If a store
  /// was converted, its successor is used. If a store is no longer open, the fetch throws
  /// ``PersistenceError/Code/storeNotOpen``.
  public var affectedStores: [PersistentStore]?
  /// Whether the values of the objects are read on demand. If not, the fetch reads them, which is faster if all are
  /// used and the store reads records as they are needed.
  public var returnsObjectsAsFaults = true
  /// Whether objects that were read before take the newest values of their records, with their own changes on top.
  public var refreshesRefetchedObjects = false
  /// Relationships that will be followed, as key paths: the fetch reads the records at their ends, all of a step
  /// together. The records of atomic stores are in memory already; for them, the fetch checks the records, so that it
  /// reports a damaged file.
  public var relationshipKeyPathsForPrefetching: [String] = []
  /// The columns of the rows that `fetchRows` returns. If it is empty, the columns are the properties to group by, or
  /// all attributes.
  public var propertiesToFetch: [ExpressionDescription] = []
  /// The expressions by whose values `fetchRows` groups records; each group is one row.
  public var propertiesToGroupBy: [ExpressionDescription] = []
  /// The condition for groups that `fetchRows` returns: on the properties to group by and on aggregates, with `$name`
  /// for a column.
  public var havingPredicate: FetchPredicate?
  /// Whether `fetchRows` returns equal rows only once. Offset and limit then count the different rows.
  public var returnsDistinctResults = false

  /// Creates a request for objects of the entity of the class `Object`. Without arguments, it is for all objects of the
  /// entity.
  public init(
    where predicate: FetchPredicate? = nil,
    sortedBy sortDescriptors: [FetchSortDescriptor] = [],
    offset: Int = 0,
    limit: Int? = nil
  ) {
    self.init(
      entityName: Object.entityName,
      where: predicate,
      sortedBy: sortDescriptors,
      offset: offset,
      limit: limit
    )
  }

  /// Creates a request for objects of the entity called `entityName`, whose class is `Object` or inherits from it.
  public init(
    entityName: String,
    where predicate: FetchPredicate? = nil,
    sortedBy sortDescriptors: [FetchSortDescriptor] = [],
    offset: Int = 0,
    limit: Int? = nil
  ) {
    self.entityName = entityName
    self.predicate = predicate
    self.sortDescriptors = sortDescriptors
    self.fetchOffset = offset
    self.fetchLimit = limit
  }
}

extension FetchRequest {
  /// Whether the request is for rows of values: it has columns, groups, or distinct results.
  package var asksForRows: Bool {
    !propertiesToFetch.isEmpty || !propertiesToGroupBy.isEmpty || havingPredicate != nil || returnsDistinctResults
  }
}

// MARK: Template

extension FetchRequest {
  /// Creates the request that a template describes.
  ///
  /// - Parameter values: the values of its variables. If a variable has no value, the fetch throws.
  public init(_ template: FetchRequestTemplate, substituting values: [String: any FetchArgument] = [:]) {
    self.init(
      entityName: template.entityName,
      where: template.predicate?.substituting(values),
      limit: template.fetchLimit > 0 ? template.fetchLimit : nil
    )
    includesSubentities = template.includesSubentities
    includesPendingChanges = template.includesPendingChanges
    returnsDistinctResults = template.returnsDistinctResults
  }
}

extension ManagedObjectContext {
  /// Returns the request template of the model called `name`, with values for its variables; see ``FetchRequest``.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown`` if the model has no such template.
  public func fetchRequest<Object>(
    fromTemplate name: String,
    as objectClass: Object.Type = ManagedObject.self,
    substituting values: [String: any FetchArgument] = [:]
  ) throws(PersistenceError) -> FetchRequest<Object> {
    let model = persistentStoreCoordinator.managedObjectModel
    if let template = model.fetchRequestTemplate(named: name) { return FetchRequest(template, substituting: values) }
    let names = model.fetchRequestTemplates.map(\.name).joined(separator: ", ")
    throw PersistenceError(
      .propertyUnknown,
      names.isEmpty ? "The model holds no fetch requests." : "The model holds no such fetch request.",
      recovery: names.isEmpty ? nil : "Name one of \(names).",
      context: .init(property: name)
    )
  }
}

// MARK: ManagedObject: fetch request

extension KeyPathNaming where Self: ManagedObject {
  /// Returns a request for all objects of the class's entity, to be refined: `ToDo.fetchRequest()`.
  public static func fetchRequest() -> FetchRequest<Self> { FetchRequest() }
}

// MARK: ManagedObject: fetched properties

extension ManagedObject {
  /// Returns the current objects of a fetched property. Each call performs the fetch.
  ///
  /// In its predicate, `$FETCH_SOURCE` stands for this object with its unsaved values, and `$FETCHED_PROPERTY` for the
  /// property, of which `name` and `userInfo` are available:
  /// `owner == $FETCH_SOURCE AND kind == $FETCHED_PROPERTY.userInfo.kind`.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown`` if the entity has no such fetched property; the errors of
  ///   fetching.
  public final func fetchedValue<Object: ManagedObject>(
    forKey name: String,
    as objectClass: Object.Type = ManagedObject.self
  ) throws -> [Object] {
    guard let property = entity.fetchedProperties.first(where: { $0.name == name }) else {
      throw PersistenceError(
        .propertyUnknown,
        "The entity has no such fetched property.",
        context: .init(entity: entity.name, property: name)
      )
    }
    guard let context = managedObjectContext else { return [] }
    var request = FetchRequest<Object>(property.fetchRequest)
    request.predicate = try property.fetchRequest.predicate.map { try bound($0, to: property, in: context) }
    return try context.fetch(request)
  }

  /// Returns the predicate with the values of this object in place of the expressions that read them.
  private final func bound(
    _ predicate: FetchPredicate,
    to property: FetchedPropertyDescription,
    in context: ManagedObjectContext
  ) throws -> FetchPredicate {
    let model = context.persistentStoreCoordinator.managedObjectModel
    return try predicate.replacing { expression throws(FetchPredicateError) in
      switch expression {
      case .variable("FETCH_SOURCE"): return fetchExpression
      case .keyPath(of: .variable("FETCH_SOURCE"), let keys):
        let path = FetchExpression.keyPath(of: .selfObject, keys)
        let plan = try PredicateCompiler.compile(path, for: entity, in: model)
        return PredicateEvaluator(ContextSource(context: context)).value(plan, self).expression
      case .keyPath(of: .variable("FETCHED_PROPERTY"), let keys): return property.value(of: keys)
      default: return nil
      }
    }
  }
}

extension FetchedPropertyDescription {
  /// Returns the value at a key path of the description; nil if there is none.
  fileprivate func value(of keys: [FetchKey]) -> FetchExpression? {
    if keys == [.property("name")] { return .constant(.string(name)) }
    guard keys.count == 2, keys[0] == .property("userInfo"), case .property(let key) = keys[1] else { return nil }
    return userInfo[key].map { .constant(.string($0)) } ?? .constant(.null)
  }
}
