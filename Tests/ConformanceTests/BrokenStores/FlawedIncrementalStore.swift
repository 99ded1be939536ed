import Heartwood
import HeartwoodSQLite
import HeartwoodTesting

/// How a store that saves piecemeal goes wrong.
protocol SavingFlaw: Sendable {
  static func saving<Result>(_ base: SQLiteStore, _ body: () throws -> Result) throws -> Result
  static func dataVersion(_ base: SQLiteStore) throws -> UInt64
  static func change(_ changes: ChangeSet) -> ChangeSet
  static func fetch(_ base: SQLiteStore, _ fetch: RecordFetch) throws -> [ReferenceID]?
  static func count(_ base: SQLiteStore, of entity: EntityDescription) throws -> Int
  static func newReferences(_ base: SQLiteStore, _ count: Int, for entity: EntityDescription) throws -> [ReferenceID]
  static func known(_ references: [ReferenceID]) -> [ReferenceID]
  /// Whether what cannot be read counts as not there.
  static var swallowsReadFailures: Bool { get }
}

extension SavingFlaw {
  static func saving<Result>(_ base: SQLiteStore, _ body: () throws -> Result) throws -> Result {
    try base.saving(body)
  }

  static func dataVersion(_ base: SQLiteStore) throws -> UInt64 { try base.dataVersion() }

  static func change(_ changes: ChangeSet) -> ChangeSet { changes }

  static func fetch(_ base: SQLiteStore, _ fetch: RecordFetch) throws -> [ReferenceID]? { try base.fetch(fetch) }

  static func count(_ base: SQLiteStore, of entity: EntityDescription) throws -> Int { try base.count(of: entity) }

  static func newReferences(_ base: SQLiteStore, _ count: Int, for entity: EntityDescription) throws -> [ReferenceID] {
    try base.newReferences(count: count, for: entity)
  }

  static func known(_ references: [ReferenceID]) -> [ReferenceID] { references }

  static var swallowsReadFailures: Bool { false }
}

/// Takes what cannot be read for what is not there.
enum SwallowsReadFailures: SavingFlaw {
  static var swallowsReadFailures: Bool { true }
}

/// Never says that somebody has saved.
enum MarksNoChanges: SavingFlaw {
  static func dataVersion(_ base: SQLiteStore) throws -> UInt64 { 0 }
}

/// Calls new records by how many there are.
enum GivesReferencesAgain: SavingFlaw {
  static func newReferences(_ base: SQLiteStore, _ count: Int, for entity: EntityDescription) throws -> [ReferenceID] {
    let last = try base.count(of: entity)
    return (0..<count).map { .integer(Int64(last + $0 + 1)) }
  }
}

/// Reads no more records at once than some statement may have places.
enum ReadsFew: SavingFlaw {
  static func known(_ references: [ReferenceID]) -> [ReferenceID] { Array(references.prefix(256)) }
}

/// Gives all that a fetch finds, whichever part of it was asked for.
enum GivesMoreThanIsWanted: SavingFlaw {
  static func fetch(_ base: SQLiteStore, _ fetch: RecordFetch) throws -> [ReferenceID]? {
    try base.fetch(fetch.limited(offset: 0, limit: nil))
  }
}

/// Finds all records of an entity, whatever they are looked for by.
enum FindsAll: SavingFlaw {
  static func fetch(_ base: SQLiteStore, _ fetch: RecordFetch) throws -> [ReferenceID]? {
    let all = RecordFetch(
      entity: fetch.entity,
      predicate: nil,
      sortDescriptors: fetch.sortDescriptors,
      compiledPredicate: nil,
      compiledSorts: fetch.compiledSorts,
      offset: fetch.offset,
      limit: fetch.limit
    )
    return try base.fetch(all)
  }
}

/// Counts a record that is not there.
enum CountsTooMany: SavingFlaw {
  static func count(_ base: SQLiteStore, of entity: EntityDescription) throws -> Int {
    try base.count(of: entity) + 1
  }
}

