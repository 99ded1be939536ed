import HeartwoodFoundation
package import HeartwoodStore

/// A JSON value whose members have an order.
package enum JSONValue {
  case null
  case boolean(Bool)
  case integer(Int64)
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object([(name: String, value: JSONValue)])
  /// Text that is already JSON.
  case raw(String)

  package static func integer(_ number: Int) -> JSONValue { .integer(Int64(number)) }

  /// Returns a string, or null.
  package static func optional(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }

  /// Returns an object with its members sorted by name.
  package static func sorted(_ members: some Sequence<(key: String, value: JSONValue)>) -> JSONValue {
    .object(members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
  }

  /// The value as one line of text, with a line feed at the end.
  package var line: String { text + "\n" }

  package var text: String {
    let output = GrowableBytes()
    append(to: output)
    return String(decoding: output.unsafeMutableBytes, as: UTF8.self)
  }

  private func append(to output: GrowableBytes) {
    switch self {
    case .null: output.append(text: "null")
    case .boolean(let flag): output.append(text: flag ? "true" : "false")
    case .integer(let number): output.append(digitsOf: number)
    case .double(let number):
      if number.isFinite {
        output.append(text: number.description)
      } else {
        output.append(jsonString: number.description)
      }
    case .string(let text): output.append(jsonString: text)
    case .raw(let text): output.append(text: text)
    case .array(let values):
      Self.append(values, "[", "]", to: output) { $0.append(to: output) }
    case .object(let members):
      Self.append(members, "{", "}", to: output) { member in
        output.append(jsonString: member.name)
        output.append(ascii: ":")
        member.value.append(to: output)
      }
    }
  }

  private static func append<Item>(
    _ items: [Item],
    _ opening: Unicode.Scalar,
    _ closing: Unicode.Scalar,
    to output: GrowableBytes,
    _ body: (Item) -> Void
  ) {
    output.append(ascii: opening)
    for (index, item) in items.enumerated() {
      if index > 0 { output.append(ascii: ",") }
      body(item)
    }
    output.append(ascii: closing)
  }
}

// MARK: Metadata

extension JSONValue {
  /// Converts a value of a store's metadata. A date is an ISO 8601 string in UTC, and binary data is a base64 string,
  /// as in a dump.
  package init(_ value: MetadataValue) {
    switch value {
    case .string(let text): self = .string(text)
    case .integer(let number): self = .integer(number)
    case .double(let number): self = .double(number)
    case .boolean(let flag): self = .boolean(flag)
    case .date(let date): self = .string(RecordDate.text(of: date))
    case .binary(let data): self = .string(data.base64EncodedString())
    case .array(let values): self = .array(values.map { JSONValue($0) })
    case .dictionary(let members): self = .sorted(members.mapValues { JSONValue($0) })
    }
  }
}

// MARK: Bytes

/// Text as JSON strings.
extension GrowableBytes {
  /// Appends `text` as a JSON string, in quotation marks.
  package func append(jsonString text: String) {
    var text = text
    text.withUTF8 { append(jsonString: UnsafeRawBufferPointer($0)) }
  }

  /// Appends UTF-8 bytes as a JSON string, in quotation marks. Invalid UTF-8 is replaced by U+FFFD.
  func append(jsonString bytes: UnsafeRawBufferPointer) {
    guard UTF8Validation.firstInvalidOffset(in: bytes) == nil else {
      return append(jsonString: String(decoding: bytes, as: UTF8.self))
    }
    append(ascii: "\"")
    append(jsonEscaping: bytes)
    append(ascii: "\"")
  }

  /// Appends bytes with JSON escapes. Runs of bytes that need no escape are appended together.
  func append(jsonEscaping bytes: UnsafeRawBufferPointer) {
    var start = 0
    for (place, byte) in bytes.enumerated() where Self.needsEscape(byte) {
      append(UnsafeRawBufferPointer(rebasing: bytes[start..<place]))
      append(escapeOf: byte)
      start = place + 1
    }
    append(UnsafeRawBufferPointer(rebasing: bytes[start...]))
  }

  @inline(__always)
  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private func append(escapeOf byte: UInt8) {
    append(ascii: "\\")
    switch byte {
    case UInt8(ascii: "\n"): append(ascii: "n")
    case UInt8(ascii: "\r"): append(ascii: "r")
    case UInt8(ascii: "\t"): append(ascii: "t")
    case 0..<0x20:
      append(text: "u00")
      append(ascii: byte < 0x10 ? "0" : "1")
      append(text: String(byte & 15, radix: 16))
    default: append(byte)
    }
  }
}
