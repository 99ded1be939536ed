import HeartwoodModel

/// What is wrong with a value in a row.
struct ValueFault: Error, Sendable, Hashable {
  /// In words that follow the name of the row.
  let text: String
  /// The row, if it is not the one that is being read.
  var row: Row?

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
}
