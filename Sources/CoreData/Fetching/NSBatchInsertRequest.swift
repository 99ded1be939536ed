public import Foundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

/// What a batch insertion gives.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
  case statusOnly = 0
  case objectIDs = 1
  case count = 2
}

/// The result of a batch insertion.
open class NSBatchInsertResult: NSPersistentStoreResult {
  /// The ids, the number, or whether it was done, as the ``resultType`` says.
  public final let result: Any?
  /// What was asked for.
  public final let resultType: NSBatchInsertRequestResultType

  init(_ result: Any, _ type: NSBatchInsertRequestResultType) {
    self.result = result
    resultType = type
  }
}

/// An insertion of many records, in the stores alone.
///
///     var rest = ["Bread", "Milk"][...]
///     let request = NSBatchInsertRequest(entityName: "ToDo") { (row: NSMutableDictionary) in
///       guard let memo = rest.popFirst() else { return true }
///       row["memo"] = memo
///       return false
///     }
///     try context.execute(request)
///
/// If a record violates a uniqueness constraint, the merge policy of the context decides.
open class NSBatchInsertRequest: NSPersistentStoreRequest {
  /// The name of the entity.
  public final let entityName: String
  private final let givenEntity: NSEntityDescription?
  /// The values of the records, by names of properties.
  open var objectsToInsert: [[String: Any]]?
  /// Sets the values of the next record in a dictionary. It returns true if there is none.
  open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
  /// Sets the values of the next record in an object that is in no context. It returns true if there is none.
  open var managedObjectHandler: ((NSManagedObject) -> Bool)?
  /// What the request gives.
  open var resultType = NSBatchInsertRequestResultType.statusOnly

  private init(_ name: String, _ entity: NSEntityDescription? = nil) {
    entityName = name
    givenEntity = entity
  }

  /// Creates a request that inserts a record for each dictionary.
  public convenience init(entityName: String, objects dictionaries: [[String: Any]]) {
    self.init(entityName)
    objectsToInsert = dictionaries
  }

  /// Creates a request that inserts a record for each dictionary.
  public convenience init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
    self.init(entity.name ?? "", entity)
    objectsToInsert = dictionaries
  }

  /// Creates a request that inserts a record for each call of `handler` that returns false.
  public convenience init(entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
    self.init(entityName)
    dictionaryHandler = handler
  }

  /// Creates a request that inserts a record for each call of `handler` that returns false.
  public convenience init(
    entity: NSEntityDescription,
    dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) {
    self.init(entity.name ?? "", entity)
    dictionaryHandler = handler
  }

  /// Creates a request that inserts a record for each call of `handler` that returns false.
  public convenience init(entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
    self.init(entityName)
    managedObjectHandler = handler
  }

  /// Creates a request that inserts a record for each call of `handler` that returns false.
  public convenience init(
    entity: NSEntityDescription,
    managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
  ) {
    self.init(entity.name ?? "", entity)
    managedObjectHandler = handler
  }

  /// The entity. A request that was created with a name alone has none.
  open var entity: NSEntityDescription {
    if let givenEntity { return givenEntity }
    ProgrammerError.stop("The request was created with the name \(entityName). Look the entity up in the model.")
  }

  open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

  /// Returns the values of one record after the other.
  fileprivate final func rows(of entity: NSEntityDescription) throws -> () -> [String: Any]? {
    if let dictionaryHandler {
      return {
        let row = NSMutableDictionary()
        return dictionaryHandler(row) ? nil : row as? [String: Any] ?? [:]
      }
    }
    if let managedObjectHandler {
      return {
        let object = entity.objectClass.init(entity: entity, insertInto: nil)
        return managedObjectHandler(object) ? nil : object.detached?.all ?? [:]
      }
    }
    guard let objectsToInsert else {
      throw CocoaError.make(.persistentStoreOperation, "The batch insertion has neither objects nor a handler.")
    }
    var rest = objectsToInsert[...]
    return { rest.popFirst() }
  }
}

// MARK: Executing

extension NSManagedObjectContext {
  final func insert(_ request: NSBatchInsertRequest) throws -> NSBatchInsertResult {
    guard let entity = managedObjectModel?.entitiesByName[request.entityName] else {
      throw CocoaError.make(.persistentStoreOperation, "The model has no entity called \(request.entityName).")
    }
    let next = try request.rows(of: entity)
    var batch = BatchInsertRequest(entityName: request.entityName) { row in
      guard let values = next() else { return false }
      for (name, value) in values { try Self.set(value, name, of: entity, in: &row) }
      return true
    }
    batch.affectedStore = request.affectedStores?.first?.core
    batch.resultType = request.resultType == .objectIDs ? .objectIDs : .count
    let result = try hold { try core.execute(batch) }
    switch request.resultType {
    case .statusOnly: return NSBatchInsertResult(NSNumber(value: true), request.resultType)
    case .objectIDs: return NSBatchInsertResult(result.objectIDs.map(objectID), request.resultType)
    case .count: return NSBatchInsertResult(NSNumber(value: result.count), request.resultType)
    }
  }

  private static func set(
    _ value: Any,
    _ name: String,
    of entity: NSEntityDescription,
    in row: inout BatchRow
  ) throws {
    switch entity.propertiesByName[name] {
    case let composite as NSCompositeAttributeDescription:
      for part in composite.values(of: value) {
        let attribute = entity.resolved?.property(named: part.attributeName)?.attribute
        row[part.attributeName] = try stored(
          part.value,
          attribute?.type ?? .undefined,
          attribute?.valueTransformerName,
          name
        )
      }
    case let attribute as NSAttributeDescription:
      let type = HeartwoodModel.AttributeType(attribute.attributeType)
      row[name] = try stored(value, type, attribute.valueTransformerName, name)
    case is NSRelationshipDescription: row[name] = try destination(value, name)
    default: throw CocoaError.make(.persistentStoreOperation, "\(entity.name ?? "") has no property called \(name).")
    }
  }

  private static func stored(
    _ value: Any?,
    _ type: HeartwoodModel.AttributeType,
    _ transformer: String?,
    _ name: String
  ) throws -> PropertyValue {
    guard let value = unwrapped(value) else { return .null }
    if let stored = StoredValue.propertyValue(value, type, transformer) { return stored }
    throw CocoaError.make(
      .persistentStoreOperation,
      "The attribute \(name) is of the type \(type), and the value of the type \(Swift.type(of: value))."
    )
  }

  private static func destination(_ value: Any, _ name: String) throws -> PropertyValue {
    switch unwrapped(value) {
    case nil: return .null
    case let id as NSManagedObjectID where id.core != nil: return id.core.map(PropertyValue.toOne) ?? .null
    case let object as NSManagedObject where object.record != nil:
      return object.objectID.core.map(PropertyValue.toOne) ?? .null
    default:
      throw CocoaError.make(
        .persistentStoreOperation,
        "A batch insertion sets to-one relationships to saved objects or their ids; \(name) gets something else."
      )
    }
  }
}
