import GRDB
import GRDBSQLite
import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A statement that makes groups of records, and how its columns are read.
struct GroupStatement {
  let query: FetchStatement
  let keys: [GroupValue]
  let aggregates: [GroupAggregate]
  /// Whether the last column tells of rows that are not read as SQL computes with them.
  let tellsOddities: Bool
  /// Whether the statement tests the condition on groups, where there is one.
  let testsGroups: Bool
}

/// How a column of such a statement becomes a value.
enum GroupValue {
  case attribute(AttributeType)
  /// The key of a record of the entity with this ordinal.
  case record(Int)

  /// The value in the row that the statement is at.
  func value(_ row: SQLiteStatement, _ index: CInt, _ scopes: [ObjectIDScope]) throws(Untranslatable) -> PropertyValue {
    if sqlite3_column_type(row, index) == SQLITE_NULL { return .null }
    switch self {
    case .record(let ordinal):
      return .toOne(ManagedObjectID(scope: scopes[ordinal], reference: .integer(try Self.integer(row, index))))
    case .attribute(let type): return try Self.value(row, index, type)
    }
  }

  private static func value(
    _ row: SQLiteStatement,
    _ index: CInt,
    _ type: AttributeType
  ) throws(Untranslatable) -> PropertyValue {
    switch type {
    case .integer16, .integer32, .integer64: return .integer(try integer(row, index, type))
    case .boolean: return .boolean(try integer(row, index, type) != 0)
    case .double: return .double(try real(row, index))
    case .float: return .float(Float(try real(row, index)))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: try real(row, index)))
    case .string: return .string(try text(row, index))
    case .uuid: return .uuid(try uuid(row, index))
    case .decimal, .uri, .binary, .transformable, .undefined: throw Untranslatable()
    }
  }

  /// What has another form than its type is another group in SQL, and may be read as the same value.
  private static func check(
    _ row: SQLiteStatement,
    _ index: CInt,
    isStoredAs form: CInt
  ) throws(Untranslatable) {
    guard sqlite3_column_type(row, index) == form else { throw Untranslatable() }
  }

  private static func integer(
    _ row: SQLiteStatement,
    _ index: CInt,
    _ type: AttributeType? = nil
  ) throws(Untranslatable) -> Int64 {
    try check(row, index, isStoredAs: SQLITE_INTEGER)
    let number = sqlite3_column_int64(row, index)
    // Booleans other than 0 and 1 are the same and several groups.
    if let range = type.flatMap(ValueAnomaly.range), !range.contains(number) { throw Untranslatable() }
    return number
  }

  /// Columns of dates hold whole numbers as integers.
  private static func real(_ row: SQLiteStatement, _ index: CInt) throws(Untranslatable) -> Double {
    if sqlite3_column_type(row, index) == SQLITE_INTEGER {
      guard let number = Double(exactly: sqlite3_column_int64(row, index)) else { throw Untranslatable() }
      return number
    }
    try check(row, index, isStoredAs: SQLITE_FLOAT)
    return sqlite3_column_double(row, index)
  }

  /// What is no UTF-8 is refused, with its place, where all records are read.
  private static func text(_ row: SQLiteStatement, _ index: CInt) throws(Untranslatable) -> String {
    try check(row, index, isStoredAs: SQLITE_TEXT)
    let bytes = ColumnBytes.text(row, index)
    guard UTF8Validation.firstInvalidOffset(in: bytes) == nil else { throw Untranslatable() }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func uuid(_ row: SQLiteStatement, _ index: CInt) throws(Untranslatable) -> UUID {
    try check(row, index, isStoredAs: SQLITE_BLOB)
    let bytes = ColumnBytes.blob(row, index)
    guard bytes.count == MemoryLayout<uuid_t>.size else { throw Untranslatable() }
    return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
  }
}

/// An aggregate in SQL, and how what is known of it is read from its columns.
enum GroupAggregate {
  case count(String)
  /// The sum of integers as that of their higher bits, which stands for 2^32 times as much, and that of their lower ones: neither
  /// overflows.
  case integerSum(high: String, low: String, count: String, isAverage: Bool)
  case realSum(String, count: String, isAverage: Bool)
  case extreme(String, AttributeType, isLeast: Bool)

  var columns: [String] {
    switch self {
    case .count(let text), .extreme(let text, _, _): [text]
    case .integerSum(let high, let low, let count, _): [high, low, count]
    case .realSum(let sum, let count, _): [sum, count]
    }
  }

  /// What the row tells, whose columns from `index` on are the aggregate's.
  func accumulator(_ row: SQLiteStatement, _ index: CInt) throws(Untranslatable) -> Accumulator {
    switch self {
    case .count: return .count(sqlite3_column_int64(row, index))
    case .integerSum(_, _, _, let isAverage):
      // Where there are others among the integers, the sum is a real one.
      guard sqlite3_column_type(row, index + 1) != SQLITE_FLOAT else { throw Untranslatable() }
      let (high, low) = (sqlite3_column_int64(row, index), sqlite3_column_int64(row, index + 1))
      var sum = NumberSum()
      sum.add(Int128(high) << 32 + Int128(low))
      return isAverage ? .average(sum, count: sqlite3_column_int64(row, index + 2)) : .sum(sum)
    case .realSum(_, _, let isAverage):
      let count = sqlite3_column_int64(row, index + 1)
      var sum = NumberSum()
      if count > 0 { sum.add(Self.real(row, index)) }
      return isAverage ? .average(sum, count: count) : .sum(sum)
    case .extreme(_, let type, let isLeast):
      return .extreme(try GroupValue.attribute(type).value(row, index, []), isLeast: isLeast)
    }
  }

  /// SQLite gives nothing for a sum that is no number.
  private static func real(_ row: SQLiteStatement, _ index: CInt) -> Double {
    sqlite3_column_type(row, index) == SQLITE_NULL ? .nan : sqlite3_column_double(row, index)
  }
}

extension GroupStatement {
  /// The group in the row that the statement is at.
  func group(_ row: SQLiteStatement, _ scopes: [ObjectIDScope]) throws(Untranslatable) -> RecordGroup {
    var values: [PropertyValue] = []
    for (index, key) in keys.enumerated() { values.append(try key.value(row, CInt(index), scopes)) }
    var accumulators: [Accumulator] = []
    var index = CInt(keys.count)
    for aggregate in aggregates {
      accumulators.append(try aggregate.accumulator(row, index))
      index += CInt(aggregate.columns.count)
    }
    if tellsOddities, sqlite3_column_int(row, index) != 0 { throw Untranslatable() }
    return RecordGroup(keys: values, accumulators: accumulators)
  }
}
