package import HeartwoodModel

/// Drives one open store. It returns records as rows of tables, whatever the store below uses.
package protocol StoreEngine: RecordReading, Sendable {
  /// Where the store is, or nil for one without a place.
  var place: StorePlace? { get }
  var metadata: StoreMetadata { get }

  /// Whether the records have other references than in the store that this one was converted from.
  var hasRenamedRecords: Bool { get }

  /// Counts the saves. Its number shows whether tables that were read are still the newest.
  var saves: ChangeCounter { get }

  /// Checks whether another process has saved, if that is possible without reading the records, and takes over what it
  /// has saved: a save that is counted in ``saves``.
  func followOthers() throws(PersistenceError)

  /// Returns what other processes have saved since the last call, as far as it has been noticed; nil if they have not
  /// saved.
  func takeRemoteChanges() -> RemoteChanges?

  /// Saves all changes or none, and gives the inserted records their permanent ids.
  ///
  /// - Parameter origin: the origin of the save, for the history.
  func save(_ changes: ChangeSet, origin: SaveOrigin) throws -> StoreCommit

  /// Changes or deletes many records if the store itself can do that, all or none; nil if they have to be read.
  ///
  /// - Parameter origin: the origin of the save, for the history.
  func execute(_ batch: RecordBatch, origin: SaveOrigin) throws -> RecordBatchResult?

  /// Returns the history of the store; nil if it keeps none.
  func history() throws -> (any KeptHistory)?

  /// Removes the transactions up to the one that `number` selects from the history, durably; does nothing if there are
  /// none.
  func deleteHistory(through number: (any KeptHistory) throws -> Int64) throws

  /// Refuses all saves from now on, unless there has been one since the save that had `number`; returns whether it
  /// does.
  ///
  /// - Parameter number: nil means whatever has been saved.
  func close(unlessSavedSince number: UInt64?) -> Bool

  /// Reverts a ``close(unlessSavedSince:)``.
  func reopen()

  /// Returns everything that the store keeps.
  ///
  /// - Parameter withUnreadable: whether there may be values that could not be read, which are marked in the columns of
  ///   the tables; otherwise one of them is an error.
  func contents(withUnreadable: Bool) throws -> StoreContents

  /// Returns what has been read so far, all of it of one moment. Records are only added to it, at the end of their
  /// tables, as long as ``keepRows()`` keeps them there.
  func knownContents() throws -> StoreContents

  /// Returns up to `limit` sentences about faults of the store's file that reading all records does not reveal.
  func fileFaults(limit: Int) throws -> [String]

  /// Returns the values that cannot be read, up to `limit` of all that are counted.
  func unreadableValues(limit: Int) throws -> UnreadableValues

  /// Rebuilds the store without what earlier saves have left in it, such as former versions of records or free pages.
  ///
  /// - Returns: whether that was done; false if saves of this type leave nothing.
  func compact() throws -> Bool

  /// Sets the user's part of the metadata, to be written with the next save.
  func setUserInfo(_ userInfo: [String: MetadataValue]) throws(PersistenceError)

  /// Saves other metadata.
  func replaceMetadata(_ metadata: StoreMetadata) throws

  /// Whether the user's part of the metadata was set since it was last written.
  var hasUnsavedMetadata: Bool { get }

  /// The number of bytes that the records in memory take, as tables.
  var tableByteCount: Int { get }

  /// The number of objects that contexts hold for the records, if that matters to the store: it keeps these in memory.
  var heldRecords: HeldRecords? { get }

  /// Whether the records that were read on demand take more memory than they should.
  var keepsTooMuch: Bool { get }

  /// Forgets all records, unless something relies on their rows.
  ///
  /// - Parameter evenHeld: whether to do so even if contexts hold most of them.
  func forgetRecords(evenHeld: Bool)

  /// Keeps records in their rows as long as the result is held; nil if they always stay.
  func keepRows() -> RowKeeper?

  /// Whether the store itself finds the records of a fetch in their order, so that ``references(_:)`` has them.
  func findsReferences(_ fetch: RecordFetch) throws -> Bool

  /// Returns the references of the records that a fetch finds, in its order, without reading the records; nil if the
  /// store does not find them itself.
  func references(_ fetch: RecordFetch) throws -> [ReferenceID]?

  /// Returns the store as it is now, with rows of its own, to be closed by the caller; nil if all records are in
  /// memory, or if the store cannot keep a snapshot.
  func snapshot() throws -> PersistentStore?

  /// Returns what has happened to the store's file since it was opened or saved.
  func fileState() throws(PersistenceError) -> StoreFileState

  /// Makes the next save write to `path`.
  func setPath(_ path: String) throws(PersistenceError)
}

