import GRDB
import HeartwoodStore
import Synchronization

/// A scan of a whole table that two connections share: each takes the next range of keys when it has read one.
final class SharedScan: Sendable {
  /// The minimum number of keys: for fewer, a second connection costs more time than it saves.
  private static let leastSpan: UInt64 = 1 << 14
  /// The maximum number of ranges, however far apart the keys are.
  private static let greatestRangeCount: UInt64 = 64

  private struct State {
    var next = 0
    var groups: [Int: [RowGroup]] = [:]
    /// The failure in the first of the failed ranges.
    var failure: (range: Int, error: any Error)?

    mutating func take(of count: Int) -> Int? {
      guard failure == nil, next < count else { return nil }
      defer { next += 1 }
      return next
    }

    mutating func note(_ result: Result<[RowGroup], any Error>, at range: Int) {
      switch result {
      case .success(let read): groups[range] = read
      case .failure(let error): if range < failure?.range ?? .max { failure = (range, error) }
      }
    }
  }

  private let reader: RecordReader
  private let ranges: [ClosedRange<Int64>]
  private let state = Mutex(State())

  /// Returns nil if the table has so few rows that one connection reads them faster.
  init?(_ reader: RecordReader, _ db: Database) throws {
    self.reader = reader
    let table = SQLiteName.quoted(reader.placement.tableName)
    let query = "SELECT (SELECT min(Z_PK) FROM \(table)), (SELECT max(Z_PK) FROM \(table))"
    // In a file that is not Core Data's, a key may not be a number.
    guard let row = try Row.fetchOne(try db.cachedStatement(sql: query)),
      let least = Int64.fromDatabaseValue(row[0]), let greatest = Int64.fromDatabaseValue(row[1]),
      let ranges = Self.ranges(from: least, through: greatest)
    else { return nil }
    self.ranges = ranges
  }

  /// Returns as many ranges as give full row groups if no key is missing, and the same number for both connections.
  private static func ranges(from least: Int64, through greatest: Int64) -> [ClosedRange<Int64>]? {
    let span = UInt64(bitPattern: greatest &- least)
    // In a damaged table the last key may be less than the first.
    guard least <= greatest, span >= leastSpan else { return nil }
    let pairs = span / UInt64(RowGroup.maximumRowCount * 2) + 1
    let count = min(pairs * 2, greatestRangeCount)
    let width = span / count + 1
    var ranges: [ClosedRange<Int64>] = []
    var first = least
    while UInt64(bitPattern: greatest &- first) >= width {
      let next = first &+ Int64(bitPattern: width)
      ranges.append(first...(next - 1))
      first = next
    }
    return ranges + [first...greatest]
  }

  /// Reads ranges until none is left.
  func read(_ db: Database) {
    while let index = state.withLock({ $0.take(of: ranges.count) }) {
      let result = Result { try reader.groups(ranges[index], db) }
      state.withLock { $0.note(result, at: index) }
    }
  }

  /// Returns the records after all ranges have been read.
  func groups() throws -> [RowGroup] {
    try state.withLock { state in
      if let failure = state.failure { throw failure.error }
      return ranges.indices.flatMap { state.groups[$0] ?? [] }
    }
  }
}

extension SQLiteStore {
  /// Returns all records of an entity, in the order of their keys. If there are many, and no other connection has saved
  /// in the meantime, both connections read.
  func wholeTable(_ reader: RecordReader, _ db: Database) throws -> [RowGroup] {
    try reader.checkStrays(db)
    guard let transaction, !transaction.isAlone, let scan = try SharedScan(reader, db) else {
      return try reader.groups(.min ... .max, db)
    }
    let (file, mark) = (try file(), transaction.mark)
    let helper = StealableTask {
      // If the second connection cannot help, the first one reads everything.
      _ = try? file.readBeside(at: mark) { scan.read($0) }
    }
    scan.read(db)
    helper.callOff()
    return try scan.groups()
  }
}
