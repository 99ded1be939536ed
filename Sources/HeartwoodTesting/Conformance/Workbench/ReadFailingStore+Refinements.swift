import HeartwoodModel
import HeartwoodStore

// What the store that is tested can do beyond reading record by record, it can do here, and it reads to do it.

extension ReadFailingStore: NarrowingStore where Base: NarrowingStore {
  func narrowed(_ fetch: RecordFetch) throws -> NarrowedFetch? { try base.narrowed(fetch) }
}

extension ReadFailingStore: GroupingStore where Base: GroupingStore {
  func groups(_ fetch: GroupFetch, scopes: [ObjectIDScope]) throws -> [RecordGroup]? {
    try faults?.admit(.groups)
    return try base.groups(fetch, scopes: scopes)
  }

  func queryPlan(_ fetch: GroupFetch) throws -> [String]? { try base.queryPlan(fetch) }
}

extension ReadFailingStore: BatchingStore where Base: BatchingStore {
  func execute(_ batch: RecordBatch) throws -> BatchedRecords? {
    try faults?.admit(.batch)
    return try base.execute(batch)
  }
}

extension ReadFailingStore: CheckingStore where Base: CheckingStore {
  static func check(_ contents: StoreContents, for setup: StoreSetup) throws { try Base.check(contents, for: setup) }
}

extension ReadFailingStore: ReadableWhileSavingStore where Base: ReadableWhileSavingStore {
  func saving<Result>(_ body: () throws -> Result, release: () -> Void, retake: () -> Void) throws -> Result {
    try base.saving(body, release: release, retake: retake)
  }
}

extension ReadFailingStore: SelfMigratingStore where Base: SelfMigratingStore {
  static func migrate(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport {
    try source.options[.readFaults]?.admit(.migration)
    return try Base.migrate(migration, from: source, to: destination)
  }

  static func foresee(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport {
    try source.options[.readFaults]?.admit(.migration)
    return try Base.foresee(migration, from: source, to: destination)
  }
}
