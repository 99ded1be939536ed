public import HeartwoodModel

/// A store that reads and saves single records: what you implement for a database, a folder of files or a service.
///
/// The store reads records, all of an entity or by their references, and writes those that change. The framework does
/// faulting, relationships, conflict detection, uniqueness, and finding out what other processes have saved. It keeps
/// the records that it has read in tables, as it does with those of an ``AtomicStore``.
///
/// A store can implement further methods for what it does better itself: finding and counting records, making groups,
/// changing and deleting many records at once, listing what others have changed, keeping a snapshot, allowing reads
/// during a save, and examining its file. Each of these methods is optional. If it is not implemented or returns nil,
/// the framework does the work with the records in memory, and the result is the same.
///
///     final class FolderStore: IncrementalStore, StoreClass {
///       static let typeDescription = StoreTypeDescription(type: "Folder", …)
///       init(_ setup: StoreSetup) { … }
///       func connect() throws -> StoreMetadata? { … }
///       func load(_ entities: [EntityDescription], into loader: StoreLoader) throws {
///         for … { try loader.addNode(reference, to: entity, version: …) { node in try node.setValue(…, forKey: …) } }
///       }
///       func load(_ references: [ReferenceID], of entity: EntityDescription, into loader: StoreLoader) throws { … }
///       func save(_ changes: ChangeSet, over contents: StoreContents) throws {
///         for record in changes.inserted { … }
///         …
///       }
///     }
///
/// The framework calls one method at a time, on any thread; calls of ``reading(_:)`` and ``saving(_:)`` enclose others.
/// It calls ``create(_:)`` if a store that does not exist yet is opened for writing, or is to get the records of
/// another store.
///
/// <doc:WriteAnIncrementalStore> explains each required method, and <doc:DoMoreInYourStore> the optional ones.
public protocol IncrementalStore: AnyObject, Sendable {
  /// Connects to the store, and returns its metadata; returns nil if there is no store yet.
  ///
  /// It is called first, and once more if ``create(_:)`` has thrown ``PersistenceError/Code/fileExists``. If it throws,
  /// it must release all files and connections before: ``disconnect()`` is not called then.
  func connect() throws -> StoreMetadata?

  /// Creates a store without records. It is called if ``connect()`` returned nil, but not for a store that is opened
  /// for reading only.
  ///
  /// - Throws: ``PersistenceError/Code/fileExists`` if another process has created the store meanwhile. ``connect()``
  ///   is then called again.
  func create(_ metadata: StoreMetadata) throws

  /// Releases the files or connections. No other method is called afterwards.
  func disconnect()

  /// Returns a number that changes when another process, or another open store, has saved. It should be quick: every
  /// fetch calls it.
  ///
  /// If it is called within ``saving(_:)`` after everything was saved, it must return the number that the store has
  /// after the save. Otherwise the framework takes the save for one of another process, and reads the records again.
  func dataVersion() throws -> UInt64

  /// Calls `body`, which reads, and makes sure that everything that it reads is from the same moment.
  func reading<Result>(_ body: () throws -> Result) throws -> Result

  /// Returns the present metadata: the store's identifier and model version, and the values that the application keeps
  /// with it.
  func metadata() throws -> StoreMetadata

  /// Reads all records of `entities`, each with its version, and adds them to `loader`.
  func load(_ entities: [EntityDescription], into loader: StoreLoader) throws

  /// Reads the records of `entity` itself with the given `references`, each of them once. References without a record
  /// are skipped.
  func load(_ references: [ReferenceID], of entity: EntityDescription, into loader: StoreLoader) throws

  /// Returns the number of records of `entity` itself, without reading them.
  func count(of entity: EntityDescription) throws -> Int

  /// Returns about how many records of `entity` itself there are. The framework uses it to decide whether reading all
  /// of them is quicker. The default is ``count(of:)``.
  func estimatedCount(of entity: EntityDescription) throws -> Int

  /// Returns new references for records of `entity` that a later save will insert.
  ///
  /// No other record may get one of them, in any process, not even after these records were deleted: otherwise an id
  /// that an application has kept would refer to another record.
  func newReferences(count: Int, for entity: EntityDescription) throws -> [ReferenceID]

