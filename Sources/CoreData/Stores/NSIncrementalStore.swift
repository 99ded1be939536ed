public import Foundation
import HeartwoodModel
import HeartwoodStore

/// A store of one's own, which reads and saves single records: one over a database, a service, a dictionary.
///
/// A subclass overrides ``loadMetadata()``, ``execute(_:with:)``, ``newValuesForObject(with:with:)``,
/// ``newValue(forRelationship:forObjectWith:with:)`` and ``obtainPermanentIDs(for:)``, and is registered with
/// ``NSPersistentStoreCoordinator/registerStoreClass(_:forStoreType:)``:
///
///     final class NotesStore: NSIncrementalStore {
///       override func loadMetadata() throws {
///         metadata = [NSStoreTypeKey: "NotesStore", NSStoreUUIDKey: "0D6C4A0B-…"]
///       }
///       override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
///         if let save = request as? NSSaveChangesRequest { … return [] }
///         …
///         return keys.compactMap { context?.object(with: newObjectID(for: entity, referenceObject: $0)) }
///       }
///     }
///
/// Its functions are called one at a time, on any thread. The contexts that they are given make the objects of ids:
/// these objects show the records of the store, and those of a save show what is to be saved. They are in no context of
/// the application, and cannot be changed.
///
/// The framework keeps the records that the store has returned, and compares their versions when a context saves. It
/// asks for them again after the application has refreshed or reset a context.
open class NSIncrementalStore: NSPersistentStore {
  private final var references: [NSManagedObjectID: Any] = [:]
  private final let lock = NSLock()
  /// Makes the ids of records.
  final var makeID: ((ReferenceID, NSEntityDescription) -> NSManagedObjectID)?
  /// Held while a function of the store is called.
  final let calls = NSRecursiveLock()
  /// A number that changes with each save, and when known records have become too old.
  private final var number: UInt64 = 0
  /// The records that have become too old, with the numbers; nil stands for all.
  private final var renewals: [(number: UInt64, id: NSManagedObjectID?)] = []

  // MARK: For subclasses to override

  /// Sets ``NSPersistentStore/metadata``, with a text under `NSStoreUUIDKey` that always identifies the store.
  open override func loadMetadata() throws {
    throw CocoaError.make(.persistentStoreOperation, "\(Swift.type(of: self)) does not override loadMetadata().")
  }

  /// Performs a fetch request or an ``NSSaveChangesRequest``.
  ///
  /// - Returns: for a fetch, an array of what its `resultType` asks for: objects that `context` makes of ids, ids,
  ///   dictionaries, or the number of objects; for a save, an empty array.
  open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    throw CocoaError.make(.persistentStoreOperation, "\(Swift.type(of: self)) does not override execute(_:with:).")
  }

  /// Returns the values of a record.
  ///
  /// - Throws: an error of the code `managedObjectReferentialIntegrity` if there is no such record any more; other
  ///   errors mean that it cannot be read.
  open func newValuesForObject(
    with objectID: NSManagedObjectID,
    with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    let name = Swift.type(of: self)
    throw CocoaError.make(.persistentStoreOperation, "\(name) does not override newValuesForObject(with:with:).")
  }

  /// Returns the destinations of a relationship: an array or set of ids if it is to many, otherwise an id or `NSNull`.
  open func newValue(
    forRelationship relationship: NSRelationshipDescription,
    forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    let name = Swift.type(of: self)
    throw CocoaError.make(
      .persistentStoreOperation,
      "\(name) does not override newValue(forRelationship:forObjectWith:with:)."
    )
  }

  /// Returns the ids of new objects, in the same order: ``newObjectID(for:referenceObject:)``.
  open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    throw CocoaError.make(
      .persistentStoreOperation,
      "\(Swift.type(of: self)) does not override obtainPermanentIDs(for:)."
    )
  }

  /// Returns the identifier of a store that is to be made.
  open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

  /// Called when contexts have got objects of records.
  open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

  /// Called when contexts no longer have objects of records.
  open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

  // MARK: For subclasses to call

  /// Returns the id of the record that the store calls `data`: a text, a number or a UUID.
  public final func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
    guard let makeID else { ProgrammerError.stop("Ids are made while the store is open.") }
    let id = makeID(NSAtomicStore.reference(data), entity)
    lock.withLock { references[id] = references[id] ?? data }
    return id
  }

  /// Returns what the store calls the record of an id.
  public final func referenceObject(for objectID: NSManagedObjectID) -> Any {
    if let known = lock.withLock({ references[objectID] }) { return known }
    switch objectID.core?.reference {
    case .integer(let number): return NSNumber(value: number)
    case .uuid(let uuid): return uuid.uuidString
    case .string(let text): return text
    case nil: ProgrammerError.stop("The id \(objectID) is temporary: no store has a name for it.")
    }
  }
}

