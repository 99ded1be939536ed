public import Foundation
import HeartwoodModel
import HeartwoodStore

/// The values of a record in a store of one's own.
open class NSAtomicStoreCacheNode: NSObject {
  private final let identifier: NSManagedObjectID

  /// Creates a node without values.
  public init(objectID moid: NSManagedObjectID) { identifier = moid }

  /// The id of the record.
  open var objectID: NSManagedObjectID { identifier }

  /// The values by the names of the properties: those of attributes, nodes and sets of nodes.
  open var propertyCache: NSMutableDictionary? = NSMutableDictionary()

  /// Returns the value of a property.
  open func value(forKey key: String) -> Any? { propertyCache?[key] }

  /// Sets the value of a property.
  open func setValue(_ value: Any?, forKey key: String) { propertyCache?[key] = unwrapped(value) }
}

/// A store of one's own, whose file is read and written as a whole.
///
/// A subclass overrides ``load()``, ``save()``, ``newCacheNode(for:)``, ``updateCacheNode(_:from:)``,
/// ``newReferenceObject(for:)`` and `metadataForPersistentStore(with:)`, and is registered with
/// ``NSPersistentStoreCoordinator/registerStoreClass(_:forStoreType:)``. The objects that its functions are given show
/// the records as they are to be saved, and are in no context.
open class NSAtomicStore: NSPersistentStore {
  private final var nodes: [NSManagedObjectID: NSAtomicStoreCacheNode] = [:]
  private final var references: [NSManagedObjectID: Any] = [:]
  private final var ids: [String: NSManagedObjectID] = [:]
  /// Makes the ids of records.
  final var makeID: ((ReferenceID, NSEntityDescription) -> NSManagedObjectID)?

  // MARK: For subclasses to override

  /// Reads the file at ``NSPersistentStore/url`` and adds a node for each record: ``addCacheNodes(_:)``. The file may
  /// be missing or empty, which stands for a new store.
  open func load() throws {
    throw CocoaError.make(.persistentStoreOperation, "\(Swift.type(of: self)) does not override load().")
  }

  /// Writes all nodes and the metadata to ``NSPersistentStore/url``. While a store is saved, that is a file that takes
  /// the place of the store's when it is complete.
  open func save() throws {
    throw CocoaError.make(.persistentStoreOperation, "\(Swift.type(of: self)) does not override save().")
  }

  /// Returns a node with the values of a new object.
  open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    let node = NSAtomicStoreCacheNode(objectID: managedObject.objectID)
    updateCacheNode(node, from: managedObject)
    return node
  }

  /// Gives a node the values of a changed object. All new objects have nodes by then.
  open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
    for (name, property) in managedObject.entity.propertiesByName {
      let value = managedObject.value(forKey: name)
      node.setValue(property is NSRelationshipDescription ? related(value) : value, forKey: name)
    }
  }

  private final func related(_ value: Any?) -> Any? {
    guard let value else { return nil }
    let nodes = NSManagedObject.objects(in: value).compactMap { cacheNode(for: $0.objectID) }
    if value is NSManagedObject { return nodes.first }
    return value is NSOrderedSet ? NSOrderedSet(array: nodes) : NSSet(array: nodes)
  }

  /// Returns what the store calls a new object: a text, a number or a UUID that no other object of the entity has.
  open func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    guard case .uuid(let uuid)? = managedObject.objectID.core?.reference else { return UUID().uuidString }
    return uuid.uuidString
  }

  /// Called before the nodes of deleted objects are removed.
  open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

  // MARK: For subclasses to call

  /// All nodes.
  open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { Set(nodes.values) }

  /// Adds nodes for the records of the file.
  open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
    for node in cacheNodes { nodes[node.objectID] = node }
  }

  /// Returns the node of an id.
  open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? { nodes[objectID] }

  /// Returns the id of the record that the store calls `data`.
  open func objectID(for entity: NSEntityDescription, withReferenceObject data: Any) -> NSManagedObjectID {
    if let id = ids[Self.name(entity, data)] { return id }
    guard let makeID else { ProgrammerError.stop("Ids are made while the store is open.") }
    let id = makeID(Self.reference(data), entity)
    note(data, id)
    return id
  }

  /// Returns what the store calls the record of an id.
  open func referenceObject(for objectID: NSManagedObjectID) -> Any {
    references[objectID] ?? objectID.core?.reference.text ?? ""
  }

  private static func name(_ entity: NSEntityDescription, _ data: Any) -> String { "\(entity.name ?? "")/\(data)" }

  static func reference(_ data: Any) -> ReferenceID {
    switch data {
    case let text as String: ReferenceID(text: text)
    case let uuid as UUID: .uuid(uuid)
    case let number as NSNumber: .integer(number.int64Value)
    default: ReferenceID(text: "\(data)")
    }
  }

  private final func note(_ data: Any, _ id: NSManagedObjectID) {
    references[id] = data
    ids[Self.name(id.entity, data)] = id
  }

  // MARK: Saving

  /// Brings the nodes to the state of the records that are to be saved.
  final func update(inserted: [NSManagedObject], updated: [NSManagedObject], keeping kept: Set<NSManagedObjectID>) {
    var new: Set<NSAtomicStoreCacheNode> = []
    for object in inserted {
      note(newReferenceObject(for: object), object.objectID)
      new.insert(newCacheNode(for: object))
    }
    addCacheNodes(new)
    // Now that all have nodes, relationships among new objects can be kept too.
    for object in inserted + updated {
      if let node = cacheNode(for: object.objectID) { updateCacheNode(node, from: object) }
    }
    let removed = Set(nodes.values.filter { !kept.contains($0.objectID) })
    guard !removed.isEmpty else { return }
    willRemoveCacheNodes(removed)
    for node in removed { nodes[node.objectID] = nil }
  }
}
