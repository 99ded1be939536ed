import CoreData
import Testing

@Suite(.serialized) struct IncrementalStoreTests {
  private static let type = "DictionaryStore"

  init() { NSPersistentStoreCoordinator.registerStoreClass(DictionaryStore.self, forStoreType: Self.type) }

  private static func store(of stack: Stack) throws -> DictionaryStore {
    try #require(stack.coordinator.persistentStores.first as? DictionaryStore)
  }

  @Test func objectsAreSavedAndReadAgain() throws {
    let stack = try Stack(Self.type)
    let store = try Self.store(of: stack)
    #expect(store.type == Self.type && store.url == stack.url)
    try stack.context.performAndWait {
      let list = List(context: stack.context)
      list.title = "Shopping"
      let milk = stack.insert("Milk", 2, done: true)
      milk.list = list
      let bread = stack.insert("Bread", 1)
      bread.list = list
      try stack.context.save()
      #expect(!bread.objectID.isTemporaryID && bread.objectID.persistentStore === store)
      // The store names the records, and sees the values of the new objects.
      #expect(store.referenceObject(for: bread.objectID) as? String == bread.identifier?.uuidString)
      bread.memo = "Cheese"
      stack.context.delete(milk)
      try stack.context.save()
    }
    #expect(store.records.count == 2 && store.saves == ["+3", "~2 -1"])

    let other = Stack.context(of: stack.coordinator)
    try other.performAndWait {
      let list = try #require(try other.fetch(NSFetchRequest<List>(entityName: "List")).first)
      #expect(list.items.map(\.memo) == ["Cheese"] && list.items.first?.list === list)
      let bread = try #require(list.items.first)
      #expect(
        store.newObjectID(for: bread.entity, referenceObject: bread.identifier?.uuidString ?? "") == bread.objectID
      )
      let uri = bread.objectID.uriRepresentation()
      #expect(stack.coordinator.managedObjectID(forURIRepresentation: uri) == bread.objectID)
    }
  }

  @Test func fetchesReachTheStore() throws {
    let stack = try Stack(Self.type)
    let store = try Self.store(of: stack)
    try stack.context.performAndWait {
      for (place, memo) in ["a", "b", "c", "d"].enumerated() { stack.insert(memo, Int16(place), done: place > 1) }
      try stack.context.save()
    }
    let context = Stack.context(of: stack.coordinator)
    try context.performAndWait {
      store.requests = []
      let request = toDoRequest()
      request.predicate = NSPredicate(format: "done == YES")
      request.sortDescriptors = [NSSortDescriptor(key: "sortOrder", ascending: false)]
      request.fetchLimit = 1
      #expect(try context.fetch(request).map(\.memo) == ["d"])
      #expect(store.requests.map(\.predicate) == [request.predicate] && store.requests.first?.fetchLimit == 1)
      #expect(store.requests.first?.sortDescriptors == request.sortDescriptors)
      request.fetchLimit = 0
      #expect(try context.count(for: request) == 2)
      #expect(store.requests.last?.resultType == .countResultType)

      let ids = NSFetchRequest<NSManagedObjectID>(entityName: "ToDo")
      ids.resultType = .managedObjectIDResultType
      #expect(try context.fetch(ids).count == 4)
      #expect(store.requests.last?.resultType == .managedObjectIDResultType)

      let rows = NSFetchRequest<NSDictionary>(entityName: "ToDo")
      rows.resultType = .dictionaryResultType
      rows.propertiesToFetch = ["memo"]
      rows.predicate = NSPredicate(format: "sortOrder < 2")
      #expect(Set(try context.fetch(rows).compactMap { $0["memo"] as? String }) == ["a", "b"])

      // Unsaved changes of the context count.
      let first = try #require(try context.fetch(toDoRequest()).first { $0.memo == "a" })
      first.done = true
      #expect(try context.count(for: request) == 3)
    }
  }

  @Test func childContextsAndRelationshipsWork() throws {
    let stack = try Stack(Self.type)
    try stack.context.performAndWait {
      let list = List(context: stack.context)
      list.title = "Shopping"
      stack.insert("Milk").list = list
      try stack.context.save()
    }
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = stack.context
    try child.performAndWait {
      let list = try #require(try child.fetch(NSFetchRequest<List>(entityName: "List")).first)
      let bread = ToDo(context: child)
      bread.memo = "Bread"
      list.addToItems(bread)
      try child.save()
    }
    try stack.context.performAndWait { try stack.context.save() }
    let other = Stack.context(of: stack.coordinator)
    try other.performAndWait { () throws in
      let request = toDoRequest()
      request.predicate = NSPredicate(format: "list.title == %@", "Shopping")
      #expect(Set(try other.fetch(request).map(\.memo)) == ["Milk", "Bread"])
    }
  }

  @Test func refreshedObjectsAreReadAgain() throws {
    let stack = try Stack(Self.type)
    let store = try Self.store(of: stack)
    try stack.context.performAndWait { () throws in
      let milk = stack.insert("Milk")
      try stack.context.save()
      try store.change(milk.objectID, "memo", to: "Cream")
      #expect(milk.memo == "Milk")
      stack.context.refresh(milk, mergeChanges: false)
      #expect(milk.memo == "Cream")
      // A conflict is found by the versions of the nodes.
      milk.memo = "Butter"
      try store.change(milk.objectID, "memo", to: "Curd")
      Stack.context(of: stack.coordinator).refreshAllObjects()
      let error = #expect(throws: CocoaError.self) { try stack.context.save() }
      #expect(error?.code == .managedObjectMerge)
      stack.context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
      try stack.context.save()
      #expect(store.records.values.first?.values["memo"] as? String == "Butter")
    }
  }

  @Test func storesHearOfObjects() throws {
    let stack = try Stack(Self.type)
    let store = try Self.store(of: stack)
    let id = try stack.context.performAndWait {
      let milk = stack.insert("Milk")
      try stack.context.save()
      return milk.objectID
    }
    #expect(store.registered[id] ?? 0 <= 1)
    let context = Stack.context(of: stack.coordinator)
    try context.performAndWait {
      let before = store.registered[id] ?? 0
      let milk = try context.existingObject(with: id)
      #expect(store.registered[id] == before + 1)
      withExtendedLifetime(milk) {}
    }
  }

  @Test func whatAStoreThrowsIsThrown() throws {
    let stack = try Stack(Self.type)
    let store = try Self.store(of: stack)
    try stack.context.performAndWait { () throws in
      stack.insert("Milk")
      store.failure = NSError(domain: "DictionaryStore", code: 7)
      let saving = #expect(throws: NSError.self) { try stack.context.save() }
      #expect(saving?.domain == "DictionaryStore" && saving?.code == 7)
      let fetching = #expect(throws: NSError.self) {
        _ = try Stack.context(of: stack.coordinator).fetch(toDoRequest())
      }
      #expect(fetching?.code == 7)
      store.failure = nil
      try stack.context.save()
      #expect(store.records.count == 1)
    }
    DictionaryStore.refusesToOpen = true
    defer { DictionaryStore.refusesToOpen = false }
    let error = #expect(throws: NSError.self) { try Stack(Self.type) }
    #expect(error?.code == 8)
  }

  @Test func anEmptyClassSaysWhatToOverride() throws {
    final class Empty: NSIncrementalStore {}
    NSPersistentStoreCoordinator.registerStoreClass(Empty.self, forStoreType: "Empty")
    let error = #expect(throws: CocoaError.self) { try Stack("Empty") }
    #expect(error?.localizedDescription.contains("loadMetadata()") == true)
  }

  @Test func metadataAreSaved() throws {
    let stack = try Stack(Self.type)
    let store = try Self.store(of: stack)
    try stack.context.performAndWait {
      stack.coordinator.setMetadata(["note": "mine"], for: store)
      stack.insert("Milk")
      try stack.context.save()
    }
    #expect(store.savedNote == "mine" && store.metadata[NSStoreUUIDKey] as? String == store.identifier)
    let target = stack.folder.appendingPathComponent("moved")
    try stack.coordinator.migratePersistentStore(store, to: target, options: nil, withType: NSBinaryStoreType)
    let context = Stack.context(of: stack.coordinator)
    #expect(try context.performAndWait { try context.fetch(toDoRequest()).map(\.memo) } == ["Milk"])
    let moved = try #require(stack.coordinator.persistentStores.first)
    #expect(throws: CocoaError.self) {
      try stack.coordinator.migratePersistentStore(moved, to: stack.url, options: nil, withType: Self.type)
    }
  }
}

