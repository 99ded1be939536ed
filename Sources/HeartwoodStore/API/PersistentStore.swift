public import HeartwoodFoundation
public import HeartwoodModel
import Synchronization

/// An open store, as a coordinator returns it.
///
/// All store types have the same interface; they differ in their ``typeDescription`` only.
public final class PersistentStore: Sendable {
  /// The type of the store and what it can do.
  public let typeDescription: StoreTypeDescription
  /// The configuration whose entities the store keeps; nil means all.
  public let configurationName: String?
  /// The settings that the store was opened with.
  public let options: StoreOptions
  /// The entities that the store keeps, in the order of the model.
  public let entities: [EntityDescription]
  package let engine: any StoreEngine
  private let successor = Mutex<PersistentStore?>(nil)

  init(engine: any StoreEngine, setup: StoreSetup, typeDescription: StoreTypeDescription) {
    self.engine = engine
    self.typeDescription = typeDescription
    self.configurationName = setup.configurationName
    self.options = setup.options
    self.entities = setup.entities
  }
}

extension PersistentStore {
  /// The type of the store.
  public var type: StoreType { typeDescription.type }
  /// What the store can do.
  public var capabilities: StoreCapabilities { typeDescription.capabilities }

  /// The place of the store; nil for a store without a place, such as one in memory.
  public var place: StorePlace? { engine.place }

  /// The path of the store's file; nil for a store at another URL, and for a store without a place.
  public var path: String? { place?.path }

  /// The place as errors name it.
  package var placeName: String? { place?.description }

  /// Whether the store was opened for reading only.
  public var isReadOnly: Bool { options[.isReadOnly] }

  /// Whether each save is recorded as a transaction in the store's history.
  public var tracksPersistentHistory: Bool { options[.tracksPersistentHistory] }

  /// The metadata of the store: its identifier, the version of its model, and values of the application. It does no
  /// I/O.
  public var metadata: StoreMetadata { engine.metadata }

  /// The identifier of the store, which is part of its objects' URIs.
  public var identifier: UUID { metadata.identifier }

  /// Sets the values that the application keeps with the store. They are written by the next save that changes a record
  /// of the store, or by a save of its document; saving a context without changes writes nothing.
  ///
  /// - Throws: ``PersistenceError/Code/capabilityMissing`` if the store's format cannot keep such values,
  ///   ``PersistenceError/Code/storeReadOnly`` if the store was opened for reading only.
  public func setUserInfo(_ userInfo: [String: MetadataValue]) throws(PersistenceError) {
    try engine.setUserInfo(userInfo)
  }

  /// Whether ``setUserInfo(_:)`` has set values that no save has written yet.
  public var hasUnsavedMetadata: Bool { engine.hasUnsavedMetadata }

  /// The number of bytes in memory of the records that the store has read, as tables.
  ///
  /// Bytes of a mapped file count, even if they have not been accessed. Indexes and registered objects are not
  /// included. O(records / 65,536).
  public var recordByteCount: Int { engine.tableByteCount }

  /// Returns what has happened to the store's file since the store was opened or last saved. It asks the file system,
  /// and reads no file.
  public func fileState() throws(PersistenceError) -> StoreFileState { try engine.fileState() }
}

// MARK: Conversion

extension PersistentStore {
  /// The store that this one was converted to, at the end of all conversions; nil if there was none. It has the same
  /// identifier, and the same records in the same rows.
  package var newestSuccessor: PersistentStore? {
    let next = successor.withLock { $0 }
    return next?.newestSuccessor ?? next
  }

  /// The store that has the records of this one now: the one that it was converted to, or itself.
  package var newest: PersistentStore { newestSuccessor ?? self }

  /// Sets the store that this one was converted to; nil removes it.
  package func setSuccessor(_ store: PersistentStore?) {
    successor.withLock { $0 = store }
  }
}

// MARK: Record reading

/// The records that the engine reads.
extension PersistentStore: RecordReading {
  package var scopes: [ObjectIDScope] { engine.scopes }
  package var readsAsNeeded: Bool { engine.readsAsNeeded }

  package func table(of entity: EntityDescription) throws -> NodeTable { try engine.table(of: entity) }
  package func count(of entity: EntityDescription) throws -> Int { try engine.count(of: entity) }

  package func knownTable(of entity: EntityDescription) throws -> (table: NodeTable, isWhole: Bool) {
    try engine.knownTable(of: entity)
  }

  package func table(of entity: EntityDescription, reading references: [ReferenceID]) throws -> NodeTable {
    try engine.table(of: entity, reading: references)
  }

  package func find(_ fetch: RecordFetch) throws -> FoundRecords? { try engine.find(fetch) }
  package func count(_ fetch: RecordFetch) throws -> Int? { try engine.count(fetch) }
  package func queryPlan(_ fetch: RecordFetch) throws -> QueryPlan.Step? { try engine.queryPlan(fetch) }
  package func groups(_ fetch: GroupFetch) throws -> [RecordGroup]? { try engine.groups(fetch) }
  package func queryPlan(_ fetch: GroupFetch) throws -> QueryPlan.Step? { try engine.queryPlan(fetch) }

  package func newReferences(count: Int, for entity: EntityDescription) throws(PersistenceError) -> ReferenceColumn {
    try engine.newReferences(count: count, for: entity)
  }
}
