import GRDB
import GRDBSQLite
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore
import Synchronization

/// Functions and collations that are registered with SQLite, so that it compares text as predicates do.
enum SQLiteFunctions {
  /// The name of the localized collation.
  static let localizedOrder = "heartwood_localized"
  private static let foldName = "heartwood_fold"
  private static let likeName = "heartwood_like"
  private static let expressionName = "heartwood_matches"

  private static let unicodeName = "heartwood_is_utf8"

  /// Returns an expression that is true if a text in SQL is valid UTF-8, and unknown for other values.
  static func isUTF8(_ text: String) -> String { "\(unicodeName)(\(text))" }

  /// Registers ``isUTF8(_:)`` with a connection. It uses the C interface without intermediate values, because it is
  /// called for each row of a table.
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
        sqlite3_result_int(context, UTF8Validation.firstInvalidOffset(in: bytes.bytes) == nil ? 1 : 0)
      },
      nil,
      nil,
      nil
    )
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }

  /// Returns the folded bytes of a text in SQL.
  static func folded(_ text: String, _ folding: TextFolding) -> String {
    "\(foldName)(CAST(\(text) AS BLOB), \(folding.number))"
  }

  /// Returns an expression that is true if a text in SQL matches a pattern.
  static func matches(
    _ text: String,
    _ pattern: String,
    _ comparator: FetchComparison.Comparator,
    _ folding: TextFolding
  ) -> String {
    let name = comparator == .like ? likeName : expressionName
    return "\(name)(CAST(\(text) AS BLOB), CAST(\(pattern) AS BLOB), \(folding.number))"
  }

  /// Registers all functions and collations with a connection.
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
        return Data(data.withUnsafeBytes { folding.folded(utf8: $0.bytes) })
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

/// The pattern of the last call: it is the same for row after row.
private final class LastPattern: Sendable {
  private struct Made: Sendable {
    let source: String
    let folding: TextFolding
    let pattern: CompiledPattern?
  }

  private let last = Mutex<Made?>(nil)

  func pattern(_ source: String, _ comparator: FetchComparison.Comparator, _ folding: TextFolding) -> CompiledPattern? {
    last.withLock { last in
      // Texts that Swift considers equal are different patterns if their scalars differ.
      if let last, last.source.utf8.elementsEqual(source.utf8), last.folding == folding { return last.pattern }
      let made = Made(source: source, folding: folding, pattern: CompiledPattern(source, comparator, folding: folding))
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

/// The functions that predicates use.
extension SQLiteFunctions {
  /// The functions that take values of one row.
  static let computed: Set<FetchFunction> = [
    .lowercase, .uppercase, .canonical, .length, .absolute, .negate, .floor, .ceiling, .truncate, .squareRoot,
    .logarithm,
    .naturalLogarithm, .exponential, .modulus, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift,
    .onesComplement,
  ]
  private static let statisticName = "heartwood_statistic"
  private static let castName = "heartwood_cast"

  /// Returns the result of a function for values in SQL. Texts are passed as bytes, because SQLite ends them at their
  /// first zero.
  static func applied(_ function: FetchFunction, _ operands: [String]) -> String {
    let values = function.takesString ? operands.map { "CAST(\($0) AS BLOB)" } : operands
    let text = "\(function.nameInSQL)(\(values.joined(separator: ", ")))"
    return function.makesText ? "CAST(\(text) AS TEXT)" : text
  }

  /// Returns the result of a function for the numbers of many rows; NULL if there are no rows.
  static func statistic(_ function: FetchFunction, _ operand: String) -> String {
    "\(statisticName)(\(operand), '\(function.rawValue)')"
  }

  /// Returns a value converted to another type.
  static func cast(_ value: TranslatedValue, to type: FetchExpression.CastType) -> String {
    let operand = value.kind == .text ? "CAST(\(value.text) AS BLOB)" : value.text
    let text = "\(castName)(\(operand), '\(type.rawValue)')"
    return type == .string ? "CAST(\(text) AS TEXT)" : text
  }

  /// Registers the functions of predicates with a connection.
  static func addPredicateFunctions(to db: Database) {
    for function in computed {
      db.add(
        function: DatabaseFunction(function.nameInSQL, argumentCount: function.argumentCount, pure: true) { values in
          function.result(of: values.map { .one(value($0)) }).resultInSQL
        }
      )
    }
    db.add(
      function: DatabaseFunction(castName, argumentCount: 2, pure: true) { values in
        guard let type = String.fromDatabaseValue(values[1]).flatMap(FetchExpression.CastType.init(rawValue:)) else {
          return nil
        }
        return type.value(of: value(values[0])).resultInSQL
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

/// Collects the numbers of many rows for a function of all of them.
private struct CollectedNumbers: DatabaseAggregate {
  private var function: FetchFunction?
  private var numbers: [EvaluatedValue] = []

  mutating func step(_ values: [DatabaseValue]) {
    if function == nil { function = String.fromDatabaseValue(values[1]).flatMap(FetchFunction.init(rawValue:)) }
    numbers.append(.one(SQLiteFunctions.value(values[0])))
  }

  func finalize() -> (any DatabaseValueConvertible)? {
    function.flatMap { $0.result(of: [.many(numbers)]).resultInSQL }
  }
}

extension FetchFunction {
  /// The name of the function in SQL: its name up to the first colon.
  fileprivate var nameInSQL: String { "heartwood_\(rawValue.prefix { $0 != ":" })" }
}

extension PropertyValue {
  /// The value in its stored form, a text as its bytes; nil if the stored form does not compare as the value does.
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
