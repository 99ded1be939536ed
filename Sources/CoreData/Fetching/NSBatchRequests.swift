public import Foundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

/// The result of a request.
open class NSPersistentStoreResult: NSObject {}

/// What a batch update gives.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
  case statusOnlyResultType = 0
  case updatedObjectIDsResultType = 1
  case updatedObjectsCountResultType = 2
}

/// What a batch deletion gives.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
  case resultTypeStatusOnly = 0
  case resultTypeObjectIDs = 1
  case resultTypeCount = 2
}

/// The result of a batch update.
open class NSBatchUpdateResult: NSPersistentStoreResult {
  /// The ids, the number, or whether it was done, as the ``resultType`` says.
  public final let result: Any?
  /// What was asked for.
  public final let resultType: NSBatchUpdateRequestResultType

  init(_ result: Any, _ type: NSBatchUpdateRequestResultType) {
    self.result = result
    resultType = type
  }
}

/// The result of a batch deletion.
open class NSBatchDeleteResult: NSPersistentStoreResult {
  /// The ids, the number, or whether it was done, as the ``resultType`` says.
  public final let result: Any?
  /// What was asked for.
  public final let resultType: NSBatchDeleteRequestResultType

  init(_ result: Any, _ type: NSBatchDeleteRequestResultType) {
    self.result = result
    resultType = type
  }
}

/// A change of all records that meet a condition, in the stores alone.
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
  /// The name of the entity.
  public final let entityName: String
  /// The condition; nil stands for all records.
  open var predicate: NSPredicate?
  /// The new values, by names of attributes or their descriptions.
  open var propertiesToUpdate: [AnyHashable: Any]?
  /// Whether records of subentities are changed too.
  open var includesSubentities = true
  /// What the request gives.
  open var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType

  /// Creates a request for records of an entity.
  public init(entityName: String) { self.entityName = entityName }

  /// Creates a request for records of an entity.
  public init(entity: NSEntityDescription) { entityName = entity.name ?? "" }

  open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }
}

/// A deletion of all records that meet a condition, in the stores alone. The delete rules of relationships apply.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
  private enum Choice {
    case matching(NSFetchRequest<any NSFetchRequestResult>)
    case objects([NSManagedObjectID])
  }

  private let choice: Choice
  /// What the request gives.
  open var resultType = NSBatchDeleteRequestResultType.resultTypeStatusOnly

  /// Creates a request for the records that a fetch would find. Its limit must be 0.
  public init(fetchRequest fetch: NSFetchRequest<any NSFetchRequestResult>) { choice = .matching(fetch) }

  /// Creates a request for the records of ids.
  public init(objectIDs objects: [NSManagedObjectID]) { choice = .objects(objects) }

  open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

  final func request(in context: NSManagedObjectContext) throws -> BatchDeleteRequest {
    var request: BatchDeleteRequest
    switch choice {
    case .objects(let ids): request = BatchDeleteRequest(objectIDs: ids.compactMap(\.core))
    case .matching(let fetch):
      guard fetch.fetchLimit == 0, fetch.fetchOffset == 0 else {
        throw CocoaError.make(.persistentStoreOperation, "A batch deletion cannot have a limit or an offset.")
      }
      let wanted = try fetch.coreRequest(in: context)
      request = BatchDeleteRequest(entityName: wanted.entityName, where: wanted.predicate)
      request.includesSubentities = wanted.includesSubentities
    }
    request.affectedStores = affectedStores?.compactMap(\.core)
    request.resultType = resultType == .resultTypeObjectIDs ? .objectIDs : .count
    return request
  }
}

// MARK: Executing

extension NSManagedObjectContext {
  /// Performs a batch request, an asynchronous fetch, or a request for the history.
  ///
  /// - Throws: a `CocoaError`; one of the code `persistentStoreOperation` for another request: use ``fetch(_:)`` for
  ///   fetches.
  @discardableResult
  public final func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    do {
      switch request {
      case let request as NSBatchUpdateRequest: return try update(request)
      case let request as NSBatchDeleteRequest: return try delete(request)
      case let request as NSBatchInsertRequest: return try insert(request)
      case let request as any AsynchronousRequest: return request.start(in: self)
      case let request as NSPersistentHistoryChangeRequest:
        guard let coordinator = persistentStoreCoordinator else {
          throw CocoaError.make(.persistentStoreOperation, "The context has no coordinator.")
        }
        return try request.execute(in: coordinator)
      default: throw CocoaError.make(.persistentStoreOperation, "A fetch is not executed. Use fetch(_:).")
      }
    } catch {
      throw CocoaError.of(error, self)
    }
  }

  private func update(_ request: NSBatchUpdateRequest) throws -> NSBatchUpdateResult {
    var batch = BatchUpdateRequest(entityName: request.entityName, propertiesToUpdate: try values(request))
    batch.predicate = try request.predicate.map { try PredicateTree.predicate($0) }
    batch.includesSubentities = request.includesSubentities
    batch.affectedStores = request.affectedStores?.compactMap(\.core)
    batch.resultType = request.resultType == .updatedObjectIDsResultType ? .objectIDs : .count
    let result = try hold { try core.execute(batch) }
    switch request.resultType {
    case .statusOnlyResultType: return NSBatchUpdateResult(NSNumber(value: true), request.resultType)
    case .updatedObjectIDsResultType: return NSBatchUpdateResult(result.objectIDs.map(objectID), request.resultType)
    case .updatedObjectsCountResultType: return NSBatchUpdateResult(NSNumber(value: result.count), request.resultType)
    }
  }

  private func values(_ request: NSBatchUpdateRequest) throws -> [String: FetchExpression] {
    let entity = managedObjectModel?.entitiesByName[request.entityName]
    var values: [String: FetchExpression] = [:]
    for (key, value) in request.propertiesToUpdate ?? [:] {
      let name = (key.base as? NSPropertyDescription)?.name ?? "\(key.base)"
      if let attribute = entity?.attributesByName[name], let value = unwrapped(value),
        let stored = StoredValue.propertyValue(
          value,
          HeartwoodModel.AttributeType(attribute.attributeType),
          attribute.valueTransformerName
        )
      {
        values[name] = .constant(stored)
      } else {
        values[name] = try PredicateTree.argument(value)
      }
    }
    return values
  }

  private func delete(_ request: NSBatchDeleteRequest) throws -> NSBatchDeleteResult {
    let batch = try request.request(in: self)
    let result = try hold { try core.execute(batch) }
    switch request.resultType {
    case .resultTypeStatusOnly: return NSBatchDeleteResult(NSNumber(value: true), request.resultType)
    case .resultTypeObjectIDs: return NSBatchDeleteResult(result.objectIDs.map(objectID), request.resultType)
    case .resultTypeCount: return NSBatchDeleteResult(NSNumber(value: result.count), request.resultType)
    }
  }
}
