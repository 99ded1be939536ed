import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

extension CSVBatchReader {
  typealias Fault = (row: Int, reason: String)

  func read(_ type: AttributeType, _ fields: CSVColumnFields, into column: ColumnBuilder) -> Fault? {
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
    case .binary, .transformable, .undefined: return readEach(fields, into: column, "The field must be base64.", data)
    }
  }

  /// Writes the values of a column, in the form of `Value`, to the scratch memory; returns the first row whose field is
  /// no value.
  @inline(__always)
  func fill<Value: BitwiseCopyable>(
    _ fields: CSVColumnFields,
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

  func usedFlags(_ count: Int) -> UnsafeBufferPointer<UInt8>? {
    hasNulls ? UnsafeBufferPointer(start: flags, count: count) : nil
  }

  private func appendScratch<Value: BitwiseCopyable>(_ type: Value.Type, _ count: Int, to column: ColumnBuilder) {
    let bytes = UnsafeRawBufferPointer(start: scratch, count: count * MemoryLayout<Value>.stride)
    column.append(fixedWidth: bytes, count: count, flags: usedFlags(count))
  }

  private func readBooleans(_ fields: CSVColumnFields, into column: ColumnBuilder) -> Fault? {
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
    _ fields: CSVColumnFields,
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
    _ fields: CSVColumnFields,
    into column: ColumnBuilder
  ) -> Fault? {
    let failed = fill(fields, nothing: Number.zero) { FloatingPointText.number(fields.bytes($0), type) }
    if let failed {
      return (failed, "The field must be a number with a point for its decimals, inf, -inf or nan, and not too large.")
    }
    appendScratch(type, fields.count, to: column)
    return nil
  }

  private func readDates(_ fields: CSVColumnFields, into column: ColumnBuilder) -> Fault? {
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
  func uuid(_ field: CSVField, _ fields: CSVColumnFields) -> uuid_t? {
    field.count == UUIDText.length ? UUIDText.uuid(fields.text + field.start) : nil
  }

  private func readUUIDs(_ fields: CSVColumnFields, into column: ColumnBuilder) -> Fault? {
    let failed = fill(fields, nothing: UUID.zeroBytes) { uuid($0, fields) }
    if let failed { return (failed, "The field must be a UUID.") }
    appendScratch(uuid_t.self, fields.count, to: column)
    return nil
  }

  private func readStrings(_ fields: CSVColumnFields, into column: ColumnBuilder) -> Fault? {
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

  /// Reads the rarer types, row by row.
  private func readEach(
    _ fields: CSVColumnFields,
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

// MARK: CSVBooleanText

/// Reads booleans from text.
enum CSVBooleanText {
  /// Returns the boolean for a word in capitals or small letters; nil if it is none.
  static func boolean(_ text: UnsafeRawBufferPointer) -> Bool? {
    guard text.count <= 5 else { return nil }
    switch String(decoding: text, as: UTF8.self).lowercased() {
    case "1", "true", "yes": return true
    case "0", "false", "no": return false
    default: return nil
    }
  }
}