extension StoreEngine {
  /// The path of the store's file; nil for a store at another URL, and for one without a place.
  package var path: String? { place?.path }

  /// The place as errors name it.
  package var placeName: String? { place?.description }

  /// Returns everything: all records are in memory.
  package func knownContents() throws -> StoreContents { try contents(withUnreadable: true) }

  /// Nil: all records are in memory.
  package var heldRecords: HeldRecords? { nil }

  /// False: all records are in memory.
  package var keepsTooMuch: Bool { false }

  /// Returns false: the records are in memory.
  package func findsReferences(_ fetch: RecordFetch) throws -> Bool { false }

  /// Returns nil: the records are in memory.
  package func references(_ fetch: RecordFetch) throws -> [ReferenceID]? { nil }

  /// Does nothing: all records are in memory.
  package func forgetRecords(evenHeld: Bool) {}

  /// Returns nil: records stay in their rows.
  package func keepRows() -> RowKeeper? { nil }

  /// Returns nil: all records are in memory.
  package func snapshot() throws -> PersistentStore? { nil }

  /// False: records keep their references.
  package var hasRenamedRecords: Bool { false }

  /// Returns everything that the store keeps, all of which could be read.
  ///
  /// A history that the store keeps beside its records is not included.
  package func contents() throws -> StoreContents { try contents(withUnreadable: false) }

  /// Returns everything that a new store of another type takes over, with the history if that type keeps it.
  func contents(takenOverBy setup: StoreSetup, _ description: StoreTypeDescription) throws -> StoreContents {
    var contents = try contents()
    if contents.history == nil, setup.keepsHistory(description) { contents.history = try history()?.pages() }
    return contents
  }

  /// Returns nil: the records are in memory.
  package func execute(_ batch: RecordBatch, origin: SaveOrigin) throws -> RecordBatchResult? { nil }

  /// Returns none: a file that is read as a whole shows its faults then.
  package func fileFaults(limit: Int) throws -> [String] { [] }

  /// Returns none: faults of a file that is read as a whole are found when it is opened.
  package func unreadableValues(limit: Int) throws -> UnreadableValues { UnreadableValues(limit: limit) }

  /// Returns false: each save writes the whole file.
  package func compact() throws -> Bool { false }

  /// Does nothing: changes by other processes are noticed when the store is saved.
  package func followOthers() throws(PersistenceError) {}

  /// Returns nil: what other processes save is refused, or found when the store is opened again.
  package func takeRemoteChanges() -> RemoteChanges? { nil }

  package func save(_ changes: ChangeSet) throws -> StoreCommit { try save(changes, origin: SaveOrigin()) }
}

/// The result of a save, and the records as it left them: later saves by others do not show.
package struct StoreCommit: Sendable {
  /// The permanent ids of the records that were inserted record by record, by the ids that they came with.
  package let permanentIDs: [ManagedObjectID: ManagedObjectID]
  /// The rows of the inserted records of each entity, by ordinal, in the order of the change set.
  package let insertedRows: [Int: RowRuns]
  /// The records of each entity of the model, indexed by ordinal.
  package let tables: [NodeTable]
  /// The number of the save: ``ChangeCounter/current`` of ``StoreEngine/saves`` until the next one.
  package let number: UInt64
  /// Keeps the records in these rows as long as the commit exists.
  var keeper: RowKeeper?

  package init(
    permanentIDs: [ManagedObjectID: ManagedObjectID],
    insertedRows: [Int: RowRuns],
    tables: [NodeTable],
    number: UInt64
  ) {
    self.permanentIDs = permanentIDs
    self.insertedRows = insertedRows
    self.tables = tables
    self.number = number
  }
}

