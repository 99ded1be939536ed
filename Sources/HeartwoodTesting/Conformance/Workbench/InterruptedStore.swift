import Heartwood
import HeartwoodStore

/// An incremental store that can be stopped at each step of a save.
final class InterruptedStore<Base: IncrementalStore>: IncrementalStore {
  static var typeDescription: StoreTypeDescription { Base.typeDescription }

  private let base: Base
  private let interruption: StoreInterruption?

  init(_ setup: StoreSetup) throws {
    base = try Base(setup)
    interruption = setup.options[.interruption]
  }

  /// Calls `body` between two steps.
  private func stepping<Result>(_ what: String, _ body: () throws -> Result) throws -> Result {
    try interruption?.pass("the beginning of \(what)")
    let result = try body()
    try interruption?.pass("the end of \(what)")
    return result
  }

  // MARK: Changing

  func create(_ metadata: StoreMetadata) throws {
    try stepping("making the store") { try base.create(metadata) }
  }

  func saving<Result>(_ body: () throws -> Result) throws -> Result {
    try base.saving { try stepping("a save") { try body() } }
  }

  func newReferences(count: Int, for entity: EntityDescription) throws -> [ReferenceID] {
    try stepping("giving references") { try base.newReferences(count: count, for: entity) }
  }

  func save(_ changes: ChangeSet, over contents: StoreContents) throws {
    try stepping("saving changes") { try base.save(changes, over: contents) }
  }

  func saveMetadata(_ metadata: StoreMetadata) throws {
    try stepping("saving metadata") { try base.saveMetadata(metadata) }
  }

  // MARK: Reading

  func connect() throws -> StoreMetadata? { try base.connect() }
  func disconnect() { base.disconnect() }
  func changeMark() throws -> UInt64 { try base.changeMark() }
  func reading<Result>(_ body: () throws -> Result) throws -> Result { try base.reading(body) }
  func metadata() throws -> StoreMetadata { try base.metadata() }

  func load(_ entities: [EntityDescription], into loader: StoreLoader) throws {
    try base.load(entities, into: loader)
  }

  func load(_ references: [ReferenceID], of entity: EntityDescription, into loader: StoreLoader) throws {
    try base.load(references, of: entity, into: loader)
  }

  func fetch(_ fetch: RecordFetch) throws -> [ReferenceID]? { try base.fetch(fetch) }
  func count(_ fetch: RecordFetch) throws -> Int? { try base.count(fetch) }
  func queryPlan(_ fetch: RecordFetch) throws -> [String]? { try base.queryPlan(fetch) }
  func count(of entity: EntityDescription) throws -> Int { try base.count(of: entity) }
  func estimatedCount(of entity: EntityDescription) throws -> Int { try base.estimatedCount(of: entity) }

  // MARK: Without opening

  static func gatherSideFiles(ofStoreAt path: String) throws { try Base.gatherSideFiles(ofStoreAt: path) }
  static var keepsInversesTogether: Bool { Base.keepsInversesTogether }
  static var savesReplaceFile: Bool { Base.savesReplaceFile }
  static func sideFiles(ofStoreAt path: String) -> [String] { Base.sideFiles(ofStoreAt: path) }
  static func supportFolder(ofStoreAt path: String) -> String? { Base.supportFolder(ofStoreAt: path) }
  static func copyStore(at source: String, to path: String) throws { try Base.copyStore(at: source, to: path) }
  static func recognizes(prefix: [UInt8]) -> Bool { Base.recognizes(prefix: prefix) }
  static var isReadOnly: Bool { Base.isReadOnly }

  static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try Base.readMetadata(from: file, options: options)
  }

  static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try Base.readModel(from: file, options: options)
  }
}
