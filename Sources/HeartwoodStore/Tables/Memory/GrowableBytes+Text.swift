#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

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
    appendUnsafely(capacity: IntegerText.maximumLength) { buffer in
      buffer.baseAddress.map { IntegerText.write(number, to: $0) } ?? 0
    }
  }

  /// Appends the text form of a UUID, in capitals.
  package func append(textOf uuid: uuid_t) {
    appendUnsafely(capacity: UUIDText.length) { buffer in
      guard let target = buffer.baseAddress else { return 0 }
      UUIDText.write(uuid, to: target)
      return UUIDText.length
    }
  }
}
