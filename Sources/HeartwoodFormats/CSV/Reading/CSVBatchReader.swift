import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Converts the fields of a batch to values, one column after another, and appends them to a group of rows.
///
/// An unsafe place: fields lie inside the window that they were found in, and the values of a batch fit into the
/// scratch memory, which has room for ``CSVBatch/capacity`` of the widest.
final class CSVBatchReader {
  /// A field that cannot be read: its row in the batch, and the reason.
  struct Failure {
    var row: Int
    var column: Int
    var reason: String
  }

  let schema: CSVSchema
  let references: CSVReferenceText
  let scratch: UnsafeMutableRawPointer
  /// A byte for each row: 0 if it has no value.
  let flags: UnsafeMutablePointer<UInt8>
  var hasNulls = false
  var dates = DateTextReader()
  /// Whether references must be UUIDs in columns that may contain them. A field that was taken for one must not be read
  /// as another value.
  var takesOnlyUUIDs = true

  init(schema: CSVSchema) {
    self.schema = schema
    references = CSVReferenceText(allowsBareStrings: schema.layout.allowsBareStringReferences)
    scratch = .allocate(byteCount: CSVBatch.capacity * MemoryLayout<uuid_t>.stride, alignment: 16)
    flags = .allocate(capacity: CSVBatch.capacity)
    flags.initialize(repeating: 1, count: CSVBatch.capacity)
  }

  deinit {
    scratch.deallocate()
    flags.deallocate()
  }

  /// Appends the batch to `builder`; after a failure `builder` must not be used any more. Returns the first failure in
  /// the file.
  func read(_ batch: CSVBatch, in window: CSVWindow, into builder: RowGroupBuilder) -> Failure? {
    if batch.hasEscapes { unescape(batch, in: window) }
    var first: Failure?
    for column in schema.columns.indices {
      guard let failure = read(column, of: batch, in: window, into: builder) else { continue }
      if first.map({ failure.row < $0.row }) ?? true { first = failure }
    }
    for ordinal in schema.absentOrdinals { builder.columns[ordinal].appendNulls(batch.rowCount) }
    return first
  }

  private func read(_ column: Int, of batch: CSVBatch, in window: CSVWindow, into builder: RowGroupBuilder) -> Failure?
  {
    let fields = CSVColumnFields(batch, column, window)
    let row: (row: Int, reason: String)?
    switch schema.columns[column].content {
    case .ignored: row = nil
    case .reference: row = readReferences(fields, into: builder)
    case .attribute(let ordinal, let type): row = read(type, fields, into: builder.columns[ordinal])
    case .relationship(let ordinal, let isToMany):
      row =
        isToMany
        ? readToMany(fields, into: builder.columns[ordinal]) : readToOne(fields, into: builder.columns[ordinal])
    }
    return row.map { Failure(row: $0.row, column: column, reason: $0.reason) }
  }

  /// Replaces two quotes with one in all fields that contain them.
  private func unescape(_ batch: CSVBatch, in window: CSVWindow) {
    for index in 0..<(batch.rowCount * batch.columnCount) where batch.fields[index].hasEscapes {
      let field = batch.fields[index]
      let text = UnsafeMutableRawBufferPointer(start: window.base + field.start, count: field.count)
      batch.fields[index] = CSVField(
        quotedStart: field.start,
        end: field.start + CSVEscapes.remove(text),
        hasEscapes: false
      )
    }
  }
}

// MARK: References

extension CSVBatchReader {
  private static let badReference =
    "The reference must be a UUID, a number, or a string with an apostrophe before it."

  func readReferences(_ fields: CSVColumnFields, into builder: RowGroupBuilder) -> Fault? {
    let column = builder.references
    let ordinal = schema.entity.ordinal
    if references.takesEveryUUID {
      let failed = fill(fields, nothing: UUID.zeroBytes) { uuid($0, fields) }
      if failed == nil, !hasNulls {
        let bytes = UnsafeRawBufferPointer(start: scratch, count: fields.count * MemoryLayout<uuid_t>.stride)
        column.append(uuids: bytes, entityOrdinal: ordinal)
        return nil
      }
      if takesOnlyUUIDs { return (failed ?? 0, Self.badReference) }
    }
    for row in 0..<fields.count {
      let field = fields[row]
      guard !field.isNull else { return (row, "The reference is missing; it identifies the record.") }
      guard let reference = references.reference(fields.bytes(field)) else { return (row, Self.badReference) }
      column.append(reference, entityOrdinal: ordinal)
    }
    return nil
  }

