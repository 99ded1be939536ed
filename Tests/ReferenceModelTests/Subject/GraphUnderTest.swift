import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore
import HeartwoodTesting

/// Heartwood's graph, driven by the same operations as the reference, and its objects by their keys.
final class GraphUnderTest {
  let schema: Schema
  /// Where a database has its files, which SQLite opens itself; the others' are in memory.
  private let folder: ScratchFolder?
  private let files: FaultInjectingFileSystem
  private(set) var coordinator: PersistentStoreCoordinator
  private(set) var store: PersistentStore
  private let options: StoreOptions
  private let parents: [Int?]
  private let hasUndo: Bool
  private let policies: [ReferencePolicy]
  private let mergesByItself: [Bool]
  /// What each context has saved last, and what notes it.
  private var lastSaves: [Int: ContextChanges] = [:]
  private var observations: [ContextObservation] = []
  /// All objects of a graph with undo, by what they are: one whose deletion was saved may come back with another id.
  private var keysOfObjects: [ObjectIdentifier: (key: Key, object: ManagedObject)] = [:]
  /// The versions that contexts have been pinned to.
  private var tokens: [QueryGenerationToken] = []
  private var fileNumber = 0
  private(set) var contexts: [ManagedObjectContext]
  /// The objects that somebody holds, so that their contexts do not let them go: of each context, by key.
  private(set) var held: [[Key: ManagedObject]]
  private var ids: [Key: ManagedObjectID] = [:]
  private var keys: [ManagedObjectID: Key] = [:]
  /// How often the object of a key has come back as a new record.
  private var ghostCounts: [Key: Int] = [:]

  init(_ plan: RunPlan) throws {
    schema = plan.schema
    var options = StoreOptions()
    if plan.tracksHistory { options[.tracksPersistentHistory] = true }
    options[.sqliteSynchronization] = .normal
    self.options = options
    folder = plan.storeKind == .sqlite ? try ScratchFolder() : nil
    files = FaultInjectingFileSystem(wrapping: folder == nil ? InMemoryFileSystem() : POSIXFileSystem())
    coordinator = try Self.coordinator(schema, files)
    store = try coordinator.addPersistentStore(
      type: plan.storeKind.type,
      at: Self.url(plan.storeKind, 0, folder),
      options: options
    )
    contexts = []
    held = []
    parents = plan.parents
    hasUndo = plan.hasUndo
    policies = plan.policies
    mergesByItself = plan.mergesByItself
    makeContexts()
  }

  private static func coordinator(_ schema: Schema, _ files: any FileSystem) throws -> PersistentStoreCoordinator {
    let registry = try StoreRegistry([BinaryStore.self, CSVStore.self, InMemoryStore.self, SQLiteStore.self])
    return try PersistentStoreCoordinator(managedObjectModel: schema.model, registry: registry, fileSystem: files)
  }

  private static func url(_ kind: StoreKind, _ number: Int, _ folder: ScratchFolder?) -> URL? {
    let base = folder?.url ?? URL(filePath: "/folder")
    return kind.hasFile ? base.appending(path: "store\(number).\(kind.rawValue)") : nil
  }

  private func makeContexts() {
    contexts = []
    lastSaves = [:]
    tokens = []
    observations = []
    for (index, parent) in parents.enumerated() {
      let context = parent.map { ManagedObjectContext(parent: contexts[$0]) } ?? ManagedObjectContext(coordinator)
      context.transactionAuthor = "author \(index)"
      if hasUndo { context.undoManager = GraphUndoManager() }
      context.mergePolicy = policies[index].mergePolicy
      context.automaticallyMergesChangesFromParent = mergesByItself[index]
      observations.append(context.observe(.didSave) { [weak self] in self?.lastSaves[index] = $0 })
      contexts.append(context)
    }
    held = Array(repeating: [:], count: contexts.count)
  }
}

// MARK: Objects and keys

extension GraphUnderTest {
  func key(of id: ManagedObjectID) -> Key? {
    if let key = keys[id] { return key }
    noteIDs()
    return keys[id]
  }

  func object(_ key: Key, _ context: Int) throws -> ManagedObject {
    if let object = held[context][key] { return object }
    if ids[key]?.isTemporaryID == true { publishNewObjects() }
    guard let id = ids[key] else { throw Mismatch("nothing is known of #\(key)") }
    return try contexts[context].existingObject(with: id)
  }

  private func note(_ id: ManagedObjectID, _ key: Key) {
    if let old = ids[key], !old.isTemporaryID, id.isTemporaryID {
      ghostCounts[key, default: 0] += 1
      keys[old] = key.ghost(ghostCounts[key, default: 0])
    }
    ids[key] = id
    keys[id] = key
  }

