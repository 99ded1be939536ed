import HeartwoodModel
import HeartwoodStore

/// A fault of a value in a row.
struct ValueFault: Error, Sendable {
  /// A description that follows the name of the row.
  let text: String
  /// The row, if it is not the one that is being read.
  var row: Row?
  /// Whether a file cannot be read, although the row is valid: that costs only the value, while any other fault costs
  /// the row.
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

  /// Creates the fault of a file with large data that does not exist, or cannot be read.
  init(ofFile text: String, underlyingError: PersistenceError? = nil) {
    self.init(text)
    isOfFile = true
    self.underlyingError = underlyingError
  }

  /// Creates the fault of a value whose form does not match the type of its attribute.
  init(found type: CInt, insteadOf expected: String) {
    self.init("holds \(StoredForm.text(type)) instead of \(expected)")
  }

  /// Returns the fault of a number that is out of range for the type.
  static func outOfRange(_ type: AttributeType) -> ValueFault {
    ValueFault("holds a number out of the range of the type \(type.rawValue)")
  }

  /// Returns the same fault in a row that is not the one that is read.
  func at(_ row: Row) -> ValueFault { ValueFault(text, row: row) }

  /// Returns the error for the fault.
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

/// Conditions for values in a column that SQL and reading interpret differently: those that reading refuses, and the
/// few forms that it reads as another value.
///
/// A statement that computes something from the values of rows also counts such rows, and its result is not used if
/// there are any.
///
/// In SQLite's order numbers come before all texts, and texts before all blobs. Comparing takes a fifth of the time of
/// `typeof`, which is only used to distinguish integers from reals.
enum ValueAnomaly {
  /// Returns a condition that is true for a row with an anomaly in a column of an attribute.
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

  /// Returns a condition that is true for a row that changes the sum of an attribute. Fractions among integers of 16
  /// and 32 bits make the sum itself a real.
  static func conditionOfSum(_ column: String, _ type: AttributeType, _ storage: AttributeStorage) -> String {
    switch type {
    case .boolean: return "\(column) NOT IN (0, 1)"
    case .integer16, .integer32:
      guard let range = range(type) else { return condition(column, type, storage) }
      return "\(column) NOT BETWEEN \(range.lowerBound) AND \(range.upperBound)"
    default: return condition(column, type, storage)
    }
  }

  /// Returns a condition that is true for a row with a value of a kind that reading never accepts in a column of an
  /// attribute: an index of the column finds it at once.
  static func otherKind(_ column: String, _ storage: AttributeStorage) -> String {
    switch storage {
    case .integer, .float, .timestamp: "\(column) >= ''"
    case .decimal: "\(column) >= '' AND \(column) <> '\(StoredValue.noNumber)'"
    case .text, .uri: "\(column) < '' OR \(column) >= x''"
    case .uuid, .blob, .transformable, .externalBlob: "\(column) < x''"
    }
  }

  /// Returns a condition that is true for a row whose value in a column of a to-one relationship is not a key.
  static func condition(ofKeyIn column: String) -> String {
    "\(column) >= '' OR \(column) <> CAST(\(column) AS INTEGER)"
  }

  /// Returns the range of the integers that a type can represent; nil means all. For a boolean, these are the two that
  /// Core Data writes.
  static func range(_ type: AttributeType) -> ClosedRange<Int64>? {
    switch type {
    case .boolean: 0...1
    case .integer16, .integer32: type.integerRange
    default: nil
    }
  }
}
