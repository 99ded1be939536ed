public import HeartwoodModel

/// A store whose records are saved piecemeal: what the author of a store over a database, a folder of files or a service writes.
///
/// The author reads records, all or by their references, and writes those that change. Faulting, relationships, conflict detection,
/// uniqueness and the noticing of what other processes have saved come from the framework, which keeps the records that it has read in
/// tables, as it does with those of an ``AtomicStore``.
///
/// A store that can do more itself says so by implementing more: finding and counting records, making groups, changing and deleting many
/// records at once, keeping a snapshot, letting others read during a save, and examining its file. Each of these methods is optional. If it
/// returns nil, or is not there, the framework does the work with the records in memory, and the result is the same.
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
/// The framework calls one method at a time, on whatever thread; calls of ``reading(_:)`` and ``saving(_:)`` enclose others. It makes
/// the store when it is opened, where there is none yet.
public protocol IncrementalStore: AnyObject, Sendable {
  /// Connects to what is at the store's place, and tells who it is; nil where there is no store yet. Called first, and once
  /// more where ``create(_:)`` has thrown ``PersistenceError/Code/fileExists``. Where it throws, the store has let go of everything:
  /// ``disconnect()`` is not called.
  func connect() throws -> StoreMetadata?

  /// Makes a store without records, where ``connect()`` found none.
  func create(_ metadata: StoreMetadata) throws

  /// Lets go of the files or connections. Nothing else is called afterwards.
  func disconnect()

  /// A number that is another one after somebody else has saved: another process, or another open store. It should be quick: every
  /// fetch asks for it.
  ///
  /// Within ``saving(_:)``, once everything is saved, it is the one that the store has afterwards: else the next look at it takes the own save
  /// for one of others, which costs reading the records again.
  func dataVersion() throws -> UInt64

  /// Calls `body`, which reads, and lets all that it reads be as it was at one moment.
  func reading<Result>(_ body: () throws -> Result) throws -> Result

  /// Who the store is now, and what the application keeps with it.
  func metadata() throws -> StoreMetadata

  /// Reads all records of `entities`, each with its version.
  func load(_ entities: [EntityDescription], into loader: StoreLoader) throws

  /// Reads the records of `entity` itself that `references` name, each of them once. Those that are not there are left out.
  func load(_ references: [ReferenceID], of entity: EntityDescription, into loader: StoreLoader) throws

  /// How many records of `entity` itself there are, without reading them.
  func count(of entity: EntityDescription) throws -> Int

  /// About how many records of `entity` itself there are, by which the framework decides whether it is quicker to read all of them:
  /// ``count(of:)`` where a store has no quicker way.
  func estimatedCount(of entity: EntityDescription) throws -> Int

  /// Names for records of `entity` that a later save will insert: no others get them, in no process, and not after these have been deleted
  /// either, or what somebody has noted of one would lead to another.
  func newReferences(count: Int, for entity: EntityDescription) throws -> [ReferenceID]

  /// Calls `body`, which saves, while nobody else can, and keeps all that it saves, durably, or nothing if it throws.
  ///
  /// A store that cannot keep others out, as one over a service or a database, may gather what `body` saves, and keep nothing of it if others have
  /// changed a record that it saves, or one of the ``ChangeSet/preconditions``, since `body` began. It calls `body` again then, which looks at
  /// ``dataVersion()``, reads what they have saved, and finds the conflicts.
  func saving<Result>(_ body: () throws -> Result) throws -> Result

  /// Saves changes. All ids are permanent, and the versions have been compared.
  ///
  /// - Parameters:
  ///   - changes: what to save. A new record comes with its version; an update raises the version that it was based on by 1. Preconditions have
  ///     been met as of what was read; a store that lets others save at the same time makes sure that they still are.
  ///   - contents: the records before the changes.
  func save(_ changes: ChangeSet, over contents: StoreContents) throws

  /// Keeps metadata.
  func saveMetadata(_ metadata: StoreMetadata) throws

  /// Whether a save puts another file at the place of the store's. If it does not, another file there is another store, and nothing is
  /// saved into it.
  var savesReplaceFile: Bool { get }

  /// Whether the store keeps a relationship and its inverse as one thing, as a database does, so that whoever changes one of them changes both.
  /// After a save that has changed one side alone, on an older version of the other, the framework reads both records again.
  var storesInversesOnce: Bool { get }

  // MARK: Finding records

  /// Returns the references of the records that a fetch finds, in its order and within its limits, without reading the records.
  ///
  /// It returns nil if the store would not find exactly the records that the predicate means. The framework then asks which conditions the
  /// store ``canAnswer(_:)``, and tests the others on the records that those leave; if it can answer none, it reads all records of the entity.
  func fetch(_ fetch: RecordFetch) throws -> [ReferenceID]?

