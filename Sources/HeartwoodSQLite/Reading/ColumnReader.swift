import GRDB
import GRDBSQLite
import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads the values of one attribute from a column of a statement, row by row.
///
/// The statement is stepped by who calls; what SQLite gives to a pointer is copied before the next step.
///
/// It holds no reference, so that reading a value counts none.
struct ColumnReader {
  let type: AttributeType
  let storage: AttributeStorage
  /// The place of the column in the statement.
  let index: CInt

  /// Appends the value in the row that the statement is at.
  @inline(__always)
  func append(_ statement: SQLiteStatement, to column: ColumnBuilder, _ externalFiles: ExternalFiles) throws {
    if sqlite3_column_type(statement, index) == SQLITE_NULL { return column.appendNull() }
    switch storage {
    case .integer: try appendInteger(statement, column)
    case .float: appendReal(statement, column)
    case .timestamp: column.append(double: sqlite3_column_double(statement, index))
    case .text: column.append(bytes: try text(statement))
    case .uri: try appendURI(statement, column)
    case .decimal: column.append(decimal: try decimal(statement))
    case .uuid: column.append(uuid: try uuid(statement))
    case .blob, .transformable: column.append(bytes: ColumnBytes.blob(statement, index))
    case .externalBlob: try appendExternal(statement, column, externalFiles)
    }
  }

  @inline(__always)
  private func appendInteger(_ statement: SQLiteStatement, _ column: ColumnBuilder) throws {
    let number = sqlite3_column_int64(statement, index)
    switch type {
    case .boolean: column.append(boolean: number != 0)
    case .integer16 where Int16(exactly: number) == nil, .integer32 where Int32(exactly: number) == nil:
      throw Fault("holds \(number), which is out of the range of the type \(type.rawValue)")
    default: column.append(integer: number)
    }
  }

  private func appendReal(_ statement: SQLiteStatement, _ column: ColumnBuilder) {
    let number = sqlite3_column_double(statement, index)
    if type == .float { column.append(float: Float(number)) } else { column.append(double: number) }
  }

  @inline(__always)
  private func text(_ statement: SQLiteStatement) throws -> UnsafeRawBufferPointer {
    let bytes = ColumnBytes.text(statement, index)
    guard UTF8Validation.firstInvalidOffset(in: bytes) == nil else { throw Fault("holds text that is not UTF-8") }
    return bytes
  }

  /// An empty text is no URI: it is `nil`.
  private func appendURI(_ statement: SQLiteStatement, _ column: ColumnBuilder) throws {
    let bytes = try text(statement)
    if bytes.isEmpty { return column.appendNull() }
    guard URL(string: String(decoding: bytes, as: UTF8.self)) != nil else { throw Fault("holds text that is no URI") }
    column.append(bytes: bytes)
  }

  private func decimal(_ statement: SQLiteStatement) throws -> Decimal {
    switch sqlite3_column_type(statement, index) {
    case SQLITE_INTEGER: return Decimal(sqlite3_column_int64(statement, index))
    case SQLITE_FLOAT:
      // The shortest text that stands for the real is what was written.
      let text = "\(sqlite3_column_double(statement, index))"
      if let number = Decimal(string: text) { return number }
    default:
      let text = sqlite3_column_text(statement, index).map { String(cString: $0) }
      if text == StoredValue.noNumber { return .nan }
      if let number = text.flatMap({ Decimal(string: $0) }) { return number }
    }
    throw Fault("holds no decimal number")
  }

  /// A text would be read, but neither found nor kept unique by SQL.
  private func uuid(_ statement: SQLiteStatement) throws -> uuid_t {
    guard sqlite3_column_type(statement, index) == SQLITE_BLOB else {
      throw Fault("holds a UUID otherwise than as the 16 bytes that Core Data writes. Store those")
    }
    let bytes = ColumnBytes.blob(statement, index)
    if bytes.count == MemoryLayout<uuid_t>.size { return bytes.loadUnaligned(as: uuid_t.self) }
    throw Fault("holds \(bytes.count) bytes that are no UUID")
  }

  private func appendExternal(
    _ statement: SQLiteStatement,
    _ column: ColumnBuilder,
    _ externalFiles: ExternalFiles
  ) throws {
    let bytes = ColumnBytes.blob(statement, index)
    switch bytes.first {
    case ExternalFiles.inlineMark: column.append(bytes: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
    case ExternalFiles.fileMark:
      let name = String(decoding: bytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
      try externalFiles.contents(name).withUnsafeBytes { column.append(bytes: $0) }
    default: throw Fault("does not tell whether its data are in the row or in a file")
    }
  }

  /// What is wrong with a value, in words that follow the name of its column.
  struct Fault: Error {
    let text: String

    init(_ text: String) {
      self.text = text
    }
  }
}