/// A store over a dictionary.
final class DictionaryStore: NSIncrementalStore, @unchecked Sendable {
  struct Record {
    var entity: String
    var values: [String: Any] = [:]
    var links: [String: [String]] = [:]
    var version: UInt64 = 1
  }

  nonisolated(unsafe) static var refusesToOpen = false

  var records: [String: Record] = [:]
  var requests: [NSFetchRequest<any NSFetchRequestResult>] = []
  var saves: [String] = []
  var registered: [NSManagedObjectID: Int] = [:]
  var failure: NSError?
  var savedNote: String?

  override func loadMetadata() throws {
    if Self.refusesToOpen { throw NSError(domain: "DictionaryStore", code: 8) }
    metadata = [NSStoreTypeKey: "DictionaryStore", NSStoreUUIDKey: UUID().uuidString]
  }

  private func key(_ id: NSManagedObjectID) -> String { "\(referenceObject(for: id))" }

  func change(_ id: NSManagedObjectID, _ name: String, to value: Any) throws {
    var record = try #require(records[key(id)])
    record.values[name] = value
    record.version += 1
    records[key(id)] = record
  }

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    if let failure { throw failure }
    switch request.requestType {
    case .fetchRequestType: return try fetch(request.requesting(NSFetchRequest<any NSFetchRequestResult>.self), context)
    case .saveRequestType: return save(try #require(request as? NSSaveChangesRequest))
    default: throw NSError(domain: "DictionaryStore", code: 9)
    }
  }

