package import HeartwoodModel

/// What drives one open store. It gives records as rows of tables, whatever the store below speaks.
package protocol StoreEngine: RecordReading, Sendable {
  /// Where the store is, or nil for one without a place.
  var place: StorePlace? { get }
  var metadata: StoreMetadata { get }

  /// Whether the records have other references than they had in the store that this one was converted from.
  var hasRenamedRecords: Bool { get }

  /// Counts the saves: tells whether tables that were read are still the newest.
  var saves: ChangeCounter { get }

  /// Looks whether somebody else has saved, where that can be told without reading the records, and takes what they have saved: a
  /// save that is counted in ``saves``.
  func followOthers() throws(PersistenceError)

  /// What others have saved since this was last asked, as far as it has been noticed; nil where they have not.
  func takeRemoteChanges() -> RemoteChanges?

  /// Saves all changes or none, and gives the inserted records their permanent ids.
  ///
  /// - Parameter origin: who saves, for the history.
  func save(_ changes: ChangeSet, origin: SaveOrigin) throws -> StoreCommit

  /// Changes or deletes many records where the store itself can do that, all or none; nil where they have to be read.
  ///
  /// - Parameter origin: who does it, for the history.
  func execute(_ batch: RecordBatch, origin: SaveOrigin) throws -> RecordBatchResult?

  /// The saves of the store; nil where none are kept.
  func history() throws -> (any KeptHistory)?

  /// Forgets the transactions up to the one that `number` picks from the history, durably; nothing where there is none of them.
  func deleteHistory(through number: (any KeptHistory) throws -> Int64) throws

  /// Refuses all saves from now on, unless there has been one since the save that had `number`; tells whether it does.
  ///
  /// - Parameter number: nil means whatever has been saved.
  func close(unlessSavedSince number: UInt64?) -> Bool

  /// Takes back a ``close(unlessSavedSince:)``.
  func reopen()

  /// Everything that the store keeps.
  ///
  /// - Parameter withUnreadable: whether there may be values that could not be read, which the columns of the tables say; otherwise one of them
  ///   is an error.
  func contents(withUnreadable: Bool) throws -> StoreContents

  /// What is wrong with the store's file beyond what reading all records shows, up to `limit` sentences.
  func fileFaults(limit: Int) throws -> [String]

  /// What of the records cannot be read, up to `limit` of all that are counted.
  func unreadableValues(limit: Int) throws -> UnreadableValues

  /// Sets the user's part of the metadata, to be written with the next save.
  func setUserInfo(_ userInfo: [String: MetadataValue]) throws(PersistenceError)

  /// Saves other metadata.
  func replaceMetadata(_ metadata: StoreMetadata) throws

  /// Whether the user's part of the metadata was set since it was last written.
  var hasUnsavedMetadata: Bool { get }

  /// How many bytes the records that are in memory take, as tables.
  var tableByteCount: Int { get }

  /// How many objects contexts hold of the records, if that matters to the store: it keeps these in memory.
  var heldRecords: HeldRecords? { get }

  /// Whether the records that were read as they were needed take more memory than they are to.
  var keepsTooMuch: Bool { get }

  /// Lets no record be known, unless somebody relies on their rows.
  ///
  /// - Parameter evenHeld: whether that happens also if contexts hold most of them.
  func forgetRecords(evenHeld: Bool)

  /// Lets records stay in their rows as long as the result is held; nil where they always do.
  func keepRows() -> RowKeeper?

  /// The store as it is now, with rows of its own, to be closed by the caller; nil if all records are in memory, or the store cannot keep them.
  func snapshot() throws -> PersistentStore?

  /// What has become of the store's file since it was opened or saved.
  func fileState() throws(PersistenceError) -> StoreFileState

  /// Lets the next save write to `path`.
  func setPath(_ path: String) throws(PersistenceError)
}

extension StoreEngine {
  /// The path of the store's file; nil for a store at another URL, and for one without a place.
  package var path: String? { place?.path }

  /// The place as errors name it.
  package var placeName: String? { place?.description }

  /// Nil: all records are in memory.
  package var heldRecords: HeldRecords? { nil }

  /// False: all records are in memory.
  package var keepsTooMuch: Bool { false }

  /// Does nothing: all records are in memory.
  package func forgetRecords(evenHeld: Bool) {}

  /// Nil: records stay in their rows.
  package func keepRows() -> RowKeeper? { nil }

  /// Nil: all records are in memory.
  package func snapshot() throws -> PersistentStore? { nil }

  /// False: records keep their references.
  package var hasRenamedRecords: Bool { false }

  /// Everything that the store keeps, all of which could be read.
  ///
  /// A history that the store keeps beside its records is not among it.
  package func contents() throws -> StoreContents { try contents(withUnreadable: false) }

  /// Everything that a new store of another type takes over, its history included if that keeps it.
  func contents(takenOverBy setup: StoreSetup, _ description: StoreTypeDescription) throws -> StoreContents {
    var contents = try contents()
    if contents.history == nil, setup.keepsHistory(description) { contents.history = try history()?.pages() }
    return contents
  }