  /// Lets a context notice what became of an object.
  func lookUp(_ key: Key, _ context: Int) {
    _ = ids[key].map { try? contexts[context].existingObject(with: $0) }
  }

  /// Lets new objects of parents have ids that their children can find them by.
  private func publishNewObjects() {
    for context in contexts { context.publishChanges() }
    noteIDs()
  }

  /// New objects get permanent ids when another context can see them.
  private func noteIDs() {
    for (key, object) in held.joined() { note(object.objectID, key) }
    for (key, object) in keysOfObjects.values { note(object.objectID, key) }
  }

  /// Whether the context finds an object of `key` among those that it has registered.
  func isRegistered(_ key: Key, _ context: Int) -> Bool {
    ids[key].flatMap { contexts[context].registeredObject(for: $0) } != nil
  }

  /// Holds all objects that contexts have registered, and lets those go that they no longer know.
  func holdRegisteredObjects() throws {
    noteIDs()
    for (index, context) in contexts.enumerated() {
      held[index] = held[index].filter { $0.value.managedObjectContext === context }
      for object in context.registeredObjects {
        guard let key = key(of: object.objectID) else { throw Mismatch("\(object) was registered by nobody") }
        if let known = held[index][key], known !== object { throw Mismatch("there are two objects of #\(key)") }
        held[index][key] = object
        if hasUndo { keysOfObjects[ObjectIdentifier(object)] = (key, object) }
      }
    }
  }

  func release(_ key: Key, _ context: Int) {
    // Its context may go on holding a new object, under an id that it has got since.
    noteIDs()
    held[context][key] = nil
  }
}

// MARK: Operations

extension GraphUnderTest {
  func perform(_ operation: Operation) throws -> Outcome {
    switch operation {
    case .insert(let key, let entity, let context):
      let object = try contexts[context].insert(entityName: entity)
      note(object.objectID, key)
      held[context][key] = object
    case .set(let key, let name, let value, let route, let context):
      try set(try object(key, context), name, value, route)
    case .relate(let key, let name, let keys, let route, let context):
      let objects = try keys.map { try object($0, context) }
      try relate(try object(key, context), name, to: objects, route)
    case .misuse(let misuse, let key, let name, let other, let context):
      return try perform(misuse, try object(key, context), name, try misused(misuse, other, context))
    case .delete(let key, let context): contexts[context].delete(try object(key, context))
    case .read(let key, let context): try read(try object(key, context), key, context)
    case .fetch(let entity, let context): return try fetch(entity, contexts[context])
    case .count(let entity, let context): return .count(try contexts[context].count(entityName: entity))
    case .fetchWhere(let query, let context):
      return try fetch(query, contexts[context]) { try object($0, context).objectID }
    case .merge(let context, let other):
      if let changes = lastSaves[other] { contexts[context].mergeChanges(from: changes) }
    case .pin(let context):
      try contexts[context].setQueryGeneration(from: .current)
      if let token = contexts[context].queryGenerationToken { tokens.append(token) }
    case .pinBack(let context, let number): try contexts[context].setQueryGeneration(from: tokens[number])
    case .unpin(let context): try contexts[context].setQueryGeneration(from: nil)
    case .save(let context, _): return try save(context)
    case .saveWithFault(let number, let context):
      return try saveWithFault(number, context)
    case .rollback(let context):
      contexts[context].rollback()
      keysOfObjects = [:]
    case .reset(let context):
      contexts[context].reset()
      keysOfObjects = [:]
    case .processPendingChanges(let context):
      contexts[context].processPendingChanges()
      return undoCounts(context)
    case .undo(let context):
      contexts[context].undo()
      return undoCounts(context)
    case .redo(let context):
      contexts[context].redo()
      return undoCounts(context)
    case .refresh(let key, let mergingChanges, let context):
      contexts[context].processPendingChanges()
      contexts[context].refresh(try object(key, context), mergeChanges: mergingChanges)
    case .release(let key, let context): release(key, context)
    case .readAll(let context): try readAll(context)
    case .convert(let kind): try convert(to: kind)
    case .history(let request): return try history(request)
    case .purgeHistory(let number): try purgeHistory(through: number)
    case .inspect: break
    case .reopen: try reopen()
    }
    return .done
  }

  func property(_ name: String, of object: ManagedObject) throws(Mismatch) -> PropertyDescription {
    if let property = object.entity.property(named: name) { return property }
    throw Mismatch("\(object.entity.name) has no property \(name)")
  }

  private func set(_ object: ManagedObject, _ name: String, _ value: PropertyValue, _ route: Route) throws {
    switch route {
    case .propertyValue: try object.setPropertyValue(value, forKey: name)
    case .swiftValue: try object.setValue(value.swiftValue, forKey: name)
    case .key: TypedAccess(object: object, property: try property(name, of: object)).set(value)
    }
  }

