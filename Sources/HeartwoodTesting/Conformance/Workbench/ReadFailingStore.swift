import Heartwood
import HeartwoodStore

/// An incremental store whose reads fail where ``ReadFaults`` say so.
final class ReadFailingStore<Base: IncrementalStore>: IncrementalStore {
  static var typeDescription: StoreTypeDescription { Base.typeDescription }

  let base: Base
  let faults: ReadFaults?

  init(_ setup: StoreSetup) throws {
    base = try Base(setup)
    faults = setup.options[.readFaults]
  }

  // MARK: Reading

  func changeMark() throws -> UInt64 {
    try faults?.admit(.changeMark)
    return try base.changeMark()
  }

  func reading<Result>(_ body: () throws -> Result) throws -> Result {
    try faults?.admit(.transaction)
    return try base.reading(body)
  }

  func metadata() throws -> StoreMetadata {
    try faults?.admit(.metadata)
    return try base.metadata()
  }

  func load(_ entities: [EntityDescription], into loader: StoreLoader) throws {
    try faults?.admit(.allRecords)
    try base.load(entities, into: loader)
  }

  func load(_ references: [ReferenceID], of entity: EntityDescription, into loader: StoreLoader) throws {
    try faults?.admit(.records)
    try base.load(references, of: entity, into: loader)
  }

  func count(of entity: EntityDescription) throws -> Int {
    try faults?.admit(.count)
    return try base.count(of: entity)
  }

  func estimatedCount(of entity: EntityDescription) throws -> Int {
    try faults?.admit(.count)
    return try base.estimatedCount(of: entity)
  }

  func fetch(_ fetch: RecordFetch) throws -> [ReferenceID]? {
    try faults?.admit(.search)
    return try base.fetch(fetch)
  }

  func count(_ fetch: RecordFetch) throws -> Int? {
    try faults?.admit(.count)
    return try base.count(fetch)
  }

  func queryPlan(_ fetch: RecordFetch) throws -> [String]? { try base.queryPlan(fetch) }

  // MARK: The rest

  func connect() throws -> StoreMetadata? { try base.connect() }
  func create(_ metadata: StoreMetadata) throws { try base.create(metadata) }
  func disconnect() { base.disconnect() }
  func saving<Result>(_ body: () throws -> Result) throws -> Result { try base.saving(body) }
  func saveMetadata(_ metadata: StoreMetadata) throws { try base.saveMetadata(metadata) }

  func save(_ changes: ChangeSet, over contents: StoreContents) throws { try base.save(changes, over: contents) }

  func newReferences(count: Int, for entity: EntityDescription) throws -> [ReferenceID] {
    try base.newReferences(count: count, for: entity)
  }

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
