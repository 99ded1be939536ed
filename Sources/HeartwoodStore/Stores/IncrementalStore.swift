public import HeartwoodModel

/// A store whose records are fetched and saved piecemeal: what the author of a store over a database or a service writes.
///
/// The author answers requests with snapshots. The framework keeps a cache of the records above the store and gives its users
/// the same behaviour as an atomic store's.
public protocol IncrementalStore: StoreClass {
  /// Who the store is, read when it is opened. A new store gives itself an identifier that stays.
  func loadMetadata() throws -> StoreMetadata

  /// Keeps metadata at once.
  func saveMetadata(_ metadata: StoreMetadata) throws

  /// The records that `request` asks for, in the store's order.
  func execute(_ request: StoreFetchRequest) throws -> [ObjectSnapshot]

  /// How many records `request` asks for.
  func count(_ request: StoreFetchRequest) throws -> Int

  /// The values of one record now, or nil where there is none any more.
  func snapshot(of objectID: ManagedObjectID) throws -> ObjectSnapshot?

  /// The references that records of `entity` will be saved under: as many as asked for, none given before.
  func newReferences(count: Int, for entity: EntityDescription) throws -> [ReferenceID]

  /// Saves all changes or none. All ids are permanent.
  ///
  /// - Throws: ``PersistenceError/Code/saveConflict`` where the store has another version of a record than a change was made on.
  func save(_ changes: ChangeSet) throws

  /// Objects of these ids have come into use.
  func didRegisterObjects(with objectIDs: [ManagedObjectID])

  /// Objects of these ids are in use no longer.
  func didUnregisterObjects(with objectIDs: [ManagedObjectID])
}

extension IncrementalStore {
  /// Does nothing.
  public func didRegisterObjects(with objectIDs: [ManagedObjectID]) {}
  /// Does nothing.
  public func didUnregisterObjects(with objectIDs: [ManagedObjectID]) {}
}

/// What an incremental store is asked to fetch.
public struct StoreFetchRequest: Sendable {
  /// The entity whose records are asked for: its own only, without those of subentities.
  public let entity: EntityDescription
  /// What object ids are made with.
  package let scopes: [ObjectIDScope]

  package init(entity: EntityDescription, scopes: [ObjectIDScope]) {
    self.entity = entity
    self.scopes = scopes
  }

  /// The id of the record of `entity` that the store calls `reference`.
  public func objectID(_ reference: ReferenceID, of entity: EntityDescription) -> ManagedObjectID {
    ManagedObjectID(scope: scopes[entity.ordinal], reference: reference)
  }
}