  private func relate(_ object: ManagedObject, _ name: String, to objects: [ManagedObject], _ route: Route) throws {
    let property = try property(name, of: object)
    let isToMany = property.relationship?.isToMany == true
    switch route {
    case .propertyValue where isToMany: try object.setPropertyValue(.toMany(objects.map(\.objectID)), forKey: name)
    case .propertyValue:
      try object.setPropertyValue(objects.first.map { .toOne($0.objectID) } ?? .null, forKey: name)
    case .swiftValue: try object.setValue(isToMany ? objects : objects.first, forKey: name)
    case .key: TypedAccess(object: object, property: property).set(objects)
    }
  }

  private func read(_ object: ManagedObject, _ key: Key, _ context: Int) throws {
    held[context][key] = object
    if let name = object.entity.properties.first?.name { _ = try object.value(forKey: name) }
  }

  private func fetch(_ entity: String, _ context: ManagedObjectContext) throws -> Outcome {
    let objects = try context.fetch(entityName: entity)
    let found = objects.compactMap { key(of: $0.objectID) }
    guard found.count == objects.count, Set(found).count == found.count else {
      throw Mismatch("a fetch gives objects twice, or some that nobody has saved")
    }
    return .keys(Set(found))
  }

  private func undoCounts(_ context: Int) -> Outcome {
    let undoManager = contexts[context].undoManager
    return .undoable(undoManager?.undoCount ?? 0, redoable: undoManager?.redoCount ?? 0)
  }

  private func readAll(_ context: Int) throws {
    for entity in schema.model.entities where entity.superentity == nil {
      for object in try contexts[context].fetch(entityName: entity.name) {
        guard let key = key(of: object.objectID) else { throw Mismatch("\(object) was saved by nobody") }
        try read(object, key, context)
      }
    }
  }

  private func save(_ context: Int) throws -> Outcome {
    do {
      try contexts[context].save()
    } catch let error as PersistenceError where error.code == .validationFailed {
      return .invalid(problems(error))
    } catch let error as PersistenceError where error.code == .saveConflict {
      return .conflict(Set(error.context.objectIDs.compactMap(key)))
    } catch let error as PersistenceError where error.code == .constraintConflict {
      return .refused(error.code)
    }
    return .done
  }

  private func saveWithFault(_ number: Int, _ context: Int) throws -> Outcome {
    let last = files.operations.count + number
    files.failOperation(last)
    do {
      let outcome = try save(context)
      // A fault that the save did not come to must not wait for the next one.
      while files.operations.count < last { _ = try? files.status(atPath: "/") }
      return outcome
    } catch let error as PersistenceError where error.code == .fileWriteFailed || error.code == .fileReadFailed {
      if case .synchronizeDirectory = files.operations[last - 1] { return .fileFault(isReplaced: true) }
      return .fileFault(isReplaced: false)
    }
  }

  private func problems(_ error: PersistenceError) -> Set<ReferenceProblem> {
    Set(
      error.context.validationFaults.compactMap { fault in
        key(of: fault.objectID).map { ReferenceProblem(key: $0, property: fault.property, kind: "\(fault.kind)") }
      }
    )
  }
}

// MARK: Stores

extension GraphUnderTest {
  private func convert(to kind: StoreKind) throws {
    fileNumber += 1
    store = try coordinator.convert(
      store,
      to: Self.url(kind, fileNumber, folder),
      type: kind.type,
      options: options
    )
  }

  private func reopen() throws {
    guard let url = coordinator.url(for: store) else { return }
    let type = store.type
    for index in contexts.indices { held[index] = [:] }
    keysOfObjects = [:]
    try coordinator.remove(store)
    coordinator = try Self.coordinator(schema, files)
    store = try coordinator.addPersistentStore(type: type, at: url, options: options)
    makeContexts()
  }

  /// Lets the store forget what it has read.
  func forgetRecords() { store.engine.forgetRecords(evenHeld: true) }

  /// A context on the store's file in another coordinator; nil where there is no file yet.
  func contextOnFile() throws -> ManagedObjectContext? {
    guard let url = coordinator.url(for: store), try files.status(atPath: url.path) != nil else { return nil }
    let other = try Self.coordinator(schema, files)
    try other.addPersistentStore(type: store.type, at: url)
    return ManagedObjectContext(other)
  }
}

extension PropertyValue {
  /// The value of an attribute as Swift calls it.
  fileprivate var swiftValue: Any? {
    switch self {
    case .null, .toOne, .toMany: nil
    case .integer(let value): Int(value)
    case .decimal(let value): value
    case .double(let value): value
    case .float(let value): value
    case .string(let value): value
    case .boolean(let value): value
    case .date(let value): value
    case .binary(let value): value
    case .uuid(let value): value
    case .uri(let value): value
    }
  }
}
