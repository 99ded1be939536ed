import GRDB
import GRDBSQLite
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore
import Synchronization

/// What SQLite is taught, so that text compares in it as it does in predicates.
enum SQLiteFunctions {
  /// The collation of the order in which people expect texts.
  static let localizedOrder = "heartwood_localized"
  private static let foldName = "heartwood_fold"
  private static let likeName = "heartwood_like"
  private static let expressionName = "heartwood_matches"

  private static let unicodeName = "heartwood_is_utf8"

  /// Whether a text in SQL is UTF-8; unknown for what is no text.
  static func isUTF8(_ text: String) -> String { "\(unicodeName)(\(text))" }

  /// Teaches a connection ``isUTF8(_:)``: without a value in between, since it is asked for each row of a table.
  private static func addUnicodeCheck(to db: Database) throws {
    let code = sqlite3_create_function_v2(
      db.sqliteConnection,
      unicodeName,
      1,
      SQLITE_UTF8 | SQLITE_DETERMINISTIC,
      nil,
      { context, _, values in
        guard let value = values?[0], sqlite3_value_type(value) == SQLITE_TEXT else { return }
        let start = UnsafeRawPointer(sqlite3_value_text(value))
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
        sqlite3_result_int(context, UTF8Validation.firstInvalidOffset(in: bytes) == nil ? 1 : 0)
      },
      nil,
      nil,
      nil
    )
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }

  /// The folded bytes of a text in SQL.
  static func folded(_ text: String, _ folding: TextFolding) -> String {
    "\(foldName)(CAST(\(text) AS BLOB), \(folding.number))"
  }

  /// Whether a text in SQL fits a pattern.
  static func matches(
    _ text: String,
    _ pattern: String,
    _ comparator: FetchComparison.Comparator,
    _ folding: TextFolding
  ) -> String {
    let name = comparator == .like ? likeName : expressionName
    return "\(name)(CAST(\(text) AS BLOB), CAST(\(pattern) AS BLOB), \(folding.number))"
  }

  /// Teaches a connection.
  static func add(to db: Database) throws {
    try addUnicodeCheck(to: db)
    try StrayRows.addFunction(to: db)
    db.add(
      collation: DatabaseCollation(localizedOrder) { left, right in
        let order = TextOrder.compare(left, right)
        return order < 0 ? .orderedAscending : order > 0 ? .orderedDescending : .orderedSame
      }
    )
    db.add(
      function: DatabaseFunction(foldName, argumentCount: 2, pure: true) { values in
        guard let data = Data.fromDatabaseValue(values[0]) else { return nil }
        let folding = TextFolding(number: Int.fromDatabaseValue(values[1]) ?? 0)
        var folded: [UInt8] = []
        data.withUnsafeBytes { folding.append($0, to: &folded) }
        return Data(folded)
      }
    )
    db.add(function: pattern(likeName, .like))
    db.add(function: pattern(expressionName, .matches))
    addPredicateFunctions(to: db)
  }

  private static func pattern(_ name: String, _ comparator: FetchComparison.Comparator) -> DatabaseFunction {
    let last = LastPattern()
    return DatabaseFunction(name, argumentCount: 3, pure: true) { values in
      guard let text = Data.fromDatabaseValue(values[0]), let source = Data.fromDatabaseValue(values[1]) else {
        return nil
      }
      let folding = TextFolding(number: Int.fromDatabaseValue(values[2]) ?? 0)
      let pattern = last.pattern(String(decoding: source, as: UTF8.self), comparator, folding)
      return pattern?.matches(String(decoding: text, as: UTF8.self)) ?? false
    }
  }
}

/// The pattern that a function has met last: row after row it is the same.
private final class LastPattern: Sendable {
  private struct Made: Sendable {
    let source: String
    let folding: TextFolding
    let pattern: PlanPattern?
  }

  private let last = Mutex<Made?>(nil)

  func pattern(_ source: String, _ comparator: FetchComparison.Comparator, _ folding: TextFolding) -> PlanPattern? {
    last.withLock { last in
      // Texts that Swift takes for equal are other patterns where their scalars differ.
      if let last, last.source.utf8.elementsEqual(source.utf8), last.folding == folding { return last.pattern }
      let made = Made(source: source, folding: folding, pattern: PlanPattern(source, comparator, folding: folding))
      last = made
      return made.pattern
    }
  }
}

