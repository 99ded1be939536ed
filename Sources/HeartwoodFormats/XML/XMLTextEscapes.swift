import HeartwoodModel
import HeartwoodStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Strings as Core Data writes them into XML: `\u` and the four digits of a UTF-16 unit, its low byte first, for what cannot stand
/// there; a backslash is doubled.
///
/// It also hides what an XML file cannot hold at all, and carriage returns, which a parser turns into line feeds.
enum XMLTextEscapes {
  static let backslash = UInt8(ascii: "\\")

  /// A byte for each value of a byte: 1 where it may have to be escaped.
  private static let suspects: [UInt8] = (0...255).map { (byte: UInt8) -> UInt8 in
    switch byte {
    case UInt8(ascii: "\t"), UInt8(ascii: "\n"): 0
    case 0..<0x20, UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"), backslash, 0xEF: 1
    default: 0
    }
  }

  // MARK: Writing

  static func append(_ text: UnsafeRawBufferPointer, to buffer: inout TextBuffer) {
    var start = 0
    suspects.withUnsafeBufferPointer { suspects in
      for index in 0..<text.count where suspects[Int(text[index])] != 0 {
        guard let (unit, length) = escape(at: index, of: text) else { continue }
        buffer.append(UnsafeRawBufferPointer(rebasing: text[start..<index]))
        appendEscape(unit, to: &buffer)
        start = index + length
      }
    }
    buffer.append(UnsafeRawBufferPointer(rebasing: text[min(start, text.count)...]))
  }

  /// The UTF-16 unit that has to be escaped at a place, and how many bytes it has there; nil where the character may stand as it is.
  private static func escape(at index: Int, of text: UnsafeRawBufferPointer) -> (unit: UInt16, length: Int)? {
    let byte = text[index]
    guard byte == 0xEF else { return (UInt16(byte), 1) }
    // U+FFFE and U+FFFF, which are no characters of XML.
    guard text.count - index >= 3, text[index + 1] == 0xBF, text[index + 2] >= 0xBE else { return nil }
    return (0xFF00 | UInt16(text[index + 2]) + 0x40, 3)
  }

  private static func appendEscape(_ unit: UInt16, to buffer: inout TextBuffer) {
    buffer.append(backslash)
    guard unit != UInt16(backslash) else { return buffer.append(backslash) }
    buffer.append(UInt8(ascii: "u"))
    for byte in [UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8)] {
      buffer.append(HexadecimalDigit.small(byte >> 4))
      buffer.append(HexadecimalDigit.small(byte & 0xF))
    }
  }

  // MARK: Reading

  /// Replaces all escapes in place, and returns how many bytes are left; nil where an escape stands for nothing.
  ///
  /// No escape is shorter than what it stands for: six bytes for a unit of at most three, twelve for a pair of four.
  static func remove(_ text: UnsafeMutableRawBufferPointer) -> Int? {
    guard let base = text.baseAddress, let first = memchr(base, Int32(backslash), text.count) else { return text.count }
    var read = UnsafeRawPointer(first) - UnsafeRawPointer(base)
    var written = read
    while read < text.count {
      guard text[read] == backslash else {
        text[written] = text[read]
        read += 1
        written += 1
        continue
      }
      guard let (scalar, length) = scalar(at: read, of: UnsafeRawBufferPointer(text)) else { return nil }
      for byte in UTF8.encode(scalar).map(Array.init) ?? [] {
        text[written] = byte
        written += 1
      }
      read += length
    }
    return written
  }

  private static func scalar(at index: Int, of text: UnsafeRawBufferPointer) -> (Unicode.Scalar, length: Int)? {
    if index + 1 < text.count, text[index + 1] == backslash { return ("\\", 2) }
    guard let unit = unit(at: index, of: text) else { return nil }
    if let scalar = Unicode.Scalar(unit) { return (scalar, 6) }
    guard UTF16.isLeadSurrogate(unit), let trail = self.unit(at: index + 6, of: text), UTF16.isTrailSurrogate(trail)
    else { return nil }
    return (UTF16.decode(UTF16.EncodedScalar([unit, trail])), 12)
  }

  private static func unit(at index: Int, of text: UnsafeRawBufferPointer) -> UInt16? {
    guard text.count - index >= 6, text[index] == backslash, text[index + 1] == UInt8(ascii: "u") else { return nil }
    var digits: [UInt16] = []
    for offset in 2...5 {
      guard let digit = HexadecimalDigit.value(text[index + offset]) else { return nil }
      digits.append(UInt16(digit))
    }
    return digits[0] << 4 | digits[1] | digits[2] << 12 | digits[3] << 8
  }
}
