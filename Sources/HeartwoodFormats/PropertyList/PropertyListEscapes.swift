import HeartwoodStore

/// Texts as XML holds them in property lists.
enum PropertyListEscapes {
  /// Whether XML can hold every character of the text.
  static func canHold(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { canHold(UnsafeRawBufferPointer($0)) }
  }

  /// Whether XML can hold every character: those from U+0020 on but U+FFFE and U+FFFF, and tabs and line ends.
  static func canHold(_ text: UnsafeRawBufferPointer) -> Bool {
    for index in 0..<text.count {
      switch text[index] {
      case UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): continue
      case 0..<0x20: return false
      case 0xEF where text.count - index >= 3 && text[index + 1] == 0xBF && text[index + 2] >= 0xBE: return false
      default: continue
      }
    }
    return true
  }

  static func append(_ text: String, to buffer: inout TextBuffer) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0), to: &buffer) }
  }

  /// Appends a text that XML can hold. A carriage return is a reference to the character, since a parser would make a line feed of it.
  static func append(_ text: UnsafeRawBufferPointer, to buffer: inout TextBuffer) {
    var start = 0
    for index in 0..<text.count {
      guard let escape = escape(text[index]) else { continue }
      buffer.append(UnsafeRawBufferPointer(rebasing: text[start..<index]))
      buffer.append(escape)
      start = index + 1
    }
    buffer.append(UnsafeRawBufferPointer(rebasing: text[start...]))
  }

  @inline(__always)
  private static func escape(_ byte: UInt8) -> String? {
    switch byte {
    case UInt8(ascii: "&"): "&amp;"
    case UInt8(ascii: "<"): "&lt;"
    case UInt8(ascii: ">"): "&gt;"
    case UInt8(ascii: "\r"): "&#13;"
    default: nil
    }
  }
}
