public import HeartwoodModel
public import HeartwoodStore

/// What is to be fetched: the objects of which entity, under which condition, in which order, and how many.
///
/// It is a value that belongs to no context; it may be kept, changed and sent.
public struct FetchRequest<Object: ManagedObject>: Sendable {
  /// The name of the entity.
  public var entityName: String
  /// Which objects to give; nil means all.
  public var predicate: FetchPredicate?
  /// By what the objects are sorted: first by the first, those that it leaves alike by the second, and so on. Without any they are in
  /// the stores' order, new objects last.
  public var sortDescriptors: [FetchSortDescriptor]
  /// How many of the first objects are left out.
  public var fetchOffset: Int
  /// How many objects there are at most; nil means any number.
  public var fetchLimit: Int?
  /// Whether objects of subentities are given too.
  public var includesSubentities = true
  /// Whether the context's unsaved changes count. Without them objects are found by what the stores have, new ones not at all, and
  /// deleted ones still are.
  public var includesPendingChanges = true
  /// The stores to fetch from; nil means all that keep the entity. New objects are found in any case. One that was converted stands for
  /// what it was converted to; one that is not open any more is an error, ``PersistenceError/Code/storeNotOpen``.
  public var affectedStores: [PersistentStore]?
  /// Whether the values of the objects are read when they are asked for. Otherwise they are with the fetch.
  public var returnsObjectsAsFaults = true
  /// Whether objects that had been read before take the newest values of their records, with their own changes on top.
  public var refreshesRefetchedObjects = false
  /// Relationships that will be followed, as key paths: the records at their ends are read with the fetch, all of a step together. All
  /// records of atomic stores are in memory; there it makes sure of them, so that a damaged file is told of then.
  public var relationshipKeyPathsForPrefetching: [String] = []
  /// The columns that `fetchRows` gives; see there. Without any they are what the rows are grouped by, or all attributes.
  public var propertiesToFetch: [ExpressionDescription] = []
  /// What records have in common that make one row of `fetchRows`.
  public var propertiesToGroupBy: [ExpressionDescription] = []
  /// Which groups `fetchRows` gives: a condition on what they are grouped by and on aggregates, in which `$name` stands for a column.
  public var havingPredicate: FetchPredicate?
  /// Whether `fetchRows` gives rows that are the same but once.
  public var returnsDistinctResults = false

  /// A request for objects of the entity of the class `Object`.
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

  /// A request for objects of the entity called `entityName`, whose class is `Object` or inherits from it.
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
  /// Whether it asks for rows of values: columns, groups, or rows that are not the same.
  package var asksForRows: Bool {
    !propertiesToFetch.isEmpty || !propertiesToGroupBy.isEmpty || havingPredicate != nil || returnsDistinctResults
  }
}

// MARK: Template

extension FetchRequest {
  /// The request that a template stands for.
  ///
  /// - Parameter values: what to put in for its variables. One that stays without a value is an error of the fetch.
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
  /// The request that the model holds under `name`, with values for its variables; see ``FetchRequest``.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown`` where the model has no such template.
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
  /// A request for all objects of the class's entity, to be narrowed: `ToDo.fetchRequest()`.
  public static func fetchRequest() -> FetchRequest<Self> { FetchRequest() }
}

// MARK: ManagedObject: fetched properties

extension ManagedObject {
  /// The objects of a fetched property, as they are now: the fetch is done anew each time.
  ///
  /// In its predicate `$FETCH_SOURCE` is this object with its unsaved values, and `$FETCHED_PROPERTY` the property, of which there are
  /// `name` and `userInfo`: `owner == $FETCH_SOURCE AND kind == $FETCHED_PROPERTY.userInfo.kind`.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown`` where the entity has no such fetched property; what fetching throws.
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

  /// The predicate with the values of this object in the place of what is read from it.
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
  /// What a key path leads to from the description; nil where it leads nowhere.
  fileprivate func value(of keys: [FetchKey]) -> FetchExpression? {
    if keys == [.property("name")] { return .constant(.string(name)) }
    guard keys.count == 2, keys[0] == .property("userInfo"), case .property(let key) = keys[1] else { return nil }
    return userInfo[key].map { .constant(.string($0)) } ?? .constant(.null)
  }
}