  /// Nil: the records are in memory.
  package func execute(_ batch: RecordBatch, origin: SaveOrigin) throws -> RecordBatchResult? { nil }

  /// None: a file that is read as a whole shows what is wrong with it.
  package func fileFaults(limit: Int) throws -> [String] { [] }

  /// None: what is wrong with a file that is read as a whole is found when it is opened.
  package func unreadableValues(limit: Int) throws -> UnreadableValues { UnreadableValues(limit: limit) }

  /// Does nothing: others are noticed when the store is saved.
  package func followOthers() throws(PersistenceError) {}

  /// Nil: what others save is refused, or found when the store is opened again.
  package func takeRemoteChanges() -> RemoteChanges? { nil }

  package func save(_ changes: ChangeSet) throws -> StoreCommit { try save(changes, origin: SaveOrigin()) }
}

/// What a save did, and the records as it left them: later saves of others do not show.
package struct StoreCommit: Sendable {
  /// The permanent ids of the records that were inserted record by record, by the ids that they came with.
  package let permanentIDs: [ManagedObjectID: ManagedObjectID]
  /// The rows of the inserted records of each entity, by ordinal, in the order of the change set.
  package let insertedRows: [Int: RowRuns]
  /// The records of each entity of the model, indexed by ordinal.
  package let tables: [NodeTable]
  /// The number of the save: ``ChangeCounter/current`` of ``StoreEngine/saves`` until the next one.
  package let number: UInt64
  /// Lets the records stay in these rows as long as somebody has the commit.
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

/// What every engine keeps of its store while that is open.
protocol EngineState {
  var contents: StoreContents { get set }
  /// Whether the user's metadata were set since they were last saved.
  var hasUnsavedMetadata: Bool { get set }
}

extension EngineState {
  /// Changes the metadata, to be written with the next save. No save may be under way: it would put back the metadata that it began with.
  mutating func changeMetadata(_ change: (inout StoreMetadata) -> Void) {
    let userInfo = contents.metadata.userInfo
    change(&contents.metadata)
    if contents.metadata.userInfo != userInfo { hasUnsavedMetadata = true }
  }
}

// MARK: RecordReading

/// What gives records as rows of tables: an open store's engine, and whatever stands for the store above it.
package protocol RecordReading {
  /// What object ids are made with, indexed by entity ordinal.
  var scopes: [ObjectIDScope] { get }

  /// The records of `entity` itself as they are now, safe to read, and so are those that their relationships lead to.
  func table(of entity: EntityDescription) throws -> NodeTable

  /// Whether records are read as they are needed, and not all together.
  var readsAsNeeded: Bool { get }

  /// The records of `entity` itself that have been read so far, and whether those are all: where they are not, ``find(_:)`` and
  /// ``table(of:reading:)`` read further ones, which come behind these.
  func knownTable(of entity: EntityDescription) throws -> (table: NodeTable, isWhole: Bool)

  /// The records that have been read so far, with those that `references` name.
  func table(of entity: EntityDescription, reading references: [ReferenceID]) throws -> NodeTable

  /// What a fetch finds, where the store itself can tell and has not been read wholly; nil otherwise.
  func find(_ fetch: RecordFetch) throws -> FoundRecords?

  /// How many records a fetch finds; nil as with ``find(_:)``.
  func count(_ fetch: RecordFetch) throws -> Int?

  /// How the store would find them; nil as with ``find(_:)``.
  func queryPlan(_ fetch: RecordFetch) throws -> QueryPlan.Step?

  /// The groups that records make, where the store itself can make them and has not been read wholly; nil otherwise.
  func groups(_ fetch: GroupFetch) throws -> [RecordGroup]?

  /// How the store would make them; nil as with ``groups(_:)``.
  func queryPlan(_ fetch: GroupFetch) throws -> QueryPlan.Step?

  /// How many records of `entity` itself there are, without reading them where that can be told.
  func count(of entity: EntityDescription) throws -> Int

  /// Names for records of `entity` that a later save will insert: no others get them.
  func newReferences(count: Int, for entity: EntityDescription) throws(PersistenceError) -> ReferenceColumn
}

/// What holds where all records are read together.
extension RecordReading {
  package var readsAsNeeded: Bool { false }

  /// All records.
  package func knownTable(of entity: EntityDescription) throws -> (table: NodeTable, isWhole: Bool) {
    (try table(of: entity), true)
  }

  /// All records.
  package func table(of entity: EntityDescription, reading references: [ReferenceID]) throws -> NodeTable {
    try table(of: entity)
  }

  /// Nil: the tables are searched.
  package func find(_ fetch: RecordFetch) throws -> FoundRecords? { nil }

  /// Nil: the tables are searched.
  package func count(_ fetch: RecordFetch) throws -> Int? { nil }

  /// Nil: the tables are searched.
  package func queryPlan(_ fetch: RecordFetch) throws -> QueryPlan.Step? { nil }

  /// Nil: groups are made of the tables.
  package func groups(_ fetch: GroupFetch) throws -> [RecordGroup]? { nil }

  /// Nil: groups are made of the tables.
  package func queryPlan(_ fetch: GroupFetch) throws -> QueryPlan.Step? { nil }
}
