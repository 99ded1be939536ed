import Foundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

/// The format of stores of one's own: subclasses of NSIncrementalStore that are registered by the name of a type.
///
/// Heartwood's part of such a store has no place: the URL is the store's own affair.
struct OwnIncrementalFormat: IncrementalStoreFormat {
  let typeDescription: StoreTypeDescription
  private let storeClass: NSIncrementalStore.Type

  init(_ storeClass: NSIncrementalStore.Type, _ type: String) {
    self.storeClass = storeClass
    typeDescription = StoreTypeDescription(ownType: type, .incremental)
  }

  func makeStore(_ setup: StoreSetup) throws -> any IncrementalStore {
    guard let opening = StoreOpening.current else {
      throw CocoaError.make(.persistentStoreOpen, "A store of the type \(typeDescription.type) is added by its URL.")
    }
    let store = storeClass.init(
      persistentStoreCoordinator: opening.coordinator,
      configurationName: setup.configurationName,
      at: opening.url ?? URL(fileURLWithPath: "/dev/null"),
      options: opening.options
    )
    opening.store = store
    return try OwnIncrementalStore(store, typeDescription.type, setup, opening.coordinator)
  }
}

/// An error that a store of one's own has thrown. The application gets it as it is.
struct OwnStoreFailure: Error {
  let error: any Error

  /// Returns the error of a store of one's own that is the cause of `error`.
  static func cause(of error: PersistenceError) -> (any Error)? {
    var cause = error.underlyingError
    while let current = cause {
      if let failure = current as? OwnStoreFailure { return failure.error }
      cause = (current as? PersistenceError)?.underlyingError
    }
    return nil
  }

}

extension NSIncrementalStore {
  /// Calls a function of the store, while no other is called.
  final func calling<Result>(_ body: () throws -> Result) throws(OwnStoreFailure) -> Result {
    calls.lock()
    defer { calls.unlock() }
    do {
      return try body()
    } catch {
      throw OwnStoreFailure(error: error)
    }
  }

  /// Returns the dictionaries of a fetch, as the store makes them.
  final func dictionaries(_ request: NSPersistentStoreRequest) throws -> [NSDictionary] {
    let context = readingContext()
    let rows = KeyValueCoding.elements(of: try calling { try execute(request, with: context) }) ?? []
    return try rows.map { row in
      if let row = row as? NSDictionary { return row }
      if let row = row as? [String: Any] { return NSDictionary(dictionary: row) }
      throw CocoaError.make(.persistentStoreOperation, "The store gives \(Swift.type(of: row)), and not a dictionary.")
    }
  }
}

// MARK: OwnIncrementalStore

/// A store of one's own as the engine of stores sees it.
final class OwnIncrementalStore: IncrementalStore, @unchecked Sendable {
  // `@unchecked Sendable`: the engine calls one function at a time, and only these use the store.

  private let store: NSIncrementalStore
  private let type: StoreType
  private let setup: StoreSetup
  private let model: NSManagedObjectModel
  private weak let coordinator: NSPersistentStoreCoordinator?

  init(
    _ store: NSIncrementalStore,
    _ type: StoreType,
    _ setup: StoreSetup,
    _ coordinator: NSPersistentStoreCoordinator
  ) throws {
    self.store = store
    self.type = type
    self.setup = setup
    self.coordinator = coordinator
    model = coordinator.managedObjectModel
  }

  // MARK: Opening

  func connect() throws -> StoreMetadata? {
    try store.calling { try store.loadMetadata() }
    var metadata = try metadata()
    if metadata.modelVersionHashes.isEmpty {
      // A store that keeps no hashes is of the model that it is opened with.
      for entity in setup.entities { metadata.modelVersionHashes[entity.name] = entity.versionHash }
    }
    let scopes = setup.model.entities.map { ObjectIDScope(storeIdentifier: metadata.identifier, entity: $0) }
    store.makeID = { [weak coordinator] reference, description in
      guard let entity = description.resolved else {
        ProgrammerError.stop("The entity \(description.name ?? "") is of a model that no coordinator has.")
      }
      let id = ManagedObjectID(scope: scopes[entity.ordinal], reference: reference)
      return NSManagedObjectID(id, description, coordinator)
    }
    return metadata
  }

  func create(_ metadata: StoreMetadata) throws {
    throw CocoaError.make(.persistentStoreOpen, "A store of one's own makes itself when it loads its metadata.")
  }

  func disconnect() {}