extension NSIncrementalStore {
  /// Makes the framework read a known record again; nil stands for all.
  final func renew(_ id: NSManagedObjectID?) {
    lock.withLock {
      number += 1
      if id == nil { renewals = [] }
      renewals.append((number, id))
    }
  }

  final func noteSave() { lock.withLock { number += 1 } }

  final var versionNumber: UInt64 { lock.withLock { number } }

  /// Returns the records that have become too old since; nil if these are all.
  final func renewed(since number: UInt64) -> [NSManagedObjectID]? {
    let later = lock.withLock { renewals.filter { $0.number > number } }
    return later.contains { $0.id == nil } ? nil : later.compactMap(\.id)
  }

  /// Returns a context whose objects show the records as the store has them.
  final func readingContext() -> StoreContext {
    var nodes: [NSManagedObjectID: NSIncrementalStoreNode] = [:]
    let shown = ShownObjects { [unowned self] id, key in
      guard let property = id.entity.propertiesByName[key] else { return nil }
      let plain = StoreContext(persistentStoreCoordinator, showing: ShownObjects { _, _ in nil })
      if nodes[id] == nil {
        // try?: the store asks for its own record here, and knows why it cannot be read.
        nodes[id] = try? newValuesForObject(with: id, with: plain)
      }
      // try?: as above.
      return nodes[id].flatMap { try? value(of: property, in: $0, plain) }
    }
    return StoreContext(persistentStoreCoordinator, showing: shown)
  }

  /// Returns the value of a property as the store gives it.
  final func value(
    of property: NSPropertyDescription,
    in node: NSIncrementalStoreNode,
    _ context: StoreContext
  ) throws -> Any? {
    guard let relationship = property as? NSRelationshipDescription else { return node.value(for: property) }
    if !relationship.isToMany, let value = node.value(for: property) { return value }
    return try calling { () throws -> Any in
      try newValue(forRelationship: relationship, forObjectWith: node.objectID, with: context)
    }
  }
}

// MARK: NSIncrementalStoreNode

/// The values of a record of an ``NSIncrementalStore``.
open class NSIncrementalStoreNode: NSObject {
  private let identifier: NSManagedObjectID
  private var values: [String: Any]
  private var number: UInt64

  /// Creates a node.
  ///
  /// - Parameters:
  ///   - values: the values by the names of properties: those of attributes, and ids of to-one relationships. A value
  ///     that is missing is none.
  ///   - version: the number of times that the record was saved. Saves compare it.
  public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
    identifier = objectID
    self.values = values
    number = version
  }

  /// Replaces the values and the version.
  open func update(withValues values: [String: Any], version: UInt64) {
    self.values = values
    number = version
  }

  /// The id of the record.
  open var objectID: NSManagedObjectID { identifier }

  /// The version of the record.
  open var version: UInt64 { number }

  /// Returns the value of an attribute, or the id of the destination of a to-one relationship; `NSNull` for none, and
  /// nil if the store has not given any.
  open func value(for prop: NSPropertyDescription) -> Any? { values[prop.name] }
}

// MARK: NSSaveChangesRequest

/// What a store of one's own is to save. A request without any objects stands for the metadata.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
  private let inserted: Set<NSManagedObject>?
  private let updated: Set<NSManagedObject>?
  private let deleted: Set<NSManagedObject>?
  private let locked: Set<NSManagedObject>?

  /// Creates a request.
  public init(
    inserted insertedObjects: Set<NSManagedObject>?,
    updated updatedObjects: Set<NSManagedObject>?,
    deleted deletedObjects: Set<NSManagedObject>?,
    locked lockedObjects: Set<NSManagedObject>?
  ) {
    inserted = insertedObjects
    updated = updatedObjects
    deleted = deletedObjects
    locked = lockedObjects
  }

  /// The objects whose records are to be made. They have permanent ids.
  open var insertedObjects: Set<NSManagedObject>? { inserted }
  /// The objects whose values are to be written.
  open var updatedObjects: Set<NSManagedObject>? { updated }
  /// The objects whose records are to be removed.
  open var deletedObjects: Set<NSManagedObject>? { deleted }
  /// The objects whose records must not have changed: ``NSManagedObjectContext/detectConflicts(for:)``.
  open var lockedObjects: Set<NSManagedObject>? { locked }

  /// The kind of the request.
  open override var requestType: NSPersistentStoreRequestType { .saveRequestType }
}
