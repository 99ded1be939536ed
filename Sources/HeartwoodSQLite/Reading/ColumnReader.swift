import GRDB
import GRDBSQLite
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Reads the values of one attribute from a column of a statement, row by row.
///
/// A value is read if Core Data writes the attribute in its form, or if the form has the same meaning: an integer in
/// the column of a number, a decimal number or a date, a real number without a fraction in that of an integer, and any
/// integer in that of a boolean, of which 0 is false. Anything else is refused, and never converted: SQLite would
/// convert any text to a number.
///
/// The caller steps the statement; data to which SQLite returns a pointer is copied before the next step.
///
/// The structure holds no reference, so that reading a value does no reference counting.
struct ColumnReader {
  let type: AttributeType
  let storage: AttributeStorage
  /// The index of the column in the statement.
  let index: CInt

  /// Appends the value in the current row of the statement.
  ///
  /// - Throws: ``ValueFault``; nothing was appended then.
  @inline(__always)
  func append(_ statement: SQLiteStatement, to column: ColumnBuilder, _ externalFiles: ExternalFiles) throws {
    let form = sqlite3_column_type(statement, index)
    if form == SQLITE_NULL { return column.appendNull() }
    switch storage {
    case .integer: try appendInteger(statement, form, column)
    case .float: try appendReal(statement, form, column)
    case .timestamp: column.append(double: try real(statement, form))
    case .text: column.append(bytes: try text(statement, form).bytes)
    case .uri: try appendURI(statement, form, column)
    case .decimal: column.append(decimal: try decimal(statement, form))
    case .uuid: column.append(uuid: UUID(uuid: try uuid(statement, form)))
    case .blob, .transformable: column.append(bytes: try blob(statement, form).bytes)
    case .externalBlob: try appendExternal(statement, form, column, externalFiles)
    }
  }
}

// MARK: Numbers

extension ColumnReader {
  @inline(__always)
  private func appendInteger(_ statement: SQLiteStatement, _ form: CInt, _ column: ColumnBuilder) throws {
    let number =
      form == SQLITE_INTEGER ? sqlite3_column_int64(statement, index) : try wholeNumber(statement, form)
    switch type {
    case .boolean: column.append(boolean: number != 0)
    case .integer16 where Int16(exactly: number) == nil, .integer32 where Int32(exactly: number) == nil:
      throw ValueFault.outOfRange(type)
    default: column.append(integer: number)
    }
  }

  /// Returns the integer that equals a real number.
  @inline(never)
  private func wholeNumber(_ statement: SQLiteStatement, _ form: CInt) throws(ValueFault) -> Int64 {
    guard form == SQLITE_FLOAT else { throw fault(form) }
    let real = sqlite3_column_double(statement, index)
    if let number = Int64(exactly: real) { return number }
    if real.rounded() == real { throw .outOfRange(type) }
    throw ValueFault("holds a number with a fraction instead of \(type.valueDescription)")
  }

  private func appendReal(_ statement: SQLiteStatement, _ form: CInt, _ column: ColumnBuilder) throws(ValueFault) {
    let number = try real(statement, form)
    if type != .float { return column.append(double: number) }
    let float = Float(number)
    if float.isInfinite, number.isFinite { throw .outOfRange(type) }
    column.append(float: float)
  }

  /// Reads a date: its column contains whole seconds as integers.
  @inline(__always)
  private func real(_ statement: SQLiteStatement, _ form: CInt) throws(ValueFault) -> Double {
    if form == SQLITE_FLOAT { return sqlite3_column_double(statement, index) }
    guard form == SQLITE_INTEGER else { throw fault(form) }
    guard let number = Double(exactly: sqlite3_column_int64(statement, index)) else { throw .outOfRange(type) }
    return number
  }

  private func decimal(_ statement: SQLiteStatement, _ form: CInt) throws(ValueFault) -> Decimal {
    switch form {
    case SQLITE_INTEGER: return Decimal(sqlite3_column_int64(statement, index))
    case SQLITE_FLOAT:
      // The shortest text that represents the real is the number that was written.
      let text = "\(sqlite3_column_double(statement, index))"
      guard let number = Self.decimal(text) else { throw .outOfRange(type) }
      return number
    case SQLITE_TEXT:
      let text = String(decoding: ColumnBytes.text(statement, index), as: UTF8.self)
      if text == StoredValue.noNumber { return .nan }
      if let number = Self.decimal(text) { return number }
      throw fault(form)
    default: throw fault(form)
    }
  }

