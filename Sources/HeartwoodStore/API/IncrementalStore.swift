public import HeartwoodModel

/// A store whose records are saved piecemeal: what the author of a store over a database, a folder of files or a service writes.
///
/// The author reads records, all or by their references, and writes those that change. Faulting, relationships, conflict detection,
/// uniqueness and the noticing of what other processes have saved come from the framework, which keeps the records that it has read in
/// tables, as it does with those of an ``AtomicStore``. A store that can search answers fetches itself; what it cannot answer, or where
/// it answers none, the framework finds among the records.
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

  /// The references of the records that a fetch finds, in its order, without reading them; nil where the store cannot tell just as the
  /// predicate has it. The framework then reads all records of the entity, and finds them itself.
  func fetch(_ fetch: RecordFetch) throws -> [ReferenceID]?

  /// How many records a fetch finds; nil as with ``fetch(_:)``.
  func count(_ fetch: RecordFetch) throws -> Int?

  /// How a fetch is answered, a line each, for people to read; nil as with ``fetch(_:)``.
  func queryPlan(_ fetch: RecordFetch) throws -> [String]?

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
}

extension IncrementalStore {
  /// As many as ``count(of:)`` tells.
  public func estimatedCount(of entity: EntityDescription) throws -> Int { try count(of: entity) }

  /// Nil: the framework finds the records.
  public func fetch(_ fetch: RecordFetch) throws -> [ReferenceID]? { nil }

  /// As many as ``fetch(_:)`` gives.
  public func count(_ fetch: RecordFetch) throws -> Int? { try self.fetch(fetch)?.count }

  /// Nil: nothing is known of it.
  public func queryPlan(_ fetch: RecordFetch) throws -> [String]? { nil }

  /// False: the file is written in place.
  public var savesReplaceFile: Bool { false }

  /// False: each record has its own end.
  public var storesInversesOnce: Bool { false }
}