/// Takes every record that it does not know for one that has never been saved.
enum BeginsVersionsAnew: SavingFlaw {
  static func change(_ changes: ChangeSet) -> ChangeSet {
    var columns = changes.byColumn
    columns.insertions = columns.insertions.map { insertion in
      let groups = insertion.groups.map { group in
        RowGroup(references: group.references, versions: .same(1), columns: group.columns)
      }
      return InsertedRows(
        entity: insertion.entity,
        groups: groups,
        hasGivenReferences: insertion.hasGivenReferences
      )
    }
    return ChangeSet(byColumn: columns, byRecord: changes.byRecord)
  }
}

/// Says at each look that somebody has saved.
enum MarksChangesWithoutAny: SavingFlaw {
  static func dataVersion(_ base: SQLiteStore) throws -> UInt64 { .random(in: .min ... .max) }
}

/// Keeps what a save had done before it failed.
enum KeepsFailedSaves: SavingFlaw {
  static func saving<Result>(_ base: SQLiteStore, _ body: () throws -> Result) throws -> Result {
    try base.saving { Swift.Result { try body() } }.get()
  }
}

/// Says that it has saved, and has not.
enum LosesSaves: SavingFlaw {
  private struct Loss: Error {}

  static func saving<Result>(_ base: SQLiteStore, _ body: () throws -> Result) throws -> Result {
    var result: Result?
    do {
      return try base.saving {
        result = try body()
        throw Loss()
      }
    } catch {
      guard let result else { throw error }
      return result
    }
  }
}

/// The SQLite store with a flaw.
final class FlawedIncrementalStore<Flaw: SavingFlaw>: ReadFaultAwareStore, StoreClass {
  static var typeDescription: StoreTypeDescription { SQLiteStore.typeDescription }

  private let base: SQLiteStore
  private let faults: ReadFaults?

  init(_ setup: StoreSetup) throws {
    base = try SQLiteStore(setup)
    faults = setup.options[.readFaults]
  }

  /// Whether a read may take place. One that may not throws, unless the flaw is that it does not.
  private func mayRead(_ operation: ReadFaults.Operation) throws -> Bool {
    do {
      try faults?.admit(operation)
      return true
    } catch {
      if Flaw.swallowsReadFailures { return false }
      throw error
    }
  }

  func saving<Result>(_ body: () throws -> Result) throws -> Result { try Flaw.saving(base, body) }

  func connect() throws -> StoreMetadata? { try base.connect() }
  func create(_ metadata: StoreMetadata) throws { try base.create(metadata) }
  func disconnect() { base.disconnect() }
  func dataVersion() throws -> UInt64 { try Flaw.dataVersion(base) }
  func reading<Result>(_ body: () throws -> Result) throws -> Result { try base.reading(body) }
  func metadata() throws -> StoreMetadata { try base.metadata() }
  func count(of entity: EntityDescription) throws -> Int {
    try mayRead(.count) ? try Flaw.count(base, of: entity) : 0
  }
  func saveMetadata(_ metadata: StoreMetadata) throws { try base.saveMetadata(metadata) }

  func load(_ entities: [EntityDescription], into loader: StoreLoader) throws {
    if try mayRead(.allRecords) { try base.load(entities, into: loader) }
  }

  func load(_ references: [ReferenceID], of entity: EntityDescription, into loader: StoreLoader) throws {
    if try mayRead(.records) { try base.load(Flaw.known(references), of: entity, into: loader) }
  }

  func fetch(_ fetch: RecordFetch) throws -> [ReferenceID]? {
    try mayRead(.search) ? try Flaw.fetch(base, fetch) : []
  }
  func count(_ fetch: RecordFetch) throws -> Int? { try base.count(fetch) }
  func queryPlan(_ fetch: RecordFetch) throws -> [String]? { try base.queryPlan(fetch) }

  func newReferences(count: Int, for entity: EntityDescription) throws -> [ReferenceID] {
    try Flaw.newReferences(base, count, for: entity)
  }

  func save(_ changes: ChangeSet, over contents: StoreContents) throws {
    try base.save(Flaw.change(changes), over: contents)
  }

  static func checkpoint(storeAt path: String) throws { try SQLiteStore.checkpoint(storeAt: path) }

  static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try SQLiteStore.readMetadata(from: file, options: options)
  }

  static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try SQLiteStore.readModel(from: file, options: options)
  }
}
