/// Digits of base 16 in ASCII.
package enum HexadecimalDigit {
  /// The value of a digit, in capitals or small letters.
  @inlinable
  package static func value(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  @inlinable
  package static func capital(_ value: UInt8) -> UInt8 {
    value < 10 ? value + UInt8(ascii: "0") : value + UInt8(ascii: "A") - 10
  }

  @inlinable
  package static func small(_ value: UInt8) -> UInt8 {
    value < 10 ? value + UInt8(ascii: "0") : value + UInt8(ascii: "a") - 10
  }

  /// The bytes of a text in which two digits behind `escape` stand for a byte; nil where a digit is missing.
  package static func unescaped(_ text: some Sequence<UInt8>, behind escape: UInt8) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text.makeIterator()
    while let byte = rest.next() {
      guard byte == escape else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.next().flatMap(value), let low = rest.next().flatMap(value) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }
}
