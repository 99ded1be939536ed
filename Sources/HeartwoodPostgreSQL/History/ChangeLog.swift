import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore
import Synchronization

/// The log of the records that the last saves have changed, from which other stores learn what to read again.
///
/// Each open store numbers its saves in a slot of its own, without gaps, and leaves rows for each number. A reader
/// remembers the last number that it has seen of each slot. What is missing, because it was deleted or lost, is
/// noticed by a gap: then the reader compares the versions of all records that it knows.
enum ChangeLog {
  /// The number of saves of a slot whose rows are kept.
  static let keptSaveCount: Int64 = 10_000
  /// After how many saves of a slot old rows are deleted.
  static let pruningInterval: Int64 = 1_000
  /// The maximum number of keys that are listed for a table. For more, reading all records is not slower.
  static let greatestKeyCount = 10_000
}

// MARK: Writing

/// The keys of the records that a transaction changes, by the name of their table.
struct LoggedChanges: Sendable {
  private var keys: [String: Set<UUID>] = [:]
  /// Whether records have changed that are not listed.
  private var isIncomplete = false

  /// Notes that records have changed which cannot be listed.
  mutating func noteUnknown() {
    keys = [:]
    isIncomplete = true
  }

  mutating func note(_ key: UUID, in table: String) {
    if isIncomplete { return }
    keys[table, default: []].insert(key)
    if keys[table, default: []].count > ChangeLog.greatestKeyCount { noteUnknown() }
  }

  /// Returns statements that write the rows of a save, and delete old ones.
  func statements(
    slot: Int64,
    save: Int64,
    in schema: PostgreSQLSchema
  ) -> [(text: String, parameters: [PostgreSQLParameter])] {
    let log = schema.qualified(PostgreSQLSchema.logTable)
    var rows = keys.sorted { $0.key < $1.key }.map { (table: $0.key, keys: PostgreSQLParameter.uuids($0.value)) }
    // Each save has a row, so that there is no gap.
    if rows.isEmpty { rows = [("", isIncomplete ? .noUUIDs : .uuids([]))] }
    var statements = rows.enumerated().map { place, row in
      (
        "INSERT INTO \(log) VALUES ($1, $2, $3, $4, $5)",
        [
          PostgreSQLParameter.bigint(slot), .bigint(save), .integer(Int32(clamping: place)), .text(row.table), row.keys,
        ]
      )
    }
    if save % ChangeLog.pruningInterval == 0 {
      let last = save - ChangeLog.keptSaveCount
      statements.append(("DELETE FROM \(log) WHERE slot = $1 AND save <= $2", [.bigint(slot), .bigint(last)]))
    }
    return statements
  }
}

extension LoggedChanges {
  /// Notes the records that a save changes, and those whose relationships change with them.
  mutating func note(_ changes: ChangeSet, over contents: StoreContents, in schema: PostgreSQLSchema) throws {
    let (inserted, updated, deleted) = (changes.inserted, changes.updated, changes.deleted)
    if inserted.count + updated.count + deleted.count > ChangeLog.greatestKeyCount { return noteUnknown() }
    for record in inserted {
      try note(record.objectID, schema)
      for value in record.values { try note(value.destinations, schema) }
    }
    for record in updated {
      try note(record.objectID, schema)
      let before = try contents.node(record.objectID.reference, of: record.objectID.entity)
      for (ordinal, value) in record.values {
        try note((before?[ordinal].destinations ?? []).symmetricDifference(value.destinations), schema)
      }
    }
    for record in deleted {
      let entity = record.objectID.entity
      // The server clears other records' references to the deleted one.
      if schema.isReferredToWithoutInverse(entity) { return noteUnknown() }
      try note(record.objectID, schema)
      guard let before = try contents.node(record.objectID.reference, of: entity) else { continue }
      for ordinal in entity.properties.indices { try note(before[ordinal].destinations, schema) }
    }
  }

  private mutating func note(_ ids: Set<ManagedObjectID>, _ schema: PostgreSQLSchema) throws {
    for id in ids { try note(id, schema) }
  }

  private mutating func note(_ id: ManagedObjectID, _ schema: PostgreSQLSchema) throws {
    guard case .uuid(let key) = id.reference else { return }
    note(key, in: try schema.placement(of: id.entity).table)
  }

  /// Notes the records that a batch has changed, if they are known.
  mutating func note(_ batch: RecordBatch, _ done: RecordBatchResult, in schema: PostgreSQLSchema) throws {
    guard batch.needsReferences else { return noteUnknown() }
    let changed = done.references.map { ($0.key, $0.value) } + done.unlinked.map { ($0.entityOrdinal, $0.references) }
    for (ordinal, references) in changed {
      let table = try schema.placement(of: schema.model.entities[ordinal]).table
      for case .uuid(let key) in references { note(key, in: table) }
    }
  }
}

