import HeartwoodStore

/// Base64 (RFC 4648, with padding) between bytes, without strings.
enum Base64Text {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")
  private static let nothing: UInt8 = 0xFF
  private static let whiteSpace: UInt8 = 0xFE

  /// What each byte stands for: six bits, or one of the two above.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: nothing, count: 256)
    for (value, byte) in alphabet.enumerated() { values[Int(byte)] = UInt8(value) }
    for byte in " \t\r\n".utf8 { values[Int(byte)] = whiteSpace }
    return values
  }()

  /// How many characters `count` bytes take.
  static func length(_ count: Int) -> Int { (count + 2) / 3 * 4 }

  /// Appends the text of `bytes`, without line ends.
  static func append(_ bytes: UnsafeRawBufferPointer, to buffer: inout TextBuffer) {
    let length = length(bytes.count)
    buffer.reserve(length)
    let target = buffer.end
    var (offset, place) = (0, 0)
    alphabet.withUnsafeBufferPointer { alphabet in
      func put(_ value: UInt32, _ shift: UInt32) {
        target.storeBytes(of: alphabet[Int(value &>> shift & 63)], toByteOffset: place, as: UInt8.self)
        place &+= 1
      }
      while offset < bytes.count {
        let rest = bytes.count &- offset
        var value = UInt32(bytes[offset]) &<< 16
        if rest > 1 { value |= UInt32(bytes[offset &+ 1]) &<< 8 }
        if rest > 2 { value |= UInt32(bytes[offset &+ 2]) }
        put(value, 18)
        put(value, 12)
        put(value, 6)
        put(value, 0)
        offset &+= 3
      }
    }
    for missing in 0..<(bytes.count.isMultiple(of: 3) ? 0 : 3 - bytes.count % 3) {
      target.storeBytes(of: padding, toByteOffset: length - 1 - missing, as: UInt8.self)
    }
    buffer.advance(length)
  }

  /// Decodes the text in place, white space left out, and returns how many bytes it stands for; nil where it is no base64.
  ///
  /// Four characters stand for at most three bytes, so what is written never passes what is read.
  static func decode(_ text: UnsafeMutableRawBufferPointer) -> Int? {
    var (pending, count, written) = (UInt32(0), 0, 0)
    var end = text.count
    while end > 0, values[Int(text[end - 1])] == whiteSpace { end -= 1 }
    var paddings = 0
    while end > 0, paddings < 2, text[end - 1] == padding {
      end -= 1
      paddings += 1
    }
    let isWhole = values.withUnsafeBufferPointer { values in
      for index in 0..<end {
        let value = values[Int(text[index])]
        if value > 63 {
          if value == whiteSpace { continue }
          return false
        }
        pending = pending &<< 6 | UInt32(value)
        count &+= 1
        if count & 3 == 0 {
          text[written] = UInt8(truncatingIfNeeded: pending &>> 16)
          text[written &+ 1] = UInt8(truncatingIfNeeded: pending &>> 8)
          text[written &+ 2] = UInt8(truncatingIfNeeded: pending)
          written &+= 3
        }
      }
      return true
    }
    guard isWhole, (count + paddings).isMultiple(of: 4) else { return nil }
    switch count & 3 {
    case 2:
      text[written] = UInt8(truncatingIfNeeded: pending >> 4)
      return pending & 0xF == 0 ? written + 1 : nil
    case 3:
      text[written] = UInt8(truncatingIfNeeded: pending >> 10)
      text[written + 1] = UInt8(truncatingIfNeeded: pending >> 2)
      return pending & 3 == 0 ? written + 2 : nil
    case 1: return nil
    default: return paddings == 0 ? written : nil
    }
  }
}
