package import HeartwoodModel

/// What drives one open store. It gives records as rows of tables, whatever the store below speaks.
package protocol StoreEngine: RecordReading, Sendable {
  /// The path of the store's file, or nil for one without.
  var path: String? { get }
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
  func execute(_ batch: RecordBatch) throws -> BatchedRecords?

  /// The saves of the store; nil where none are kept.
  func history() throws -> StoreHistory?

  /// Forgets the transactions up to the one that `number` picks from the history, durably; nothing where there is none of them.
  func deleteHistory(through number: (StoreHistory) throws -> Int64) throws

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

  /// What has become of the store's file since it was opened or saved.
  func fileState() throws(PersistenceError) -> StoreFileState

  /// Lets the next save write to `path`.
  func setPath(_ path: String) throws(PersistenceError)
}

extension StoreEngine {
  /// False: records keep their references.
  package var hasRenamedRecords: Bool { false }

  /// Everything that the store keeps, all of which could be read.
  package func contents() throws -> StoreContents { try contents(withUnreadable: false) }

  /// Nil: the records are in memory.
  package func execute(_ batch: RecordBatch) throws -> BatchedRecords? { nil }

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