extension TextFolding {
  fileprivate var number: Int { (ignoresCase ? 1 : 0) + (ignoresMarks ? 2 : 0) }

  fileprivate init(number: Int) {
    self.init(ignoresCase: number & 1 != 0, ignoresMarks: number & 2 != 0)
  }
}

// MARK: Predicates

/// The functions of predicates.
extension SQLiteFunctions {
  /// Those that take values of a row.
  static let computed: Set<FetchFunction> = [
    .lowercase, .uppercase, .canonical, .length, .absolute, .negate, .floor, .ceiling, .truncate, .squareRoot,
    .logarithm,
    .naturalLogarithm, .exponential, .modulus, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift,
    .onesComplement,
  ]
  private static let statisticName = "heartwood_statistic"
  private static let castName = "heartwood_cast"

  /// What a function makes of values in SQL. Texts go in and out as bytes, since SQLite ends them at their first zero.
  static func applied(_ function: FetchFunction, _ operands: [String]) -> String {
    let values = function.takesString ? operands.map { "CAST(\($0) AS BLOB)" } : operands
    let text = "\(function.nameInSQL)(\(values.joined(separator: ", ")))"
    return function.makesText ? "CAST(\(text) AS TEXT)" : text
  }

  /// What a function makes of the numbers of many rows; nothing where there is no row.
  static func statistic(_ function: FetchFunction, _ operand: String) -> String {
    "\(statisticName)(\(operand), '\(function.rawValue)')"
  }

  /// A value as one of another type.
  static func cast(_ value: TranslatedValue, to type: FetchExpression.CastType) -> String {
    let operand = value.kind == .text ? "CAST(\(value.text) AS BLOB)" : value.text
    let text = "\(castName)(\(operand), '\(type.rawValue)')"
    return type == .string ? "CAST(\(text) AS TEXT)" : text
  }

  /// Teaches them to a connection.
  static func addPredicateFunctions(to db: Database) {
    for function in computed {
      db.add(
        function: DatabaseFunction(function.nameInSQL, argumentCount: function.argumentCount, pure: true) { values in
          Computation.apply(function, values.map { .one(value($0)) }).resultInSQL
        }
      )
    }
    db.add(
      function: DatabaseFunction(castName, argumentCount: 2, pure: true) { values in
        guard let type = String.fromDatabaseValue(values[1]).flatMap(FetchExpression.CastType.init(rawValue:)) else {
          return nil
        }
        return Computation.cast(value(values[0]), to: type).resultInSQL
      }
    )
    db.add(function: DatabaseFunction(statisticName, argumentCount: 2, pure: true, aggregate: CollectedNumbers.self))
  }

  fileprivate static func value(_ value: DatabaseValue) -> PropertyValue {
    switch value.storage {
    case .int64(let number): .integer(number)
    case .double(let number): .double(number)
    case .blob(let data): .string(String(decoding: data, as: UTF8.self))
    case .null, .string: .null
    }
  }
}

/// The numbers of many rows, of which a function makes one.
private struct CollectedNumbers: DatabaseAggregate {
  private var function: FetchFunction?
  private var numbers: [PropertyValue] = []

  mutating func step(_ values: [DatabaseValue]) {
    if function == nil { function = String.fromDatabaseValue(values[1]).flatMap(FetchFunction.init(rawValue:)) }
    numbers.append(SQLiteFunctions.value(values[0]))
  }

  func finalize() -> (any DatabaseValueConvertible)? {
    function.flatMap { Statistics.apply($0, numbers).resultInSQL }
  }
}

extension FetchFunction {
  /// What the function is called in SQL: its name before the first colon.
  fileprivate var nameInSQL: String { "heartwood_\(rawValue.prefix { $0 != ":" })" }
}

extension PropertyValue {
  /// The value as a file holds it, a text as its bytes; nil for what a file holds otherwise than it compares.
  fileprivate var resultInSQL: (any DatabaseValueConvertible)? {
    switch self {
    case .integer(let number): number
    case .boolean(let flag): flag ? 1 : 0
    case .double(let number): number
    case .float(let number): Double(number)
    case .date(let date): date.timeIntervalSinceReferenceDate
    case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { Data($0) }
    case .string(let text): Data(text.utf8)
    default: nil
    }
  }
}
