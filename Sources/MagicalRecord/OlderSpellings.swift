public import CoreData

// The names under which Swift imported MagicalRecord before version 3 of the language.

extension NSManagedObject {
  /// The same as ``mr_createEntity()``.
  @discardableResult
  public static func MR_createEntity() -> Self? { mr_createEntity() }
  /// The same as ``mr_createEntity(in:)``.
  @discardableResult
  public static func MR_createEntityInContext(_ context: NSManagedObjectContext) -> Self? {
    mr_createEntity(in: context)
  }
  /// The same as ``mr_deleteEntity()``.
  @discardableResult
  public func MR_deleteEntity() -> Bool { mr_deleteEntity() }
  /// The same as ``mr_truncateAll()``.
  @discardableResult
  public static func MR_truncateAll() -> Bool { mr_truncateAll() }
  /// The same as ``mr_findAll()``.
  public static func MR_findAll() -> [NSManagedObject]? { mr_findAll() }
  /// The same as ``mr_findAll(in:)``.
  public static func MR_findAllInContext(_ context: NSManagedObjectContext) -> [NSManagedObject]? {
    mr_findAll(in: context)
  }
  /// The same as ``mr_findAll(with:)``.
  public static func MR_findAllWithPredicate(_ searchTerm: NSPredicate?) -> [NSManagedObject]? {
    mr_findAll(with: searchTerm)
  }
  /// The same as ``mr_findAllSorted(by:ascending:)``.
  public static func MR_findAllSortedBy(_ sortTerm: String, ascending: Bool) -> [NSManagedObject]? {
    mr_findAllSorted(by: sortTerm, ascending: ascending)
  }
  /// The same as ``mr_find(byAttribute:withValue:)``.
  public static func MR_findByAttribute(_ attribute: String, withValue searchValue: Any?) -> [NSManagedObject]? {
    mr_find(byAttribute: attribute, withValue: searchValue)
  }
  /// The same as ``mr_findFirst()``.
  public static func MR_findFirst() -> Self? { mr_findFirst() }
  /// The same as ``mr_findFirst(with:)``.
  public static func MR_findFirstWithPredicate(_ searchTerm: NSPredicate?) -> Self? { mr_findFirst(with: searchTerm) }
  /// The same as ``mr_findFirst(byAttribute:withValue:)``.
  public static func MR_findFirstByAttribute(_ attribute: String, withValue searchValue: Any?) -> Self? {
    mr_findFirst(byAttribute: attribute, withValue: searchValue)
  }
  /// The same as ``mr_findFirst(byAttribute:withValue:in:)``.
  public static func MR_findFirstByAttribute(
    _ attribute: String,
    withValue searchValue: Any?,
    inContext context: NSManagedObjectContext
  ) -> Self? {
    mr_findFirst(byAttribute: attribute, withValue: searchValue, in: context)
  }
  /// The same as ``mr_countOfEntities()``.
  public static func MR_countOfEntities() -> UInt { mr_countOfEntities() }
  /// The same as ``mr_aggregateOperation(_:onAttribute:with:)``.
  public static func MR_aggregateOperation(
    _ function: String,
    onAttribute attributeName: String,
    withPredicate predicate: NSPredicate?
  ) -> Any? {
    mr_aggregateOperation(function, onAttribute: attributeName, with: predicate)
  }
}

extension NSManagedObjectContext {
  /// The same as ``mr_default()``.
  public static func MR_defaultContext() -> NSManagedObjectContext { mr_default() }
  /// The same as ``mr_rootSaving()``.
  public static func MR_rootSavingContext() -> NSManagedObjectContext { mr_rootSaving() }
  /// The same as ``mr_saveToPersistentStoreAndWait()``.
  public func MR_saveToPersistentStoreAndWait() { mr_saveToPersistentStoreAndWait() }
  /// The same as ``mr_saveOnlySelfAndWait()``.
  public func MR_saveOnlySelfAndWait() { mr_saveOnlySelfAndWait() }
}

extension MagicalRecord {
  /// The same as ``setupCoreDataStack(withStoreNamed:)``.
  public static func setupCoreDataStackWithStoreNamed(_ storeName: String) {
    setupCoreDataStack(withStoreNamed: storeName)
  }
  /// The same as ``setupCoreDataStack(withAutoMigratingSqliteStoreNamed:)``.
  public static func setupCoreDataStackWithAutoMigratingSqliteStoreNamed(_ storeName: String) {
    setupCoreDataStack(withAutoMigratingSqliteStoreNamed: storeName)
  }
  /// The same as ``setupCoreDataStack(withAutoMigratingSqliteStoreAt:)``.
  public static func setupCoreDataStackWithAutoMigratingSqliteStore(at storeURL: URL) {
    setupCoreDataStack(withAutoMigratingSqliteStoreAt: storeURL)
  }
}
