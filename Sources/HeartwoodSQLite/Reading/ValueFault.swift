import HeartwoodModel
import HeartwoodStore

/// What is wrong with a value in a row.
struct ValueFault: Error, Sendable {
  /// In words that follow the name of the row.
  let text: String
  /// The row, if it is not the one that is being read.
  var row: Row?
  /// Whether it is a file that cannot be read, with the row as it should be: that costs the one value, and any other fault the row.
  private(set) var isOfFile = false
  private var underlyingError: PersistenceError?

  /// A row of another table than that of the records, or another row of it.
  struct Row: Hashable {
    let table: String
    /// Nil for a table of pairs.
    let key: Int64?
  }

  init(_ text: String, row: Row? = nil) {
    self.text = text
    self.row = row
  }

  /// A file with large data that is not there, or cannot be read.
  init(ofFile text: String, underlyingError: PersistenceError? = nil) {
    self.init(text)
    isOfFile = true
    self.underlyingError = underlyingError
  }

  /// A value of another form than the type of its attribute has.
  init(found type: CInt, insteadOf expected: String) {
    self.init("holds \(StoredForm.text(type)) instead of \(expected)")
  }

  /// A number that the type has no place for.
  static func outOfRange(_ type: AttributeType) -> ValueFault {
    ValueFault("holds a number out of the range of the type \(type.rawValue)")
  }

  /// A row that is not the one that is read.
  func at(_ row: Row) -> ValueFault { ValueFault(text, row: row) }

  /// The error of the fault.
  ///
  /// - Parameter row: the row that was read.
  func error(in row: Row, _ context: PersistenceError.Context) -> PersistenceError {
    let row = self.row ?? row
    let name = row.key.map { "The row with the key \($0)" } ?? "A row"
    return PersistenceError(
      .fileMalformed,
      "\(name) of the table \(row.table) \(text).",
      context: context,
      underlyingError: underlyingError
    )
  }
}

// MARK: ValueAnomaly

/// What stands in a column and is not read as SQL computes with it: what reading refuses, and the few forms that it reads as another value.
///
/// A statement that makes something of the values of rows counts such rows beside it, and counts for nothing if there are any.
///
/// In SQLite's order numbers come before all texts, and these before all bytes: comparing takes a fifth of the time of `typeof`, which only tells
/// integers from reals.
enum ValueAnomaly {
  /// Holds for a row that has an anomaly in a column of an attribute.
  static func condition(_ column: String, _ type: AttributeType, _ storage: AttributeStorage) -> String {
    let (isNoNumber, isNoText, areNoBytes) = (
      "\(column) >= ''", "\(column) < '' OR \(column) >= x''", "\(column) < x''"
    )
    switch storage {
    case .integer:
      let isNoInteger = "\(isNoNumber) OR \(column) <> CAST(\(column) AS INTEGER)"
      guard let range = range(type) else { return isNoInteger }
      return "\(isNoInteger) OR \(column) NOT BETWEEN \(range.lowerBound) AND \(range.upperBound)"
    case .float, .timestamp: return isNoNumber
    case .decimal: return "\(isNoNumber) AND \(column) <> '\(StoredValue.noNumber)'"
    case .text: return "\(isNoText) OR NOT \(SQLiteFunctions.isUTF8(column))"
    case .uri: return "\(isNoText) OR \(column) = '' OR NOT \(SQLiteFunctions.isUTF8(column))"
    case .uuid: return "\(areNoBytes) OR length(\(column)) <> 16"
    case .blob, .transformable, .externalBlob: return areNoBytes
    }
  }

  /// Holds for a row that makes a sum of an attribute another one. Fractions among integers of 16 and 32 bits make the sum itself a real one.
  static func conditionOfSum(_ column: String, _ type: AttributeType, _ storage: AttributeStorage) -> String {
    switch type {
    case .boolean: return "\(column) NOT IN (0, 1)"
    case .integer16, .integer32:
      guard let range = range(type) else { return condition(column, type, storage) }
      return "\(column) NOT BETWEEN \(range.lowerBound) AND \(range.upperBound)"
    default: return condition(column, type, storage)
    }
  }

  /// Holds for a row that has in a column of an attribute what is of none of the kinds that reading takes: an index of the column finds it at once.
  static func otherKind(_ column: String, _ storage: AttributeStorage) -> String {
    switch storage {
    case .integer, .float, .timestamp: "\(column) >= ''"
    case .decimal: "\(column) >= '' AND \(column) <> '\(StoredValue.noNumber)'"
    case .text, .uri: "\(column) < '' OR \(column) >= x''"
    case .uuid, .blob, .transformable, .externalBlob: "\(column) < x''"
    }
  }

  /// Holds for a row that has in a column of a to-one relationship what is no key.
  static func condition(ofKeyIn column: String) -> String {
    "\(column) >= '' OR \(column) <> CAST(\(column) AS INTEGER)"
  }

  /// The integers that a type has place for; nil means all. Of a boolean these are the two that Core Data writes.
  static func range(_ type: AttributeType) -> ClosedRange<Int64>? {
    switch type {
    case .boolean: 0...1
    case .integer16, .integer32: type.integerRange
    default: nil
    }
  }
}