extension PropertyValue {
  /// The records that the value of a relationship refers to; none for that of an attribute.
  fileprivate var destinations: Set<ManagedObjectID> {
    switch self {
    case .toOne(let id): [id]
    case .toMany(let ids): Set(ids)
    default: []
    }
  }
}

// MARK: Reading

/// The state of all slots at a moment.
struct StoreMarks: Sendable {
  /// The values by which the store's mark changes, by slot.
  private(set) var stamps: [Int64: Int64] = [:]
  /// The number of saves, by slot.
  private(set) var saves: [Int64: Int64] = [:]

  /// The columns that ``init(_:)`` reads.
  static let columns = "slot, saves, stamp"

  init() {}

  /// - Parameter number: returns a number in a row.
  init(_ result: PostgreSQLResult, _ number: (PostgreSQLRow) -> (Int) throws -> Int64? = PostgreSQLRow.bigint) throws {
    try result.forEachRow { row in
      let number = number(row)
      set(try row.required(0, number), saves: try row.required(1, number), stamp: try row.required(2, number))
    }
  }

  mutating func set(_ slot: Int64, saves: Int64, stamp: Int64) {
    (self.saves[slot], stamps[slot]) = (saves, stamp)
  }

  /// The mark of the store. It differs after any stamp has changed, in whatever order the changes were made.
  var mark: UInt64 { UInt64(bitPattern: stamps.values.reduce(0, ^)) }

  /// Returns the slots that have saves which `earlier` does not have, with the number of the last save that both have;
  /// nil if these marks do not continue the earlier ones.
  func slots(since earlier: StoreMarks) -> [(slot: Int64, after: Int64)]? {
    var slots: [(slot: Int64, after: Int64)] = []
    for (slot, count) in earlier.saves {
      guard let now = saves[slot], now >= count else { return nil }
    }
    for (slot, count) in saves where count != earlier.saves[slot] { slots.append((slot, earlier.saves[slot] ?? 0)) }
    return slots
  }
}

/// The states of the last marks that a store has seen.
struct KnownMarks: Sendable {
  private static let greatestCount = 8
  private var known: [(mark: UInt64, marks: StoreMarks)] = []

  mutating func note(_ marks: StoreMarks) {
    let mark = marks.mark
    known.removeAll { $0.mark == mark }
    known.append((mark, marks))
    if known.count > Self.greatestCount { known.removeFirst() }
  }

  subscript(mark: UInt64) -> StoreMarks? { known.last { $0.mark == mark }?.marks }
}

extension PostgreSQLStore {
  /// Returns the records that the log lists since a mark; nil if the mark is not known, or the log has gaps.
  func changes(since version: UInt64) throws -> [ChangedRecords]? {
    let (transaction, known) = state.withLock { ($0.transaction, $0.marks[version]) }
    guard let transaction, let known, let slots = transaction.marks.slots(since: known) else { return nil }
    if slots.isEmpty { return [] }
    return try withConnection { connection in
      var keys: [String: [UUID]] = [:]
      var found: [Int64: Set<Int64>] = [:]
      var isComplete = true
      let query = """
        SELECT l.slot, l.save, l.record_table, l.ids FROM \(schema.qualified(PostgreSQLSchema.logTable)) AS l \
        JOIN unnest($1::bigint[], $2::bigint[]) AS u(slot, save) ON l.slot = u.slot AND l.save > u.save
        """
      try connection.run(query, [.bigints(slots.map(\.slot)), .bigints(slots.map(\.after))]).forEachRow { row in
        found[try row.required(0, row.bigint), default: []].insert(try row.required(1, row.bigint))
        if row[3] == nil { isComplete = false }
        keys[try row.required(2, row.text), default: []] += try row.elements(3) { try BinaryField.uuid($0) }
      }
      for (slot, after) in slots where Int64(found[slot]?.count ?? 0) != (transaction.marks.saves[slot] ?? 0) - after {
        isComplete = false
      }
      return isComplete ? schema.changedRecords(keys) : nil
    }
  }
}

extension PostgreSQLSchema {
  /// Returns the records with certain keys, by table. Tables of entities that the store does not keep are left out.
  fileprivate func changedRecords(_ keys: [String: [UUID]]) -> [ChangedRecords] {
    model.entities.filter { $0.superentity == nil && keeps($0) }.compactMap { entity in
      // try?: the entity is one that the store keeps.
      guard let table = try? placement(of: entity).table, let keys = keys[table] else { return nil }
      return ChangedRecords(entity: entity, references: keys.map(ReferenceID.uuid))
    }
  }
}

extension PostgreSQLRow {
  /// Returns a number in text format, as in the result of several statements.
  func textNumber(_ index: Int) throws -> Int64? { try text(index).flatMap { Int64($0) } }
}
