import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Turns the fields of a batch into values, one column after another, and appends them to a group of rows.
///
/// An unsafe place: fields lie inside the window that they were found in, and the values of a batch fit into the scratch memory,
/// which has room for ``CSVBatch/capacity`` of the widest.
final class CSVBatchReader {
  /// A field that cannot be read: its row in the batch, and why.
  struct Failure {
    var row: Int
    var column: Int
    var reason: String
  }

  let schema: CSVSchema
  let references: CSVReferenceText
  private let scratch: UnsafeMutableRawPointer
  /// A byte for each row: 0 where it has no value.
  private let flags: UnsafeMutablePointer<UInt8>
  private var hasNulls = false
  private var dates = DateTextReader()

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

  /// Appends the batch to `builder`; on a failure `builder` is of no more use. Returns the failure that comes first in the file.
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
    let fields = Fields(batch, column, window)
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

  /// Makes one quote of two in all fields that hold such.
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

/// One column of a batch.
struct Fields {
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

enum CSVEscapes {
  /// Makes one quote of two, and returns how many bytes are left; quotes fill the rest, so that UTF-8 stays whole.
  static func remove(_ text: UnsafeMutableRawBufferPointer) -> Int {
    var (target, source) = (0, 0)
    while source < text.count {
      text[target] = text[source]
      source += text[source] == CSVFormat.quote ? 2 : 1
      target += 1
    }
    for index in target..<text.count { text[index] = CSVFormat.quote }
    return target
  }
}

// MARK: Columns

extension CSVBatchReader {
  typealias Fault = (row: Int, reason: String)

  private func read(_ type: AttributeType, _ fields: Fields, into column: ColumnBuilder) -> Fault? {
    switch type {
    case .boolean: return readBooleans(fields, into: column)
    case .integer16: return readIntegers(Int16.self, fields, into: column)
    case .integer32: return readIntegers(Int32.self, fields, into: column)
    case .integer64: return readIntegers(Int64.self, fields, into: column)
    case .double: return readFloatingPoint(Double.self, fields, into: column)
    case .float: return readFloatingPoint(Float.self, fields, into: column)
    case .date: return readDates(fields, into: column)
    case .uuid: return readUUIDs(fields, into: column)
    case .string: return readStrings(fields, into: column)
    case .decimal:
      return readEach(fields, into: column, "The field must be a decimal number of at most 38 digits.", decimal)
    case .uri: return readEach(fields, into: column, "The field must be a URI.", uri)
    case .binary, .transformable: return readEach(fields, into: column, "The field must be base64.", data)
    }
  }

  /// Puts the values of a column, in `Value`'s form, into the scratch memory; returns the first row whose field is no value.
  @inline(__always)
  private func fill<Value: BitwiseCopyable>(
    _ fields: Fields,
    nothing: Value,
    _ value: (CSVField) -> Value?
  ) -> Int? {
    hasNulls = false
    for row in 0..<fields.count {
      let field = fields[row]
      var result = nothing
      if field.isNull {
        hasNulls = true
      } else if let value = value(field) {
        result = value
      } else {
        return row
      }
      flags[row] = field.isNull ? 0 : 1
      scratch.storeBytes(of: result, toByteOffset: row &* MemoryLayout<Value>.stride, as: Value.self)
    }
    return nil
  }

  private func usedFlags(_ count: Int) -> UnsafeBufferPointer<UInt8>? {
    hasNulls ? UnsafeBufferPointer(start: flags, count: count) : nil
  }

  private func appendScratch<Value: BitwiseCopyable>(_ type: Value.Type, _ count: Int, to column: ColumnBuilder) {
    let bytes = UnsafeRawBufferPointer(start: scratch, count: count * MemoryLayout<Value>.stride)
    column.append(fixedWidth: bytes, count: count, flags: usedFlags(count))
  }

  private func readBooleans(_ fields: Fields, into column: ColumnBuilder) -> Fault? {
    let failed = fill(fields, nothing: UInt8(0)) { field in
      if field.count == 1 {
        let digit = fields.text.load(fromByteOffset: field.start, as: UInt8.self) &- UInt8(ascii: "0")
        return digit <= 1 ? digit : nil
      }
      return CSVBooleanText.boolean(fields.bytes(field)).map { $0 ? 1 : 0 }
    }
    if let failed { return (failed, "The field must be 1 or 0, true or false, yes or no.") }
    let booleans = UnsafeBufferPointer(start: scratch.assumingMemoryBound(to: UInt8.self), count: fields.count)
    column.append(booleans: booleans, flags: usedFlags(fields.count))
    return nil
  }

  private func readIntegers<Integer: FixedWidthInteger & BitwiseCopyable>(
    _ type: Integer.Type,
    _ fields: Fields,
    into column: ColumnBuilder
  ) -> Fault? {
    let failed = fill(fields, nothing: Integer.zero) { field in
      IntegerText.integer(fields.text + field.start, count: field.count).flatMap { Integer(exactly: $0) }
    }
    if let failed {
      let isTooLarge = IntegerText.isInteger(fields.bytes(fields[failed]))
      return (
        failed,
        isTooLarge ? "The number must be from \(Integer.min) to \(Integer.max)." : "The field must be an integer."
      )
    }
    appendScratch(type, fields.count, to: column)
    return nil
  }

