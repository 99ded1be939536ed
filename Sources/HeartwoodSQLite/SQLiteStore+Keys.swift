import GRDB
public import HeartwoodModel
import HeartwoodStore
import Synchronization

// MARK: Keys of new records

extension SQLiteStore {
  /// How many keys are taken from the file at once, so that few saves of single records wait for a second one.
  private static let leastReservation = 64

  /// Keys that no other record of the entity's table has or will have, in whatever process: the file's count of them is raised at once.
  public func newReferences(count: Int, for entity: EntityDescription) throws -> [ReferenceID] {
    let root = try withDatabase { db in try placement(of: entity, db).rootNumber }
    let kept = reservedKeys.withLock { $0[root] } ?? 0..<0
    guard kept.count < count else { return take(count, of: kept, root) }
    let wanted = max(count - kept.count, Self.leastReservation)
    let added = try writing { db in try Self.raise(by: wanted, root, db, path) }
    let keys = kept.upperBound == added.lowerBound ? kept.lowerBound..<added.upperBound : added
    if keys.count >= count { return take(count, of: keys, root) }
    // Another process has taken keys in between: what was kept is used up first.
    return kept.map { .integer($0) } + take(count - kept.count, of: added, root)
  }

  private func take(_ count: Int, of keys: Range<Int64>, _ root: Int) -> [ReferenceID] {
    let taken = keys.prefix(count)
    reservedKeys.withLock { $0[root] = taken.upperBound..<keys.upperBound }
    return taken.map { .integer($0) }
  }

  /// Calls `body` in the transaction that is under way, or in one of its own.
  private func writing<Result>(_ body: (Database) throws -> Result) throws -> Result {
    if transaction != nil { return try withDatabase(body) }
    return try saving { try withDatabase(body) }
  }

  /// Raises the count of keys in `Z_PRIMARYKEY`, and gives those that it was raised by.
  private static func raise(by count: Int, _ root: Int, _ db: Database, _ path: String) throws -> Range<Int64> {
    let last = try Int64.fetchOne(db, sql: "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", arguments: [root]) ?? 0
    let (end, overflow) = last.addingReportingOverflow(Int64(count))
    guard !overflow, end < .max else {
      throw PersistenceError(
        .capabilityMissing,
        "The greatest number that can be a key is taken.",
        context: .init(path: path, storeType: .sqlite)
      )
    }
    try db.execute(sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?", arguments: [end, root])
    return (last + 1)..<(end + 1)
  }
}