  /// Calls `body`, which saves, while no other process can save. Everything that it has saved is durable when the
  /// method returns; nothing is kept if it throws.
  ///
  /// A store that cannot keep others from saving, such as one over a service or a database, may collect what `body`
  /// saves, and discard it if others have changed one of these records, or one of the ``ChangeSet/preconditions``,
  /// since `body` began. It then calls `body` again, which checks ``dataVersion()``, reads what others have saved, and
  /// finds the conflicts.
  func saving<Result>(_ body: () throws -> Result) throws -> Result

  /// Saves changes. It is called within ``saving(_:)``. All ids are permanent, and the framework has compared the
  /// versions.
  ///
  /// - Parameters:
  ///   - changes: the changes. A new record comes with its version; an update raises the version that it was based on
  ///     by 1. The preconditions are met as of what was read; a store that allows others to save at the same time must
  ///     make sure that they still are.
  ///   - contents: the records before the changes.
  func save(_ changes: ChangeSet, over contents: StoreContents) throws

  /// Saves the metadata, in place of the present metadata. It is called within ``saving(_:)``.
  func saveMetadata(_ metadata: StoreMetadata) throws

  /// Whether a save replaces the store's file by another one. If false, another file at the store's place is another
  /// store, and nothing is saved to it.
  var savesReplaceFile: Bool { get }

  /// Whether the store keeps a relationship and its inverse as one thing, as a database does, so that a change of one
  /// changes both. If true, the framework reads both records again after a save that has changed one side only, on an
  /// older version of the other.
  var storesInversesOnce: Bool { get }

  // MARK: Finding records

  /// Returns the references of the records that a fetch finds, in its order and within its limits, without reading the
  /// records.
  ///
  /// It returns nil if the store might find other records than the predicate means. The framework then asks
  /// ``canAnswer(_:)`` for each condition, and tests the remaining conditions on the records that meet those; if the
  /// store can answer none, the framework reads all records of the entity.
  func fetch(_ fetch: RecordFetch) throws -> [ReferenceID]?

  /// Returns whether ``fetch(_:)`` would return a result, without running the fetch.
  func canAnswer(_ fetch: RecordFetch) throws -> Bool

  /// Returns the number of records that a fetch finds, regardless of its limits; nil as with ``fetch(_:)``.
  func count(_ fetch: RecordFetch) throws -> Int?

  /// Describes how the store answers a fetch, in lines of text for people; returns nil as with ``fetch(_:)``.
  func queryPlan(_ fetch: RecordFetch) throws -> [String]?

  // MARK: Making groups

  /// Returns the groups of records with the same keys, in the order of the first record of each group.
  ///
  /// It returns nil if the store might make other groups than the framework. If there are no keys and no records, it
  /// may return one group without records.
  func groups(_ fetch: GroupFetch) throws -> [RecordGroup]?

  /// Describes how the store makes groups, in lines of text for people; returns nil as with ``groups(_:)``.
  func queryPlan(_ fetch: GroupFetch) throws -> [String]?

  // MARK: Changing many records

  /// Changes or deletes all records that meet a condition. It is called within ``saving(_:)``. Each record that changes
  /// gets its next version.
  ///
  /// It returns nil if the store might do anything else than the framework does with records in memory, including
  /// delete rules and derived attributes. Everything that it has written before is then undone.
  func execute(_ batch: RecordBatch) throws -> RecordBatchResult?

  // MARK: Following others

  /// Returns the records that others have inserted, updated or deleted since ``dataVersion()`` returned `version`; nil
  /// if the store does not know all of them.
  ///
  /// The framework reads these records again, and no others. If the method returns nil, it reads all records that it
  /// knows, and compares their versions. A record whose to-many relationship was changed by a change of another record
  /// counts as changed. There may be records that have not changed.
  ///
  /// It is called within ``reading(_:)`` or ``saving(_:)``, after ``dataVersion()`` has returned another number than
  /// `version`. A service with a list of changes, a database with a table of them, or a folder whose files have dates
  /// can return them:
  ///
  ///     func changes(since version: UInt64) throws -> [ChangedRecords]? {
  ///       guard let log = try readLog(after: version) else { return nil }  // It was deleted up to a later version.
  ///       return log.map { ChangedRecords(entity: $0.entity, references: $0.references) }
  ///     }
  func changes(since version: UInt64) throws -> [ChangedRecords]?

  // MARK: Reading beside saves