  private static func decimal(_ text: String) -> Decimal? {
    guard case .decimal(let number) = PropertyValue(text: text, type: .decimal), !number.isNaN else { return nil }
    return number
  }

  private func fault(_ form: CInt) -> ValueFault { ValueFault(found: form, insteadOf: type.valueDescription) }
}

// MARK: Text and bytes

extension ColumnReader {
  @inline(__always)
  private func text(_ statement: SQLiteStatement, _ form: CInt) throws(ValueFault) -> UnsafeRawBufferPointer {
    guard form == SQLITE_TEXT else { throw fault(form) }
    let bytes = ColumnBytes.text(statement, index)
    guard UTF8Validation.firstInvalidOffset(in: bytes.bytes) == nil else {
      throw ValueFault("holds text that is not UTF-8")
    }
    return bytes
  }

  /// Appends a URI. An empty text is not a URI, and is read as `nil`.
  private func appendURI(_ statement: SQLiteStatement, _ form: CInt, _ column: ColumnBuilder) throws(ValueFault) {
    let bytes = try text(statement, form)
    if bytes.isEmpty { return column.appendNull() }
    guard URL(string: String(decoding: bytes, as: UTF8.self)) != nil else {
      throw ValueFault("holds text that is not a URI")
    }
    column.append(bytes: bytes.bytes)
  }

  /// Reads a UUID. A text is refused: SQL would neither find it nor keep it unique.
  private func uuid(_ statement: SQLiteStatement, _ form: CInt) throws(ValueFault) -> uuid_t {
    guard form == SQLITE_BLOB else {
      throw ValueFault("holds a UUID otherwise than as the 16 bytes that Core Data writes. Store those")
    }
    let bytes = ColumnBytes.blob(statement, index)
    if bytes.count == MemoryLayout<uuid_t>.size { return bytes.loadUnaligned(as: uuid_t.self) }
    throw ValueFault("holds \(bytes.count) bytes that are not a UUID")
  }

  @inline(__always)
  private func blob(_ statement: SQLiteStatement, _ form: CInt) throws(ValueFault) -> UnsafeRawBufferPointer {
    guard form == SQLITE_BLOB else { throw fault(form) }
    return ColumnBytes.blob(statement, index)
  }

  private func appendExternal(
    _ statement: SQLiteStatement,
    _ form: CInt,
    _ column: ColumnBuilder,
    _ externalFiles: ExternalFiles
  ) throws {
    let bytes = try blob(statement, form)
    switch bytes.first {
    case ExternalFiles.inlineMark: column.append(bytes: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()).bytes)
    case ExternalFiles.fileMark:
      let name = String(decoding: bytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
      try externalFiles.contents(name).withUnsafeBytes { column.append(bytes: $0.bytes) }
    default: throw ValueFault("does not show whether its data are in the row or in a file")
    }
  }
}

extension AttributeType {
  /// The content of a column of this type, as words that follow "instead of".
  fileprivate var valueDescription: String {
    switch self {
    case .integer16, .integer32, .integer64: "an integer"
    case .boolean: "a boolean (0 or 1)"
    case .double, .float: "a number"
    case .decimal: "a decimal number"
    case .date: "a date (seconds since 2001)"
    case .string: "text"
    case .uri: "the text of a URI"
    case .uuid: "the 16 bytes of a UUID"
    case .binary, .transformable: "bytes"
    case .undefined: "nothing"
    }
  }
}

// MARK: ColumnBytes

/// Returns the bytes that SQLite has for a column of the current row, which are valid until the statement's next step.
enum ColumnBytes {
  @inline(__always)
  static func blob(_ statement: SQLiteStatement, _ index: CInt) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(statement, index)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index)))
  }

  /// Returns the bytes of a text. They are UTF-8, unless a file from another source contains invalid text.
  @inline(__always)
  static func text(_ statement: SQLiteStatement, _ index: CInt) -> UnsafeRawBufferPointer {
    // The order matters: the first call converts the value to text, and the second one returns its length.
    let start = sqlite3_column_text(statement, index)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index)))
  }
}

// MARK: StoredForm

/// Describes the content of a cell in words: only its form, so that no message contains a value of a record.
enum StoredForm {
  static func text(_ type: CInt) -> String {
    switch type {
    case SQLITE_INTEGER: "an integer"
    case SQLITE_FLOAT: "a real number"
    case SQLITE_TEXT: "text"
    case SQLITE_BLOB: "bytes"
    default: "nothing"
    }
  }
}