// MARK: EngineState

/// The state that every engine keeps of its store while that is open.
protocol EngineState {
  var contents: StoreContents { get set }
  /// Whether metadata were set since they were last saved.
  var hasUnsavedMetadata: Bool { get set }
}

extension EngineState {
  /// Changes the metadata, to be written with the next save. No save may be under way: it would put back the metadata that it began with.
  mutating func changeMetadata(_ change: (inout StoreMetadata) -> Void) {
    let before = contents.metadata
    change(&contents.metadata)
    if contents.metadata != before { hasUnsavedMetadata = true }
  }
}

// MARK: RecordReading

/// Reads records as rows of tables. An open store's engine conforms to it, and so do types that stand for the store
/// above it.
package protocol RecordReading {
  /// The scopes that object ids are made with, indexed by entity ordinal.
  var scopes: [ObjectIDScope] { get }

  /// Returns the present records of `entity` itself, safe to read, as are those that their relationships refer to.
  func table(of entity: EntityDescription) throws -> NodeTable

  /// Whether records are read as they are needed, and not all together.
  var readsAsNeeded: Bool { get }

  /// Returns the records of `entity` itself that have been read so far, and whether those are all: if not, ``find(_:)``
  /// and ``table(of:reading:)`` read further ones, which come after these.
  func knownTable(of entity: EntityDescription) throws -> (table: NodeTable, isWhole: Bool)

  /// Returns the records that have been read so far, with those that have `references`.
  func table(of entity: EntityDescription, reading references: [ReferenceID]) throws -> NodeTable

  /// Returns the results of a fetch, if the store itself can evaluate it and has not been read wholly; nil otherwise.
  func find(_ fetch: RecordFetch) throws -> FoundRecords?

  /// Returns the number of records that a fetch finds; nil as with ``find(_:)``.
  func count(_ fetch: RecordFetch) throws -> Int?

  /// Returns how the store would find them; nil as with ``find(_:)``.
  func queryPlan(_ fetch: RecordFetch) throws -> QueryPlan.Step?

  /// Returns the groups of records, if the store itself can form them and has not been read wholly; nil otherwise.
  func groups(_ fetch: GroupFetch) throws -> [RecordGroup]?

  /// Returns how the store would form them; nil as with ``groups(_:)``.
  func queryPlan(_ fetch: GroupFetch) throws -> QueryPlan.Step?

  /// Returns the number of records of `entity` itself, without reading them if that is possible.
  func count(of entity: EntityDescription) throws -> Int

  /// Returns references for records of `entity` that a later save will insert: no others get them.
  func newReferences(count: Int, for entity: EntityDescription) throws(PersistenceError) -> ReferenceColumn
}

/// Defaults for readers that read all records together.
extension RecordReading {
  package var readsAsNeeded: Bool { false }

  /// Returns all records.
  package func knownTable(of entity: EntityDescription) throws -> (table: NodeTable, isWhole: Bool) {
    (try table(of: entity), true)
  }

  /// Returns all records.
  package func table(of entity: EntityDescription, reading references: [ReferenceID]) throws -> NodeTable {
    try table(of: entity)
  }

  /// Returns nil: the tables are searched.
  package func find(_ fetch: RecordFetch) throws -> FoundRecords? { nil }

  /// Returns nil: the tables are searched.
  package func count(_ fetch: RecordFetch) throws -> Int? { nil }

  /// Returns nil: the tables are searched.
  package func queryPlan(_ fetch: RecordFetch) throws -> QueryPlan.Step? { nil }

  /// Returns nil: groups are formed from the tables.
  package func groups(_ fetch: GroupFetch) throws -> [RecordGroup]? { nil }

  /// Returns nil: groups are formed from the tables.
  package func queryPlan(_ fetch: GroupFetch) throws -> QueryPlan.Step? { nil }
}
