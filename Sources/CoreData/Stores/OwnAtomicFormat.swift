import Foundation
import HeartwoodModel
import HeartwoodStore

/// The format of stores of one's own: subclasses of NSAtomicStore that are registered by the name of a type.
struct OwnAtomicFormat: AtomicStoreFormat {
  private let storeClass: NSAtomicStore.Type
  let typeDescription: StoreTypeDescription

  init(_ storeClass: NSAtomicStore.Type, _ type: String) {
    self.storeClass = storeClass
    typeDescription = StoreTypeDescription(ownType: type, .atomic)
  }

  func makeStore(_ setup: StoreSetup) throws -> any AtomicStore {
    guard let opening = StoreOpening.current, let url = setup.place?.url else {
      throw CocoaError.make(.persistentStoreOpen, "A store of the type \(typeDescription.type) needs a file.")
    }
    let store = storeClass.init(
      persistentStoreCoordinator: opening.coordinator,
      configurationName: setup.configurationName,
      at: url,
      options: opening.options
    )
    opening.store = store
    let adapter = try OwnAtomicStore(store, setup, opening.coordinator)
    if isNew(url) { try adapter.begin() }
    return adapter
  }

  /// Whether there is no file, or an empty one: the engine does not read it.
  private func isNew(_ url: URL) -> Bool {
    // try?: a file without attributes is not there.
    let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
    return (attributes?[.size] as? NSNumber)?.intValue ?? 0 == 0
  }

  func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    let dictionary = try storeClass.metadataForPersistentStore(with: URL(fileURLWithPath: file.path))
    return try StoreMetadata(dictionary, typeDescription.type)
  }
}

extension StoreTypeDescription {
  /// The description of a store type of one's own, of which no more than its kind is known.
  init(ownType type: String, _ kind: StoreCapabilities.Kind) {
    self.init(
      type: StoreType(type),
      displayName: type,
      capabilities: StoreCapabilities(
        kind: kind,
        features: [.persistence, .relationships, .userMetadata],
        attributeTypes: Set(AttributeType.allCases),
        referenceKinds: [.uuid, .integer, .string]
      )
    )
  }
}

extension StoreMetadata {
  /// Reads metadata that a store of one's own has given.
  ///
  /// - Throws: a `CocoaError` if the type or the identifier is missing.
  init(_ dictionary: [String: Any], _ type: StoreType) throws {
    guard dictionary[NSStoreTypeKey] is String else {
      throw CocoaError.make(.persistentStoreOpen, "The metadata of the store have nothing under NSStoreTypeKey.")
    }
    guard let identifier = (dictionary[NSStoreUUIDKey] as? String).flatMap(UUID.init(uuidString:)) else {
      throw CocoaError.make(.persistentStoreOpen, "The metadata of the store have no UUID under NSStoreUUIDKey.")
    }
    self.init(
      identifier: identifier,
      storeType: type,
      modelVersionHashes: dictionary[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:],
      modelVersionIdentifiers: dictionary[NSStoreModelVersionIdentifiersKey] as? [String] ?? [],
      userInfo: try Self.userInfo(in: dictionary)
    )
  }
}

// MARK: StoreOpening

/// A store that a coordinator is opening: what the store of one's own is made with, and the store.
final class StoreOpening {
  let coordinator: NSPersistentStoreCoordinator
  let options: [AnyHashable: Any]?
  /// The URL of a store whose place Heartwood does not know.
  let url: URL?
  var store: NSPersistentStore?

  private static let key = "CoreData.StoreOpening"

  init(_ coordinator: NSPersistentStoreCoordinator, _ options: [AnyHashable: Any]?, _ url: URL?) {
    self.coordinator = coordinator
    self.url = url
    self.options = options
  }

  /// The store that the current thread is opening.
  static var current: StoreOpening? { Thread.current.threadDictionary[key] as? StoreOpening }

  func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    let outer = Self.current
    Thread.current.threadDictionary[Self.key] = self
    defer { Thread.current.threadDictionary[Self.key] = outer }
    return try body()
  }
}

// MARK: OwnAtomicStore

/// A store of one's own as the engine of stores sees it.
final class OwnAtomicStore: AtomicStore, @unchecked Sendable {
  // `@unchecked Sendable`: the engine calls one function at a time, and only these use the store.

  private let store: NSAtomicStore
  private let model: NSManagedObjectModel
  private weak let coordinator: NSPersistentStoreCoordinator?
  /// The versions of the records that have nodes.
  private var versions: [NSManagedObjectID: UInt64] = [:]

  init(_ store: NSAtomicStore, _ setup: StoreSetup, _ coordinator: NSPersistentStoreCoordinator) throws {
    self.store = store
    self.coordinator = coordinator
    let own = coordinator.managedObjectModel
    // A migration opens a store with the model that it was written with.
    model = own.resolved === setup.model ? own : NSManagedObjectModel(setup.model)
    _ = try model.freeze()
  }

  // MARK: Loading

  /// Calls the store's loading methods for a file that does not exist yet, so that it can prepare itself.
  func begin() throws {
    try store.loadMetadata()
    try store.load()
  }

