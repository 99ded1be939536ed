package import FoundationEssentials

/// Text that is put together as bytes, without a string for each piece.
extension GrowableBytes {
  /// Appends the UTF-8 bytes of `text`.
  package func append(text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  /// Appends one character of ASCII.
  @inline(__always)
  package func append(ascii character: Unicode.Scalar) {
    append(UInt8(ascii: character))
  }

  /// Appends the decimal digits of `number`, behind a minus where it is negative.
  package func append(digitsOf number: Int64) {
    if number < 0 { append(ascii: "-") }
    append(digitsOf: number.magnitude, atLeast: 1)
  }

  /// Appends the decimal digits of `number`, with zeros before them where there are fewer than `minimum`.
  package func append(digitsOf number: UInt64, atLeast minimum: Int) {
    var count = 1
    var rest = number
    while rest >= 10 {
      rest /= 10
      count += 1
    }
    count = max(count, minimum)
    appendUnsafely(capacity: count) { buffer in
      var rest = number
      for place in stride(from: count - 1, through: 0, by: -1) {
        buffer[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
      return count
    }
  }

  /// Appends the text form of a UUID, in capitals.
  package func append(textOf uuid: uuid_t) {
    let textLength = 36
    appendUnsafely(capacity: textLength) { buffer in
      var place = 0
      withUnsafeBytes(of: uuid) { bytes in
        for (index, byte) in bytes.enumerated() {
          if index == 4 || index == 6 || index == 8 || index == 10 {
            buffer[place] = UInt8(ascii: "-")
            place += 1
          }
          buffer[place] = Self.hexadecimalDigit(byte >> 4)
          buffer[place + 1] = Self.hexadecimalDigit(byte & 15)
          place += 2
        }
      }
      return textLength
    }
  }

  @inline(__always)
  private static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }
}
