import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The texts of the elements of a property list in XML.
enum PropertyListText {
  /// The value that an element stands for, or nil where its text stands for none.
  static func value(_ word: PropertyListElements.Word, _ text: UnsafeRawBufferPointer) -> MetadataValue? {
    let bytes = GrowableBytes()
    bytes.append(text)
    return scalar(word, bytes.unsafeMutableBytes)?.value
  }

  static func integer(_ text: UnsafeRawBufferPointer) -> Int64? {
    IntegerText.integer(trimmed(text))
  }

  static func real(_ text: UnsafeRawBufferPointer) -> Double? {
    let text = trimmed(text)
    if let number = ExactDecimalText.number(text) ?? FloatingPointText.number(text, Double.self) { return number }
    switch String(decoding: text, as: UTF8.self).lowercased() {
    case "nan": return .nan
    case "inf", "+inf", "infinity", "+infinity": return .infinity
    case "-inf", "-infinity": return -.infinity
    default: return nil
    }
  }

  /// Seconds since 2001 of `2001-01-01T00:00:00Z`.
  static func date(_ text: UnsafeRawBufferPointer) -> Double? {
    var reader = DateTextReader()
    let text = trimmed(text)
    return text.last == UInt8(ascii: "Z") ? reader.seconds(text) : nil
  }

  private static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    func isSpace(_ byte: UInt8) -> Bool { byte <= UInt8(ascii: " ") }
    guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) })
    else {
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    return UnsafeRawBufferPointer(rebasing: text[first...last])
  }
}

extension PropertyListText {
  /// The value that an element stands for, in the memory of its text, which is not what it was afterwards.
  static func scalar(_ word: PropertyListElements.Word, _ text: UnsafeMutableRawBufferPointer) -> PropertyListScalar? {
    let bytes = UnsafeRawBufferPointer(text)
    switch word {
    case .string: return .text(bytes)
    case .true: return .boolean(true)
    case .false: return .boolean(false)
    case .integer: return integer(bytes).map(PropertyListScalar.integer)
    case .real: return real(bytes).map(PropertyListScalar.real)
    case .date: return date(bytes).map(PropertyListScalar.date)
    case .data: return Base64Text.decode(text).map { .data(UnsafeRawBufferPointer(rebasing: text[..<$0])) }
    case .dict, .array, .key: return nil
    }
  }
}
