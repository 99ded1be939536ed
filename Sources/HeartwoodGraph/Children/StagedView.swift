import HeartwoodModel
import HeartwoodStore
import Synchronization

/// A store with the changes of a parent at one moment: unchanged records are read from the base on demand.
struct StagedView: Sendable {
  /// The records of one entity.
  struct Version: Sendable {
    let table: NodeTable
    /// The table of the base on which it is built.
    let base: NodeTable
    /// The ``RecordSource/changeNumber`` of the base at that time.
    let baseNumber: UInt64
  }

  /// The source from which the parent itself reads.
  let base: any RecordSource
  let model: ManagedObjectModel
  /// The changes of the records of each entity, one after the other, by entity ordinal.
  let pending: [Int: [PendingRecords]]
  private let cache: Cache

  /// - Parameters:
  ///   - versions: tables with these changes that were assembled already, by entity ordinal.
  ///   - stamps: the versions that records get by the changes of each entity, for the state of the base with that
  ///     number.
  init(
    base: any RecordSource,
    model: ManagedObjectModel,
    pending: [Int: [PendingRecords]],
    versions: [Int: Version] = [:],
    stamps: [Int: Stamps] = [:]
  ) {
    self.base = base
    self.model = model
    self.pending = pending
    cache = Cache(versions, stamps)
  }
}

// MARK: Assembled tables

extension StagedView {
  /// The versions that records get by changes, one for each element of ``pending``: they stay as long as the base does,
  /// so that a record has the same version when it is assembled again after more was read.
  struct Stamps: Sendable {
    let baseNumber: UInt64
    var numbers: [UInt64]
  }

  private final class Cache: Sendable {
    let versions: Mutex<[Int: Version]>
    let stamps: Mutex<[Int: Stamps]>

    init(_ versions: [Int: Version], _ stamps: [Int: Stamps]) {
      self.versions = Mutex(versions)
      self.stamps = Mutex(stamps)
    }
  }

  /// The tables that were assembled, by entity ordinal.
  var knownVersions: [Int: Version] { cache.versions.withLock { $0 } }

  /// The versions that records have, by entity ordinal.
  var knownStamps: [Int: Stamps] { cache.stamps.withLock { $0 } }

  private func stamps(_ ordinal: Int, _ count: Int, baseNumber: UInt64) -> [UInt64] {
    cache.stamps.withLock { stamps in
      if let known = stamps[ordinal], known.baseNumber == baseNumber { return known.numbers }
      let numbers = (0..<count).map { _ in StagedVersion.next() }
      stamps[ordinal] = Stamps(baseNumber: baseNumber, numbers: numbers)
      return numbers
    }
  }
}

// MARK: Reading

extension StagedView {
  /// Returns the records of an entity that have been read so far, with the changed ones and those of `references`.
  func version(of entity: EntityDescription, reading references: [ReferenceID] = []) throws -> Version {
    let number = base.changeNumber
    guard let changes = pending[entity.ordinal] else {
      let table = try baseTable(of: entity, reading: references)
      return Version(table: table, base: table, baseNumber: number)
    }
    let known = cache.versions.withLock { $0[entity.ordinal] }.flatMap { $0.baseNumber == number ? $0 : nil }
    let wanted = try known.map { known in try references.filter { try known.table.row(of: $0) == nil } }
    let newest = try baseTable(of: entity, reading: wanted ?? references + changes.flatMap(\.references))
    if let known, known.base.isSame(as: newest) { return known }
    var table = newest
    for (records, stamp) in zip(changes, stamps(entity.ordinal, changes.count, baseNumber: number)) {
      try records.apply(to: &table, version: stamp)
    }
    let version = Version(table: table, base: newest, baseNumber: number)
    cache.versions.withLock { $0[entity.ordinal] = version }
    return version
  }

  private func baseTable(of entity: EntityDescription, reading references: [ReferenceID]) throws -> NodeTable {
    references.isEmpty ? try base.knownTable(of: entity).table : try base.table(of: entity, reading: references)
  }

  func knownTable(of entity: EntityDescription) throws -> (table: NodeTable, isWhole: Bool) {
    let isWhole = try base.knownTable(of: entity).isWhole
    return (try version(of: entity).table, isWhole)
  }

  func wholeTable(of entity: EntityDescription) throws -> NodeTable {
    _ = try base.table(of: entity)
    return try version(of: entity).table
  }

  func count(of entity: EntityDescription) throws -> Int {
    guard let changes = pending[entity.ordinal] else { return try base.count(of: entity) }
    let references = Set(changes.flatMap { $0.inserted.map(\.reference) + $0.deleted })
    let table = try baseTable(of: entity, reading: Array(references))
    let before = try references.filter { try table.row(of: $0) != nil }
    var after = before
    for records in changes {
      after.formUnion(records.inserted.map(\.reference))
      after.subtract(records.deleted)
    }
    return try base.count(of: entity) + after.count - before.count
  }
}

// MARK: Fetching

extension StagedView {
  func find(_ fetch: RecordFetch) throws -> FoundRecords? {
    pending.isEmpty ? try base.find(fetch) : try StagedSearch(fetch, in: self)?.find()
  }

  func count(_ fetch: RecordFetch) throws -> Int? {
    pending.isEmpty ? try base.count(fetch) : try StagedSearch(fetch, in: self)?.count()
  }

  /// Returns the plan of the base: changed records are evaluated one by one.
  func queryPlan(_ fetch: RecordFetch) throws -> QueryPlan.Step? {
    guard try pending.isEmpty || StagedSearch(fetch, in: self) != nil else { return nil }
    return try base.queryPlan(fetch)
  }

  func groups(_ fetch: GroupFetch) throws -> [RecordGroup]? {
    pending.isEmpty ? try base.groups(fetch) : try search(fetch)?.groups(fetch)
  }

  func queryPlan(_ fetch: GroupFetch) throws -> QueryPlan.Step? {
    if pending.isEmpty { return try base.queryPlan(fetch) }
    return try search(fetch).flatMap { try base.queryPlan($0.stored(fetch)) }
  }

  private func search(_ fetch: GroupFetch) throws -> StagedSearch? {
    try StagedSearch(fetch.records, evaluating: fetch.grouping.expressions, in: self)
  }
}