  func load(_ file: StoreInput, into loader: StoreLoader) throws {
    try store.loadMetadata()
    loader.metadata = try StoreMetadata(store.givenMetadata, loader.metadata.storeType)
    if loader.metadata.modelVersionHashes.isEmpty {
      // A store that keeps no hashes is of the model that it is opened with.
      for entity in loader.entities { loader.metadata.modelVersionHashes[entity.name] = entity.versionHash }
    }
    let identifier = loader.metadata.identifier
    let scopes = loader.model.entities.map { ObjectIDScope(storeIdentifier: identifier, entity: $0) }
    makeIDs { ManagedObjectID(scope: scopes[$1.ordinal], reference: $0) }
    try store.load()
    for node in store.cacheNodes() { try add(node, to: loader) }
  }

  private func makeIDs(_ make: @escaping (ReferenceID, EntityDescription) -> ManagedObjectID) {
    store.makeID = { [weak coordinator] reference, description in
      guard let entity = description.resolved else {
        ProgrammerError.stop("The entity \(description.name ?? "") is of a model that no coordinator has.")
      }
      return NSManagedObjectID(make(reference, entity), description, coordinator)
    }
  }

  private func add(_ node: NSAtomicStoreCacheNode, to loader: StoreLoader) throws {
    guard let id = node.objectID.core else { return }
    let entity = try loader.entity(named: id.entity.name)
    versions[node.objectID] = 1
    try loader.addNode(id.reference, to: entity) { draft in
      for (ordinal, property) in entity.properties.enumerated() where !property.isTransient {
        guard let value = unwrapped(node.value(forKey: property.name)) else { continue }
        try draft.setValue(try stored(value, property, entity), at: ordinal)
      }
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
        "The store gives \(entity.name).\(attribute.name) a value of the type \(type(of: value))."
      )
    case .relationship(let relationship):
      let elements = KeyValueCoding.elements(of: value) ?? [value]
      let ids = elements.compactMap {
        ($0 as? NSAtomicStoreCacheNode)?.objectID.core ?? ($0 as? NSManagedObjectID)?.core
      }
      return relationship.isToMany ? .toMany(ids) : ids.first.map(PropertyValue.toOne) ?? .null
    }
  }

  // MARK: Saving

  func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    let records = SavedRecords(contents, model, coordinator)
    makeIDs(contents.objectID)
    let known = versions
    versions = records.versions
    let ids = Set(versions.keys)
    store.update(
      inserted: ids.subtracting(known.keys).compactMap(records.object),
      updated: ids.filter { known[$0] != nil && known[$0] != versions[$0] }.compactMap(records.object),
      keeping: ids
    )
    store.givenMetadata.merge(contents.metadata.dictionary) { _, new in new }
    try output.write(try writtenBytes())
  }

  /// Lets the store write a file, and returns its bytes: the engine puts them in the place of the store's at once.
  private func writtenBytes() throws -> [UInt8] {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("CoreData-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer {
      // try?: a folder that is left is harmless.
      try? FileManager.default.removeItem(at: folder)
    }
    store.writingURL = folder.appendingPathComponent(store.url?.lastPathComponent ?? "store")
    defer { store.writingURL = nil }
    try store.save()
    guard let url = store.writingURL else { return [] }
    return [UInt8](try Data(contentsOf: url))
  }
}

// MARK: SavedRecords

/// The records of a save as objects in no context, for a store of one's own.
private final class SavedRecords {
  private var nodes: [NSManagedObjectID: AtomicStoreCacheNode] = [:]
  private var objects: [NSManagedObjectID: NSManagedObject] = [:]
  private let model: NSManagedObjectModel
  private let coordinator: NSPersistentStoreCoordinator?

  init(_ contents: StoreContents, _ model: NSManagedObjectModel, _ coordinator: NSPersistentStoreCoordinator?) {
    self.model = model
    self.coordinator = coordinator
    for node in contents.nodes { nodes[id(node.objectID)] = node }
  }

  var versions: [NSManagedObjectID: UInt64] { nodes.mapValues(\.version) }

  private func id(_ core: ManagedObjectID) -> NSManagedObjectID {
    NSManagedObjectID(core, model.description(of: core.entity), coordinator)
  }

  func object(_ id: NSManagedObjectID) -> NSManagedObject? {
    if let object = objects[id] { return object }
    guard let node = nodes[id] else { return nil }
    let object = id.entity.objectClass.init(entity: id.entity, insertInto: nil)
    objects[id] = object
    object.detached?.show(id) { [weak self] key in self?.value(key, node) }
    return object
  }

  private func value(_ key: String, _ node: AtomicStoreCacheNode) -> Any? {
    guard let ordinal = node.entity.ordinal(ofProperty: key) else { return nil }
    switch node.entity.properties[ordinal] {
    case .attribute(let attribute): return StoredValue.object(node[ordinal], of: attribute)
    case .relationship(let relationship):
      let related = node[ordinal].objectIDs.compactMap { object(id($0)) }
      if !relationship.isToMany { return related.first }
      return relationship.isOrdered ? NSOrderedSet(array: related) : NSSet(array: related)
    }
  }
}