  func readToOne(_ fields: CSVColumnFields, into column: ColumnBuilder) -> Fault? {
    for row in 0..<fields.count {
      let field = fields[row]
      if field.isNull {
        column.appendNull()
      } else if let reference = references.reference(fields.bytes(field)) {
        column.append(toOne: reference, entityOrdinal: schema.entity.ordinal)
      } else {
        return (row, Self.badReference)
      }
    }
    return nil
  }

  func readToMany(_ fields: CSVColumnFields, into column: ColumnBuilder) -> Fault? {
    let list = CSVReferenceList(references: references)
    for row in 0..<fields.count {
      guard let references = list.references(fields.bytes(fields[row])) else {
        return (
          row,
          "Each reference of the list must be a UUID, a number, or a string with an apostrophe before it; a space "
            + "separates them, and % is followed by two hexadecimal digits."
        )
      }
      column.append(toMany: references.map { ($0, schema.entity.ordinal) })
    }
    return nil
  }
}

extension UUID {
  static let zeroBytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
}

// MARK: CSVBatch

/// The place of a field in a window, without its quotes.
struct CSVField: BitwiseCopyable {
  private static let flag: UInt32 = 1 << 31
  /// The greatest place; a field begins and ends before it.
  static let greatestPlace = Int(flag) - 1

  private var rawStart: UInt32
  private var rawEnd: UInt32

  /// Makes a field without quotes.
  @inline(__always)
  init(start: Int, end: Int) {
    rawStart = UInt32(truncatingIfNeeded: start)
    rawEnd = UInt32(truncatingIfNeeded: end)
  }

  @inline(__always)
  init(quotedStart start: Int, end: Int, hasEscapes: Bool) {
    rawStart = UInt32(truncatingIfNeeded: start) | Self.flag
    rawEnd = UInt32(truncatingIfNeeded: end) | (hasEscapes ? Self.flag : 0)
  }

  @inline(__always) var start: Int { Int(rawStart & ~Self.flag) }
  @inline(__always) var end: Int { Int(rawEnd & ~Self.flag) }
  @inline(__always) var count: Int { end &- start }
  @inline(__always) var isQuoted: Bool { rawStart & Self.flag != 0 }
  @inline(__always) var hasEscapes: Bool { rawEnd & Self.flag != 0 }
  /// Whether the field is empty, without quotes.
  @inline(__always) var isNull: Bool { rawStart == rawEnd }
}

/// Rows of fields that have been found in a window and have not been read yet.
///
/// An unsafe place: ``fields`` has room for ``capacity`` rows of ``columnCount`` fields, of which ``rowCount`` rows are
/// set.
final class CSVBatch {
  static let capacity = 1 << 10

  let columnCount: Int
  let fields: UnsafeMutablePointer<CSVField>
  var rowCount = 0
  /// Whether a field contains two quotes that represent one.
  var hasEscapes = false

  init(columnCount: Int) {
    self.columnCount = columnCount
    self.fields = .allocate(capacity: Self.capacity * columnCount)
    self.fields.initialize(repeating: CSVField(start: 0, end: 0), count: Self.capacity * columnCount)
  }

  deinit {
    fields.deallocate()
  }

  func removeAll() {
    rowCount = 0
    hasEscapes = false
  }
}

// MARK: CSVColumnFields

/// One column of a batch.
struct CSVColumnFields {
  private let first: UnsafeMutablePointer<CSVField>
  private let stride: Int
  let count: Int
  let text: UnsafeRawPointer
  let window: CSVWindow

  init(_ batch: CSVBatch, _ column: Int, _ window: CSVWindow) {
    first = batch.fields + column
    stride = batch.columnCount
    count = batch.rowCount
    text = UnsafeRawPointer(window.base)
    self.window = window
  }

  @inline(__always)
  subscript(row: Int) -> CSVField { first[row &* stride] }

  @inline(__always)
  func bytes(_ field: CSVField) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: text + field.start, count: field.count)
  }
}