  private func fetch(
    _ request: NSFetchRequest<any NSFetchRequestResult>,
    _ context: NSManagedObjectContext?
  ) throws -> Any {
    requests.append(request)
    let entity = try #require(
      request.entity ?? persistentStoreCoordinator?.managedObjectModel.entitiesByName[request.entityName ?? ""]
    )
    let context = try #require(context)
    let own = records.filter { $0.value.entity == entity.name }.keys.sorted()
    var objects = own.map { context.object(with: newObjectID(for: entity, referenceObject: $0)) }
    if let predicate = request.predicate { objects = objects.filter { predicate.evaluate(with: $0) } }
    if let sorts = request.sortDescriptors {
      objects = NSArray(array: objects).sortedArray(using: sorts) as? [NSManagedObject] ?? []
    }
    if request.fetchLimit > 0 { objects = Array(objects.dropFirst(request.fetchOffset).prefix(request.fetchLimit)) }
    switch request.resultType {
    case .managedObjectIDResultType: return objects.map(\.objectID)
    case .countResultType: return [NSNumber(value: objects.count)]
    case .dictionaryResultType:
      let names = request.propertiesToFetch?.compactMap { $0 as? String } ?? []
      return objects.map { $0.dictionaryWithValues(forKeys: names) as NSDictionary }
    default: return objects
    }
  }

  private func save(_ request: NSSaveChangesRequest) -> [Any] {
    let (inserted, updated) = (request.insertedObjects ?? [], request.updatedObjects ?? [])
    let deleted = request.deletedObjects ?? []
    if request.insertedObjects == nil {
      savedNote = metadata["note"] as? String
      return []
    }
    for object in inserted.union(updated) {
      var record = Record(entity: object.entity.name ?? "")
      record.version = records[key(object.objectID)].map { $0.version + 1 } ?? 1
      for name in object.entity.attributesByName.keys { record.values[name] = object.value(forKey: name) }
      for (name, relationship) in object.entity.relationshipsByName {
        let related =
          relationship.isToMany
          ? (object.value(forKey: name) as? NSSet)?.allObjects : [object.value(forKey: name) as Any]
        record.links[name] = related?.compactMap { ($0 as? NSManagedObject).map { key($0.objectID) } }
      }
      records[key(object.objectID)] = record
    }
    for object in deleted { records[key(object.objectID)] = nil }
    let counts = [("+", inserted), ("~", updated), ("-", deleted)].filter { !$0.1.isEmpty }
    saves.append(counts.map { "\($0.0)\($0.1.count)" }.joined(separator: " "))
    return []
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID,
    with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    guard let record = records[key(objectID)] else { throw CocoaError(.managedObjectReferentialIntegrity) }
    var values = record.values
    for (name, relationship) in objectID.entity.relationshipsByName where !relationship.isToMany {
      guard let destination = relationship.destinationEntity else { continue }
      let link = record.links[name]?.first
      values[name] = link.map { newObjectID(for: destination, referenceObject: $0) } ?? NSNull()
    }
    return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: record.version)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription,
    forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    let destination = try #require(relationship.destinationEntity)
    let links = records[key(objectID)]?.links[relationship.name] ?? []
    return links.map { newObjectID(for: destination, referenceObject: $0) }
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    if let failure { throw failure }
    return array.map { object in
      let reference = (object as? ToDo)?.identifier?.uuidString ?? UUID().uuidString
      return newObjectID(for: object.entity, referenceObject: reference)
    }
  }

  override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
    for id in objectIDs { registered[id, default: 0] += 1 }
  }

  override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
    for id in objectIDs { registered[id, default: 0] -= 1 }
  }
}