  func metadata() throws -> StoreMetadata {
    var dictionary = store.givenMetadata
    dictionary[NSStoreTypeKey] = dictionary[NSStoreTypeKey] ?? type.rawValue
    return try StoreMetadata(dictionary, type)
  }

  func dataVersion() throws -> UInt64 { store.versionNumber }

  func changes(since version: UInt64) throws -> [ChangedRecords]? {
    guard let ids = store.renewed(since: version)?.compactMap(\.core) else { return nil }
    return Dictionary(grouping: ids, by: \.entity.ordinal).values.compactMap { ids in
      ids.first.map { ChangedRecords(entity: $0.entity, references: ids.map(\.reference)) }
    }
  }

  func reading<Result>(_ body: () throws -> Result) throws -> Result { try body() }

  // MARK: Ids

  private func id(_ core: ManagedObjectID) -> NSManagedObjectID {
    NSManagedObjectID(core, model.description(of: core.entity), coordinator)
  }

  func newReferences(count: Int, for entity: EntityDescription) throws -> [ReferenceID] {
    let description = model.description(of: entity)
    let named = NamedObjects.take(count, of: description)
    let objects = named?.objects ?? (0..<count).map { _ in NSManagedObject(entity: description, insertInto: nil) }
    let ids = try withExtendedLifetime(named) { try store.calling { try store.obtainPermanentIDs(for: objects) } }
    let references = ids.compactMap { $0.core?.reference }
    guard references.count == count else {
      throw CocoaError.make(
        .persistentStoreSave,
        "The store returned \(references.count) permanent ids for \(count) objects of \(entity.name)."
      )
    }
    return references
  }

  // MARK: Reading

  func load(_ entities: [EntityDescription], into loader: StoreLoader) throws {
    for entity in entities {
      let fetch = try RecordFetch(entity: entity, in: setup.model)
      try load(try self.fetch(fetch) ?? [], of: entity, into: loader)
    }
  }

  func load(_ references: [ReferenceID], of entity: EntityDescription, into loader: StoreLoader) throws {
    let context = store.readingContext()
    let properties = model.description(of: entity).propertiesByName
    for reference in references {
      guard let node = try node(id(loader.objectID(reference, of: entity)), context) else { continue }
      try loader.addNode(reference, to: entity, version: max(node.version, 1)) { draft in
        for (ordinal, property) in entity.properties.enumerated() where !property.isTransient {
          guard let description = properties[property.name],
            let value = unwrapped(try store.value(of: description, in: node, context))
          else { continue }
          try draft.setValue(try stored(value, property, entity), at: ordinal)
        }
      }
    }
  }

  /// Returns the values of a record; nil if there is none.
  private func node(_ id: NSManagedObjectID, _ context: StoreContext) throws -> NSIncrementalStoreNode? {
    do {
      return try store.calling { try store.newValuesForObject(with: id, with: context) }
    } catch {
      let cause = error.error as NSError
      let isMissing = cause.domain == NSCocoaErrorDomain && cause.code == NSManagedObjectReferentialIntegrityError
      if isMissing { return nil }
      throw error
    }
  }

  private func stored(
    _ value: Any,
    _ property: PropertyDescription,
    _ entity: EntityDescription
  ) throws -> PropertyValue {
    switch property {
    case .attribute(let attribute):
      if let stored = StoredValue.propertyValue(value, of: attribute) { return stored }
      throw CocoaError.make(
        .persistentStoreOperation,
        "The store gives \(entity.name).\(attribute.name) a value of the type \(Swift.type(of: value))."
      )
    case .relationship(let relationship):
      let ids = ShownObjects.ids(in: value).compactMap(\.core)
      return relationship.isToMany ? .toMany(ids) : ids.first.map(PropertyValue.toOne) ?? .null
    }
  }

  // MARK: Finding

  func fetch(_ fetch: RecordFetch) throws -> [ReferenceID]? {
    let request = try request(fetch)
    let wantsIDs = RunningFetch.current?.resultType == .managedObjectIDResultType
    request.resultType = wantsIDs ? .managedObjectIDResultType : .managedObjectResultType
    let entity = model.description(of: fetch.entity)
    let found = ShownObjects.ids(in: try execute(request)).filter { $0.entity === entity }.compactMap(\.core?.reference)
    return fetch.limit.map { Array(found.prefix($0)) } ?? found
  }

  func canAnswer(_ fetch: RecordFetch) throws -> Bool { true }

