import GRDB
import GRDBSQLite
import HeartwoodModel
import HeartwoodStore

/// The keys of the records at regular places of what fetches have found in the order of the keys.
///
/// SQLite reaches an offset by passing over all rows before it, so that a program which reads a table page by page would
/// take time that grows with the square of its length. With these keys, a page is reached from the nearest one before it.
struct KeyMarks: Sendable {
  /// The number of records from one key to the next.
  static let distance = 4096
  /// The number of fetches whose keys are kept.
  private static let fetchLimit = 8

  /// A state of the file, as one connection sees it outside of a transaction that writes.
  private struct Moment: Equatable {
    let connection: ObjectIdentifier
    /// Changes if another connection saves.
    let dataVersion: UInt64
    /// Changes if this connection does.
    let changeCount: CInt
  }

  private var moment: Moment?
  /// The keys at ``distance``, twice that, and so on, by the statement that finds all records.
  private var keys: [FetchStatement: [Int64]] = [:]
}

extension KeyMarks {
  /// Returns whether the keys help to find the records: those of a later page in the order of the keys, in a
  /// transaction that has not written.
  static func help(_ fetch: RecordFetch, _ db: Database) -> Bool {
    fetch.compiledSorts.isEmpty && fetch.offset >= distance
      && sqlite3_txn_state(db.sqliteConnection, "main") != SQLITE_TXN_WRITE
  }

  /// Returns the statement that finds the page from the nearest key before it; nil if SQL would not find exactly the
  /// same records. Finds the keys up to there first, as far as they are not known: O(records in between).
  mutating func page(_ fetch: RecordFetch, in schema: SQLiteSchema, _ db: Database) throws -> FetchStatement? {
    guard let all = FetchTranslator.keys(fetch, .init(), in: schema) else { return nil }
    let now = Moment(
      connection: ObjectIdentifier(db),
      dataVersion: try SQLiteFile.mark(db),
      changeCount: sqlite3_total_changes(db.sqliteConnection)
    )
    if now != moment { (moment, keys) = (now, [:]) }
    if keys[all] == nil, keys.count >= Self.fetchLimit { keys = [:] }
    var known = keys[all] ?? []
    while known.count < fetch.offset / Self.distance {
      let step = FetchTranslator.Page(start: known.last, limit: 1, offset: Self.distance)
      guard let statement = FetchTranslator.keys(fetch, step, in: schema),
        let key = try Int64.fetchOne(try statement.prepared(db))
      else { break }
      known.append(key)
    }
    keys[all] = known
    let passed = min(known.count, fetch.offset / Self.distance)
    let rest = fetch.offset - passed * Self.distance
    let start = passed == 0 ? nil : known[passed - 1]
    return FetchTranslator.keys(fetch, .init(start: start, limit: fetch.limit, offset: rest), in: schema)
  }
}
