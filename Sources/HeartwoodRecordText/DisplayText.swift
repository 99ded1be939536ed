import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Functions that prepare text for the cells of a table on a terminal.
///
/// Control characters and characters that change the direction of text are shown as escapes (`\n`, `\u001b`), so that
/// text in a file can neither break a line nor control the terminal.
package enum DisplayText {
  /// Returns the text with escapes for unsafe characters. If `keepsLines` is true, line feeds are not escaped.
  package static func safe(_ text: String, keepsLines: Bool = false) -> String {
    if text.utf8.allSatisfy(isPrintableASCII) { return text }
    var safe = ""
    for scalar in text.unicodeScalars {
      if let escape = escape(of: scalar), !keepsLines || scalar != "\n" {
        safe += escape
      } else {
        safe.unicodeScalars.append(scalar)
      }
    }
    return safe
  }

  /// Returns the text as an argument of a shell: in quotation marks if it contains more than letters, digits and the
  /// signs of usual file names.
  package static func argument(_ text: String) -> String {
    let signs: Set<Character> = ["/", ".", "-", "_", "+", ",", ":", "@", "%"]
    let isPlain = !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || signs.contains($0) }
    return isPlain ? text : "'\(safe(text).replacing("'", with: "'\\''"))'"
  }

  private static let ellipsis = "…"

  /// Returns the width of the text in cells of a terminal.
  static func width(of bytes: UnsafeRawBufferPointer) -> Int {
    if bytes.allSatisfy(isPrintableASCII) { return bytes.count }
    return String(decoding: bytes, as: UTF8.self).unicodeScalars.reduce(0) { $0 + width(of: $1) }
  }

  /// Appends the text, truncated to `limit` cells of a terminal, and returns its width.
  @discardableResult
  static func append(_ bytes: UnsafeRawBufferPointer, limit: Int, to output: GrowableBytes) -> Int {
    if bytes.count <= limit, bytes.allSatisfy(isPrintableASCII) {
      output.append(bytes)
      return bytes.count
    }
    let room = width(of: bytes) <= limit ? limit : max(0, limit - 1)
    var used = 0
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      let width = width(of: scalar)
      guard used + width <= room else { break }
      output.append(text: escape(of: scalar) ?? String(scalar))
      used += width
    }
    guard room < limit else { return used }
    output.append(text: ellipsis)
    return used + 1
  }

  @inline(__always)
  private static func isPrintableASCII(_ byte: UInt8) -> Bool { byte >= 0x20 && byte < 0x7F }

  private static func width(of scalar: Unicode.Scalar) -> Int {
    escape(of: scalar)?.utf8.count ?? TerminalWidth.of(scalar)
  }

  private static func escape(of scalar: Unicode.Scalar) -> String? {
    switch scalar.value {
    case 0x0A: "\\n"
    case 0x0D: "\\r"
    case 0x09: "\\t"
    case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069:
      "\\u" + String(scalar.value + 0x10000, radix: 16).dropFirst()
    default: nil
    }
  }
}

extension DisplayText {
  /// Returns the width of the text in cells of a terminal.
  static func width(of text: String) -> Int {
    var text = text
    return text.withUTF8 { width(of: UnsafeRawBufferPointer($0)) }
  }
}