  func count(_ fetch: RecordFetch) throws -> Int? {
    let request = try request(fetch.unlimited(in: setup.model))
    request.resultType = .countResultType
    let result = try execute(request)
    if let number = result as? NSNumber { return number.intValue }
    let elements = KeyValueCoding.elements(of: result) ?? []
    if elements.count == 1, let number = elements[0] as? NSNumber { return number.intValue }
    return elements.count
  }

  func count(of entity: EntityDescription) throws -> Int {
    try count(try RecordFetch(entity: entity, in: setup.model)) ?? 0
  }

  /// All records of a store of one's own are never read if some of them will do.
  func estimatedCount(of entity: EntityDescription) throws -> Int { 1 << 40 }

  /// Returns the request of the application for records of one entity, or one in its form.
  private func request(_ fetch: RecordFetch) throws -> NSFetchRequest<any NSFetchRequestResult> {
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = model.description(of: fetch.entity)
    request.includesSubentities = false
    request.includesPendingChanges = false
    request.affectedStores = [store]
    request.fetchOffset = fetch.offset
    request.fetchLimit = fetch.limit ?? 0
    let running = RunningFetch.current
    request.predicate =
      running?.predicate(for: fetch.predicate) ?? fetch.predicate.map(FormatArguments.predicate(of:))
    request.sortDescriptors = fetch.sortDescriptors.map(PredicateTree.sortDescriptor(of:))
    request.returnsObjectsAsFaults = running?.returnsObjectsAsFaults ?? true
    request.includesPropertyValues = running?.includesPropertyValues ?? true
    return request
  }

  private func execute(_ request: NSPersistentStoreRequest) throws -> Any {
    try store.calling { try store.execute(request, with: store.readingContext()) }
  }

  // MARK: Saving

  func saving<Result>(_ body: () throws -> Result) throws -> Result { try body() }

  func save(_ changes: ChangeSet, over contents: StoreContents) throws {
    let records = try ChangedValues(changes, contents, id)
    let shown = ShownObjects(records.value)
    func objects(_ ids: [ManagedObjectID]) -> Set<NSManagedObject> { Set(ids.map { shown.object(with: id($0)) }) }
    let request = NSSaveChangesRequest(
      inserted: objects(changes.inserted.map(\.objectID)),
      updated: objects(changes.updated.map(\.objectID)),
      deleted: objects(changes.deleted.map(\.objectID)),
      locked: objects(changes.preconditions.map(\.objectID))
    )
    _ = try store.calling {
      try store.execute(request, with: StoreContext(coordinator, showing: shown))
    }
    store.noteSave()
  }

  func saveMetadata(_ metadata: StoreMetadata) throws {
    store.givenMetadata.merge(metadata.dictionary) { _, new in new }
    let request = NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil)
    _ = try store.calling { try store.execute(request, with: store.readingContext()) }
  }
}

extension RecordFetch {
  fileprivate func unlimited(in model: ManagedObjectModel) throws -> RecordFetch {
    try RecordFetch(entity: entity, predicate: predicate, in: model)
  }
}

// MARK: ChangedValues

/// The values of records as a save leaves them.
private final class ChangedValues {
  private var inserted: [NSManagedObjectID: ObjectSnapshot] = [:]
  private var updated: [NSManagedObjectID: RecordUpdate] = [:]
  private let contents: StoreContents
  private let makeID: (ManagedObjectID) -> NSManagedObjectID

  init(
    _ changes: ChangeSet,
    _ contents: StoreContents,
    _ makeID: @escaping (ManagedObjectID) -> NSManagedObjectID
  ) throws {
    self.contents = contents
    self.makeID = makeID
    for snapshot in changes.inserted { inserted[makeID(snapshot.objectID)] = snapshot }
    for update in changes.updated { updated[makeID(update.objectID)] = update }
  }

  func value(of id: NSManagedObjectID, _ key: String) -> Any? {
    guard let core = id.core, let ordinal = core.entity.ordinal(ofProperty: key) else { return nil }
    let value = stored(id, core, ordinal)
    switch core.entity.properties[ordinal] {
    case .attribute(let attribute): return StoredValue.object(value, of: attribute)
    case .relationship: return value.objectIDs.map(makeID)
    }
  }

