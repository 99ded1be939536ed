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
