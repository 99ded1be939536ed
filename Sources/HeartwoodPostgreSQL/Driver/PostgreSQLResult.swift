import HeartwoodFoundation
import HeartwoodStore

/// The rows that a statement returned: in binary format, or in text format if one text contained several statements.
final class PostgreSQLResult {
  private let result: OpaquePointer
  private let library: LibPQ

  /// Takes ownership of a result of libpq, and frees it at the end.
  init(_ result: OpaquePointer, _ library: LibPQ) {
    (self.result, self.library) = (result, library)
  }

  deinit {
    library.clear(result)
  }

  var rowCount: Int { Int(library.rowCount(result)) }
  var columnCount: Int { Int(library.columnCount(result)) }

  /// The object identifiers of the columns' types.
  var columnTypes: [UInt32] { (0..<columnCount).map { library.columnType(result, CInt(clamping: $0)) } }

  /// The number of rows that the statement inserted, updated or deleted.
  var affectedCount: Int { library.affectedCount(result).flatMap { Int(String(cString: $0)) } ?? 0 }

  /// Calls `body` with each row. The fields of a row are valid during the call.
  func forEachRow(_ body: (PostgreSQLRow) throws -> Void) rethrows {
    let columns = columnCount
    for row in 0..<rowCount {
      let fields = (0..<columns).map { field(row, $0) }
      try withExtendedLifetime(self) { try body(PostgreSQLRow(fields)) }
    }
  }

  /// Returns the result of `body` for the first row; nil if there is no row.
  func first<Value>(_ body: (PostgreSQLRow) throws -> Value) rethrows -> Value? {
    guard rowCount > 0 else { return nil }
    let fields = (0..<columnCount).map { field(0, $0) }
    return try withExtendedLifetime(self) { try body(PostgreSQLRow(fields)) }
  }

  /// The row and the column must be within the result; libpq checks this too.
  private func field(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
    let (row, column) = (CInt(clamping: row), CInt(clamping: column))
    guard library.isNull(result, row, column) == 0, let start = library.value(result, row, column)
    else { return nil }
    return UnsafeRawBufferPointer(start: start, count: Int(library.length(result, row, column)))
  }
}

// MARK: PostgreSQLRow

/// The fields of one row in binary format: pointers into libpq's memory, which the caller that passes the row keeps
/// valid.
struct PostgreSQLRow {
  private let fields: [UnsafeRawBufferPointer?]

  init(_ fields: [UnsafeRawBufferPointer?]) {
    self.fields = fields
  }

  var count: Int { fields.count }

  /// The bytes of a field; nil for NULL, and for an index that is out of range.
  subscript(index: Int) -> UnsafeRawBufferPointer? {
    fields.indices.contains(index) ? fields[index] : nil
  }
}

extension PostgreSQLRow {
  func uuid(_ index: Int) throws -> UUID? { try self[index].map { try BinaryField.uuid($0) } }

  func bigint(_ index: Int) throws -> Int64? { try self[index].map { try BinaryField.integer($0) } }

  func boolean(_ index: Int) throws -> Bool? { try self[index].map { try BinaryField.boolean($0) } }

  func text(_ index: Int) throws -> String? {
    self[index].map { String(decoding: $0, as: UTF8.self) }
  }

  func data(_ index: Int) throws -> Data? { self[index].map { Data($0) } }

  /// Returns the value of a column that is never NULL.
  func required<Value>(_ index: Int, _ value: (Int) throws -> Value?) throws -> Value {
    guard let value = try value(index) else {
      throw FieldFault("holds nothing where something was expected")
    }
    return value
  }
}