  private func stored(_ id: NSManagedObjectID, _ core: ManagedObjectID, _ ordinal: Int) -> PropertyValue {
    if let snapshot = inserted[id] { return snapshot.values[ordinal] }
    if let change = updated[id]?.values.first(where: { $0.ordinal == ordinal }) { return change.value }
    // try?: the framework has read the records of a save before; others have no values here.
    return (try? contents.node(core.reference, of: core.entity))?[ordinal] ?? .null
  }
}

// MARK: What runs on the thread

/// The fetch that a context runs on the current thread, so that a store of one's own gets it as the application has
/// made it.
final class RunningFetch {
  let resultType: NSFetchRequestResultType
  let returnsObjectsAsFaults: Bool
  let includesPropertyValues: Bool
  private let given: NSPredicate?
  private let translated: FetchPredicate?

  private static let key = "CoreData.RunningFetch"

  init<Result>(_ request: NSFetchRequest<Result>, _ translated: FetchPredicate?) {
    resultType = request.resultType
    returnsObjectsAsFaults = request.returnsObjectsAsFaults
    includesPropertyValues = request.includesPropertyValues
    given = request.predicate
    self.translated = translated
  }

  static var current: RunningFetch? { Thread.current.threadDictionary[key] as? RunningFetch }

  /// Returns the application's predicate if it means `predicate`.
  func predicate(for predicate: FetchPredicate?) -> NSPredicate? {
    predicate != nil && predicate == translated ? given : nil
  }

  func run<Value>(_ body: () throws -> Value) rethrows -> Value {
    let outer = Self.current
    Thread.current.threadDictionary[Self.key] = self
    defer { Thread.current.threadDictionary[Self.key] = outer }
    return try body()
  }
}

/// The new objects for which the next references are made on the current thread.
struct NamedObjects {
  let objects: [NSManagedObject]
  /// Retained as long as the objects show values.
  private let shown: ShownObjects

  private static let key = "CoreData.NamedObjects"

  static func note(_ ids: [NSManagedObjectID], showing shown: ShownObjects) {
    let objects = ids.map(shown.object(with:))
    Thread.current.threadDictionary[key] = NamedObjects(objects: objects, shown: shown)
  }

  static func take(_ count: Int, of entity: NSEntityDescription) -> NamedObjects? {
    let noted = Thread.current.threadDictionary[key] as? NamedObjects
    Thread.current.threadDictionary[key] = nil
    guard let noted, noted.objects.count == count, noted.objects.allSatisfy({ $0.entity === entity }) else {
      return nil
    }
    return noted
  }
}

extension NSManagedObjectContext {
  /// Returns the function that gives a store of one's own the objects that need ids; nil for other stores.
  final func namingObserver(of core: PersistentStore) -> (([ManagedObject]) -> Void)? {
    guard persistentStoreCoordinator?.ownIncrementalStore(core) != nil else { return nil }
    return { [unowned self] objects in
      NamedObjects.note(objects.map { facade(of: $0).objectID }, showing: ShownObjects(shownValue))
    }
  }

  /// Returns the value of a new object, or of another whose record has been read: stores cannot be read meanwhile.
  private func shownValue(of id: NSManagedObjectID, _ key: String) -> Any? {
    guard let found = id.core.flatMap(core.registeredObject(for:)), let record = found as? CoreObject, !record.isFault,
      let ordinal = record.entity.ordinal(ofProperty: key)
    else { return nil }
    let value = record.value(at: ordinal)
    guard case .attribute(let attribute) = record.entity.properties[ordinal] else {
      return value.objectIDs.map(objectID)
    }
    return StoredValue.object(value, of: attribute)
  }
}

// MARK: Registered objects

/// Tells a store of one's own that a context has an object of a record, and when it no longer has it.
final class StoreRegistration {
  private let store: NSIncrementalStore
  private let id: NSManagedObjectID

  init(_ store: NSIncrementalStore, _ id: NSManagedObjectID) {
    self.store = store
    self.id = id
    store.managedObjectContextDidRegisterObjects(with: [id])
  }

  deinit { store.managedObjectContextDidUnregisterObjects(with: [id]) }
}

extension NSManagedObject {
  /// Tells the store of the record, if it is one of the application's own, that the context has the object.
  final func registerInOwnStore(_ context: NSManagedObjectContext) {
    guard let coordinator = context.persistentStoreCoordinator, coordinator.hasOwnIncrementalStores,
      registration == nil,
      let record, !record.objectID.isTemporaryID
    else { return }
    let id = objectID
    if let store = id.persistentStore as? NSIncrementalStore { registration = StoreRegistration(store, id) }
  }
}