  /// Returns a connected store with the records as they are now, which do not change until it is disconnected; nil if
  /// the store cannot keep them. Nothing is saved to a snapshot.
  ///
  /// It may be called while a save waits for the disk: the snapshot then has the state before the save, or after it.
  /// O(1).
  func snapshot() throws -> (any IncrementalStore)?

  /// Saves as ``saving(_:)`` does, and allows others to read the state before the save while it waits for the disk.
  ///
  /// A reading method that would see the save throws ``SaveIsVisible`` until this method has returned.
  ///
  /// - Parameters:
  ///   - release: call it after `body` if the store can be read from then on. Only reading methods and
  ///     ``dataVersion()`` are called, one at a time.
  ///   - retake: call it, if `release` was called, when the save is on the disk or has failed. No other method is
  ///     called after it.
  func saving<Result>(_ body: () throws -> Result, release: () -> Void, retake: () -> Void) throws -> Result

  // MARK: Compacting

  /// Rebuilds the store without what earlier saves have left in it, such as free pages. The records stay as they are. It
  /// is called outside of ``reading(_:)`` and ``saving(_:)``, and may take as long as writing the whole store.
  ///
  /// - Returns: whether that was done; false if there is nothing to rebuild, or if a server does it by itself.
  func compact() throws -> Bool

  // MARK: Examining

  /// Returns the faults of the store's file that are not found by reading all records, as sentences, at most `limit` of
  /// them. It may take as long as reading the whole file.
  func damage(limit: Int) throws -> [String]

  /// Returns the values and rows that cannot be read, for a store that can go on after one. It may take as long as
  /// reading all records.
  ///
  /// - Parameter limit: the number of values to return. All of them are counted.
  func unreadableValues(limit: Int) throws -> UnreadableValues
}

/// The records that would be read contain a save that the framework has not registered yet.
public struct SaveIsVisible: Error {
  /// Creates the error.
  public init() {}
}

extension IncrementalStore {
  /// Returns ``count(of:)``.
  public func estimatedCount(of entity: EntityDescription) throws -> Int { try count(of: entity) }

  /// Returns nil: the framework finds the records.
  public func fetch(_ fetch: RecordFetch) throws -> [ReferenceID]? { nil }

  /// Returns false: the store answers no parts of fetches.
  public func canAnswer(_ fetch: RecordFetch) throws -> Bool { false }

  /// Returns the number of references that ``fetch(_:)`` returns for the fetch without limits.
  public func count(_ fetch: RecordFetch) throws -> Int? {
    try self.fetch(fetch.limited(offset: 0, limit: nil))?.count
  }

  /// Returns nil: the store does not describe its work.
  public func queryPlan(_ fetch: RecordFetch) throws -> [String]? { nil }

  /// Returns nil: the framework makes the groups.
  public func groups(_ fetch: GroupFetch) throws -> [RecordGroup]? { nil }

  /// Returns nil: the store does not describe its work.
  public func queryPlan(_ fetch: GroupFetch) throws -> [String]? { nil }

  /// Returns nil: the framework reads, changes and saves the records.
  public func execute(_ batch: RecordBatch) throws -> RecordBatchResult? { nil }

  /// Returns nil: the framework compares the versions of all records that it knows.
  public func changes(since version: UInt64) throws -> [ChangedRecords]? { nil }

  /// Returns nil: the framework reads the records that a context needs to stay at a generation.
  public func snapshot() throws -> (any IncrementalStore)? { nil }

  /// Calls ``saving(_:)``, and never calls `release`: nothing is read meanwhile.
  public func saving<Result>(
    _ body: () throws -> Result,
    release: () -> Void,
    retake: () -> Void
  ) throws -> Result {
    try saving(body)
  }

  /// Returns false: saves leave nothing, or it is not for the store to remove it.
  public func compact() throws -> Bool { false }

  /// Returns no faults: reading all records finds what is wrong.
  public func damage(limit: Int) throws -> [String] { [] }

  /// Returns no values: reading stops at the first value that cannot be read, and throws.
  public func unreadableValues(limit: Int) throws -> UnreadableValues { UnreadableValues(limit: limit) }

  /// Returns false: the file is written in place.
  public var savesReplaceFile: Bool { false }

  /// Returns false: each record keeps its own side of a relationship.
  public var storesInversesOnce: Bool { false }
}
