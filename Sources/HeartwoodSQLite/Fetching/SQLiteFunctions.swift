import GRDB
import GRDBSQLite
import HeartwoodModel
import HeartwoodStore
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
