public import Foundation
import HeartwoodGraph
import HeartwoodModel

/// What a fetch may give: managed objects, their ids, dictionaries and numbers.
@_marker public protocol NSFetchRequestResult: AnyObject {}

extension NSManagedObject: NSFetchRequestResult {}
extension NSManagedObjectID: NSFetchRequestResult {}
extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}

/// The kinds of requests.
public enum NSPersistentStoreRequestType: UInt, Sendable {
  case fetchRequestType = 1
  case saveRequestType = 2
  case batchInsertRequestType = 5
  case batchUpdateRequestType = 6
  case batchDeleteRequestType = 7
}

/// A request to the stores.
open class NSPersistentStoreRequest: NSObject {
  /// The stores that are asked; nil stands for all.
  open var affectedStores: [NSPersistentStore]?
  /// The kind of the request.
  open var requestType: NSPersistentStoreRequestType { .fetchRequestType }
}

/// What a fetch gives.
public struct NSFetchRequestResultType: OptionSet, Hashable, Sendable {
  /// The number of the value.
  public let rawValue: UInt

  /// Creates the value of a number.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The fetch gives: managed object.
  public static let managedObjectResultType: NSFetchRequestResultType = []
  /// The number of the value.
  public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
  /// The number of the value.
  public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
  /// The number of the value.
  public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}

/// A description of a fetch.
open class NSFetchRequest<ResultType: NSFetchRequestResult>: NSPersistentStoreRequest {
  /// The name of the entity.
  open private(set) var entityName: String?
  private var givenEntity: NSEntityDescription?

  /// The condition that the objects must meet.
  open var predicate: NSPredicate?
  /// The order.
  open var sortDescriptors: [NSSortDescriptor]?
  /// The greatest number of results; 0 stands for any number.
  open var fetchLimit = 0
  /// The number of results at the beginning that are skipped.
  open var fetchOffset = 0
  /// How many objects are read together. Stores decide for themselves how much they read.
  open var fetchBatchSize = 0
  /// What the fetch gives.
  open var resultType: NSFetchRequestResultType = .managedObjectResultType
  /// Whether objects of subentities are included.
  open var includesSubentities = true
  /// Whether unsaved changes of the context are considered.
  open var includesPendingChanges = true
  /// Whether values are read at once. Stores decide for themselves how much they read.
  open var includesPropertyValues = true
  /// Whether values are read on demand.
  open var returnsObjectsAsFaults = true
  /// Whether objects take the newest stored values.
  open var shouldRefreshRefetchedObjects = false
  /// Whether equal dictionaries are returned only once.
  open var returnsDistinctResults = false
  /// Relationships whose objects are read with the fetch.
  open var relationshipKeyPathsForPrefetching: [String]?
  /// What dictionaries contain: names of properties or their descriptions.
  open var propertiesToFetch: [Any]?
  /// What dictionaries are grouped by: names of properties or their descriptions.
  open var propertiesToGroupBy: [Any]?
  /// The condition that groups must meet.
  open var havingPredicate: NSPredicate?

  /// Creates a request without an entity.
  public override init() { super.init() }

  /// Creates a request for the objects of an entity.
  public convenience init(entityName: String) {
    self.init()
    self.entityName = entityName
  }

  /// The entity, if it was given as such.
  open var entity: NSEntityDescription? {
    get { givenEntity }
    set {
      givenEntity = newValue
      entityName = newValue?.name
    }
  }

  /// Returns a copy of the request.
  open override func copy() -> Any {
    let copy = NSFetchRequest<ResultType>()
    copy.entityName = entityName
    copy.givenEntity = givenEntity
    copy.affectedStores = affectedStores
    copy.predicate = predicate
    copy.sortDescriptors = sortDescriptors
    copy.fetchLimit = fetchLimit
    copy.fetchOffset = fetchOffset
    copy.fetchBatchSize = fetchBatchSize
    copy.resultType = resultType
    copy.includesSubentities = includesSubentities
    copy.includesPendingChanges = includesPendingChanges
    copy.includesPropertyValues = includesPropertyValues
    copy.returnsObjectsAsFaults = returnsObjectsAsFaults
    copy.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
    copy.returnsDistinctResults = returnsDistinctResults
    copy.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
    copy.propertiesToFetch = propertiesToFetch
    copy.propertiesToGroupBy = propertiesToGroupBy
    copy.havingPredicate = havingPredicate
    return copy
  }
}

