import HeartwoodModel
import HeartwoodStore

// MARK: Strings

extension JSONReader {
  /// Reads a string, whose opening quote is next.
  mutating func readString() throws(PersistenceError) -> String {
    let start = position
    position += 1
    var text: [UInt8] = []
    while true {
      let begin = position
      while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
      text += bytes[begin..<position]
      if skip("\"") { break }
      if skip("\\") { try readEscape(into: &text) } else { try refuseString(from: start) }
    }
    if let offset = UTF8Validation.firstInvalidOffset(in: text) {
      throw mistake("The string that begins here is no UTF-8 at its byte \(offset).", at: start)
    }
    return String(decoding: text, as: UTF8.self)
  }

  private func refuseString(from start: Int) throws(PersistenceError) {
    guard next != nil else { throw mistake("The string that begins here does not end.", at: start) }
    throw mistake("A control character is in a string.", recovery: "Write it with a backslash.")
  }

  private mutating func readEscape(into text: inout [UInt8]) throws(PersistenceError) {
    let mark = position - 1
    let byte = next
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(bytes[position - 1])
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"): text += String(try readScalar(from: mark)).utf8
    default: throw mistake("No character is written like this after a backslash.", at: mark)
    }
  }

  /// The character of four digits, or of two times four, which are a surrogate pair.
  private mutating func readScalar(from mark: Int) throws(PersistenceError) -> Unicode.Scalar {
    let first = try readUnit(from: mark)
    if let scalar = Unicode.Scalar(first) { return scalar }
    if UTF16.isLeadSurrogate(first), skip("\\"), skip("u") {
      let second = try readUnit(from: mark)
      if UTF16.isTrailSurrogate(second), let scalar = Unicode.Scalar(Self.scalarValue(first, second)) { return scalar }
    }
    throw mistake("Half of a surrogate pair stands alone.", at: mark)
  }

  /// What a surrogate pair stands for.
  private static func scalarValue(_ lead: UInt16, _ trail: UInt16) -> UInt32 {
    0x1_0000 + (UInt32(lead - 0xD800) << 10 | UInt32(trail - 0xDC00))
  }

  private mutating func readUnit(from mark: Int) throws(PersistenceError) -> UInt16 {
    guard bytes.count - position >= 4 else { throw mistake("Four digits should come after \\u.", at: mark) }
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = HexadecimalDigit.value(bytes[position]) else {
        throw mistake("Four digits should come after \\u.", at: mark)
      }
      unit = unit << 4 | UInt16(digit)
      position += 1
    }
    return unit
  }
}

// MARK: Numbers

extension JSONReader {
  /// Reads a number, whose first character is next.
  mutating func readNumber() throws(PersistenceError) -> ImportValue {
    let start = position
    _ = skip("-")
    if !skip("0") { try skipDigits(from: start) }
    let isWhole = next != UInt8(ascii: ".") && next != UInt8(ascii: "e") && next != UInt8(ascii: "E")
    if skip(".") { try skipDigits(from: start) }
    if skip("e") || skip("E") {
      _ = skip("+") || skip("-")
      try skipDigits(from: start)
    }
    if let byte = next, byte == UInt8(ascii: ".") || Self.isDigit(byte) {
      throw mistake("This is no number as JSON writes them.", at: start)
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isWhole, let integer = Int64(text) { return .scalar(.integer(integer)) }
    return .number(text)
  }

  private mutating func skipDigits(from start: Int) throws(PersistenceError) {
    let first = position
    while let byte = next, Self.isDigit(byte) { position += 1 }
    if position == first { throw mistake("This is no number as JSON writes them.", at: start) }
  }

  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
