package import HeartwoodStore

/// Text as JSON strings.
extension GrowableBytes {
  /// Appends `text` as a JSON string, in quotes.
  package func append(jsonString text: String) {
    var text = text
    text.withUTF8 { append(jsonString: UnsafeRawBufferPointer($0)) }
  }

  /// Appends UTF-8 bytes as a JSON string, in quotes. What is not UTF-8 is replaced by U+FFFD.
  func append(jsonString bytes: UnsafeRawBufferPointer) {
    guard UTF8Validation.firstInvalidOffset(in: bytes) == nil else {
      return append(jsonString: String(decoding: bytes, as: UTF8.self))
    }
    append(ascii: "\"")
    append(jsonEscaping: bytes)
    append(ascii: "\"")
  }

  /// Appends the runs of bytes that need no escape as a whole.
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
