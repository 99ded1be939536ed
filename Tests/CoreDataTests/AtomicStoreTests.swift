import CoreData
import Testing

@Suite(.serialized) struct AtomicStoreTests {
  private static let type = "PropertyListStore"

  init() { NSPersistentStoreCoordinator.registerStoreClass(PropertyListStore.self, forStoreType: Self.type) }

  @Test func aStoreOfOnesOwnIsSavedAndReadAgain() throws {
    let stack = try Stack(Self.type)
    try stack.context.performAndWait {
      let list = List(context: stack.context)
      list.title = "Shopping"
      let milk = stack.insert("Milk", 2, done: true)
      milk.list = list
      let bread = stack.insert("Bread")
      bread.list = list
      try stack.context.save()
      bread.memo = "Cheese"
      stack.context.delete(milk)
      stack.insert("Water").list = list
      try stack.context.save()
    }
    let store = try #require(stack.coordinator.persistentStores.first as? PropertyListStore)
    #expect(store.type == Self.type && store.url == stack.url)
    #expect(store.cacheNodes().count == 3 && store.removedCount == 1)
    let identifier = store.identifier
    try stack.coordinator.remove(store)

    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Models.toDos())
    let opened = try coordinator.addPersistentStore(ofType: Self.type, configurationName: nil, at: stack.url)
    #expect(opened.identifier == identifier)
    let context = Stack.context(of: coordinator)
    try context.performAndWait { () throws in
      let list = try #require(try context.fetch(NSFetchRequest<List>(entityName: "List")).first)
      #expect(Set(list.items.map(\.memo)) == ["Cheese", "Water"])
      // The reference of a record is what the store calls it.
      let toDo = try #require(list.items.first)
      let plist = try #require(opened as? PropertyListStore)
      #expect(plist.referenceObject(for: toDo.objectID) as? String == toDo.identifier?.uuidString)
      let id = plist.objectID(for: toDo.entity, withReferenceObject: toDo.identifier?.uuidString ?? "")
      #expect(id == toDo.objectID)
    }
  }

  @Test(arguments: [NSBinaryStoreType, NSSQLiteStoreType]) func aStoreOfOnesOwnIsMoved(type: String) throws {
    let stack = try Stack(Self.type)
    try stack.context.performAndWait {
      stack.insert("Milk", 2)
      try stack.context.save()
    }
    let store = try #require(stack.coordinator.persistentStores.first)
    let url = stack.folder.appendingPathComponent("moved")
    let moved = try stack.coordinator.migratePersistentStore(store, to: url, options: nil, withType: type)
    let context = Stack.context(of: stack.coordinator)
    #expect(try context.performAndWait { try context.fetch(toDoRequest()).map(\.memo) } == ["Milk"])
    let back = stack.folder.appendingPathComponent("back")
    let again = try stack.coordinator.migratePersistentStore(moved, to: back, options: nil, withType: Self.type)
    #expect(again is PropertyListStore)
    #expect(try context.performAndWait { try context.fetch(toDoRequest()).map(\.memo) } == ["Milk"])
  }

  @Test func metadataAreReadByTheClass() throws {
    let stack = try Stack(Self.type)
    try stack.context.performAndWait {
      stack.insert("Milk", 2)
      try stack.context.save()
    }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: Self.type, at: stack.url)
    #expect(metadata[NSStoreUUIDKey] as? String == stack.coordinator.persistentStores.first?.identifier)
    #expect(metadata[NSStoreTypeKey] as? String == Self.type)
  }

  @Test func whatAStoreThrowsIsThrown() throws {
    let stack = try Stack(Self.type)
    let store = try #require(stack.coordinator.persistentStores.first as? PropertyListStore)
    store.failure = NSError(domain: "PropertyListStore", code: 7)
    let error = stack.context.performAndWait {
      stack.insert("Milk")
      return #expect(throws: NSError.self) { try stack.context.save() }
    }
    #expect(error?.domain == "PropertyListStore" || (error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == 7)
    #expect(!FileManager.default.fileExists(atPath: stack.url.path))
  }
}

/// A store that keeps its records in a property list.
final class PropertyListStore: NSAtomicStore {
  private(set) var removedCount = 0
  var failure: NSError?

  private struct Record: Codable {
    var entity: String
    var reference: String
    var values: [String: String]
    var links: [String: [String]]
  }

  private struct File: Codable {
    var identifier: String
    var records: [Record]
  }

  private static func file(at url: URL) throws -> File {
    guard FileManager.default.fileExists(atPath: url.path) else {
      return File(identifier: UUID().uuidString, records: [])
    }
    return try PropertyListDecoder().decode(File.self, from: Data(contentsOf: url))
  }

  override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    [NSStoreTypeKey: "PropertyListStore", NSStoreUUIDKey: try file(at: url).identifier]
  }

  override func load() throws {
    let url = try #require(url)
    let entities = persistentStoreCoordinator?.managedObjectModel.entitiesByName ?? [:]
    for record in try Self.file(at: url).records {
      let entity = try #require(entities[record.entity])
      let node = self.node(record.reference, entity)
      for (key, value) in record.values {
        switch entity.attributesByName[key]?.attributeType {
        case .stringAttributeType: node.setValue(value, forKey: key)
        case .UUIDAttributeType: node.setValue(UUID(uuidString: value), forKey: key)
        default: node.setValue(Int(value).map { NSNumber(value: $0) }, forKey: key)
        }
      }
      for (key, links) in record.links {
        guard let relationship = entity.relationshipsByName[key], let destination = relationship.destinationEntity
        else { continue }
        let nodes = links.map { self.node($0, destination) }
        node.setValue(relationship.isToMany ? NSSet(array: nodes) : nodes.first, forKey: key)
      }
    }
  }

  private func node(_ reference: String, _ entity: NSEntityDescription) -> NSAtomicStoreCacheNode {
    let id = objectID(for: entity, withReferenceObject: reference)
    if let node = cacheNode(for: id) { return node }
    let node = NSAtomicStoreCacheNode(objectID: id)
    addCacheNodes([node])
    return node
  }

  override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    (managedObject as? ToDo)?.identifier?.uuidString ?? UUID().uuidString
  }

  override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) { removedCount += cacheNodes.count }

  override func save() throws {
    if let failure { throw failure }
    let records = cacheNodes().map { node in
      var record = Record(
        entity: node.objectID.entity.name ?? "",
        reference: "\(referenceObject(for: node.objectID))",
        values: [:],
        links: [:]
      )
      for key in node.objectID.entity.attributesByName.keys {
        if let value = node.value(forKey: key) { record.values[key] = "\(value)" }
      }
      for key in node.objectID.entity.relationshipsByName.keys {
        let value = node.value(forKey: key)
        let nodes = (value as? NSSet)?.allObjects ?? [value].compactMap { $0 }
        record.links[key] = nodes.compactMap { $0 as? NSAtomicStoreCacheNode }.map {
          "\(referenceObject(for: $0.objectID))"
        }
      }
      return record
    }
    let file = File(identifier: metadata[NSStoreUUIDKey] as? String ?? "", records: records)
    try PropertyListEncoder().encode(file).write(to: try #require(url))
  }
}
