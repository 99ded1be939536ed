// Written as in its years.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap

import CoreData

/// An atomic store that keeps to-dos in a CSV file: the first line is the UUID of the store, as `#UUID`, and each of the
/// others is a to-do: done, memo, sort order, creation date, UUID.
@objc(CSVStore)
public class CSVStore: NSAtomicStore {
  public static let storeType = "CSVStore"

  public class func register() {
    NSPersistentStoreCoordinator.registerStoreClass(CSVStore.self, forStoreType: storeType)
  }

  // MARK: Metadata

  override public class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    let uuid = try CSVFile(contentsOf: url).uuid
    return [NSStoreTypeKey: storeType, NSStoreUUIDKey: uuid]
  }

  override public func loadMetadata() throws {
    metadata = try CSVStore.metadataForPersistentStore(with: url!)
  }

  override public var type: String { return CSVStore.storeType }

  // MARK: Loading

  override public func load() throws {
    let entity = persistentStoreCoordinator!.managedObjectModel.entitiesByName["ToDo"]!
    var nodes = Set<NSAtomicStoreCacheNode>()
    for row in try CSVFile(contentsOf: url!).rows {
      let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: row.uuid))
      node.setValue(NSNumber(value: row.done), forKey: "done")
      node.setValue(row.memo, forKey: "memo")
      node.setValue(NSNumber(value: row.sortOrder), forKey: "sortOrder")
      node.setValue(row.creationDate, forKey: "creationDate")
      node.setValue(row.uuid, forKey: "uuid")
      nodes.insert(node)
    }
    addCacheNodes(nodes)
  }

  // MARK: Saving

  override public func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    return managedObject.value(forKey: "uuid")!
  }

  override public func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    let node = NSAtomicStoreCacheNode(objectID: managedObject.objectID)
    updateCacheNode(node, from: managedObject)
    return node
  }

  override public func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
    for key in managedObject.entity.attributesByName.keys {
      node.setValue(managedObject.value(forKey: key), forKey: key)
    }
  }

  override public func save() throws {
    var file = CSVFile(uuid: metadata[NSStoreUUIDKey] as! String)
    for node in cacheNodes() {
      file.rows.append(
        CSVFile.Row(
          done: (node.value(forKey: "done") as! NSNumber).boolValue,
          memo: node.value(forKey: "memo") as? String,
          sortOrder: (node.value(forKey: "sortOrder") as! NSNumber).intValue,
          creationDate: node.value(forKey: "creationDate") as? Date,
          uuid: node.value(forKey: "uuid") as! String
        )
      )
    }
    file.rows.sort { ($0.sortOrder, $0.uuid) < ($1.sortOrder, $1.uuid) }
    try file.text.write(to: url!, atomically: true, encoding: .utf8)
  }
}