// MARK: For Heartwood

extension NSFetchRequest {
  /// Returns the request in Heartwood's form.
  final func coreRequest(in context: NSManagedObjectContext) throws -> FetchRequest<ManagedObject> {
    guard let name = entityName, !name.isEmpty else {
      throw CocoaError.make(.persistentStoreOperation, "The fetch request has no entity.")
    }
    var request = FetchRequest<ManagedObject>(entityName: name)
    request.sortDescriptors = try (sortDescriptors ?? []).map(PredicateTree.sortDescriptor)
    request.includesSubentities = includesSubentities
    request.includesPendingChanges = includesPendingChanges
    request.affectedStores = affectedStores?.compactMap(\.core)
    request.predicate = try resolvedPredicate(for: request, in: context)
    request.fetchOffset = fetchOffset
    request.fetchLimit = fetchLimit > 0 ? fetchLimit : nil
    request.returnsObjectsAsFaults = returnsObjectsAsFaults
    request.refreshesRefetchedObjects = shouldRefreshRefetchedObjects
    request.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching ?? []
    if resultType == .dictionaryResultType {
      request.propertiesToFetch = try (propertiesToFetch ?? []).map(Self.column)
      request.propertiesToGroupBy = try (propertiesToGroupBy ?? []).map(Self.column)
      request.havingPredicate = try havingPredicate.map { try PredicateTree.predicate($0) }
      request.returnsDistinctResults = returnsDistinctResults
    }
    return request
  }

  /// Returns the condition for the stores, whatever the number and order of the results are.
  private final func resolvedPredicate(
    for request: FetchRequest<ManagedObject>,
    in context: NSManagedObjectContext
  ) throws -> FetchPredicate? {
    guard let tree = try predicate.map({ try PredicateTree.predicate($0) }) else { return nil }
    var request = request
    request.sortDescriptors = []
    let model = context.core.persistentStoreCoordinator.managedObjectModel
    return try ElementConditions(request.entityName, in: model)?.resolve(tree, of: request, in: context) ?? tree
  }

  private static func column(_ value: Any) throws -> ExpressionDescription {
    if let described = value as? NSExpressionDescription {
      return ExpressionDescription(name: described.name, expression: try described.tree())
    }
    if let name = value as? String ?? (value as? NSPropertyDescription)?.name { return ExpressionDescription(name) }
    throw CocoaError.make(.persistentStoreOperation, "A fetch takes names and descriptions of properties.")
  }
}

// MARK: Results of another type

/// A fetch request, whatever the type of its results is.
protocol AnyFetchRequest: NSPersistentStoreRequest {}

extension NSFetchRequest: AnyFetchRequest {}

extension NSPersistentStoreRequest {
  /// Returns the same fetch request as one of another type of results. The command heartwood-coredata makes this of
  /// a forced cast of a request, which succeeds on Apple's systems whatever the type is. Another kind of request ends
  /// the program, as the cast does.
  public final func requesting<Other>(_ type: NSFetchRequest<Other>.Type) -> NSFetchRequest<Other> {
    guard self is any AnyFetchRequest else {
      ProgrammerError.stop("The request is of the class \(Swift.type(of: self)), and not a fetch request.")
    }
    // The class keeps nothing of the type of its results, whose constraint is a mere marker.
    return Unmanaged<NSFetchRequest<Other>>.fromOpaque(Unmanaged.passUnretained(self).toOpaque()).takeUnretainedValue()
  }
}