  private func readFloatingPoint<Number: ExactDecimalQuotient & BitwiseCopyable>(
    _ type: Number.Type,
    _ fields: Fields,
    into column: ColumnBuilder
  ) -> Fault? {
    let failed = fill(fields, nothing: Number.zero) { FloatingPointText.number(fields.bytes($0), type) }
    if let failed {
      return (failed, "The field must be a number with a point for its decimals, inf, -inf or nan, and not too large.")
    }
    appendScratch(type, fields.count, to: column)
    return nil
  }

  private func readDates(_ fields: Fields, into column: ColumnBuilder) -> Fault? {
    let failed = fill(fields, nothing: Double.zero) { dates.seconds(fields.bytes($0)) }
    if let failed {
      return (
        failed,
        "The field must be a date of the years 1 to 9999, in the form yyyy-MM-dd HH:mm:ss and the offset from UTC as ±hhmm or Z."
      )
    }
    appendScratch(Double.self, fields.count, to: column)
    return nil
  }

  @inline(__always)
  private func uuid(_ field: CSVField, _ fields: Fields) -> uuid_t? {
    field.count == UUIDText.length ? UUIDText.uuid(fields.text + field.start) : nil
  }

  private func readUUIDs(_ fields: Fields, into column: ColumnBuilder) -> Fault? {
    let failed = fill(fields, nothing: UUID.zero) { uuid($0, fields) }
    if let failed { return (failed, "The field must be a UUID.") }
    appendScratch(uuid_t.self, fields.count, to: column)
    return nil
  }

  private func readStrings(_ fields: Fields, into column: ColumnBuilder) -> Fault? {
    _ = fill(fields, nothing: ByteSpan(start: 0, end: 0)) { field in
      ByteSpan(start: UInt32(truncatingIfNeeded: field.start), end: UInt32(truncatingIfNeeded: field.end))
    }
    column.append(
      spans: UnsafeBufferPointer(start: scratch.assumingMemoryBound(to: ByteSpan.self), count: fields.count),
      of: UnsafeRawBufferPointer(start: fields.text, count: fields.window.count),
      flags: usedFlags(fields.count)
    )
    return nil
  }

  /// The way of the rarer types: row by row.
  private func readEach(
    _ fields: Fields,
    into column: ColumnBuilder,
    _ reason: String,
    _ value: (UnsafeRawBufferPointer) -> PropertyValue?
  ) -> Fault? {
    for row in 0..<fields.count {
      let field = fields[row]
      if field.isNull {
        column.appendNull()
      } else if let value = value(fields.bytes(field)) {
        column.append(value)
      } else {
        return (row, reason)
      }
    }
    return nil
  }

  private func decimal(_ text: UnsafeRawBufferPointer) -> PropertyValue? {
    PropertyValue(text: String(decoding: text, as: UTF8.self), type: .decimal)
  }

  private func uri(_ text: UnsafeRawBufferPointer) -> PropertyValue? {
    PropertyValue(text: String(decoding: text, as: UTF8.self), type: .uri)
  }

  private func data(_ text: UnsafeRawBufferPointer) -> PropertyValue? {
    PropertyValue(text: String(decoding: text, as: UTF8.self), type: .binary)
  }
}

// MARK: References

extension CSVBatchReader {
  private static let badReference =
    "The reference must be a UUID, a number, or a string with an apostrophe before it."

  private func readReferences(_ fields: Fields, into builder: RowGroupBuilder) -> Fault? {
    let column = builder.references
    let ordinal = schema.entity.ordinal
    if references.takesEveryUUID, fill(fields, nothing: UUID.zero, { uuid($0, fields) }) == nil, !hasNulls {
      let bytes = UnsafeRawBufferPointer(start: scratch, count: fields.count * MemoryLayout<uuid_t>.stride)
      column.append(uuids: bytes, entityOrdinal: ordinal)
      return nil
    }
    for row in 0..<fields.count {
      let field = fields[row]
      guard !field.isNull else { return (row, "The reference is missing, by which the record is told from others.") }
      guard let reference = references.reference(fields.bytes(field)) else { return (row, Self.badReference) }
      column.append(reference, entityOrdinal: ordinal)
    }
    return nil
  }

  private func readToOne(_ fields: Fields, into column: ColumnBuilder) -> Fault? {
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

  private func readToMany(_ fields: Fields, into column: ColumnBuilder) -> Fault? {
    let list = CSVReferenceList(references: references)
    for row in 0..<fields.count {
      guard let references = list.references(fields.bytes(fields[row])) else {
        return (
          row,
          "Each reference of the list must be a UUID, a number, or a string with an apostrophe before it; a space "
            + "separates them, and % stands before two hexadecimal digits."
        )
      }
      column.append(toMany: references.map { ($0, schema.entity.ordinal) })
    }
    return nil
  }
}

extension UUID {
  fileprivate static let zero: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
}

/// Booleans as text.
enum CSVBooleanText {
  /// The boolean that a word stands for, in capitals or small letters; nil where it is none.
  static func boolean(_ text: UnsafeRawBufferPointer) -> Bool? {
    guard text.count <= 5 else { return nil }
    switch String(decoding: text, as: UTF8.self).lowercased() {
    case "1", "true", "yes": return true
    case "0", "false", "no": return false
    default: return nil
    }
  }
}