  /// Returns whether ``fetch(_:)`` would answer a fetch, without running it.
  func canAnswer(_ fetch: RecordFetch) throws -> Bool

  /// Returns the number of records that a fetch finds, whatever its limits are; nil as with ``fetch(_:)``.
  func count(_ fetch: RecordFetch) throws -> Int?

  /// Returns how a fetch is answered, for people to read, a line each; nil as with ``fetch(_:)``.
  func queryPlan(_ fetch: RecordFetch) throws -> [String]?

  // MARK: Making groups

  /// Returns the groups of records with the same keys, in the order of the first record of each.
  ///
  /// It returns nil if the store would not make exactly the same groups. If there are no keys, a group of no records may be returned for no
  /// records.
  func groups(_ fetch: GroupFetch) throws -> [RecordGroup]?

  /// Returns how groups are made, for people to read, a line each; nil as with ``groups(_:)``.
  func queryPlan(_ fetch: GroupFetch) throws -> [String]?

  // MARK: Changing many records

  /// Changes or deletes all records that meet a condition, within ``saving(_:)``. Each record that changes gets its next version.
  ///
  /// It returns nil if the store would not do exactly what the framework does with records in memory, with delete rules and derived
  /// attributes. What it has written by then is undone.
  func execute(_ batch: RecordBatch) throws -> RecordBatchResult?

  // MARK: Reading beside saves

  /// Returns a connected store with the records as they are now, whatever is saved until it is disconnected; nil if the store cannot keep them.
  /// Nothing is saved to a snapshot.
  ///
  /// It may be called while a save waits for the disk: the snapshot then has the state before the save, or after it. O(1).
  func snapshot() throws -> (any IncrementalStore)?

  /// Saves as ``saving(_:)`` does, and lets others read the state before the save while it waits for the disk.
  ///
  /// A reading method that would see the save throws ``SaveIsVisible`` until this method has returned.
  ///
  /// - Parameters:
  ///   - release: to be called after `body`, if the store can be read from then on. Only reading methods and ``dataVersion()`` are called, one
  ///     at a time.
  ///   - retake: to be called, if `release` was, when the save is on the disk or has failed. After it, no other method is called.
  func saving<Result>(_ body: () throws -> Result, release: () -> Void, retake: () -> Void) throws -> Result

  // MARK: Examining

  /// Returns what is wrong with the store's file that reading all records would not show, in sentences, at most `limit` of them. It may take as
  /// long as reading the whole file.
  func damage(limit: Int) throws -> [String]

  /// Returns the values and rows that cannot be read, for a store that can go on after one. It may take as long as reading all records.
  ///
  /// - Parameter limit: the number of values to return. All of them are counted.
  func unreadableValues(limit: Int) throws -> UnreadableValues
}

/// What would be read has a save in it that the framework has not taken note of yet.
public struct SaveIsVisible: Error {
  /// Makes the error.
  public init() {}
}

extension IncrementalStore {
  /// As many as ``count(of:)`` tells.
  public func estimatedCount(of entity: EntityDescription) throws -> Int { try count(of: entity) }

  /// Nil: the framework finds the records.
  public func fetch(_ fetch: RecordFetch) throws -> [ReferenceID]? { nil }

  /// False: the store answers no parts of fetches.
  public func canAnswer(_ fetch: RecordFetch) throws -> Bool { false }

  /// The number of references that ``fetch(_:)`` returns.
  public func count(_ fetch: RecordFetch) throws -> Int? {
    try self.fetch(fetch.limited(offset: 0, limit: nil))?.count
  }

  /// Nil: nothing is known of it.
  public func queryPlan(_ fetch: RecordFetch) throws -> [String]? { nil }

  /// Nil: the framework makes the groups.
  public func groups(_ fetch: GroupFetch) throws -> [RecordGroup]? { nil }

  /// Nil: nothing is known of it.
  public func queryPlan(_ fetch: GroupFetch) throws -> [String]? { nil }

  /// Nil: the framework reads, changes and saves the records.
  public func execute(_ batch: RecordBatch) throws -> RecordBatchResult? { nil }

  /// Nil: the framework reads what a context needs to stay at a generation.
  public func snapshot() throws -> (any IncrementalStore)? { nil }

  /// Lets nobody read meanwhile.
  public func saving<Result>(
    _ body: () throws -> Result,
    release: () -> Void,
    retake: () -> Void
  ) throws -> Result {
    try saving(body)
  }

  /// None: reading all records shows what is wrong.
  public func damage(limit: Int) throws -> [String] { [] }

  /// None: reading stops at the first one, and throws it.
  public func unreadableValues(limit: Int) throws -> UnreadableValues { UnreadableValues(limit: limit) }

  /// False: the file is written in place.
  public var savesReplaceFile: Bool { false }

  /// False: each record has its own end.
  public var storesInversesOnce: Bool { false }
}
