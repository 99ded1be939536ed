public import CoreData

// Every function has a form without a context, for the default one.

extension NSManagedObject {
  /// The name of the entity of the class.
  public static func mr_entityName() -> String { entity().name ?? "" }

  // MARK: Making and deleting

  /// Inserts an object into the default context.
  @discardableResult
  public static func mr_createEntity() -> Self? { mr_createEntity(in: .mr_default()) }

  /// Inserts an object into a context.
  @discardableResult
  public static func mr_createEntity(in context: NSManagedObjectContext) -> Self? { self.init(context: context) }

  /// Deletes the object with the next save of its context; returns false if it is in none.
  @discardableResult
  public func mr_deleteEntity() -> Bool {
    guard let managedObjectContext else { return false }
    return mr_deleteEntity(in: managedObjectContext)
  }

  /// Deletes the object of the same record in another context, with the next save of it.
  @discardableResult
  public func mr_deleteEntity(in context: NSManagedObjectContext) -> Bool {
    guard let object = mr_in(context) else { return false }
    context.delete(object)
    return true
  }

  /// Deletes all objects with the next save.
  @discardableResult
  public static func mr_truncateAll() -> Bool { mr_truncateAll(in: .mr_default()) }

  /// Deletes all objects with the next save.
  @discardableResult
  public static func mr_truncateAll(in context: NSManagedObjectContext) -> Bool { delete(nil, context) }

  /// Deletes the objects that meet a condition with the next save.
  @discardableResult
  public static func mr_deleteAll(matching predicate: NSPredicate) -> Bool {
    mr_deleteAll(matching: predicate, in: .mr_default())
  }

  /// Deletes the objects that meet a condition with the next save.
  @discardableResult
  public static func mr_deleteAll(matching predicate: NSPredicate, in context: NSManagedObjectContext) -> Bool {
    delete(predicate, context)
  }

  private static func delete(_ predicate: NSPredicate?, _ context: NSManagedObjectContext) -> Bool {
    guard let objects = MagicalRecord.handlingErrors({ try context.fetch(request(predicate)) }) else { return false }
    for object in objects { context.delete(object) }
    return true
  }

  /// Returns the object of the same record in another context; nil if it was not saved to where that context reads.
  public func mr_in(_ otherContext: NSManagedObjectContext) -> Self? {
    if otherContext === managedObjectContext { return self }
    return MagicalRecord.handlingErrors {
      if objectID.isTemporaryID, let managedObjectContext { try managedObjectContext.obtainPermanentIDs(for: [self]) }
      return try otherContext.existingObject(with: objectID)
    } as? Self
  }

  // MARK: Requests

