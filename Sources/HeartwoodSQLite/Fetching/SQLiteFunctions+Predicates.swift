import GRDB
import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