  private static func request(
    _ predicate: NSPredicate? = nil,
    sortedBy terms: String? = nil,
    ascending: Bool = true
  ) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: mr_entityName())
    request.predicate = predicate
    request.sortDescriptors = terms.map { sortDescriptors($0, ascending) }
    return request
  }

  /// Returns the order of a list of keys such as `name,age:NO`; those that say nothing are ascending or not as given.
  private static func sortDescriptors(_ terms: String, _ ascending: Bool) -> [NSSortDescriptor] {
    terms.split(separator: ",").map { term in
      let parts = term.split(separator: ":").map { $0.trimmingCharacters(in: .whitespaces) }
      let own = parts.count > 1 ? (parts[1] as NSString).boolValue : ascending
      return NSSortDescriptor(key: parts.first ?? "", ascending: own)
    }
  }

  private static func predicate(_ attribute: String, _ value: Any?) -> NSPredicate {
    CoreData.NSComparisonPredicate(
      leftExpression: CoreData.NSExpression(forKeyPath: attribute),
      rightExpression: CoreData.NSExpression(forConstantValue: value),
      modifier: .direct,
      type: .equalTo,
      options: []
    )
  }

  /// Returns a request for all objects.
  public static func mr_requestAll() -> NSFetchRequest<any NSFetchRequestResult> {
    NSFetchRequest(entityName: mr_entityName())
  }

  /// Returns a request for the objects that meet a condition.
  public static func mr_requestAll(with searchTerm: NSPredicate?) -> NSFetchRequest<any NSFetchRequestResult> {
    let request = mr_requestAll()
    request.predicate = searchTerm
    return request
  }

  /// Returns a request for the objects that meet a condition, in an order.
  public static func mr_requestAllSorted(
    by sortTerm: String,
    ascending: Bool,
    with searchTerm: NSPredicate? = nil
  ) -> NSFetchRequest<any NSFetchRequestResult> {
    let request = mr_requestAll(with: searchTerm)
    request.sortDescriptors = sortDescriptors(sortTerm, ascending)
    return request
  }

  /// Returns what a request asks for; nil if it cannot be fetched.
  public static func mr_executeFetchRequest(
    _ request: NSFetchRequest<any NSFetchRequestResult>,
    in context: NSManagedObjectContext = .mr_default()
  ) -> [Any]? {
    MagicalRecord.handlingErrors { try context.fetch(request.requesting(NSFetchRequest<NSManagedObject>.self)) }
  }

  private static func fetch(
    _ request: NSFetchRequest<NSManagedObject>,
    _ context: NSManagedObjectContext
  ) -> [NSManagedObject]? {
    MagicalRecord.handlingErrors { try context.fetch(request) }
  }

  private static func first(_ request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext) -> Self? {
    request.fetchLimit = 1
    return fetch(request, context)?.first as? Self
  }

  // MARK: Finding

  /// Returns all objects.
  public static func mr_findAll() -> [NSManagedObject]? { mr_findAll(in: .mr_default()) }

  /// Returns all objects.
  public static func mr_findAll(in context: NSManagedObjectContext) -> [NSManagedObject]? { fetch(request(), context) }

  /// Returns the objects that meet a condition.
  public static func mr_findAll(with searchTerm: NSPredicate?) -> [NSManagedObject]? {
    mr_findAll(with: searchTerm, in: .mr_default())
  }

  /// Returns the objects that meet a condition.
  public static func mr_findAll(with searchTerm: NSPredicate?, in context: NSManagedObjectContext) -> [NSManagedObject]?
  {
    fetch(request(searchTerm), context)
  }

  /// Returns all objects in an order.
  public static func mr_findAllSorted(by sortTerm: String, ascending: Bool) -> [NSManagedObject]? {
    mr_findAllSorted(by: sortTerm, ascending: ascending, with: nil, in: .mr_default())
  }

  /// Returns all objects in an order.
  public static func mr_findAllSorted(
    by sortTerm: String,
    ascending: Bool,
    in context: NSManagedObjectContext
  ) -> [NSManagedObject]? {
    mr_findAllSorted(by: sortTerm, ascending: ascending, with: nil, in: context)
  }

  /// Returns the objects that meet a condition, in an order.
  public static func mr_findAllSorted(
    by sortTerm: String,
    ascending: Bool,
    with searchTerm: NSPredicate?
  ) -> [NSManagedObject]? {
    mr_findAllSorted(by: sortTerm, ascending: ascending, with: searchTerm, in: .mr_default())
  }

  /// Returns the objects that meet a condition, in an order.
  ///
  /// - Parameter sortTerm: a key, or several with commas between them: `name,age:NO`.
  public static func mr_findAllSorted(
    by sortTerm: String,
    ascending: Bool,
    with searchTerm: NSPredicate?,
    in context: NSManagedObjectContext
  ) -> [NSManagedObject]? {
    fetch(request(searchTerm, sortedBy: sortTerm, ascending: ascending), context)
  }

  /// Returns the objects with a value of an attribute.
  public static func mr_find(byAttribute attribute: String, withValue searchValue: Any?) -> [NSManagedObject]? {
    mr_find(byAttribute: attribute, withValue: searchValue, in: .mr_default())
  }

  /// Returns the objects with a value of an attribute.
  public static func mr_find(
    byAttribute attribute: String,
    withValue searchValue: Any?,
    in context: NSManagedObjectContext
  ) -> [NSManagedObject]? {
    fetch(request(predicate(attribute, searchValue)), context)
  }

  /// Returns the objects with a value of an attribute, in an order.
  public static func mr_find(
    byAttribute attribute: String,
    withValue searchValue: Any?,
    andOrderBy sortTerm: String,
    ascending: Bool
  ) -> [NSManagedObject]? {
    mr_find(
      byAttribute: attribute,
      withValue: searchValue,
      andOrderBy: sortTerm,
      ascending: ascending,
      in: .mr_default()
    )
  }

  /// Returns the objects with a value of an attribute, in an order.
  public static func mr_find(
    byAttribute attribute: String,
    withValue searchValue: Any?,
    andOrderBy sortTerm: String,
    ascending: Bool,
    in context: NSManagedObjectContext
  ) -> [NSManagedObject]? {
    fetch(request(predicate(attribute, searchValue), sortedBy: sortTerm, ascending: ascending), context)
  }

  /// Returns an object.
  public static func mr_findFirst() -> Self? { mr_findFirst(in: .mr_default()) }

  /// Returns an object.
  public static func mr_findFirst(in context: NSManagedObjectContext) -> Self? { first(request(), context) }

  /// Returns an object that meets a condition.
  public static func mr_findFirst(with searchTerm: NSPredicate?) -> Self? {
    mr_findFirst(with: searchTerm, in: .mr_default())
  }

  /// Returns an object that meets a condition.
  public static func mr_findFirst(with searchTerm: NSPredicate?, in context: NSManagedObjectContext) -> Self? {
    first(request(searchTerm), context)
  }

  /// Returns the first object, in an order, that meets a condition.
  public static func mr_findFirst(with searchTerm: NSPredicate?, sortedBy property: String, ascending: Bool) -> Self? {
    mr_findFirst(with: searchTerm, sortedBy: property, ascending: ascending, in: .mr_default())
  }

  /// Returns the first object, in an order, that meets a condition.
  public static func mr_findFirst(
    with searchTerm: NSPredicate?,
    sortedBy property: String,
    ascending: Bool,
    in context: NSManagedObjectContext
  ) -> Self? {
    first(request(searchTerm, sortedBy: property, ascending: ascending), context)
  }

  /// Returns an object with a value of an attribute.
  public static func mr_findFirst(byAttribute attribute: String, withValue searchValue: Any?) -> Self? {
    mr_findFirst(byAttribute: attribute, withValue: searchValue, in: .mr_default())
  }

  /// Returns an object with a value of an attribute.
  public static func mr_findFirst(
    byAttribute attribute: String,
    withValue searchValue: Any?,
    in context: NSManagedObjectContext
  ) -> Self? {
    first(request(predicate(attribute, searchValue)), context)
  }

  /// Returns the object with the least or greatest value of an attribute.
  public static func mr_findFirstOrdered(byAttribute attribute: String, ascending: Bool) -> Self? {
    mr_findFirstOrdered(byAttribute: attribute, ascending: ascending, in: .mr_default())
  }

  /// Returns the object with the least or greatest value of an attribute.
  public static func mr_findFirstOrdered(
    byAttribute attribute: String,
    ascending: Bool,
    in context: NSManagedObjectContext
  ) -> Self? {
    first(request(sortedBy: attribute, ascending: ascending), context)
  }

  /// Returns an object with a value of an attribute, which is inserted if there is none.
  @discardableResult
  public static func mr_findFirstOrCreate(byAttribute attribute: String, withValue searchValue: Any?) -> Self {
    mr_findFirstOrCreate(byAttribute: attribute, withValue: searchValue, in: .mr_default())
  }

  /// Returns an object with a value of an attribute, which is inserted if there is none.
  @discardableResult
  public static func mr_findFirstOrCreate(
    byAttribute attribute: String,
    withValue searchValue: Any?,
    in context: NSManagedObjectContext
  ) -> Self {
    if let found = mr_findFirst(byAttribute: attribute, withValue: searchValue, in: context) { return found }
    let new = self.init(context: context)
    new.setValue(searchValue, forKey: attribute)
    return new
  }

  // MARK: Counting and computing

  /// Returns the number of objects.
  public static func mr_countOfEntities() -> UInt { mr_countOfEntities(with: nil, in: .mr_default()) }

  /// Returns the number of objects.
  public static func mr_countOfEntities(with context: NSManagedObjectContext) -> UInt {
    mr_countOfEntities(with: nil, in: context)
  }

  /// Returns the number of objects that meet a condition.
  public static func mr_countOfEntities(with searchFilter: NSPredicate?) -> UInt {
    mr_countOfEntities(with: searchFilter, in: .mr_default())
  }

  /// Returns the number of objects that meet a condition.
  public static func mr_countOfEntities(with searchFilter: NSPredicate?, in context: NSManagedObjectContext) -> UInt {
    UInt(MagicalRecord.handlingErrors { try context.count(for: request(searchFilter)) } ?? 0)
  }

  /// Returns the number of objects.
  public static func mr_numberOfEntities() -> NSNumber { NSNumber(value: mr_countOfEntities()) }

  /// Returns the number of objects that meet a condition.
  public static func mr_numberOfEntities(with searchTerm: NSPredicate?) -> NSNumber {
    NSNumber(value: mr_countOfEntities(with: searchTerm))
  }

  /// Returns whether there is an object.
  public static func mr_hasAtLeastOneEntity() -> Bool { mr_hasAtLeastOneEntity(in: .mr_default()) }

  /// Returns whether there is an object.
  public static func mr_hasAtLeastOneEntity(in context: NSManagedObjectContext) -> Bool {
    mr_countOfEntities(with: context) > 0
  }

  /// Returns an aggregate of an attribute: `sum:`, `average:`, `min:`, `max:`, `count:`.
  public static func mr_aggregateOperation(
    _ function: String,
    onAttribute attributeName: String,
    with predicate: NSPredicate?,
    in context: NSManagedObjectContext = .mr_default()
  ) -> Any? {
    aggregates(function, attributeName, predicate, nil, context)?.first?["result"]
  }

  /// Returns an aggregate of an attribute for each value of another, as dictionaries with the keys of both.
  public static func mr_aggregateOperation(
    _ collectionOperator: String,
    onAttribute attributeName: String,
    with predicate: NSPredicate?,
    groupBy groupingKeyPath: String,
    in context: NSManagedObjectContext = .mr_default()
  ) -> [Any]? {
    aggregates(collectionOperator, attributeName, predicate, groupingKeyPath, context)
  }

  private static func aggregates(
    _ function: String,
    _ attribute: String,
    _ predicate: NSPredicate?,
    _ group: String?,
    _ context: NSManagedObjectContext
  ) -> [NSDictionary]? {
    let result = NSExpressionDescription()
    result.name = "result"
    let argument = CoreData.NSExpression(forKeyPath: attribute)
    result.expression = CoreData.NSExpression(forFunction: function, arguments: [argument])
    if let type = entity().attributesByName[attribute]?.attributeType { result.expressionResultType = type }
    let request = NSFetchRequest<NSDictionary>(entityName: mr_entityName())
    request.resultType = .dictionaryResultType
    request.predicate = predicate
    if let group {
      request.propertiesToFetch = [group, result]
      request.propertiesToGroupBy = [group]
    } else {
      request.propertiesToFetch = [result]
    }
    return MagicalRecord.handlingErrors { try context.fetch(request) }
  }

  /// Returns the object with the least value of an attribute, among those of its context.
  public func mr_objectWithMinValue(for property: String) -> NSManagedObject? {
    guard let managedObjectContext else { return nil }
    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
    request.sortDescriptors = [NSSortDescriptor(key: property, ascending: true)]
    request.fetchLimit = 1
    return MagicalRecord.handlingErrors { try managedObjectContext.fetch(request).first } ?? nil
  }
}
